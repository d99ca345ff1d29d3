// The map of the optima: place by distance, size by hits, colour by score.

import { Tip, frame, range } from "./chart.js";
import { counted, element, number, svg } from "./dom.js";
import { data, titleOf } from "./model.js";

const LARGEST = 30; // radius of a dot in which all runs end: one scale for all reports
const SMALLEST = 3.2;

// Viridis, from dark to bright, at equal steps.
const COLOURS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const low = Math.min(Math.floor(at), COLOURS.length - 2);
  const parts = [COLOURS[low], COLOURS[low + 1]].map((code) => [1, 3, 5].map((i) => parseInt(code.slice(i, i + 2), 16)));
  return `rgb(${parts[0].map((part, i) => Math.round(part + (at - low) * (parts[1][i] - part))).join(" ")})`;
}

export function radius(hits) {
  return Math.max(SMALLEST, LARGEST * Math.sqrt(hits / data.runs));
}

// The lowest scores of all would make the others look alike.
function lowest(scores) {
  const sorted = [...scores].sort((a, b) => a - b);
  return sorted[Math.floor(0.05 * (sorted.length - 1))];
}

export class Landscape {
  constructor(place, choose, selected) {
    this.place = place;
    this.selected = selected;
    const points = data.charts.landscape;
    const scores = data.optima.map(({ score }) => score);
    const [low, high] = [lowest(scores), Math.max(...scores)];
    const { x, y } = this.square(points);
    const { picture, atX, atY } = frame(place, { x, y, xLabel: "distance in edges (SHD), projected", left: 44 });
    const tip = new Tip(place);
    const order = data.optima.map((_, index) => index).sort((a, b) => data.optima[b].hits - data.optima[a].hits || a - b);
    for (const index of order) { // small ones in front of large ones
      const dot = svg("circle", {
        class: "optimum", "data-index": index, cx: atX(points[index][0]).toFixed(1), cy: atY(points[index][1]).toFixed(1),
        r: radius(data.optima[index].hits).toFixed(1), fill: colour(high > low ? (scores[index] - low) / (high - low) : 1),
      });
      picture.append(dot);
    }
    const at = (index) => points[index].map((value, axis) => [atX, atY][axis](value));
    this.at = at;
    picture.append(mark("ges", at(data.ges), "M0 -8L8 0L0 8L-8 0Z"), mark("best", at(data.best), STAR));
    this.ring = svg("circle", { class: "ring", r: 13 });
    picture.append(this.ring);
    picture.addEventListener("pointerover", (event) => {
      const index = event.target.dataset?.index;
      if (index === undefined) return tip.hide();
      const [cx, cy] = at(Number(index));
      return tip.show(cx, cy, told(Number(index)));
    });
    picture.addEventListener("pointerleave", () => tip.hide());
    picture.addEventListener("click", (event) => {
      const index = event.target.dataset?.index;
      if (index !== undefined) choose(Number(index));
    });
    place.replaceChildren(legend(low, high), picture, tip.box);
    this.select(selected);
  }

  // Equal distances in both directions.
  square(points) {
    const [width, height] = [Math.max(240, this.place.clientWidth) - 56, Math.max(200, this.place.clientHeight) - 52];
    const [x, y] = [0, 1].map((axis) => range(points.map((point) => point[axis]), 0.08));
    const unit = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
    const around = ([least, most], pixels) => [(least + most - unit * pixels) / 2, (least + most + unit * pixels) / 2];
    return { x: around(x, width), y: around(y, height) };
  }

  select(index) {
    this.selected = index;
    const [x, y] = this.at(index);
    this.ring.setAttribute("cx", x.toFixed(1));
    this.ring.setAttribute("cy", y.toFixed(1));
  }
}

const STAR = "M0 -10L2.6 -3.4L9.5 -3.1L4.2 1.3L5.9 8.1L0 4.3L-5.9 8.1L-4.2 1.3L-9.5 -3.1L-2.6 -3.4Z";

function mark(name, [x, y], path) {
  const index = name === "ges" ? data.ges : data.best;
  return svg("path", { class: `mark ${name}`, "data-index": index, d: path, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
}

function told(index) {
  const { score, hits, edges, origin, shd } = data.optima[index];
  return [
    titleOf(index), origin, `score ${number(score, 4)}`, `hit by ${hits} of ${counted(data.runs, "run")}`,
    `${counted(edges.length, "edge")}, ${shd} differ from the best`,
  ];
}

function legend(low, high) {
  const sign = (look, path) => svg("svg", { viewBox: "-11 -11 22 22", "aria-hidden": "true" }, svg("path", { class: `mark ${look}`, d: path }));
  const scale = element("li", {}, `score ${number(low, 1)} `, element("span", { class: "scale" }), ` ${number(high, 1)}`);
  return element("ul", { class: "key" }, element("li", {}, sign("best", STAR), "best"),
    element("li", {}, sign("ges", "M0 -8L8 0L0 8L-8 0Z"), "GES"), scale);
}
