// The answer of an average of networks: a mixture, in which a member counts more if it expects the
// evidence. The same method as kes.network.average.

import { JunctionTree } from "./junction-tree.js";
import { mixture } from "./mixture.js";

const MAX_CELLS = 2 ** 17; // of the cliques of a member

// The distribution of a node given evidence: `shares` of its states, or `mean` and `deviation`, with
// the `spread`, the standard deviation between the members, of each share or of the mean. Returns
// null if a member has no exact answer, and without a distribution if all exclude the evidence.
export function averagedAnswer(networks, target, evidence) {
  const answers = networks.map((network) => answerOf(network, target, evidence));
  if (answers.includes(null)) return null;
  const possible = answers.filter(({ found }) => found !== null);
  if (!possible.length) return {};
  const top = Math.max(...possible.map(({ logarithm }) => logarithm));
  const weights = possible.map(({ logarithm }) => Math.exp(logarithm - top));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = (values) => values.reduce((sum, value, i) => sum + weights[i] * value, 0) / total;
  const spread = (values) => {
    const centre = mean(values);
    return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
  };
  const found = possible.map((one) => one.found);
  if (!networks[0].isContinuous(target)) {
    const each = [...found[0]].map((_, state) => found.map((shares) => shares[state]));
    return { shares: each.map(mean), spread: each.map(spread) };
  }
  const means = found.map((one) => one.mean);
  const variance = mean(found.map((one) => one.deviation ** 2)) + spread(means) ** 2;
  return { mean: mean(means), deviation: Math.sqrt(variance), spread: spread(means) };
}

// The distribution and the logarithm of the probability, or density, of the evidence; null without
// an exact answer.
function answerOf(network, target, evidence) {
  const nodes = network.ancestors([target, ...evidence.keys()]);
  if (nodes.some((node) => network.cpds[node].kind !== "cases")) {
    return mixture(network, target, evidence);
  }
  const tree = new JunctionTree(network, nodes, MAX_CELLS);
  if (!tree.isFeasible) return null;
  const { distributions, logarithm } = tree.answer(evidence);
  return { found: distributions?.get(target) ?? null, logarithm };
}
