import assert from "node:assert/strict";
import { test } from "node:test";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import { JunctionTree, MAX_CELLS } from "../../python/kes/show/report/template/junction-tree.js";
import { generator, integer, marginals, randomDiscrete } from "./brute-force.js";
import { allClose, close } from "./close.js";

const all = (network) => network.cpds.map((_, node) => node);

test("distributions are those of the joint distribution, given any evidence", () => {
  const random = generator(4);
  for (let round = 0; round < 60; round += 1) {
    const network = randomDiscrete(random, 7);
    const tree = new JunctionTree(network, all(network));
    for (let given = 0; given < 4; given += 1) {
      const evidence = new Map();
      while (evidence.size < given) {
        const node = integer(random, 7);
        evidence.set(node, integer(random, network.sizes[node]));
      }
      const { logarithm, distributions } = tree.answer(evidence);
      const expected = marginals(network, evidence);
      close(logarithm, Math.log(expected.total));
      for (const node of all(network)) {
        allClose(distributions.get(node), expected.distributions[node]);
      }
    }
  }
});

test("answers do not depend on those before", () => {
  const network = randomDiscrete(generator(5), 6);
  const tree = new JunctionTree(network, all(network));
  const first = tree.answer(new Map());
  tree.answer(new Map([[0, 0]]));
  assert.deepEqual(tree.answer(new Map()), first);
});

test("a part that is closed under parents has the same distributions", () => {
  const random = generator(6);
  for (let round = 0; round < 20; round += 1) {
    const network = randomDiscrete(random, 7);
    const nodes = network.ancestors([2, 5]);
    const { distributions } = new JunctionTree(network, nodes).answer(new Map());
    const expected = marginals(network, new Map()).distributions;
    assert.deepEqual(new Set(distributions.keys()), new Set(nodes));
    for (const node of nodes) allClose(distributions.get(node), expected[node]);
  }
});

test("impossible evidence has no answer", () => {
  const cpds = [
    { node: 0, parents: [], kind: "cases", numbers: [1, 3] },
    { node: 1, parents: [0], kind: "cases", numbers: [2, 0, 1, 2] },
  ];
  const network = new FittedNetwork(cpds, [2, 2], 0);
  const tree = new JunctionTree(network, [0, 1]);
  const impossible = new Map([
    [0, 0],
    [1, 1],
  ]);
  assert.deepEqual(tree.answer(impossible), { logarithm: -Infinity, distributions: null });
  // Zeros elsewhere do no harm.
  const { logarithm, distributions } = tree.answer(new Map([[1, 1]]));
  close(logarithm, Math.log((3 / 4) * (2 / 3)));
  allClose(distributions.get(0), [0, 1]);
});

test("separate parts of a network are independent", () => {
  const cpds = [0, 1, 2].map((node) => ({ node, parents: [], kind: "cases", numbers: [1, 3] }));
  const network = new FittedNetwork(cpds, [2, 2, 2], 0);
  const { logarithm, distributions } = new JunctionTree(network, [0, 1, 2]).answer(
    new Map([[1, 0]]),
  );
  close(logarithm, Math.log(1 / 4));
  for (const node of [0, 2]) allClose(distributions.get(node), [0.25, 0.75]);
});

test("the limit of cells holds for all cliques together", () => {
  // A chain of three variables with four states has two cliques of 16 cells.
  const cpds = [0, 1, 2].map((node) => ({
    node,
    parents: node ? [node - 1] : [],
    kind: "cases",
    numbers: new Array(node ? 16 : 4).fill(1),
  }));
  const network = new FittedNetwork(cpds, [4, 4, 4], 1);
  assert.ok(new JunctionTree(network, [0, 1, 2], 32).isFeasible);
  assert.ok(!new JunctionTree(network, [0, 1, 2], 31).isFeasible);
  assert.ok(MAX_CELLS >= 32);
});

test("a network of large treewidth is refused at once, before any table is made", () => {
  // Each of 60 variables has four parents anywhere before it: cliques of 4^14 cells and more.
  const random = generator(8);
  const cpds = Array.from({ length: 60 }, (_, node) => {
    const parents = new Set();
    while (parents.size < Math.min(node, 4)) parents.add(integer(random, node));
    const numbers = new Array(4 ** (parents.size + 1)).fill(1);
    return { node, parents: [...parents], kind: "cases", numbers };
  });
  const network = new FittedNetwork(cpds, new Array(60).fill(4), 1);
  const before = process.memoryUsage().heapUsed;
  const started = performance.now();
  assert.ok(!new JunctionTree(network, all(network)).isFeasible);
  assert.ok(performance.now() - started < 2000);
  assert.ok(process.memoryUsage().heapUsed - before < 64 * 2 ** 20);
});
