// The table of the variables that would change the target most, once known.

import { plainTable } from "./cpd-table.js";
import { data, isContinuous } from "./data.js";
import { bdi, button, element } from "./dom.js";
import { number, percent, significant } from "./format.js";
import { Gaussian } from "./gaussian.js";
import { influences } from "./influences.js";
import { SAMPLES } from "./likelihood-weighting.js";
import { Mixed } from "./mixed.js";

const MAX_ROWS = 10;
const MIN_INFORMATION = 0.00005; // less would be shown as 0
const MIN_ESTIMATED = 0.002; // less may be chance
const GROUP_NAMES = ["lowest", "second", "third", "fourth", "fifth", "sixth", "seventh", "highest"];

// `add` is called with a variable that the reader wants to set.
export function influenceTable(engine, target, evidence, add) {
  const heading = element("h3", {}, "What would change it most?");
  const isEstimated = engine instanceof Mixed;
  const minimum = isEstimated ? MIN_ESTIMATED : MIN_INFORMATION;
  const found = influences(engine, target, evidence)
    .slice(0, MAX_ROWS)
    .filter(({ information }) => information > minimum);
  if (!found.length)
    return [heading, element("p", {}, "No other variable tells anything about it.")];
  const isNumeric = isContinuous(target);
  const now = engine.answer(evidence, target).distributions.get(target);
  const rows = found.map((one) => [
    element("td", { class: "text" }, nameButton(one.node, add)),
    informationCell(one.information, isNumeric),
    element("td", { class: "text" }, describeChange(engine, target, one, now)),
  ]);
  const headings = [
    ["once known", "text"],
    [isNumeric ? "variance explained" : "information (nats)", ""],
    ["largest change", "text"],
  ];
  return [heading, element("p", {}, note(isNumeric, isEstimated)), plainTable(headings, rows)];
}

function note(isNumeric, isEstimated) {
  const measure = isNumeric
    ? "Share of the variance that each variable explains, given what is set."
    : "Mutual information with each variable, given what is set.";
  const method = ` Estimated from ${number(SAMPLES, 0)} samples; numbers are split into eight groups.`;
  return measure + (isEstimated ? method : "");
}

function nameButton(node, add) {
  const attributes = { class: "plain", title: "Show its card, to set it" };
  return button(bdi(data.names[node]), () => add(node), attributes);
}

function informationCell(information, isNumeric) {
  const text = isNumeric ? percent(information) : number(information, 4);
  const cell = element("td", { class: "share", "data-information": information }, text);
  cell.style.setProperty("--share", isNumeric ? information : Math.min(1, information / Math.LN2));
  return cell;
}

// The change of the target in the group, or with the state, of the other variable that changes it
// most.
function describeChange(engine, target, influence, now) {
  const { node, most } = influence;
  const name = data.names[node];
  if (engine instanceof Gaussian) {
    const shift = significant(influence.shift);
    return `one standard deviation more of ${name}: ${data.names[target]} changes by ${shift} on average`;
  }
  if (!most) return "only rare states change it";
  const { own = now, mean } = influence;
  const condition = isContinuous(node)
    ? `${name} in the ${GROUP_NAMES[most.group]} of eight groups`
    : `${name} = ${data.states[node][most.state ?? most.group]}`;
  if (isContinuous(target)) {
    return `if ${condition}: mean from ${significant(mean)} to ${significant(most.mean)}`;
  }
  const change = (state) => Math.abs(most.after[state] - own[state]);
  const state = most.after.reduce((best, _, t) => (change(t) > change(best) ? t : best), 0);
  const label = data.states[target][state];
  return `if ${condition}: P(${label}) from ${percent(own[state])} to ${percent(most.after[state])}`;
}
