// What is sure and what is not: the edges that are drawn, with all that is known about each.

import { pairTerms, termWords, withInterval } from "./coefficients.js";
import { bdi, byId, counted, element, number, percent } from "./dom.js";
import { KINDS, data, edgeText, ends, kinds, nameOf } from "./model.js";
import { SortableTable } from "./sorting.js";

const SURE = 10; // nats: odds of more than 20 000 to 1
const THREAD = 3; // nats: odds of less than 20 to 1
const hasCoefficients = data.states.some((states) => !states.length);

const evidenceOf = (edge) => data.evidence?.nats[edge.pair] ?? null;
const worthOf = (edge) => data.worth?.[edge.model]?.[edge.pair] ?? null;
const strengthOf = (edge) => evidenceOf(edge) ?? worthOf(edge);

function directionText(edge) {
  if (edge.view === "consensus") {
    return edge.status === 0 ? "not supported" : percent(data.supports[edge.kind][edge.pair][edge.status]);
  }
  if (edge.status === 0) return "open";
  return edge.known ? "by knowledge" : "compelled";
}

const CHANGES = { removed: "only in the first", added: "only in the second", turned: "direction differs", same: "in both" };

function edgeCell(edge) {
  const [from, to] = ends(edge);
  const cell = element("td", { class: "text" }, bdi(data.names[from]), edge.status === 0 ? " – " : " → ", bdi(data.names[to]));
  const strength = strengthOf(edge);
  if (strength !== null && strength < THREAD) {
    cell.append(element("span", { class: "tag", title: `less than ${THREAD} nats` }, "weak"));
  }
  return cell;
}

function natsCell(nats, exact) {
  const text = nats === null ? "" : number(nats, 1);
  const cell = element("td", nats !== null && nats < THREAD ? { class: "thin" } : {}, text);
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
    { label: "direction", title: "What decides the direction", look: "text aside", value: directionText,
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
    byId("save-edges").addEventListener("click", () => this.table.save("edges.csv"));
  }

  // Show the edges of a view of the network.
  show(state, edges) {
    const view = state.view === "overview" ? "optimum" : state.view;
    const model = view === "optimum" ? (state.view === "overview" ? data.best : state.first) : null;
    const rows = edges
      .filter((edge) => edge.change !== "same")
      .map((edge) => ({ ...edge, view, model, kind: state.kind }));
    if (view !== this.view) this.renew(view);
    this.table.forget();
    this.table.show(rows);
    this.table.select(state.pair);
    byId("edges-summary").textContent = summary(state, view, rows);
  }

  renew(view) {
    this.view = view;
    this.columns = columnsFor(view);
    const table = element("table", { "aria-label": "Edges; arrow keys move, Enter chooses" },
      element("thead", {}, element("tr")), element("tbody"));
    byId("edges").replaceChildren(element("p", { id: "edge-words", "aria-live": "polite" }), element("div", { class: "wide" }, table));
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
  const known = rows.map(strengthOf).filter((nats) => nats !== null);
  if (!known.length) {
    return `${counted(rows.length, "edge")}. Supports say how the search went; how sure an edge is, evidence and resampling say.`;
  }
  const sure = known.filter((nats) => nats >= SURE).length;
  const weak = known.filter((nats) => nats < THREAD).length;
  const what = data.evidence ? "evidence" : "worth";
  return `${counted(rows.length, "edge")}, by ${what}: ${sure} of at least ${SURE} nats, which is sure as far as these data and this ` +
    `criterion go; ${known.length - sure - weak} of ${THREAD} to ${SURE}; ${weak} of less than ${THREAD}, which hang by a thread.`;
}

// --- an edge in words ---

const DIRECTIONS = [
  "The data cannot tell its direction: networks that fit them equally well differ in it.",
  "All networks of the class agree on its direction.",
  "All networks of the class agree on its direction.",
];

export function edgeWords(edge, model) {
  const own = { ...edge, model };
  const name = edgeText(edge);
  const parts = [edge.known ? "It has its direction from what the search was told." : DIRECTIONS[edge.status]];
  const [nats, worth] = [evidenceOf(own), worthOf(own)];
  if (nats !== null) {
    const how = data.evidence.exact[edge.pair] ? "for certain" : "as far as was searched";
    parts.push(nats >= 0
      ? `The best network without it is ${number(nats, 1)} nats worse, ${how}: ${verdict(nats)}.`
      : `The best network without it is ${number(-nats, 1)} nats better, ${how}.`);
    const direction = data.evidence.direction[edge.pair];
    if (direction !== null && Math.abs(direction) >= 0.05) {
      const [x, y] = data.pairs[edge.pair].map((node) => data.names[node]);
      const [a, b] = direction > 0 ? [x, y] : [y, x];
      parts.push(`${a} → ${b} is ${number(Math.abs(direction), 1)} nats better than the opposite.`);
    }
  }
  if (worth !== null && worth < 0) {
    parts.push(`Without it the score would be ${number(-worth, 1)} higher, but what is known rules out the network that remains.`);
  } else if (worth !== null) {
    parts.push(`Taken away with all else as it is, the score falls by ${number(worth, 1)}${nats === null ? `: ${verdict(worth)}` : ""}.`);
  }
  const shares = kinds.map((kind) => [kind, data.supports[kind][edge.pair][0]]);
  const [[, search]] = shares;
  parts.push(`${percent(search)} of the runs ended in a network with it.`);
  const resampled = shares.find(([kind]) => kind === "resampling");
  if (resampled) parts.push(`${percent(resampled[1])} of the resampled tables have it in their best network.`);
  const terms = model === null ? null : pairTerms(model, edge.pair);
  if (terms) parts.push(termWords(terms));
  return `${name}: ${parts.join(" ")}`;
}

function verdict(nats) {
  if (nats < THREAD) return "it hangs by a thread";
  return nats < SURE ? "fairly sure" : "sure, as far as these data and this criterion go";
}
