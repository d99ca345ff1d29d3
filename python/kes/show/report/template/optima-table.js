// The table of optima: sorted by any column, filtered by edges, selected by click or Enter.

import { data, fileName } from "./data.js";
import { byId, element, on } from "./dom.js";
import { matchingCodes, parseFilter } from "./edge-filter.js";
import { foundText, number } from "./format.js";
import { MOST_ROWS, SortableTable } from "./sortable-table.js";

function numberCell(entry) {
  const cell = element("td", {}, String(entry.number));
  const tag = (text, title = text) => {
    cell.append(element("span", { class: "tag", title }, text));
  };
  if (entry.hits === 0 && entry.origin !== "GES") tag(entry.origin.split(" ")[0], entry.origin);
  if (entry.index === data.ges) tag("GES");
  if (!entry.local) tag("not local", "Not a local optimum: a neighbour scores higher");
  return cell;
}

const column = (label, title, value, text = (entry) => String(value(entry))) => ({
  label,
  title,
  value,
  cell: (entry) => element("td", {}, text(entry)),
});

const SCORE = {
  ...column(
    "score",
    "Score, natural logarithm",
    (o) => o.score,
    (o) => number(o.score, 2),
  ),
  down: true,
};

const COLUMNS = [
  { label: "no.", title: "Number of the optimum", value: (o) => o.number, cell: numberCell },
  SCORE,
  { ...column("hits", "Runs that ended here", (o) => o.hits), down: true },
  column(
    "first",
    "First run that ended here",
    (o) => o.first,
    (o) => String(o.first ?? "–"),
  ),
  column("edges", "Number of edges", (o) => o.edges.length),
  column("differs", "Pairs of variables that differ from the best (SHD)", (o) => o.shd),
  {
    label: "origin",
    title: "Where it comes from",
    look: "text aside",
    value: (o) => o.origin,
    cell: (o) => element("td", { class: "text aside" }, o.origin),
  },
];

const SUBSETS = {
  all: () => true,
  better: (entry) => entry.better,
  repeated: (entry) => entry.hits > 1,
};

export class OptimaTable {
  constructor(selectModel, selected) {
    this.entries = data.optima.map((optimum, index) => ({ ...optimum, index }));
    this.table = new SortableTable(byId("optima"), COLUMNS, {
      select: selectModel,
      keyOf: (entry) => entry.index,
      sortBy: { column: SCORE, down: true },
    });
    on("subset", "input", () => this.filter());
    on("edge-filter", "input", () => this.filter());
    on("save-optima", "click", () => this.table.save(fileName("optima", "csv")));
    this.filter();
    this.table.select(selected);
  }

  select(index) {
    this.table.select(index);
    this.table.reveal();
  }

  filter() {
    const wanted = parseFilter(byId("edge-filter").value);
    const codes = wanted?.ends ? matchingCodes(wanted) : new Set();
    const hasEdge = (entry) => !wanted || entry.edges.some((code) => codes.has(code));
    const isInSubset = SUBSETS[byId("subset").value];
    const shown = this.entries.filter((entry) => isInSubset(entry) && hasEdge(entry));
    this.table.show(shown, this.entries);
    byId("count").textContent = wanted?.unknown
      ? `No variable matches “${wanted.unknown}”.`
      : foundText(shown.length, this.entries.length, "model", MOST_ROWS);
  }
}
