// Cards for the variables of the data, with their distributions and missing values.

import { histogram, missingBar, moments, stateBars } from "./bars.js";
import { data, isContinuous } from "./data.js";
import { bdi, button, byId, element } from "./dom.js";
import { number } from "./format.js";

const FIRST_CARDS = matchMedia("(max-width: 600px)").matches ? 3 : 5; // about one row
const MAX_BARS = 6; // of a card

// Show the first variables, and a button for the rest. `selectNode` is called with a variable.
export function showVariables(selectNode) {
  const place = byId("variables");
  if (data.variables?.some(({ missing }) => missing)) {
    const times = data.completions === 1 ? "once" : `${number(data.completions, 0)} times each`;
    const text = `Shown as observed. For the network, missing values were imputed ${times}.`;
    place.append(element("p", { class: "imputed" }, text));
  }
  const cards = (from, to) => data.names.slice(from, to).map((_, i) => card(from + i, selectNode));
  const grid = element("div", { class: "variables" }, ...cards(0, FIRST_CARDS));
  place.append(grid);
  if (data.names.length > FIRST_CARDS) {
    const showRest = () => {
      rest.remove();
      grid.append(...cards(FIRST_CARDS, data.names.length));
    };
    const text = `Show all ${number(data.names.length, 0)} variables`;
    const rest = button(text, showRest, { id: "all-variables" });
    place.append(rest);
  }
  if (!data.variables) {
    const text = "This report was made without the data, so it shows no distributions.";
    place.append(element("p", {}, text));
  }
}

function card(node, selectNode) {
  const name = data.names[node];
  const link = button(bdi(name), () => selectNode(node), { class: "plain", title: name });
  return element("div", { class: "variable" }, element("h3", {}, link), ...contents(node));
}

function contents(node) {
  const own = data.variables?.[node];
  if (!own) {
    const states = data.states[node].slice(0, MAX_BARS).join(", ");
    return [element("p", {}, isContinuous(node) ? "continuous" : states)];
  }
  const { counts, missing } = own;
  if (!isContinuous(node)) {
    const shares = counts.map((count) => count / data.cases);
    return [stateBars(node, shares, { counts, missing, limit: MAX_BARS })];
  }
  const parts = [histogram(node), element("p", {}, moments(own))];
  if (missing) parts.push(element("div", { class: "bars with-cases" }, missingBar(missing)));
  return parts;
}
