// The table of optima: sorted by any column, filtered by edges, chosen by click or Enter.

import { byId, counted, element, number } from "./dom.js";
import { codes, parsed } from "./filter.js";
import { data, fileName } from "./model.js";
import { SortableTable } from "./sorting.js";

function tagged(entry) {
  const name = element("td", {}, String(entry.number));
  const tag = (text, title = text) => name.append(element("span", { class: "tag", title }, text));
  if (entry.hits === 0 && entry.origin !== "GES") tag(entry.origin.split(" ")[0], entry.origin);
  if (entry.index === data.ges) tag("GES");
  if (!entry.local) tag("not local", "A neighbour scores higher: no local optimum");
  return name;
}

const plain = (value, show) => ({ value, cell: (entry) => element("td", {}, show(entry)) });

const COLUMNS = [
  { label: "no.", title: "Number of the optimum", value: (o) => o.number, cell: tagged },
  { label: "score", title: "Score, natural logarithm", down: true, ...plain((o) => o.score, (o) => number(o.score, 2)) },
  { label: "hits", title: "Runs that ended here", down: true, ...plain((o) => o.hits, (o) => String(o.hits)) },
  { label: "first", title: "First run that ended here", ...plain((o) => o.first, (o) => String(o.first ?? "–")) },
  { label: "edges", title: "Number of edges", ...plain((o) => o.edges.length, (o) => String(o.edges.length)) },
  { label: "differs", title: "Pairs of variables that differ from the best (SHD)", ...plain((o) => o.shd, (o) => String(o.shd)) },
  { label: "origin", title: "Where it comes from", look: "text aside", value: (o) => o.origin, cell: (o) => element("td", { class: "text aside" }, o.origin) },
];

export class OptimaTable {
  constructor(choose, selected) {
    this.entries = data.optima.map((optimum, index) => ({ ...optimum, index }));
    const sortBy = { column: COLUMNS[1], down: true };
    this.table = new SortableTable(byId("optima"), COLUMNS, { choose, keyOf: (entry) => entry.index, sortBy });
    byId("subset").addEventListener("input", () => this.refresh());
    byId("edge-filter").addEventListener("input", () => this.refresh());
    byId("save-optima").addEventListener("click", () => this.table.save(fileName("optima", "csv")));
    this.refresh();
    this.table.select(selected);
  }

  select(index) {
    this.table.select(index);
    this.table.reveal();
  }

  refresh() {
    const wanted = parsed(byId("edge-filter").value);
    const shown = this.entries.filter((entry) => this.passes(entry, wanted));
    this.table.show(shown, this.entries);
    const all = this.entries.length;
    const count = shown.length === all ? counted(all, "model") : `${shown.length} of ${counted(all, "model")}`;
    byId("count").textContent = wanted?.unknown ? `No variable is called “${wanted.unknown}”.` : count;
  }

  passes(entry, wanted) {
    const subset = byId("subset").value;
    if (subset === "better" && entry.score <= data.optima[data.ges].score) return false;
    if (subset === "repeated" && entry.hits < 2) return false;
    if (wanted === null) return true;
    if (wanted.unknown !== undefined) return false;
    wanted.codes ??= codes(wanted);
    return entry.edges.some((code) => wanted.codes.has(code));
  }
}
