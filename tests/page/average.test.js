import assert from "node:assert/strict";
import { test } from "node:test";
import { averagedAnswer } from "../../python/kes/show/report/template/average.js";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import { conditioned, gaussianJoint, generator, integer, joint } from "./brute-force.js";
import { allClose, close } from "./close.js";

const SIZES = [2, 3, 2, 2, 3];

// A network over nodes with these sizes, in random order.
function discreteMember(random) {
  const order = SIZES.map((_, node) => node).sort(() => random() - 0.5);
  const cpds = [];
  order.forEach((node, at) => {
    const parents = order.slice(0, at).filter(() => random() < 0.5);
    const cells = [...parents, node].reduce((count, one) => count * SIZES[one], 1);
    const numbers = Array.from({ length: cells }, () => integer(random, 9));
    cpds[node] = { node, parents, kind: "cases", numbers };
  });
  return new FittedNetwork(cpds, SIZES, 5);
}

const spreadOf = (values, weights) => {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = values.reduce((sum, value, i) => sum + value * weights[i], 0) / total;
  const square = values.reduce((sum, value, i) => sum + (value - mean) ** 2 * weights[i], 0);
  return { mean, spread: Math.sqrt(square / total) };
};

test("averaged shares are those of the mean joint distribution", () => {
  const random = generator(11);
  for (let round = 0; round < 20; round += 1) {
    const members = [0, 1, 2].map(() => discreteMember(random));
    for (const evidence of [new Map(), new Map([[1, 2]]), new Map([[4, 0]]).set(0, 1)]) {
      const tables = members.map((member) => [...joint(member, evidence)]);
      const total = tables.flat().reduce((sum, [, p]) => sum + p, 0);
      for (const target of [2, 3]) {
        const { shares, spread } = averagedAnswer(members, target, evidence);
        for (let state = 0; state < SIZES[target]; state += 1) {
          const here = (table) =>
            table.reduce((sum, [values, p]) => sum + (values[target] === state ? p : 0), 0);
          const own = tables.map((table) => table.reduce((sum, [, p]) => sum + p, 0));
          close(shares[state], tables.reduce((sum, table) => sum + here(table), 0) / total, 1e-9);
          const answers = tables.map((table, i) => here(table) / own[i]);
          close(spread[state], spreadOf(answers, own).spread, 1e-8);
        }
      }
    }
  }
});

// Three linear nodes, 0 -> 1 -> 2 with an arc 0 -> 2.
function linearMember(random) {
  const number = () => 4 * random() - 2;
  const intercepts = [number(), number(), number()];
  const deviations = intercepts.map(() => 0.3 + random());
  const matrix = [
    [0, 0, 0],
    [number(), 0, 0],
    [number(), number(), 0],
  ];
  const cpds = intercepts.map((intercept, node) => ({
    node,
    parents: [0, 1, 2].slice(0, node),
    kind: "linear",
    numbers: {
      intercept,
      coefficients: matrix[node].slice(0, node),
      deviation: deviations[node],
    },
  }));
  return {
    network: new FittedNetwork(cpds, [0, 0, 0], 5),
    expected: gaussianJoint(intercepts, matrix, deviations),
  };
}

test("averaged means, deviations and spreads are those of a mixture of normal distributions", () => {
  const random = generator(12);
  for (let round = 0; round < 20; round += 1) {
    const members = [0, 1, 2, 3].map(() => linearMember(random));
    for (const evidence of [new Map(), new Map([[2, 0.5]]), new Map([[0, 1]]).set(2, -1)]) {
      const found = averagedAnswer(
        members.map(({ network }) => network),
        1,
        evidence,
      );
      const normals = members.map(({ expected }) => conditioned(expected, evidence));
      const weights = normals.map(({ logDensity }) => Math.exp(logDensity));
      const { mean, spread } = spreadOf(
        normals.map((one) => one.mean[1]),
        weights,
      );
      const second = spreadOf(
        normals.map((one) => one.mean[1] ** 2 + one.covariance[1][1]),
        weights,
      ).mean;
      close(found.mean, mean, 1e-8);
      close(found.spread, spread, 1e-7);
      close(found.deviation, Math.sqrt(second - mean ** 2), 1e-7);
    }
  }
});

test("members that exclude the evidence do not count", () => {
  const coin = (numbers) => {
    const certain = { node: 0, parents: [], kind: "cases", numbers };
    const copy = { node: 1, parents: [0], kind: "cases", numbers: [1, 0, 0, 1] };
    return new FittedNetwork([certain, copy], [2, 2], 0);
  };
  const members = [coin([1, 0]), coin([1, 1])];
  const { shares, spread } = averagedAnswer(members, 0, new Map([[1, 1]]));
  allClose(shares, [0, 1]);
  allClose(spread, [0, 0]);
  assert.deepEqual(averagedAnswer([coin([1, 0])], 0, new Map([[1, 1]])), {});
  allClose(averagedAnswer(members, 0, new Map()).shares, [0.75, 0.25]);
});

test("there is no answer where a member has no exact one", () => {
  const normal = { intercept: 0, coefficients: [], deviation: 1 };
  const cpds = [
    { node: 0, parents: [], kind: "linear", numbers: normal },
    { node: 1, parents: [0], kind: "logistic", numbers: { coefficients: [[0, 1]] } },
  ];
  const network = new FittedNetwork(cpds, [0, 2], 5);
  assert.equal(averagedAnswer([network], 0, new Map([[1, 1]])), null);
  assert.equal(averagedAnswer([network], 0, new Map()).spread, 0);
});
