// An edge in words: direction, evidence, support and coefficients.

import { describeTerms, edgeTerms } from "./coefficients.js";
import { data } from "./data.js";
import { number, percent } from "./format.js";
import { directionError, directionNats, edgeText, isClear } from "./graphs.js";

// Nats by which the best network with an edge beats the best one without; null if unknown.
export function evidenceOf({ pair }) {
  return data.evidence?.nats[pair] ?? null;
}

// The probability of an edge, if it is exact or settled; null otherwise.
export function probabilityOf({ pair }) {
  return data.evidence?.probability[pair] ?? null;
}

// The status of the evidence: "exact", "estimate", "upper bound" or "lower bound".
export function statusOf({ pair }) {
  return data.evidence?.status[pair] ?? null;
}

// The edges that can take the place of one that looks weak only for that; null if it is not so.
export function replacementOf({ pair }) {
  return data.evidence?.instead[pair] ?? null;
}

// "sure", "likely" or "doubtful", as Python decided; "unlikely" if the best network lacks the edge;
// "required" by background knowledge; null if unknown.
export function verdictOf({ pair }) {
  return data.evidence?.verdict[pair] ?? null;
}

// Loss of score if an edge alone is removed from a model; null if unknown.
export function worthOf({ pair }, model) {
  return data.worth?.[model]?.[pair] ?? null;
}

// Describe an edge; `model` is the model that it is drawn in, null for several ones.
export function describeEdge(edge, model) {
  const terms = model === null ? null : edgeTerms(model, edge.pair);
  const parts = [
    describeDirection(edge),
    describeEvidence(edge),
    describeWorth(edge, model),
    describeSupport(edge),
    terms ? describeTerms(terms) : "",
  ];
  return `${edgeText(edge)}: ${parts.filter((part) => part).join(" ")}`;
}

function describeDirection(edge) {
  if (edge.known) return "The direction follows from background knowledge.";
  const decided = edge.decided ? "Exogenous variables decide the direction. " : "";
  return decided + describeCertainty(edge);
}

function describeCertainty(edge) {
  if (edge.status === 0) {
    return "The data do not determine the direction: equally good networks differ in it.";
  }
  const nats = directionNats(edge);
  const agreed = "All equally good networks agree on the direction";
  const opposite = "the best network with the opposite direction is";
  if (nats === null) return `${agreed}${isClear(edge) ? "" : ", but other good networks do not"}.`;
  if (isClear(edge)) {
    return `The direction is clear: ${opposite} ${number(nats, 1)} nats worse.`;
  }
  const disputed = data.evidence?.disputed[edge.pair];
  if (nats >= 0 && disputed) {
    const by = disputed === "not compared" ? "were not compared" : `(${disputed}) do not have it`;
    return `${agreed}, but it is uncertain: the best networks by other criteria ${by}.`;
  }
  const error = directionError(edge);
  const spread = error === null ? "" : `, with a standard error of ${number(error, 1)}`;
  const only = error === null ? "only " : "";
  return nats >= 0
    ? `${agreed}, but it is uncertain: ${opposite} ${only}${number(nats, 1)} nats worse${spread}.`
    : `The direction is uncertain: ${opposite} ${number(-nats, 1)} nats better.`;
}

function describeEvidence(edge) {
  const nats = evidenceOf(edge);
  if (nats === null) return "";
  const isBound = statusOf(edge) === "upper bound";
  const most = isBound ? "at most " : "";
  const comparison =
    nats >= 0 ? `${most}${number(nats, 1)} nats worse` : `${number(-nats, 1)} nats better`;
  const verdict = nats >= 0 && verdictOf(edge) ? ` The edge is ${verdictOf(edge)}.` : "";
  const instead = replacementOf(edge);
  const reason = instead
    ? ` It looks weak only because other edges can take its place: ${instead}.`
    : "";
  const share = probabilityOf(edge);
  const probable = share === null ? "" : ` ${data.evidence_quantity}: ${percent(share)}.`;
  return (
    `The best network without the edge is ${comparison}, ${BASES[statusOf(edge)]}.` +
    `${verdict}${probable}${reason}`
  );
}

const BASES = {
  exact: "which is exact",
  estimate: "as far as the search found",
  "upper bound": "as no better one was searched for",
  "lower bound": "as far as the optima show",
  "not searched": "as far as the optima show",
};

function describeWorth(edge, model) {
  const worth = worthOf(edge, model);
  if (worth === null) return "";
  if (worth < 0) {
    return (
      `Removing the edge would raise the score by ${number(-worth, 1)}, but background knowledge ` +
      "forbids the resulting network."
    );
  }
  const caveat =
    evidenceOf(edge) === null ? "; whether other edges could replace it was not examined" : "";
  return `Removing the edge alone lowers the score by ${number(worth, 1)}${caveat}.`;
}

function describeSupport(edge) {
  const share = (kind) => percent(data.supports[kind][edge.pair][0]);
  const found = `${share("search")} of the runs ended in a network with the edge.`;
  if (!data.supports.resampling) return found;
  return `${found} It is in the best networks of ${share("resampling")} of the resampled tables.`;
}
