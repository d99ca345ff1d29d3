// The fitted networks of the page: the best models have their CPDs in the data.

import { FittedNetwork } from "./cpds.js";
import { data } from "./data.js";

const sizes = data.states.map((states) => states.length);
const networks = new Map();

// The fitted network of a model; null if the page does not have it.
export function fittedNetwork(index) {
  if (!networks.has(index)) networks.set(index, read(index));
  return networks.get(index);
}

function read(index) {
  const numbers = data.tables?.of[index];
  if (!numbers) return null;
  const cpds = numbers
    .map((number) => data.tables.families[number])
    .map(([node, parents, kind, own]) => ({ node, parents, kind, numbers: own }));
  return new FittedNetwork(cpds, sizes, data.tables.ess, data.tables.scores);
}

// Why a model has no fitted network here.
export function whyNotFitted() {
  return data.tables
    ? "This page has probabilities for the best optima only."
    : "This report was made without the data, so it has no probabilities.";
}
