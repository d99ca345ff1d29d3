// Exact answers where continuous variables depend linearly on discrete ones: given the states of these,
// the others are normal, with one covariance [Lauritzen 1992]. The same as kes.network.mixture.

import { regress } from "./draws.js";
import { Gaussian, cholesky, solveLower } from "./gaussian.js";
import { inOrder, isContinuous, probabilities } from "./local.js";
import { data } from "./model.js";

const MOST_CELLS = 2 ** 13; // combinations of states that are looked at

// The distribution of a node given values of others; null if it is no mixture of so few. `families`
// are those of all nodes, `inside` the numbers of the node, what is known, and all above them.
export function mixture(families, inside, target, known) {
  const own = inOrder(families).filter((node) => inside.includes(node));
  const isMixture = own.every((node) => families[node].kind === (isContinuous(node) ? "linear" : "cases"));
  const free = own.filter((node) => !isContinuous(node) && !known.has(node));
  const cells = free.reduce((all, node) => all * data.states[node].length, 1);
  if (!isMixture || cells > MOST_CELLS) return null;
  const spread = new Gaussian(withoutStates(families, own));
  const told = own.filter((node) => isContinuous(node) && known.has(node) && spread.covariance(node, node) > 0);
  const factor = cholesky(told.map((a) => told.map((b) => spread.covariance(a, b))));
  const loading = isContinuous(target) ? solveLower(factor, told.map((k) => spread.covariance(k, target))) : [];
  const volume = told.reduce((sum, _, i) => sum + Math.log(factor[i][i]) + Math.log(2 * Math.PI) / 2, 0);
  const tables = new Map(own.filter((node) => !isContinuous(node)).map((node) => [node, probabilities(families[node])]));
  const parts = [];
  for (let cell = 0; cell < cells; cell += 1) {
    const { values, log } = combination(families, own, free, known, cell, tables);
    const surprise = solveLower(factor, told.map((node) => known.get(node) - values[node]));
    const mean = isContinuous(target) ? values[target] + dot(loading, surprise) : values[target];
    parts.push({ log: log - volume - dot(surprise, surprise) / 2, mean });
  }
  const variance = isContinuous(target) ? Math.max(0, spread.covariance(target, target) - dot(loading, loading)) : 0;
  return gathered(target, parts, variance);
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

// Each combination of states: how probable it is, and the means of the others before values are known.
function combination(families, own, free, known, cell, tables) {
  const values = [];
  let rest = cell;
  for (const node of free) {
    values[node] = rest % data.states[node].length;
    rest = Math.floor(rest / data.states[node].length);
  }
  let log = 0;
  for (const node of own) {
    const { parents, numbers } = families[node];
    if (isContinuous(node)) values[node] = regress(parents, numbers.coefficients, values, numbers.intercept);
    else {
      values[node] ??= known.get(node);
      const row = parents.reduce((sum, parent) => sum * data.states[parent].length + values[parent], 0);
      log += Math.log(tables.get(node)[row * data.states[node].length + values[node]]);
    }
  }
  return { values, log };
}

// The linear part alone: what is continuous, without what states add.
function withoutStates(families, own) {
  return families.map((family) => {
    if (!own.includes(family.node) || !isContinuous(family.node)) return { ...family, kind: "none", parents: [], numbers: {} };
    let at = 0;
    const [parents, coefficients] = [[], []];
    for (const parent of family.parents) {
      if (isContinuous(parent)) {
        parents.push(parent);
        coefficients.push(family.numbers.coefficients[at]);
      }
      at += isContinuous(parent) ? 1 : data.states[parent].length - 1;
    }
    return { ...family, parents, numbers: { ...family.numbers, coefficients } };
  });
}

function gathered(target, parts, variance) {
  const top = parts.reduce((most, { log }) => Math.max(most, log), -Infinity);
  const all = parts.reduce((sum, { log }) => sum + Math.exp(log - top), 0);
  if (!(all > 0)) return { found: null, logarithm: -Infinity };
  const shares = parts.map(({ log }) => Math.exp(log - top) / all);
  const logarithm = top + Math.log(all);
  if (!isContinuous(target)) {
    const found = new Array(data.states[target].length).fill(0);
    parts.forEach(({ mean }, i) => { found[mean] += shares[i]; });
    return { found, logarithm };
  }
  const mean = parts.reduce((sum, part, i) => sum + shares[i] * part.mean, 0);
  const between = parts.reduce((sum, part, i) => sum + shares[i] * (part.mean - mean) ** 2, 0);
  return { found: { mean, deviation: Math.sqrt(variance + between) }, logarithm };
}
