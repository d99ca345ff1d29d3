// A search while it runs: the best score over time, and the landscape as it fills up.

import { element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { LandscapeMap } from "../../show/report/template/landscape-map.js";
import { lineChart } from "../../show/report/template/line-chart.js";
import { get, part } from "./api.js";
import { rises } from "./job-text.js";

const PAUSE = 2500; // milliseconds between two looks at the result file
const WAIT = "The map of what was found is drawn every few seconds.";

export class LiveView {
  constructor() {
    this.lines = [];
    this.last = null;
    this.looked = 0;
    this.scores = element("div", { class: "chart" });
    this.map = element("div", { class: "chart" }, element("p", { class: "hint" }, WAIT));
    const figure = (title, chart) => element("figure", {}, element("h3", {}, title), chart);
    this.view = element(
      "div",
      { class: "live", hidden: "" },
      figure("Best score so far", this.scores),
      figure("Local optima found so far", this.map),
    );
  }

  add(lines, job) {
    if (!lines.length) return;
    this.lines.push(...lines);
    this.last = lines.at(-1);
    this.drawScores();
    if (job.state === "running" && Date.now() - this.looked > PAUSE) this.drawMap(job);
  }

  drawScores() {
    const points = rises(this.lines);
    if (!points.length) return;
    this.view.hidden = false;
    const series = {
      name: "best score",
      style: "",
      isStepped: true,
      x: points.map(({ seconds }) => seconds),
      y: points.map(({ best }) => best),
      describe: (i) => [`${number(points[i].best, 2)} after ${number(points[i].seconds, 1)} s`],
    };
    lineChart(this.scores, { series: [series], xLabel: "seconds", yLabel: "score (nats)" });
  }

  // The server reads the last checkpoint; there may be none yet.
  async drawMap(job) {
    this.looked = Date.now();
    let found;
    try {
      found = await get(`results/${part(job.out)}/landscape`);
    } catch {
      return;
    }
    if (!found.points.length || !this.map.isConnected) return;
    this.view.hidden = false;
    const describe = (i) => [
      `score ${number(found.optima[i].score, 2)}`,
      `hit by ${counted(found.optima[i].hits, "run")}`,
    ];
    const best = 0;
    new LandscapeMap(this.map, { ...found, best }, { describe, select: () => {} });
  }

  async finish(job) {
    this.map.querySelector(".hint")?.replaceChildren("Drawing the map…");
    if (this.last) await this.drawMap(job);
  }
}
