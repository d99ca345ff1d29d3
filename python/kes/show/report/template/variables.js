// The variables of the data: each with its states or values, and what was missing.

import { histogram, missingBar, stateBars } from "./bars.js";
import { bdi, button, byId, element, number, short } from "./dom.js";
import { isContinuous } from "./local.js";
import { data } from "./model.js";

const FIRST = matchMedia("(max-width: 600px)").matches ? 3 : 5; // cards at first: about a row
const STATES = 6; // bars of a card

function card(node, choose) {
  const own = data.variables?.[node];
  const parts = [element("h3", {}, button(bdi(data.names[node]), () => choose(node), { class: "plain", title: data.names[node] }))];
  if (own && isContinuous(node)) {
    parts.push(histogram(node));
    parts.push(element("p", {}, `mean ${short(own.mean)}, deviation ${short(own.deviation)}`));
    if (own.missing) parts.push(element("div", { class: "bars with-cases" }, missingBar(own.missing)));
  } else if (own) {
    parts.push(stateBars(node, own.counts.map((count) => count / data.cases), { counts: own.counts, missing: own.missing, most: STATES }));
  } else {
    parts.push(element("p", {}, isContinuous(node) ? "continuous" : data.states[node].slice(0, STATES).join(", ")));
  }
  return element("div", { class: "variable" }, ...parts);
}

export function showVariables(choose) {
  const place = byId("variables");
  const all = data.names.map((_, node) => node);
  if (data.variables?.some(({ missing }) => missing)) {
    const times = data.completions === 1 ? "once" : `${number(data.completions, 0)} times each`;
    place.append(element("p", { class: "filled" }, `Shown as observed; for the network what is missing was filled in from the model, ${times}.`));
  }
  const grid = element("div", { class: "variables" });
  const few = all.slice(0, FIRST);
  grid.append(...few.map((node) => card(node, choose)));
  place.append(grid);
  if (few.length < all.length) {
    const more = button(`Show all ${number(all.length, 0)} variables`, () => {
      more.remove();
      grid.append(...all.slice(few.length).map((node) => card(node, choose)));
    }, { id: "all-variables" });
    place.append(more);
  }
  if (!data.variables) {
    place.append(element("p", {}, "This report was made without the data, so it shows no distributions and no probabilities."));
  }
}
