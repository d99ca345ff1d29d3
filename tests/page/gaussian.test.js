import assert from "node:assert/strict";
import { test } from "node:test";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import { Gaussian } from "../../python/kes/show/report/template/gaussian.js";
import { influences } from "../../python/kes/show/report/template/influences.js";
import { cholesky, solveLower } from "../../python/kes/show/report/template/linear-algebra.js";
import { conditioned, gaussianJoint, generator, integer } from "./brute-force.js";
import { close } from "./close.js";

const NODES = 6;

// A random linear network, and its joint distribution by the textbook formula.
function randomGaussian(random) {
  const order = Array.from({ length: NODES }, (_, i) => i).sort(() => random() - 0.5);
  const number = () => 4 * random() - 2;
  const intercepts = order.map(number);
  const deviations = order.map(() => 0.2 + random());
  const matrix = order.map(() => new Array(NODES).fill(0));
  const cpds = [];
  order.forEach((node, at) => {
    const parents = order.slice(0, at).filter(() => random() < 0.6);
    const coefficients = parents.map(number);
    parents.forEach((parent, i) => {
      matrix[node][parent] = coefficients[i];
    });
    const numbers = { intercept: intercepts[node], coefficients, deviation: deviations[node] };
    cpds[node] = { node, parents, kind: "linear", numbers };
  });
  const network = new FittedNetwork(cpds, new Array(NODES).fill(0), 1);
  return { network, expected: gaussianJoint(intercepts, matrix, deviations) };
}

function randomEvidence(random, size) {
  const evidence = new Map();
  while (evidence.size < size) evidence.set(integer(random, NODES), 6 * random() - 3);
  return evidence;
}

test("means and covariances are those of the conditional normal distribution", () => {
  const random = generator(7);
  for (let round = 0; round < 40; round += 1) {
    const { network, expected } = randomGaussian(random);
    const engine = new Gaussian(network);
    for (let size = 0; size < 4; size += 1) {
      const evidence = randomEvidence(random, size);
      const { mean, covariance } = conditioned(expected, evidence);
      const found = engine.answer(evidence);
      for (let a = 0; a < NODES; a += 1) {
        const own = found.distributions.get(a);
        close(own.mean, mean[a], 1e-7);
        close(own.deviation ** 2, evidence.has(a) ? 0 : covariance[a][a], 1e-7);
        for (let b = 0; b < NODES; b += 1) close(found.covariance(a, b), covariance[a][b], 1e-7);
      }
    }
  }
});

test("influence is the squared partial correlation with what is known", () => {
  const random = generator(8);
  for (let round = 0; round < 20; round += 1) {
    const { network, expected } = randomGaussian(random);
    const evidence = new Map([[1, 0.5]]);
    const { covariance } = conditioned(expected, evidence);
    const found = influences(new Gaussian(network), 0, evidence);
    assert.deepEqual(found.map(({ node }) => node).sort(), [2, 3, 4, 5]);
    for (const { node, information, shift } of found) {
      const squared = covariance[0][node] ** 2;
      close(information, squared / covariance[0][0] / covariance[node][node], 1e-6);
      close(shift, covariance[0][node] / Math.sqrt(covariance[node][node]), 1e-6);
    }
    const sorted = found.map(({ information }) => information);
    assert.deepEqual(
      sorted,
      sorted.toSorted((a, b) => b - a),
    );
  }
});

test("a constant node is no evidence, and constants of states take no part", () => {
  const linear = (node, parents, numbers) => ({ node, parents, kind: "linear", numbers });
  const cpds = [
    linear(0, [], { intercept: 2, coefficients: [], deviation: 0 }),
    linear(1, [0], { intercept: 1, coefficients: [3], deviation: 0.5 }),
    { node: 2, parents: [], kind: "cases", numbers: [9] },
  ];
  const engine = new Gaussian(new FittedNetwork(cpds, [0, 0, 1], 1));
  assert.deepEqual([...engine.nodes], [0, 1]);
  const { distributions } = engine.answer(new Map([[0, 2]]));
  assert.deepEqual(distributions.get(1), { mean: 7, deviation: 0.5 });
});

test("a Cholesky factor times its transpose is the matrix", () => {
  const matrix = [
    [4, 2, -2],
    [2, 10, 5],
    [-2, 5, 9],
  ];
  const lower = cholesky(matrix);
  matrix.forEach((row, i) => {
    row.forEach((value, j) => {
      close(
        lower[i].reduce((sum, one, k) => sum + one * lower[j][k], 0),
        value,
      );
    });
  });
  const solved = solveLower(lower, [1, 2, 3]);
  lower.forEach((row, i) => {
    close(
      row.reduce((sum, value, k) => sum + value * solved[k], 0),
      i + 1,
    );
  });
});
