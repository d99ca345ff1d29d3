// The fitted networks of the page: the best models have their CPDs in the data.

import { FittedNetwork } from "./cpds.js";
import { data } from "./data.js";

const sizes = data.states.map((states) => states.length);
const networks = new Map();

// The fitted network of a model; null if the page does not have it.
export function fittedNetwork(index) {
  if (!networks.has(index)) networks.set(index, read(data.tables, index));
  return networks.get(index);
}

function read(tables, index) {
  const numbers = tables?.of[index];
  if (!numbers) return null;
  const cpds = numbers
    .map((number) => tables.families[number])
    .map(([node, parents, kind, own]) => ({ node, parents, kind, numbers: own }));
  return new FittedNetwork(cpds, sizes, tables.ess, tables.scores);
}

let members = null;

// The networks of an average; none if the page has no average.
export function averageMembers() {
  members ??= Object.keys(data.average?.of ?? {}).map((index) => read(data.average, index));
  return members;
}

// Why a model has no fitted network here.
export function whyNotFitted() {
  return data.tables
    ? "This page has probabilities for the best optima only."
    : "This report was made without the data, so it has no probabilities.";
}
