// Expected values by enumeration of the joint distribution and by textbook formulas, written without
// the modules under test; and random networks to compare on.

import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";

// A seeded generator of numbers in [0, 1): a linear congruential one of Knuth's.
export function generator(seed) {
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 11n) / 2 ** 53;
  };
}

export const integer = (random, limit) => Math.floor(random() * limit);

// A discrete network of nodes in random order, each with up to three parents.
export function randomDiscrete(random, nodes, ess = 1) {
  const sizes = Array.from({ length: nodes }, () => 1 + integer(random, 3));
  const order = sizes.map((_, node) => node).sort(() => random() - 0.5);
  const cpds = [];
  order.forEach((node, at) => {
    const earlier = order.slice(0, at).sort(() => random() - 0.5);
    const parents = earlier.slice(0, integer(random, 4));
    const cells = [...parents, node].reduce((count, one) => count * sizes[one], 1);
    const numbers = Array.from({ length: cells }, () => integer(random, 9));
    cpds[node] = { node, parents, kind: "cases", numbers };
  });
  return new FittedNetwork(cpds, sizes, ess);
}

// The probability of a state given a configuration of the parents, from the definition of smoothing.
export function conditional({ cpds, sizes, ess }, node, values) {
  const { parents, numbers } = cpds[node];
  let row = 0;
  for (const parent of parents) row = row * sizes[parent] + values[parent];
  const counts = numbers.slice(row * sizes[node], (row + 1) * sizes[node]);
  const extra = ess / numbers.length;
  const total = counts.reduce((sum, count) => sum + count + extra, 0);
  return (counts[values[node]] + extra) / total;
}

// All combinations of states of some nodes, as sparse arrays.
export function* combinations(nodes, sizes, start = []) {
  if (!nodes.length) {
    yield start;
    return;
  }
  const [first, ...rest] = nodes;
  for (let state = 0; state < sizes[first]; state += 1) {
    const values = [...start];
    values[first] = state;
    yield* combinations(rest, sizes, values);
  }
}

// [values, probability] for all combinations of states that agree with the evidence.
export function joint(network, evidence = new Map()) {
  const nodes = network.cpds.map((_, node) => node);
  return [...combinations(nodes, network.sizes)]
    .filter((values) => [...evidence].every(([node, state]) => values[node] === state))
    .map((values) => [
      values,
      nodes.reduce((product, node) => product * conditional(network, node, values), 1),
    ]);
}

// The distribution of a node given evidence, and the probability of the evidence.
export function marginals(network, evidence) {
  const cells = joint(network, evidence);
  const total = cells.reduce((sum, [, p]) => sum + p, 0);
  const distributions = network.sizes.map((size, node) => {
    const shares = new Array(size).fill(0);
    for (const [values, p] of cells) shares[values[node]] += p / total;
    return shares;
  });
  return { total, distributions };
}

// Mutual information of two nodes by its definition.
export function mutualInformation(network, a, b, evidence) {
  const given = (more) => new Map([...evidence, ...more]);
  const { total, distributions } = marginals(network, evidence);
  let sum = 0;
  for (let s = 0; s < network.sizes[a]; s += 1) {
    for (let t = 0; t < network.sizes[b]; t += 1) {
      const p =
        marginals(
          network,
          given([
            [a, s],
            [b, t],
          ]),
        ).total / total;
      if (p > 0) sum += p * Math.log(p / distributions[a][s] / distributions[b][t]);
    }
  }
  return sum;
}

// --- normal distributions ---

// The inverse and the determinant of a matrix, by Gauss-Jordan elimination with pivoting.
export function inverse(matrix) {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  let determinant = 1;
  for (let i = 0; i < n; i += 1) {
    let pivot = i;
    for (let k = i; k < n; k += 1) if (Math.abs(rows[k][i]) > Math.abs(rows[pivot][i])) pivot = k;
    if (pivot !== i) {
      [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
      determinant = -determinant;
    }
    determinant *= rows[i][i];
    const divisor = rows[i][i];
    rows[i] = rows[i].map((value) => value / divisor);
    for (let k = 0; k < n; k += 1) {
      if (k === i) continue;
      const factor = rows[k][i];
      rows[k] = rows[k].map((value, j) => value - factor * rows[i][j]);
    }
  }
  return { matrix: rows.map((row) => row.slice(n)), determinant };
}

const product = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
const transposed = (a) => a[0].map((_, j) => a.map((row) => row[j]));

// Mean and covariance of x = b + B x + noise: with A = (I - B)^-1, they are A b and A D A^T.
export function gaussianJoint(intercepts, coefficients, deviations) {
  const system = coefficients.map((row, i) => row.map((value, j) => (i === j ? 1 : 0) - value));
  const { matrix } = inverse(system);
  const mean = matrix.map((row) => row.reduce((sum, value, j) => sum + value * intercepts[j], 0));
  const noise = deviations.map((one, i) => deviations.map((_, j) => (i === j ? one ** 2 : 0)));
  return { mean, covariance: product(product(matrix, noise), transposed(matrix)) };
}

// Condition a normal distribution by the Schur complement; also the log-density of the evidence.
export function conditioned({ mean, covariance }, evidence) {
  const given = [...evidence.keys()];
  if (!given.length) return { mean, covariance, logDensity: 0 };
  const part = (rows, columns) => rows.map((i) => columns.map((j) => covariance[i][j]));
  const all = mean.map((_, i) => i);
  const { matrix, determinant } = inverse(part(given, given));
  const gain = product(part(all, given), matrix);
  const residual = given.map((k) => evidence.get(k) - mean[k]);
  const [quadratic] = product(product([residual], matrix), transposed([residual]))[0];
  const lost = product(gain, part(given, all));
  return {
    mean: mean.map((m, i) => m + gain[i].reduce((sum, value, k) => sum + value * residual[k], 0)),
    covariance: covariance.map((row, i) => row.map((value, j) => value - lost[i][j])),
    logDensity: -(quadratic + Math.log(determinant) + given.length * Math.log(2 * Math.PI)) / 2,
  };
}
