// Line charts: axes with round numbers, a key, and the values under the pointer.

import { element, svg } from "./dom.js";
import { number } from "./format.js";

// About `count` round numbers within a range.
export function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    found.push(i * step + 0); // + 0 turns -0 into 0
  }
  return found;
}

function tickText(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(value) || 1;
  return number(value, Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9))));
}

// The range of some numbers, never empty, with a margin on both sides.
export function paddedRange(values, margin = 0.04) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const isFlat = high - low <= 1e-9 * Math.abs(high); // but for rounding errors
  const padding = (isFlat ? Math.abs(high) * 0.01 || 1 : high - low) * margin;
  return [low - padding, high + padding];
}

// Draw axes. Returns the picture, its plot area, and the scales of both axes.
export function drawFrame(place, { x, y, xLabel = "", yLabel = "", left = 64 }) {
  const width = Math.max(240, place.clientWidth);
  const height = Math.max(200, place.clientHeight);
  const area = { left, right: width - 12, top: 12, bottom: height - 40 };
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const atX = (value) => area.left + ((value - x[0]) / (x[1] - x[0])) * (area.right - area.left);
  const atY = (value) => area.bottom - ((value - y[0]) / (y[1] - y[0])) * (area.bottom - area.top);
  const text = (content, attributes) => picture.append(svg("text", attributes, content));
  const yTicks = ticks(...y, Math.max(2, Math.floor(height / 60)));
  for (const value of yTicks) {
    picture.append(svg("path", { class: "grid", d: `M${area.left} ${atY(value)}H${area.right}` }));
    text(tickText(value, yTicks), { class: "tick end", x: area.left - 6, y: atY(value) + 4 });
  }
  const xTicks = ticks(...x, Math.max(2, Math.floor(width / 110)));
  for (const value of xTicks) {
    text(tickText(value, xTicks), { class: "tick middle", x: atX(value), y: area.bottom + 16 });
  }
  picture.append(svg("path", { class: "axis", d: `M${area.left} ${area.bottom}H${area.right}` }));
  text(xLabel, { class: "label middle", x: (area.left + area.right) / 2, y: height - 4 });
  const turned = `translate(12 ${(area.top + area.bottom) / 2}) rotate(-90)`;
  text(yLabel, { class: "label middle", x: 0, y: 0, transform: turned });
  return { picture, area, atX, atY };
}

// Lines of text beside the pointer.
export class Tooltip {
  constructor(place) {
    this.place = place;
    this.box = element("div", { class: "tooltip", hidden: "" });
    place.append(this.box);
  }

  show(x, y, lines) {
    this.box.replaceChildren(...lines.map((line) => element("div", {}, line)));
    this.box.hidden = false;
    const rightmost = this.place.clientWidth - this.box.offsetWidth - 4;
    this.box.style.left = `${Math.max(0, Math.min(x + 12, rightmost))}px`;
    this.box.style.top = `${Math.max(0, y - this.box.offsetHeight - 8)}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}

// Draw series { name, style, x, y, isStepped, describe } and dashed levels { name, y }. describe(i)
// returns the lines of text for a point; select(i) is called for a click near a point of the first
// series.
export function lineChart(place, options) {
  const { series, levels = [], xLabel, yLabel, fromZero = false, select = null } = options;
  const [low, high] = paddedRange([...series.flatMap(({ y }) => y), ...levels.map(({ y }) => y)]);
  const xs = series.flatMap(({ x }) => x);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const { picture, area, atX, atY } = drawFrame(place, {
    x: first === last ? [first - 0.5, first + 0.5] : [first, last],
    y: [fromZero ? 0 : low, high],
    xLabel,
    yLabel,
    left: 78,
  });
  for (const one of series) picture.append(drawSeries(one, atX, atY));
  for (const { y } of levels) {
    const d = `M${area.left} ${atY(y)}H${area.right}`;
    picture.append(svg("path", { class: "line level", d }));
  }
  const marker = svg("circle", { class: "marker", r: 5, visibility: "hidden" });
  picture.append(marker);
  const styles = [
    ...series.map(({ name, style }) => [name, style]),
    ...levels.map(({ name }) => [name, "level"]),
  ];
  place.replaceChildren(key(styles), picture);
  listen(place, picture, marker, series, { atX, atY, select });
}

function drawSeries({ style, x, y, isStepped }, atX, atY) {
  if (x.length === 1) {
    return svg("circle", { class: `dot ${style}`, cx: atX(x[0]), cy: atY(y[0]), r: 4 });
  }
  const points = x.map((value, i) => {
    const corner = isStepped && i ? `${atX(value)} ${atY(y[i - 1])}L` : "";
    return `${corner}${atX(value)} ${atY(y[i])}`;
  });
  return svg("path", { class: `line ${style}`, d: `M${points.join("L")}` });
}

function key(styles) {
  const items = styles.map(([name, style]) => {
    const sample = svg("path", { class: `line ${style}`, d: "M1 4H25" });
    return element(
      "li",
      {},
      svg("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, sample),
      name,
    );
  });
  return element("ul", { class: "key" }, ...items);
}

function listen(place, picture, marker, series, { atX, atY, select }) {
  const [first] = series;
  const tooltip = new Tooltip(place);
  const nearest = (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    const distance = (i) => Math.abs(atX(first.x[i]) - at);
    return first.x.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
  };
  picture.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    const [cx, cy] = [atX(first.x[i]), atY(first.y[i])];
    for (const [name, value] of Object.entries({ cx, cy, visibility: "visible" })) {
      marker.setAttribute(name, value);
    }
    tooltip.show(
      cx,
      cy,
      series.flatMap(({ describe }) => describe(i)),
    );
  });
  picture.addEventListener("pointerleave", () => {
    tooltip.hide();
    marker.setAttribute("visibility", "hidden");
  });
  if (!select) return;
  picture.classList.add("action");
  picture.addEventListener("click", (event) => select(nearest(event)));
}
