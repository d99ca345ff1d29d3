// The table of the edges that are drawn, with everything that is known about how certain they are.

import { edgeTerms, withInterval } from "./coefficients.js";
import { data, fileName, isContinuous, nameOf, supportKinds } from "./data.js";
import { bdi, byId, element, on } from "./dom.js";
import {
  evidenceOf,
  probabilityOf,
  replacementOf,
  statusOf,
  verdictOf,
  worthOf,
} from "./edge-description.js";
import { matchingCodes, parseFilter } from "./edge-filter.js";
import { counted, foundText, number, percent } from "./format.js";
import { directionNats, edgeText, ends, isClear } from "./graphs.js";
import { MOST_ROWS, SortableTable } from "./sortable-table.js";
import { singleModel } from "./state.js";
import { strengthText } from "./strength.js";

const CHANGES = {
  removed: "only in the first",
  added: "only in the second",
  turned: "direction differs",
  same: "in both",
};

export class EdgeTable {
  // `toggle` is called with the pair of a row that the reader selects.
  constructor(toggle) {
    this.toggle = toggle;
    this.view = null;
    on("weakest", "click", () => this.sortByStrength(false));
    on("strongest", "click", () => this.sortByStrength(true));
    on("edges-of", "input", () => this.filter());
    on("save-edges", "click", () => {
      const contents = this.view === "optimum" ? "edges" : `edges-${this.view}`;
      this.table.save(fileName(contents, "csv"));
    });
  }

  // Show the edges of a view of the network.
  show(state, edges) {
    const view = state.view === "overview" ? "optimum" : state.view;
    const model = singleModel();
    this.rows = edges
      .filter((edge) => edge.change !== "same")
      .map((edge) => ({ ...edge, model, strength: state.strength }));
    if (view !== this.view) this.rebuild(view);
    this.table.forget();
    this.filter();
    this.table.select(state.pair);
    const isDifference = view === "difference";
    const summary = isDifference
      ? summariseDifference(state, this.rows)
      : summarise(this.rows, model);
    byId("edges-summary").textContent = summary;
    byId("evidence-note").textContent = isDifference ? "" : evidenceNote();
  }

  // Apply the filter: the edges of a variable, or between two.
  filter() {
    const wanted = parseFilter(byId("edges-of").value);
    const codes = wanted?.ends ? matchingCodes(wanted) : new Set();
    const shown = this.rows.filter(({ pair, status }) => !wanted || codes.has(3 * pair + status));
    this.table.show(shown, this.rows);
    byId("edges-count").textContent = filterStatus(wanted, shown.length, this.rows.length);
  }

  rebuild(view) {
    this.view = view;
    this.columns = columnsOf(view);
    const label = "Edges; arrow keys move, Enter selects";
    const head = element("thead", {}, element("tr"));
    const table = element("table", { "aria-label": label }, head, element("tbody"));
    byId("edges").replaceChildren(
      element("p", { id: "edge-description", "aria-live": "polite" }),
      element("div", { class: "wide" }, table),
    );
    const labels = this.columns.map((column) => column.label);
    for (const term of document.querySelectorAll("#certainty .terms [data-column]")) {
      term.hidden = !labels.includes(term.dataset.column);
    }
    this.table = new SortableTable(table, this.columns, {
      select: this.toggle,
      keyOf: (edge) => edge.pair,
      sortBy: { column: this.strengthColumn(), down: true },
    });
  }

  // The column that tells most about how certain an edge is.
  strengthColumn() {
    const labels = [
      "evidence",
      "worth",
      data.support_labels.resampling,
      data.support_labels.search,
    ];
    return labels
      .map((label) => this.columns.find((column) => column.label === label))
      .find((column) => column);
  }

  sortByStrength(down) {
    this.table.sort({ column: this.strengthColumn(), down });
    this.table.table.parentElement.scrollTop = 0;
  }

  select(pair) {
    this.table.select(pair);
    this.table.reveal();
  }
}

function filterStatus(wanted, shown, all) {
  if (wanted?.unknown) return `No variable matches “${wanted.unknown}”.`;
  const text = foundText(shown, all, "edge", MOST_ROWS);
  if (wanted) return text;
  return all > MOST_ROWS ? `${text}; type a variable for its edges.` : "";
}

// --- columns ---

function columnsOf(view) {
  const isSingle = view === "optimum";
  const hasCoefficients = data.names.some((_, node) => isContinuous(node));
  const columns = [EDGE, view === "consensus" ? CONSENSUS_DIRECTION : DIRECTION];
  if (view === "difference") columns.unshift(CHANGE);
  if (data.evidence_quantity) columns.push(PROBABILITY);
  if (data.evidence) columns.push(EVIDENCE);
  if (data.worth && isSingle) columns.push(WORTH);
  if (hasCoefficients && isSingle) columns.push(COEFFICIENT);
  // The most informative edges come first.
  return [...columns, ...supportKinds.toReversed().map(supportColumn)];
}

function textColumn(label, title, value, look = "text") {
  return {
    label,
    title,
    look,
    value,
    cell: (edge) => element("td", { class: look }, value(edge)),
  };
}

const EDGE = {
  label: "edge",
  title: "The two variables",
  look: "text",
  value: edgeText,
  cell: (edge) => {
    const [from, to] = ends(edge);
    const mark = edge.status === 0 ? " – " : " → ";
    const cell = element("td", { class: "text" }, bdi(data.names[from]), mark, bdi(data.names[to]));
    if (replacementOf(edge) !== null) {
      const title = `looks weak only because other edges can take its place: ${replacementOf(edge)}`;
      cell.append(element("span", { class: "tag", title }, "replaceable"));
    } else if (isDoubtful(edge)) {
      const title = `evidence: ${data.verdicts[verdictOf(edge)]}`;
      cell.append(element("span", { class: "tag", title }, verdictOf(edge)));
    }
    return cell;
  },
};

const isDoubtful = (edge) => ["doubtful", "unlikely"].includes(verdictOf(edge));

const BOUNDS = { "upper bound": "≤ ", "lower bound": "≥ " };

const CHANGE = textColumn("change", "From the first to the second", (edge) => CHANGES[edge.change]);

const DIRECTION = textColumn(
  "direction",
  "Whether the direction is reliable",
  (edge) => {
    if (edge.status === 0) return "open";
    if (edge.decided) return "by exogenous";
    if (edge.known) return "by knowledge";
    const nats = directionNats(edge);
    const margin = nats === null ? "" : `, ${number(nats, 1)} nats`;
    return (isClear(edge) ? "clear" : "uncertain") + margin;
  },
  "text aside",
);

const CONSENSUS_DIRECTION = textColumn(
  "direction",
  "Support of the direction, or evidence for it",
  ({ pair, status, strength }) =>
    status === 0 ? "not clear" : strengthText(strength, data.supports[strength][pair][2]),
  "text aside",
);

const EVIDENCE = {
  label: "evidence",
  title: "Nats by which the best network with the edge beats the best one without it",
  down: true,
  value: evidenceOf,
  cell: (edge) => {
    const cell = natsCell(evidenceOf(edge), isDoubtful(edge));
    if (cell.textContent) cell.prepend(BOUNDS[statusOf(edge)] ?? "");
    cell.title = verdictOf(edge) === "required" ? "required by knowledge" : statusOf(edge);
    return cell;
  },
};

const PROBABILITY = {
  label: data.evidence_quantity,
  title: "Share of all networks with the edge, weighted by exp(score)",
  down: true,
  value: probabilityOf,
  cell: (edge) => {
    const share = probabilityOf(edge);
    return share === null ? element("td", {}, "") : shareCell(share);
  },
};

const WORTH = {
  label: "worth",
  title: "Loss of score if this edge alone is removed",
  down: true,
  value: (edge) => worthOf(edge, edge.model),
  cell: (edge) => natsCell(worthOf(edge, edge.model), false),
};

const COEFFICIENT = textColumn(
  "coefficient",
  "Estimate and 95 % interval; for a discrete child, of log-odds",
  ({ model, pair }) => {
    const terms = edgeTerms(model, pair)?.terms;
    if (!terms) return "";
    return terms.length === 1 ? withInterval(terms[0]) : `${terms.length} coefficients`;
  },
  "",
);

function supportColumn(kind) {
  const share = (edge) => data.supports[kind][edge.pair][0];
  const label = data.support_labels[kind];
  return {
    label,
    title: `Share with the edge: ${label}`,
    down: true,
    value: share,
    cell: (edge) => shareCell(share(edge)),
  };
}

function natsCell(nats, isWeak) {
  return element("td", isWeak ? { class: "weak" } : {}, nats === null ? "" : number(nats, 1));
}

function shareCell(share) {
  const cell = element("td", { class: "share" }, percent(share));
  cell.style.setProperty("--share", share);
  return cell;
}

// --- summary ---

function summariseDifference({ first, second }, rows) {
  const count = (change) => rows.filter((edge) => edge.change === change).length;
  const gain = data.optima[second].score - data.optima[first].score;
  return (
    `${nameOf(second)} against ${nameOf(first)}: ${counted(rows.length, "difference")} (SHD). ` +
    `${counted(count("removed"), "edge")} only in the first, ${count("added")} only in the second, ` +
    `${count("turned")} with another direction. The score changes by ${number(gain, 4)}.`
  );
}

function summarise(rows, model) {
  if (data.evidence) return summariseEvidence(rows);
  const costly = data.costly?.[model];
  if (costly === undefined) {
    return (
      `${counted(rows.length, "edge")}. Support describes the search; evidence and resampling ` +
      "tell how certain an edge is."
    );
  }
  return (
    `${costly} of ${counted(rows.length, "edge")}: removing the edge alone costs ` +
    `${data.verdicts.sure}. Whether other edges could replace it was not examined.`
  );
}

function summariseEvidence(rows) {
  const count = (verdict) => rows.filter((edge) => verdictOf(edge) === verdict).length;
  const parts = Object.entries(data.verdicts)
    .filter(([verdict]) => verdict !== "unlikely" || count(verdict))
    .map(([verdict, range]) => `${count(verdict)} ${verdict} (${range})`);
  if (count("required")) parts.push(`${count("required")} required by background knowledge`);
  if (count(null)) parts.push(`${count(null)} with a bound only`);
  return (
    `${counted(rows.length, "edge")} by evidence: ${parts.join(", ")}. ` +
    "“Sure” means: given these data and this criterion."
  );
}

// Describe the computation of evidence, and the command that computes more.
function evidenceNote() {
  const command = data.evidence_command;
  if (!command) return data.evidence_note;
  const more = data.evidence
    ? "A longer search can find better networks on either side"
    : "To compute it";
  return `${data.evidence_note} ${more}: ${command}`.trim();
}
