// Small pictures of the distribution of a variable: bars for states, a histogram for numbers.

import { binShares } from "./bin-shares.js";
import { data } from "./data.js";
import { button, element, svg } from "./dom.js";
import { cases, number, percent, printable, significant } from "./format.js";

// A bar for each state of a variable.
//
// Options:
//   counts    cases with each state, shown as numbers
//   missing   cases without a value, shown as a further bar
//   before    shares to compare with, shown as marks
//   errors    standard errors of the shares
//   selected  the state that is set
//   select    makes the bars buttons; called with a state
//   limit     number of bars at first: the largest, in the order of the states
//   expanded  called when the reader asks for the rest
export function stateBars(node, shares, options = {}) {
  const { counts = null, missing = null, before = null, selected = null } = options;
  const { limit = Infinity, expanded = null } = options;
  const states = data.states[node].map((_, state) => state);
  const row = (state) => stateRow(node, state, shares, options);
  const large = largest(states, shares, limit);
  const isShown = (state) => large.has(state) || state === selected;
  const rest = states.filter((state) => !isShown(state));
  const classes = `bars${counts ? " with-cases" : ""}${before ? " with-before" : ""}`;
  const box = element("div", { class: classes }, ...states.filter(isShown).map(row));
  const last = missing ? [missingBar(missing)] : [];
  if (rest.length) {
    const expand = () => {
      box.replaceChildren(...states.map(row), ...last);
      box.querySelector(`button[data-state="${rest[0]}"]`)?.focus({ preventScroll: true });
      expanded?.();
    };
    box.append(button(`and ${number(rest.length, 0)} more`, expand, { class: "more" }));
  }
  box.append(...last);
  return box;
}

function stateRow(node, state, shares, { counts, before, errors, selected = null, select }) {
  const label = data.states[node][state];
  const share = shares ? shares[state] : 0;
  const bar = element("span", { class: "bar-back" });
  bar.style.setProperty("--share", share);
  if (before) bar.style.setProperty("--before", before[state]);
  const error = errors ? ` ± ${number(100 * errors[state], 1)}` : "";
  const name = element("bdi", {}, printable(label) || "(blank)");
  const parts = [
    element("span", { class: "state", title: label }, name),
    bar,
    element("span", { class: "share-text" }, (shares ? percent(share) : "") + error),
  ];
  if (counts) parts.push(element("span", { class: "cases" }, cases(counts[state])));
  const attributes = { class: "state-row", "data-state": state, "data-share": share };
  if (!select) return element("div", attributes, ...parts);
  const isSelected = selected === state;
  attributes["aria-pressed"] = String(isSelected);
  attributes.title = isSelected ? "Click to clear" : "Click to set this state";
  const made = button("", () => select(state), attributes);
  made.append(...parts);
  return made;
}

// The states with the largest shares; among equal ones, the first.
function largest(states, shares, limit) {
  const order = shares ? states.toSorted((a, b) => shares[b] - shares[a] || a - b) : states;
  return new Set(order.slice(0, limit));
}

// A bar for the cases in which a variable was not observed.
export function missingBar(count) {
  const share = count / data.cases;
  const bar = element("span", { class: "bar-back gap" });
  bar.style.setProperty("--share", share);
  return element(
    "div",
    { class: "state-row missing", "data-share": share },
    element("span", { class: "state" }, "missing"),
    bar,
    element("span", { class: "share-text" }, percent(share)),
    element("span", { class: "cases" }, cases(count)),
  );
}

// Mean and standard deviation in words.
export function moments({ mean, deviation, error }) {
  const margin = error === undefined ? "" : ` ± ${significant(error, 2)}`;
  return `mean ${significant(mean)}${margin}, standard deviation ${significant(deviation)}`;
}

const WIDTH = 240;
const HEIGHT = 74;
const FLOOR = 60; // of the columns
const COLUMN_HEIGHT = FLOOR - 6;

// The histogram of a variable. `normal` draws a normal density over it and `value` a line. With
// `given`, its distribution under evidence, the columns show that, and an outline shows the data.
// With `select`, columns can be clicked; it is called with the centre of the column.
export function histogram(node, { normal, value = null, given = null, select = null } = {}) {
  const { range, counts: observed, mean, deviation } = data.variables[node];
  const [low, high] = range;
  const total = observed.reduce((sum, count) => sum + count, 0);
  const counts = given
    ? binShares(given, range, observed.length).map((share) => share * total)
    : observed;
  const top = Math.max(...counts, ...(given ? observed : []), 1e-9);
  const label = `from ${significant(low)} to ${significant(high)}, ${moments(given ?? { mean, deviation })}`;
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    class: "histogram",
    role: "img",
    "aria-label": label,
  });
  const step = WIDTH / counts.length;
  const edge = (bin) => low + ((high - low) * bin) / counts.length;
  counts.forEach((count, bin) => {
    const height = (count / top) * COLUMN_HEIGHT;
    const box = { x: bin * step + 0.5, y: FLOOR - height, width: step - 1, height };
    const title = svg("title");
    const ends = `${significant(edge(bin))} to ${significant(edge(bin + 1))}`;
    title.textContent = given
      ? `${ends}: ${percent(count / total)}, without evidence ${percent(observed[bin] / total)}`
      : `${ends}: ${cases(count)} cases`;
    const area = { x: bin * step, y: 0, width: step, height: FLOOR };
    const touch = svg("rect", { class: select ? "touch action" : "touch", ...area }, title);
    if (select) touch.addEventListener("click", () => select((edge(bin) + edge(bin + 1)) / 2));
    picture.append(svg("rect", { class: "column", ...box }), touch);
  });
  const atX = (one) => (high > low ? ((one - low) / (high - low)) * WIDTH : WIDTH / 2);
  if (given) picture.append(outline(observed, top));
  if (normal && normal.deviation > 0) picture.append(density(normal, range, atX, counts));
  const line = value ?? (normal && normal.deviation === 0 ? normal.mean : null);
  if (line !== null) {
    const x = Math.min(WIDTH - 1, Math.max(1, atX(line)));
    picture.append(svg("path", { class: "value", d: `M${x} 0V${FLOOR}` }));
  }
  picture.append(
    svg("path", { class: "axis", d: `M0 ${FLOOR}H${WIDTH}` }),
    svg("text", { class: "tick", x: 0, y: HEIGHT - 2 }, significant(low)),
    svg("text", { class: "tick end", x: WIDTH, y: HEIGHT - 2 }, significant(high)),
  );
  return picture;
}

// The outline of a histogram.
function outline(counts, top) {
  const step = WIDTH / counts.length;
  const heights = counts.map((count) => (FLOOR - (count / top) * COLUMN_HEIGHT).toFixed(1));
  const steps = heights.map((height, bin) => `V${height}H${((bin + 1) * step).toFixed(1)}`);
  return svg("path", { class: "before", d: `M0 ${FLOOR}${steps.join("")}V${FLOOR}` });
}

const DENSITY_STEPS = 120;

// The curve has the same area as the columns, unless it would leave the picture.
function density({ mean, deviation }, [low, high], atX, counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const bin = (high - low) / counts.length || 1;
  const top = (total * bin) / (deviation * Math.sqrt(2 * Math.PI));
  const height = Math.min((top / Math.max(...counts, 1e-9)) * COLUMN_HEIGHT, FLOOR);
  const points = Array.from({ length: DENSITY_STEPS + 1 }, (_, i) => {
    const x = low + ((high - low) * i) / DENSITY_STEPS;
    const y = FLOOR - height * Math.exp(-(((x - mean) / deviation) ** 2) / 2);
    return `${atX(x).toFixed(1)} ${y.toFixed(1)}`;
  });
  return svg("path", { class: "density", d: `M${points.join("L")}` });
}
