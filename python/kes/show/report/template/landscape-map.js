// A map of optima: position by distance, size by hits, colour by score.

import { element, svg } from "./dom.js";
import { number } from "./format.js";
import { drawFrame, paddedRange, Tooltip } from "./line-chart.js";

const MAX_RADIUS = 30; // of a dot in which all runs end: one scale for all reports
const MIN_RADIUS = 3.2;
const STAR =
  "M0 -10L2.6 -3.4L9.5 -3.1L4.2 1.3L5.9 8.1L0 4.3L-5.9 8.1L-4.2 1.3L-9.5 -3.1L-2.6 -3.4Z";
const DIAMOND = "M0 -8L8 0L0 8L-8 0Z";

// The colour map viridis, from dark to bright, at equal steps.
const COLOURS = [
  [0x44, 0x01, 0x54],
  [0x48, 0x28, 0x78],
  [0x3e, 0x49, 0x89],
  [0x31, 0x68, 0x8e],
  [0x26, 0x82, 0x8e],
  [0x1f, 0x9e, 0x89],
  [0x35, 0xb7, 0x79],
  [0x6e, 0xce, 0x58],
  [0xb5, 0xde, 0x2b],
  [0xfd, 0xe7, 0x25],
];

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1);
  const index = Math.min(Math.floor(at), COLOURS.length - 2);
  const [from, to] = [COLOURS[index], COLOURS[index + 1]];
  return `rgb(${from.map((part, i) => Math.round(part + (at - index) * (to[i] - part))).join(" ")})`;
}

function radius(hits, runs) {
  return Math.max(MIN_RADIUS, MAX_RADIUS * Math.sqrt(hits / Math.max(1, runs)));
}

// The range of scores that the colours cover. Without the lowest 5 %, which would make the others
// look alike.
function scoreRange(optima) {
  const sorted = optima.map(({ score }) => score).sort((a, b) => a - b);
  return [sorted[Math.floor(0.05 * (sorted.length - 1))], sorted.at(-1)];
}

// `found` has the `points` and `optima` ({ score, hits }), the places of the `best` and of `ges`, and
// the number of `runs`; describe(index) returns lines of text, select(index) is called for a click.
export class LandscapeMap {
  constructor(place, found, { describe, select }) {
    const { points, optima, runs, best, ges } = found;
    const [low, high] = scoreRange(optima);
    const frame = equalScales(place, points);
    const xLabel = "distance in edges (SHD), projected";
    const { picture, atX, atY } = drawFrame(place, { ...frame, xLabel, left: 44 });
    this.at = (index) => [atX(points[index][0]), atY(points[index][1])];
    const byHits = optima
      .map((_, index) => index)
      .sort((a, b) => optima[b].hits - optima[a].hits || a - b);
    // Small dots are drawn last, in front of large ones.
    for (const index of byHits) {
      const { hits, score } = optima[index];
      const [cx, cy] = this.at(index).map((value) => value.toFixed(1));
      const fill = colour(high > low ? (score - low) / (high - low) : 1);
      const dot = { class: "optimum", "data-index": index, cx, cy, fill };
      picture.append(svg("circle", { ...dot, r: radius(hits, runs).toFixed(1) }));
    }
    this.ring = svg("circle", { class: "ring", r: 13 });
    picture.append(this.mark("ges", ges, DIAMOND), this.mark("best", best, STAR), this.ring);
    const tooltip = this.listen(place, picture, describe, select);
    place.replaceChildren(legend(low, high), picture, tooltip.box);
    this.select(best);
  }

  mark(name, index, path) {
    const [x, y] = this.at(index).map((value) => value.toFixed(1));
    const transform = `translate(${x} ${y})`;
    return svg("path", { class: `mark ${name}`, "data-index": index, d: path, transform });
  }

  listen(place, picture, describe, select) {
    const tooltip = new Tooltip(place);
    picture.addEventListener("pointerover", ({ target }) => {
      const index = target.dataset?.index;
      if (index === undefined) tooltip.hide();
      else tooltip.show(...this.at(Number(index)), describe(Number(index)));
    });
    picture.addEventListener("pointerleave", () => tooltip.hide());
    picture.addEventListener("click", ({ target }) => {
      const index = target.dataset?.index;
      if (index !== undefined) select(Number(index));
    });
    return tooltip;
  }

  select(index) {
    const [cx, cy] = this.at(index);
    this.ring.setAttribute("cx", cx.toFixed(1));
    this.ring.setAttribute("cy", cy.toFixed(1));
  }
}

// Ranges of both axes in which a unit has the same length on the screen.
function equalScales(place, points) {
  const width = Math.max(240, place.clientWidth) - 56;
  const height = Math.max(200, place.clientHeight) - 52;
  const [x, y] = [0, 1].map((axis) =>
    paddedRange(
      points.map((point) => point[axis]),
      0.08,
    ),
  );
  const unit = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
  const around = ([low, high], pixels) => [
    (low + high - unit * pixels) / 2,
    (low + high + unit * pixels) / 2,
  ];
  return { x: around(x, width), y: around(y, height) };
}

function legend(low, high) {
  const sample = (name, path) => {
    const mark = svg("path", { class: `mark ${name}`, d: path });
    return svg("svg", { viewBox: "-11 -11 22 22", "aria-hidden": "true" }, mark);
  };
  const scale = element("span", { class: "scale" });
  return element(
    "ul",
    { class: "key" },
    element("li", {}, sample("best", STAR), "best"),
    element("li", {}, sample("ges", DIAMOND), "GES"),
    element("li", {}, `score ${number(low, 1)} `, scale, ` ${number(high, 1)}`),
  );
}
