// Small pictures of a variable: bars for states, a histogram for numbers.

import { button, cases, element, number, percent, printable, short, svg } from "./dom.js";
import { data } from "./model.js";

const SIZE = { width: 240, height: 74, floor: 60 };

// A bar for each state. With `act` they are buttons that call it with the state. Of more states than `most`, only
// those with the largest shares are shown, in their order, until somebody wants all; `open` is called then.
export function stateBars(node, shares, { counts = null, missing = null, before = null, errors = null, chosen = null, act = null, most = Infinity, open = null } = {}) {
  const row = (state) => {
    const label = data.states[node][state];
    const share = shares ? shares[state] : 0;
    const bar = element("span", { class: "bar-back" });
    bar.style.setProperty("--share", share);
    if (before) bar.style.setProperty("--before", before[state]);
    const parts = [
      element("span", { class: "state", title: label }, element("bdi", {}, printable(label) || "(blank)")),
      bar,
      element("span", { class: "share-text" }, (shares ? percent(share) : "") + (errors ? ` ± ${number(100 * errors[state], 1)}` : "")),
    ];
    if (counts) parts.push(element("span", { class: "cases" }, cases(counts[state])));
    const attributes = { class: "state-row", "data-state": state, "data-share": share };
    if (!act) return element("div", attributes, ...parts);
    const title = chosen === state ? "Click to forget it" : "Click to set this state";
    const made = button("", () => act(state), { ...attributes, "aria-pressed": String(chosen === state), title });
    made.append(...parts);
    return made;
  };
  const states = data.states[node].map((_, state) => state);
  const large = largest(states, shares, most);
  const [first, rest] = [true, false].map((is) => states.filter((state) => (large.has(state) || state === chosen) === is));
  const box = element("div", { class: `bars${counts ? " with-cases" : ""}${before ? " with-before" : ""}` }, ...first.map(row));
  const gap = missing ? [missingBar(missing)] : [];
  if (rest.length) {
    box.append(button(`and ${number(rest.length, 0)} more`, () => {
      box.replaceChildren(...states.map(row), ...gap);
      box.querySelector(`button[data-state="${rest[0]}"]`)?.focus({ preventScroll: true });
      open?.();
    }, { class: "more" }));
  }
  box.append(...gap);
  return box;
}

// The states with the largest shares; of equal ones, the first.
function largest(states, shares, most) {
  const order = shares ? states.toSorted((a, b) => shares[b] - shares[a] || a - b) : states;
  return new Set(order.slice(0, most));
}

// A bar for the cases in which a variable was not observed.
export function missingBar(count) {
  const share = count / data.cases;
  const bar = element("span", { class: "bar-back gap" });
  bar.style.setProperty("--share", share);
  return element("div", { class: "state-row missing", "data-share": share }, element("span", { class: "state" }, "missing"), bar,
    element("span", { class: "share-text" }, percent(share)), element("span", { class: "cases" }, cases(count)));
}

// A histogram; `normal` draws a density over it, and `value` a line. With `act`, a click on a bar calls
// it with the middle of the bar.
export function histogram(node, { normal = null, value = null, act = null } = {}) {
  const { range: [least, most], counts, mean, deviation } = data.variables[node];
  const { width, height, floor } = SIZE;
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img",
    "aria-label": `from ${short(least)} to ${short(most)}, mean ${short(mean)}, deviation ${short(deviation)}`,
  });
  const top = Math.max(...counts);
  const step = width / counts.length;
  counts.forEach((count, bin) => {
    const tall = top > 0 ? (count / top) * (floor - 6) : 0;
    const bar = svg("rect", { class: "column", x: bin * step + 0.5, y: floor - tall, width: step - 1, height: tall });
    const from = least + ((most - least) * bin) / counts.length;
    const to = least + ((most - least) * (bin + 1)) / counts.length;
    const title = svg("title");
    title.textContent = `${short(from)} to ${short(to)}: ${cases(count)} cases`;
    const touch = svg("rect", { class: act ? "touch act" : "touch", x: bin * step, y: 0, width: step, height: floor });
    touch.append(title);
    if (act) touch.addEventListener("click", () => act((from + to) / 2));
    picture.append(bar, touch);
  });
  const place = (number) => (most > least ? ((number - least) / (most - least)) * width : width / 2);
  if (normal && normal.deviation > 0) picture.append(density(normal, least, most, place, counts, top));
  const line = value ?? (normal && normal.deviation === 0 ? normal.mean : null);
  if (line !== null) {
    const x = Math.min(width - 1, Math.max(1, place(line)));
    picture.append(svg("path", { class: "value", d: `M${x} 0V${floor}` }));
  }
  const left = svg("text", { class: "tick", x: 0, y: height - 2 });
  const right = svg("text", { class: "tick end", x: width, y: height - 2 });
  [left.textContent, right.textContent] = [short(least), short(most)];
  picture.append(svg("path", { class: "axis", d: `M0 ${floor}H${width}` }), left, right);
  return picture;
}

// The curve has the area of the bars, unless it would leave the picture.
function density({ mean, deviation }, least, most, place, counts, top) {
  const { floor } = SIZE;
  const all = counts.reduce((sum, count) => sum + count, 0);
  const bin = (most - least) / counts.length || 1;
  const peak = (all * bin) / (deviation * Math.sqrt(2 * Math.PI)) / Math.max(top, 1e-9);
  const scale = Math.min(peak, floor / (floor - 6)) * (floor - 6);
  const points = [];
  for (let i = 0; i <= 120; i += 1) {
    const at = least + ((most - least) * i) / 120;
    points.push(`${place(at).toFixed(1)} ${(floor - scale * Math.exp(-(((at - mean) / deviation) ** 2) / 2)).toFixed(1)}`);
  }
  return svg("path", { class: "density", d: `M${points.join("L")}` });
}
