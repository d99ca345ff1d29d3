// Exact inference where continuous variables depend linearly on discrete ones: given the discrete
// states, the continuous variables are normal with one covariance [Lauritzen 1992]. The same method
// as kes.network.mixture.

import { FittedNetwork } from "./cpds.js";
import { Gaussian } from "./gaussian.js";
import { cholesky, dot, solveLower } from "./linear-algebra.js";

const MAX_COMPONENTS = 2 ** 13; // combinations of states

// The distribution of a node given evidence: { found, logarithm }, where `found` is null if the
// evidence is impossible. Of a continuous node it has mean and standard deviation, and the
// components with their common standard deviation `within`. Returns null if the distribution is not
// a mixture of normal ones (a network with curves has none), or one of too many components.
export function mixture(network, target, evidence) {
  const nodes = relevant(network, target, evidence);
  const isContinuous = (node) => network.isContinuous(node);
  const isMixture = nodes.every(
    (node) => network.cpds[node].kind === (isContinuous(node) ? "linear" : "cases"),
  );
  const free = nodes.filter((node) => !isContinuous(node) && !evidence.has(node));
  const components = free.reduce((count, node) => count * network.sizes[node], 1);
  if (network.scores || !isMixture || components > MAX_COMPONENTS) return null;

  const gaussian = new Gaussian(withoutDiscreteParents(network, nodes));
  const given = nodes.filter(
    (node) => isContinuous(node) && evidence.has(node) && gaussian.covariance(node, node) > 0,
  );
  const lower = cholesky(given.map((a) => given.map((b) => gaussian.covariance(a, b))));
  const loading = isContinuous(target)
    ? solveLower(
        lower,
        given.map((k) => gaussian.covariance(k, target)),
      )
    : [];
  const logVolume = given.reduce(
    (sum, _, i) => sum + Math.log(lower[i][i]) + Math.log(2 * Math.PI) / 2,
    0,
  );
  const parts = [];
  for (let number = 0; number < components; number += 1) {
    const { values, log } = component(network, nodes, free, evidence, number);
    const residual = solveLower(
      lower,
      given.map((node) => evidence.get(node) - values[node]),
    );
    parts.push({
      log: log - logVolume - dot(residual, residual) / 2,
      value: isContinuous(target) ? values[target] + dot(loading, residual) : values[target],
    });
  }
  const variance = isContinuous(target)
    ? Math.max(0, gaussian.covariance(target, target) - dot(loading, loading))
    : 0;
  return combine(network, target, parts, variance);
}

// The target, the nodes with evidence, and their ancestors, parents first: no other node matters.
function relevant(network, target, evidence) {
  const inside = new Set(network.ancestors([target, ...evidence.keys()]));
  return network.order.filter((node) => inside.has(node));
}

// One combination of states of the free nodes: the logarithm of its probability, and the states and
// prior means of all nodes in it.
function component(network, nodes, free, evidence, number) {
  const values = [];
  let rest = number;
  for (const node of free) {
    values[node] = rest % network.sizes[node];
    rest = Math.floor(rest / network.sizes[node]);
  }
  let log = 0;
  for (const node of nodes) {
    const { parents, numbers } = network.cpds[node];
    if (network.isContinuous(node)) {
      values[node] = network.predictor(parents, numbers.intercept, numbers.coefficients, values);
    } else {
      values[node] ??= evidence.get(node);
      const cell = network.row(node, values) * network.sizes[node] + values[node];
      log += Math.log(network.table(node)[cell]);
    }
  }
  return { values, log };
}

// The continuous nodes alone, without what the states of their parents add to their means.
function withoutDiscreteParents(network, nodes) {
  const inside = new Set(nodes);
  const cpds = network.cpds.map((cpd) => {
    const { node, numbers } = cpd;
    if (!inside.has(node) || !network.isContinuous(node)) {
      return { node, parents: [], kind: "none", numbers: null };
    }
    const [parents, coefficients] = [[], []];
    let at = 0;
    for (const parent of cpd.parents) {
      if (network.isContinuous(parent)) {
        parents.push(parent);
        coefficients.push(numbers.coefficients[at]);
        at += 1;
      } else {
        at += network.sizes[parent] - 1;
      }
    }
    return { node, parents, kind: "linear", numbers: { ...numbers, coefficients } };
  });
  return new FittedNetwork(cpds, network.sizes, network.ess);
}

function combine(network, target, parts, variance) {
  const top = parts.reduce((most, { log }) => Math.max(most, log), -Infinity);
  const total = parts.reduce((sum, { log }) => sum + Math.exp(log - top), 0);
  if (!(total > 0)) return { found: null, logarithm: -Infinity };
  const shares = parts.map(({ log }) => Math.exp(log - top) / total);
  const logarithm = top + Math.log(total);
  if (!network.isContinuous(target)) {
    const found = new Array(network.sizes[target]).fill(0);
    parts.forEach(({ value }, i) => {
      found[value] += shares[i];
    });
    return { found, logarithm };
  }
  const mean = parts.reduce((sum, { value }, i) => sum + shares[i] * value, 0);
  const between = parts.reduce((sum, { value }, i) => sum + shares[i] * (value - mean) ** 2, 0);
  const components = parts.map(({ value }, i) => ({ share: shares[i], mean: value }));
  const deviation = Math.sqrt(variance + between);
  return { found: { mean, deviation, components, within: Math.sqrt(variance) }, logarithm };
}
