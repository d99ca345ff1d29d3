import assert from "node:assert/strict";
import { test } from "node:test";
import { influences } from "../../python/kes/show/report/template/influences.js";
import { JunctionTree } from "../../python/kes/show/report/template/junction-tree.js";
import { generator, marginals, mutualInformation, randomDiscrete } from "./brute-force.js";
import { allClose, close } from "./close.js";

test("influence is mutual information given the evidence", () => {
  const random = generator(10);
  for (let round = 0; round < 15; round += 1) {
    const network = randomDiscrete(random, 5);
    const tree = new JunctionTree(network, [0, 1, 2, 3, 4]);
    const evidence = new Map([[4, 0]]);
    const found = influences(tree, 0, evidence);
    assert.deepEqual(found.map(({ node }) => node).sort(), [1, 2, 3]);
    for (const { node, information } of found) {
      close(information, mutualInformation(network, 0, node, evidence));
    }
    const sorted = found.map(({ information }) => information);
    assert.deepEqual(
      sorted,
      sorted.toSorted((a, b) => b - a),
    );
  }
});

test("the state that changes the target most is given with the distribution after it", () => {
  const random = generator(11);
  for (let round = 0; round < 15; round += 1) {
    const network = randomDiscrete(random, 5);
    const tree = new JunctionTree(network, [0, 1, 2, 3, 4]);
    const [own] = marginals(network, new Map()).distributions;
    for (const { node, most } of influences(tree, 0, new Map())) {
      const shares = marginals(network, new Map()).distributions[node];
      const after = shares.map((_, s) => marginals(network, new Map([[node, s]])).distributions[0]);
      const distance = (state) => after[state].reduce((sum, p, t) => sum + Math.abs(p - own[t]), 0);
      const best = Math.max(...shares.map((p, state) => (p >= 0.01 ? distance(state) : 0)));
      close(distance(most.state), best);
      allClose(most.after, after[most.state]);
    }
  }
});
