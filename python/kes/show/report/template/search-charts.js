// The charts about the search: landscape, scores of the runs, and coverage.

import { data, nameOf } from "./data.js";
import { byId } from "./dom.js";
import { counted, number } from "./format.js";
import { Landscape } from "./landscape.js";
import { lineChart } from "./line-chart.js";

export class SearchCharts {
  constructor(selectModel, selected) {
    this.selectModel = selectModel;
    this.selected = selected;
    this.draw();
    this.followWidth();
  }

  select(index) {
    this.selected = index;
    this.landscape.select(index);
  }

  draw() {
    drawScores(this.selectModel);
    drawAccumulation();
    drawBestSoFar();
    this.landscape = new Landscape(byId("landscape"), this.selectModel, this.selected);
  }

  followWidth() {
    const place = byId("scores");
    let width = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth === width) return;
      width = place.clientWidth;
      this.draw();
    }).observe(place);
  }
}

const gesLevel = () => ({ name: "GES", y: data.optima[data.ges].score });

function drawScores(selectModel) {
  const { ranks, runs, scores, optima } = data.charts.scores;
  const optimum = (i) => (optima[i] === null ? "an optimum not on this page" : nameOf(optima[i]));
  lineChart(byId("scores"), {
    xLabel: "runs, best first",
    yLabel: "score",
    levels: [gesLevel()],
    series: [
      {
        name: "runs",
        style: "main",
        x: ranks,
        y: scores,
        describe: (i) => [`run ${runs[i]}: ${optimum(i)}`, `score ${number(scores[i], 4)}`],
      },
    ],
    select: (i) => {
      if (optima[i] !== null) selectModel(optima[i]);
    },
  });
}

function drawAccumulation() {
  const { runs, models, levels } = data.charts.accumulation;
  lineChart(byId("accumulation"), {
    xLabel: "runs",
    yLabel: "found, on average",
    fromZero: true,
    series: [
      {
        name: "models",
        style: "main",
        x: runs,
        y: models,
        describe: (i) => [counted(runs[i], "run"), `${number(models[i], 1)} models`],
      },
      {
        name: "score levels",
        style: "dotted",
        x: runs,
        y: levels,
        describe: (i) => [`${number(levels[i], 1)} score levels`],
      },
    ],
  });
}

function drawBestSoFar() {
  const { runs, observed, expected } = data.charts.best;
  lineChart(byId("best-so-far"), {
    xLabel: "runs",
    yLabel: "best score so far",
    levels: [gesLevel()],
    series: [
      {
        name: "these runs, in order",
        style: "main",
        isStepped: true,
        x: runs,
        y: observed,
        describe: (i) => [counted(runs[i], "run"), `best ${number(observed[i], 4)}`],
      },
      {
        name: "average over all orders",
        style: "dotted",
        x: runs,
        y: expected,
        describe: (i) => [`${number(expected[i], 4)} on average`],
      },
    ],
  });
}
