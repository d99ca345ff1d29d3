// The map of the optima of the report.

import { data, titleOf } from "./data.js";
import { counted, number } from "./format.js";
import { LandscapeMap } from "./landscape-map.js";

export class Landscape extends LandscapeMap {
  constructor(place, selectModel, selected) {
    const { optima, runs, best, ges, charts } = data;
    const found = { points: charts.landscape, optima, runs, best, ges };
    super(place, found, { describe, select: selectModel });
    this.select(selected);
  }
}

function describe(index) {
  const { score, hits, edges, origin, shd } = data.optima[index];
  return [
    titleOf(index),
    origin,
    `score ${number(score, 4)}`,
    `hit by ${hits} of ${counted(data.runs, "run")}`,
    `${counted(edges.length, "edge")}, ${shd} differ from the best`,
  ];
}
