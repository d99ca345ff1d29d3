// Charts of lines: axes with round numbers, a key, and the values under the pointer.

import { element, number, svg } from "./dom.js";

// Round numbers within a range, about so many.
export function ticks(least, most, count) {
  const raw = (most - least) / Math.max(1, count);
  if (!(raw > 0)) return [least];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + 1e-9 * step; i += 1) found.push(i * step + 0); // no negative zero
  return found;
}

function tickText(value, all) {
  const step = all.length > 1 ? Math.abs(all[1] - all[0]) : Math.abs(value) || 1;
  return number(value, Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9))));
}

// The range of some numbers, never empty, with a little room around.
export function range(values, room = 0.04) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isFlat = most - least <= 1e-9 * Math.abs(most); // but for rounding
  const extra = (isFlat ? Math.abs(most) * 0.01 || 1 : most - least) * room;
  return [least - extra, most + extra];
}

// The frame of a chart: returns the drawing, and the places of numbers on it.
export function frame(place, { x, y, xLabel = "", yLabel = "", left = 64 }) {
  const width = Math.max(240, place.clientWidth);
  const height = Math.max(200, place.clientHeight);
  const area = { left, right: width - 12, top: 12, bottom: height - 40 };
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  const atX = (value) => area.left + ((value - x[0]) / (x[1] - x[0])) * (area.right - area.left);
  const atY = (value) => area.bottom - ((value - y[0]) / (y[1] - y[0])) * (area.bottom - area.top);
  const text = (words, at, look) => {
    const made = svg("text", { ...at, class: look });
    made.textContent = words;
    picture.append(made);
  };
  const across = ticks(...y, Math.max(2, Math.floor(height / 60)));
  for (const value of across) {
    picture.append(svg("path", { class: "grid", d: `M${area.left} ${atY(value)}H${area.right}` }));
    text(tickText(value, across), { x: area.left - 6, y: atY(value) + 4 }, "tick end");
  }
  const along = ticks(...x, Math.max(2, Math.floor(width / 110)));
  for (const value of along) text(tickText(value, along), { x: atX(value), y: area.bottom + 16 }, "tick middle");
  picture.append(svg("path", { class: "axis", d: `M${area.left} ${area.bottom}H${area.right}` }));
  text(xLabel, { x: (area.left + area.right) / 2, y: height - 4 }, "label middle");
  text(yLabel, { x: 0, y: 0, transform: `translate(12 ${(area.top + area.bottom) / 2}) rotate(-90)` }, "label middle");
  return { picture, area, atX, atY };
}

// Words beside the pointer.
export class Tip {
  constructor(place) {
    this.place = place;
    this.box = element("div", { class: "tip", hidden: "" });
    place.append(this.box);
  }

  show(x, y, lines) {
    this.box.replaceChildren(...lines.map((line) => element("div", {}, line)));
    this.box.hidden = false;
    const most = this.place.clientWidth - this.box.offsetWidth - 4;
    this.box.style.left = `${Math.max(0, Math.min(x + 12, most))}px`;
    this.box.style.top = `${Math.max(0, y - this.box.offsetHeight - 8)}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}

// Series are { name, look, x, y, steps, told }; `told(i)` gives the words for a point, `choose(i)` acts on
// a click on the first series. Levels are dashed lines { name, y }.
export function lineChart(place, { series, levels = [], xLabel, yLabel, fromZero = false, choose = null }) {
  const every = [...series.flatMap(({ y }) => y), ...levels.map(({ y }) => y)];
  const [low, high] = range(every);
  const xs = series.flatMap(({ x }) => x);
  const ends = [Math.min(...xs), Math.max(...xs)];
  const { picture, area, atX, atY } = frame(place, {
    x: ends[0] === ends[1] ? [ends[0] - 0.5, ends[0] + 0.5] : ends,
    y: fromZero ? [0, high] : [low, high], xLabel, yLabel, left: 78,
  });
  const looks = [];
  for (const { name, look, x, y, steps } of series) {
    const points = x.map((value, i) => (steps && i ? `${atX(value)} ${atY(y[i - 1])}L` : "") + `${atX(value)} ${atY(y[i])}`);
    picture.append(x.length > 1
      ? svg("path", { class: `line ${look}`, d: `M${points.join("L")}` })
      : svg("circle", { class: `dot ${look}`, cx: atX(x[0]), cy: atY(y[0]), r: 4 }));
    looks.push([name, look]);
  }
  for (const { name, y } of levels) {
    picture.append(svg("path", { class: "line level", d: `M${area.left} ${atY(y)}H${area.right}` }));
    looks.push([name, "level"]);
  }
  const marker = svg("circle", { class: "marker", r: 5, visibility: "hidden" });
  picture.append(marker);
  place.replaceChildren(key(looks), picture);
  listen(place, picture, marker, series, { atX, atY, choose });
}

function key(looks) {
  return element("ul", { class: "key" }, ...looks.map(([name, look]) =>
    element("li", {}, svg("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, svg("path", { class: `line ${look}`, d: "M1 4H25" })), name)));
}

function listen(place, picture, marker, [first, ...others], { atX, atY, choose }) {
  const tip = new Tip(place);
  const nearest = (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    let best = 0;
    first.x.forEach((value, i) => { if (Math.abs(atX(value) - at) < Math.abs(atX(first.x[best]) - at)) best = i; });
    return best;
  };
  picture.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    const [x, y] = [atX(first.x[i]), atY(first.y[i])];
    for (const [name, value] of Object.entries({ cx: x, cy: y, visibility: "visible" })) marker.setAttribute(name, value);
    tip.show(x, y + picture.offsetTop || y, [...first.told(i), ...others.flatMap((one) => one.told?.(i) ?? [])]);
  });
  picture.addEventListener("pointerleave", () => {
    tip.hide();
    marker.setAttribute("visibility", "hidden");
  });
  if (choose) {
    picture.classList.add("act");
    picture.addEventListener("click", (event) => choose(nearest(event)));
  }
}
