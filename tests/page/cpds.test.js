import assert from "node:assert/strict";
import { test } from "node:test";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import { conditional, generator, joint, randomDiscrete } from "./brute-force.js";
import { close } from "./close.js";

test("tables are smoothed relative frequencies, and rows sum to 1", () => {
  const random = generator(1);
  for (let round = 0; round < 20; round += 1) {
    const network = randomDiscrete(random, 5, 0.5 + random());
    for (const [values] of joint(network)) {
      for (const { node } of network.cpds) {
        const size = network.sizes[node];
        const row = network.row(node, values);
        const table = network.table(node);
        close(table[row * size + values[node]], conditional(network, node, values));
        close(
          table.slice(row * size, (row + 1) * size).reduce((sum, p) => sum + p, 0),
          1,
        );
      }
    }
  }
});

test("the cases of a configuration are those of all states", () => {
  const cpds = [
    { node: 0, parents: [], kind: "cases", numbers: [4, 3] },
    { node: 1, parents: [0], kind: "cases", numbers: [1, 2, 1, 0, 3, 0] },
  ];
  const network = new FittedNetwork(cpds, [2, 3], 1);
  assert.deepEqual(network.parentCases(1), [4, 3]);
  assert.deepEqual(network.parentCases(0), [7]);
});

test("a linear predictor has a coefficient for each number, and each state but the first", () => {
  const network = new FittedNetwork([], [0, 3, 0, 2], 1);
  const predict = (values) => network.predictor([0, 1, 3, 2], 10, [2, 30, 40, 500, 7], values);
  assert.equal(predict([1.5, 0, 1, 0]), 10 + 3 + 7);
  assert.equal(predict([0, 1, 0, 1]), 10 + 30 + 500);
  assert.equal(predict([0, 2, -1, 0]), 10 + 40 - 7);
});

test("interactions of discrete parents follow, the last parent changing fastest", () => {
  const network = new FittedNetwork([], [0, 3, 2], 1);
  const predict = (values) => network.predictor([1, 0, 2], 10, [20, 30, 2, 40, 500, 600], values);
  assert.equal(predict([1, 0, 1]), 10 + 2 + 40);
  assert.equal(predict([1, 2, 0]), 10 + 2 + 30);
  assert.equal(predict([1, 1, 1]), 10 + 2 + 20 + 40 + 500);
  assert.equal(predict([1, 2, 1]), 10 + 2 + 30 + 40 + 600);
});

test("parents come before children, and ancestors are found", () => {
  const random = generator(2);
  for (let round = 0; round < 30; round += 1) {
    const network = randomDiscrete(random, 7);
    const place = new Map(network.order.map((node, at) => [node, at]));
    assert.equal(place.size, 7);
    const reach = network.cpds.map(() => new Set());
    for (const node of network.order) {
      for (const parent of network.cpds[node].parents) {
        assert.ok(place.get(parent) < place.get(node));
        reach[node] = new Set([...reach[node], parent, ...reach[parent]]);
      }
    }
    const expected = new Set([0, 3, ...reach[0], ...reach[3]]);
    assert.deepEqual(
      network.ancestors([3, 0]),
      [...expected].sort((a, b) => a - b),
    );
  }
});

test("kinds are found", () => {
  const cpds = [{ node: 0, parents: [], kind: "linear", numbers: {} }];
  const network = new FittedNetwork(cpds, [0], 1);
  assert.ok(network.has("large", "linear"));
  assert.ok(!network.has("large"));
  assert.ok(network.isContinuous(0));
});
