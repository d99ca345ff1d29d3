// What is sure and what is not: the edges that are drawn, with all that is known about each.

import { pairTerms, termWords, withInterval } from "./coefficients.js";
import { bdi, byId, counted, element, number, percent } from "./dom.js";
import { codes, parsed } from "./filter.js";
import { KINDS, data, directionNats, edgeText, ends, fileName, isClear, kinds, nameOf } from "./model.js";
import { resultFile } from "./query.js";
import { SortableTable } from "./sorting.js";

const { sure: SURE, weak: WEAK } = data.limits; // nats
const hasCoefficients = data.states.some((states) => !states.length);

const evidenceOf = (edge) => data.evidence?.nats[edge.pair] ?? null;
const worthOf = (edge) => data.worth?.[edge.model]?.[edge.pair] ?? null;
const isTold = (edge) => Boolean(data.evidence?.told.includes(edge.pair));

function directionText(edge) {
  if (edge.view === "consensus") {
    return edge.status === 0 ? "not supported" : percent(data.supports[edge.kind][edge.pair][edge.status]);
  }
  if (edge.status === 0) return "open";
  if (edge.known) return "by knowledge";
  const nats = directionNats(edge);
  return (isClear(edge) ? "clear" : "uncertain") + (nats === null ? "" : `, ${number(nats, 1)} nats`);
}

const CHANGES = { removed: "only in the first", added: "only in the second", turned: "direction differs", same: "in both" };

function edgeCell(edge) {
  const [from, to] = ends(edge);
  const cell = element("td", { class: "text" }, bdi(data.names[from]), edge.status === 0 ? " – " : " → ", bdi(data.names[to]));
  const nats = evidenceOf(edge);
  if (nats !== null && nats < WEAK) cell.append(element("span", { class: "tag", title: `evidence of less than ${WEAK} nats` }, "doubtful"));
  return cell;
}

function natsCell(nats, exact) {
  const text = nats === null ? "" : number(nats, 1);
  const cell = element("td", nats !== null && nats < WEAK ? { class: "thin" } : {}, text);
  if (exact) cell.title = "exact";
  return cell;
}

function shareCell(share) {
  const cell = element("td", { class: "share" }, percent(share));
  cell.style.setProperty("--share", share);
  return cell;
}

function coefficientText(edge) {
  const own = edge.model === null ? null : pairTerms(edge.model, edge.pair)?.terms;
  if (!own) return "";
  return own.length === 1 ? withInterval(own[0].value, own[0].error) : `${own.length} coefficients`;
}

function columnsFor(view) {
  const columns = [
    { label: "edge", title: "The two variables", look: "text", value: edgeText, cell: edgeCell },
    { label: "direction", title: "Whether the direction can be relied on", look: "text aside", value: directionText,
      cell: (edge) => element("td", { class: "text aside" }, directionText(edge)) },
  ];
  if (view === "difference") {
    columns.unshift({ label: "change", title: "From the first to the second", look: "text", value: (edge) => CHANGES[edge.change],
      cell: (edge) => element("td", { class: "text" }, CHANGES[edge.change]) });
  }
  if (data.evidence) {
    columns.push({ label: "evidence", title: "Nats by which the best network with it beats the best without", down: true,
      value: evidenceOf, cell: (edge) => natsCell(evidenceOf(edge), data.evidence.exact[edge.pair]) });
  }
  if (data.worth && view !== "consensus" && view !== "difference") {
    columns.push({ label: "worth", title: "What the score of this network loses without it", down: true,
      value: worthOf, cell: (edge) => natsCell(worthOf(edge)) });
  }
  if (hasCoefficients && view !== "consensus" && view !== "difference") {
    columns.push({ label: "coefficient", title: "Estimate and 95 % interval; where a discrete variable depends on it, of log-odds", value: coefficientText,
      cell: (edge) => element("td", {}, coefficientText(edge)) });
  }
  for (const kind of [...kinds].reverse()) { // what says most about the data comes first
    columns.push({ label: KINDS[kind], title: `Share with the edge: ${KINDS[kind]}`, down: true,
      value: (edge) => data.supports[kind][edge.pair][0], cell: (edge) => shareCell(data.supports[kind][edge.pair][0]) });
  }
  return columns;
}

export class EdgeTable {
  constructor(choose) {
    this.choose = choose;
    this.view = null;
    byId("weakest").addEventListener("click", () => this.byStrength(false));
    byId("strongest").addEventListener("click", () => this.byStrength(true));
    byId("save-edges").addEventListener("click", () => this.table.save(fileName(this.view === "optimum" ? "edges" : `edges-${this.view}`, "csv")));
    byId("edges-of").addEventListener("input", () => this.filter());
  }

  // Show the edges of a view of the network.
  show(state, edges) {
    const view = state.view === "overview" ? "optimum" : state.view;
    const model = view === "optimum" ? (state.view === "overview" ? data.best : state.first) : null;
    const rows = edges
      .filter((edge) => edge.change !== "same")
      .map((edge) => ({ ...edge, view, model, kind: state.kind }));
    if (view !== this.view) this.renew(view);
    this.rows = rows;
    this.table.forget();
    this.filter();
    this.table.select(state.pair);
    byId("edges-summary").textContent = summary(state, view, rows);
    byId("evidence-note").textContent = view === "difference" ? "" : evidenceNote();
  }

  // Only the edges that are typed: of a variable, or between two.
  filter() {
    const wanted = parsed(byId("edges-of").value);
    const meant = wanted && !wanted.unknown ? codes(wanted) : null;
    const shown = wanted ? this.rows.filter(({ pair, status }) => meant?.has(3 * pair + status)) : this.rows;
    this.table.show(shown, this.rows);
    byId("edges-count").textContent = !wanted ? "" : wanted.unknown ? `No variable is called “${wanted.unknown}”.` : `${shown.length} of ${counted(this.rows.length, "edge")}`;
  }

  renew(view) {
    this.view = view;
    this.columns = columnsFor(view);
    const table = element("table", { "aria-label": "Edges; arrow keys move, Enter chooses" },
      element("thead", {}, element("tr")), element("tbody"));
    byId("edges").replaceChildren(element("p", { id: "edge-words", "aria-live": "polite" }), element("div", { class: "wide" }, table));
    const labels = this.columns.map(({ label }) => label);
    for (const term of document.querySelectorAll("#certainty .terms [data-column]")) term.hidden = !labels.includes(term.dataset.column);
    const column = this.strongest();
    this.table = new SortableTable(table, this.columns, { choose: this.choose, keyOf: (edge) => edge.pair, sortBy: { column, down: true } });
  }

  // The column that says most about how sure an edge is.
  strongest() {
    const labels = ["evidence", "worth", KINDS.resampling, KINDS.search];
    return labels.map((label) => this.columns.find((column) => column.label === label)).find((column) => column);
  }

  byStrength(down) {
    this.table.sort({ column: this.strongest(), down });
    this.table.table.parentElement.scrollTop = 0;
  }

  select(pair) {
    this.table.select(pair);
    this.table.reveal();
  }
}

function summary(state, view, rows) {
  if (view === "difference") {
    const count = (change) => rows.filter((edge) => edge.change === change).length;
    const gain = data.optima[state.second].score - data.optima[state.first].score;
    return `${nameOf(state.second)} against ${nameOf(state.first)}: ${counted(rows.length, "difference")} (SHD). ` +
      `${counted(count("removed"), "edge")} only in the first, ${count("added")} only in the second, ` +
      `${count("turned")} with another direction. The score changes by ${number(gain, 4)}.`;
  }
  const all = counted(rows.length, "edge");
  const nats = rows.map(evidenceOf).filter((one) => one !== null);
  if (data.evidence) {
    const [sure, weak, told] = [nats.filter((one) => one >= SURE).length, nats.filter((one) => one < WEAK).length, rows.filter(isTold).length];
    const rest = rows.length - nats.length - told;
    return `${all}, by evidence: ${sure} of at least ${SURE} nats, which is sure as far as these data and this criterion go; ` +
      `${nats.length - sure - weak} of ${WEAK} to ${SURE}, which is likely; ${weak} of less than ${WEAK}, which is doubtful` +
      `${told ? `; ${told} told to the search` : ""}${rest ? `; ${rest} not looked at` : ""}.`;
  }
  const worth = rows.map(worthOf).filter((one) => one !== null);
  if (!worth.length) return `${all}. Supports say how the search went; how sure an edge is, evidence and resampling say.`;
  return `${counted(worth.filter((one) => one >= SURE).length, "edge")} of ${rows.length} cost at least ${SURE} nats if taken out alone; ` +
    `whether others could stand in for them was not looked at.`;
}

// How evidence was found, or how to get it.
function evidenceNote() {
  const more = `kes report ${resultFile()} --evidence`;
  if (!data.evidence) return `${data.evidence_note} ${data.evidence_note.includes("needs the data") ? "" : `To look at it: ${more}`}`.trim();
  return data.evidence.exact.some((exact, pair) => !exact && data.evidence.nats[pair] !== null)
    ? `${data.evidence_note} A longer search can only find better rivals or better networks: ${more}` : data.evidence_note;
}

// --- an edge in words ---

// What decides a direction, and how much it is worth.
function directionWords(edge) {
  if (edge.known) return "It has its direction from what the search was told.";
  if (edge.status === 0) return "The data cannot tell its direction: networks that fit them equally well differ in it.";
  const nats = directionNats(edge);
  const agreed = "The direction follows from this network: all equally good networks agree on it";
  if (nats === null) return `${agreed}${isClear(edge) ? "" : ", but other good networks do not"}.`;
  if (nats >= WEAK) return `Its direction is clear: ${number(nats, 1)} nats better than the opposite.`;
  return nats >= 0
    ? `${agreed}; yet it is uncertain: the best network with the opposite is only ${number(nats, 1)} nats worse.`
    : `Its direction is uncertain: the best network with the opposite is ${number(-nats, 1)} nats better.`;
}

export function edgeWords(edge, model) {
  const own = { ...edge, model };
  const parts = [directionWords(edge)];
  const [nats, worth] = [evidenceOf(own), worthOf(own)];
  if (nats !== null) {
    const how = data.evidence.exact[edge.pair] ? "for certain" : "as far as was searched";
    parts.push(nats >= 0
      ? `The best network without the edge is ${number(nats, 1)} nats worse, ${how}: ${verdict(nats)}.`
      : `The best network without the edge is ${number(-nats, 1)} nats better, ${how}.`);
  }
  if (worth !== null && worth < 0) {
    parts.push(`Without it the score would be ${number(-worth, 1)} higher, but what is known rules out the network that remains.`);
  } else if (worth !== null) {
    const rivals = nats === null ? "; whether others could stand in for it was not looked at" : "";
    parts.push(`Taken away with all else as it is, the score falls by ${number(worth, 1)}${rivals}.`);
  }
  const shares = kinds.map((kind) => [kind, data.supports[kind][edge.pair][0]]);
  const [[, search]] = shares;
  parts.push(`${percent(search)} of the runs ended in a network with it.`);
  const resampled = shares.find(([kind]) => kind === "resampling");
  if (resampled) parts.push(`${percent(resampled[1])} of the resampled tables have it in their best network.`);
  const terms = model === null ? null : pairTerms(model, edge.pair);
  if (terms) parts.push(termWords(terms));
  return `${edgeText(edge)}: ${parts.join(" ")}`;
}

function verdict(nats) {
  if (nats < WEAK) return "it is doubtful";
  return nats < SURE ? "it is likely" : "it is sure, as far as these data and this criterion go";
}
