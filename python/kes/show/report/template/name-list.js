// Lists of all variables. Of thousands, a list is filled when it is used, so that the page opens
// quickly.

import { data } from "./data.js";
import { byId, element } from "./dom.js";

const FEW = 1000; // variables: more are listed on demand
const SUGGESTED = 50;

export const hasManyNames = data.names.length > FEW;

const option = (node) => element("option", { value: node }, data.names[node]);

// Offer all variables in a list, after the options that it has.
export function offerNames(list) {
  const fill = () => {
    const chosen = list.value;
    const others = [...list.options].filter(({ value }) => value === "");
    list.replaceChildren(...others, ...data.names.map((_, node) => option(node)));
    list.value = chosen;
  };
  if (hasManyNames) list.addEventListener("focus", fill, { once: true });
  else fill();
}

// Choose a variable in such a list.
export function chooseName(list, node) {
  list.value = String(node);
  if (list.value === String(node)) return;
  list.append(option(node));
  list.value = String(node);
}

// Suggest names for the search box: the first of those that match what was typed, or at first all.
export function suggestNames(nodes) {
  const shown = hasManyNames ? nodes.slice(0, SUGGESTED) : nodes;
  const suggestion = (node) => element("option", { value: data.names[node] });
  byId("names").replaceChildren(...shown.map(suggestion));
}
