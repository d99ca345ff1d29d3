// Exact inference in a discrete network by its junction tree: the distributions of all variables
// given states of some, in two passes over a tree of cliques [Lauritzen & Spiegelhalter 1988].

import { cellCount, divideBy, fromTable, marginal, multiplyBy, normalise, ones } from "./factor.js";

// Upper limit for the cells of all cliques together: what a browser sums without a noticeable delay.
export const MAX_CELLS = 2 ** 20;

// The cliques of a triangulation. Variables are eliminated one by one, always the one whose clique
// has the fewest cells. Returns null if the cliques exceed the limit.
function findCliques(cpds, sizes, maxCells) {
  const neighbours = new Map(cpds.map(({ node }) => [node, new Set()]));
  for (const { node, parents } of cpds) {
    const family = [node, ...parents];
    for (const a of family) for (const b of family) if (a !== b) neighbours.get(a).add(b);
  }
  const cells = (node) => cellCount([node, ...neighbours.get(node)], sizes);
  const cost = new Map([...neighbours.keys()].map((node) => [node, cells(node)]));
  const cliques = [];
  let total = 0;
  while (neighbours.size) {
    let best = null;
    for (const [node, own] of cost) if (best === null || own < cost.get(best)) best = node;
    const others = [...neighbours.get(best)];
    const scope = [best, ...others].sort((a, b) => a - b);
    if (!cliques.some((clique) => isSubset(scope, clique))) {
      cliques.push(scope);
      total += cellCount(scope, sizes);
      if (total > maxCells) return null;
    }
    neighbours.delete(best);
    cost.delete(best);
    for (const a of others) {
      neighbours.get(a).delete(best);
      for (const b of others) if (a !== b) neighbours.get(a).add(b);
    }
    for (const a of others) cost.set(a, cells(a));
  }
  return cliques;
}

const isSubset = (part, whole) => part.every((member) => whole.includes(member));

// Connect the cliques to a maximum spanning tree by the sizes of their separators (Prim). Any such
// tree has the running intersection property [Jensen & Jensen 1994]. The root is its own parent.
function spanningTree(cliques) {
  const separator = (a, b) => cliques[a].filter((member) => cliques[b].includes(member));
  const order = [0];
  const parent = [0];
  const nearest = cliques.map((_, i) => ({ to: 0, shared: i ? separator(i, 0).length : -1 }));
  while (order.length < cliques.length) {
    let next = -1;
    nearest.forEach(({ shared }, i) => {
      if (shared >= 0 && (next < 0 || shared > nearest[next].shared)) next = i;
    });
    parent[next] = nearest[next].to;
    order.push(next);
    nearest[next].shared = -1;
    nearest.forEach((own, i) => {
      if (own.shared < 0) return;
      const shared = separator(i, next).length;
      if (shared > own.shared) nearest[i] = { to: next, shared };
    });
  }
  return order.map((clique) => ({
    clique,
    parent: parent[clique],
    separator: separator(clique, parent[clique]),
  }));
}

export class JunctionTree {
  // The tree of some nodes of a network, which must contain the parents of each of them.
  constructor(network, nodes, maxCells = MAX_CELLS) {
    this.sizes = network.sizes;
    this.nodes = new Set(nodes);
    const cpds = nodes.map((node) => network.cpds[node]);
    const cliques = findCliques(cpds, this.sizes, maxCells);
    this.isFeasible = cliques !== null;
    if (!this.isFeasible) return;
    this.tree = spanningTree(cliques);
    this.cliqueOf = new Map();
    this.potentials = cliques.map((scope) => ones(scope, this.sizes));
    for (const { node, parents } of cpds) {
      const family = [...parents, node];
      const at = cliques.findIndex((clique) => isSubset(family, clique));
      this.cliqueOf.set(node, at);
      const factor = fromTable(family, network.table(node), this.sizes);
      multiplyBy(this.potentials[at], factor, this.sizes);
    }
  }

  // The distribution of every variable given evidence (a map from variables to states), and the
  // logarithm of the probability of the evidence: -Infinity if it is impossible.
  answer(evidence) {
    const { sizes } = this;
    const potentials = this.withEvidence(evidence);
    let logarithm = 0;
    const messages = new Map();
    // Collect messages from the leaves to the root.
    for (const { clique, parent, separator } of [...this.tree].reverse()) {
      if (clique === parent) continue;
      const message = marginal(potentials[clique], separator, sizes);
      logarithm += normalise(message);
      messages.set(clique, message);
      multiplyBy(potentials[parent], message, sizes);
    }
    logarithm += normalise(potentials[this.tree[0].clique]);
    if (!Number.isFinite(logarithm)) return { logarithm: -Infinity, distributions: null };
    // Distribute messages from the root to the leaves.
    for (const { clique, parent, separator } of this.tree.slice(1)) {
      const message = marginal(potentials[parent], separator, sizes);
      divideBy(message, messages.get(clique), sizes);
      multiplyBy(potentials[clique], message, sizes);
      normalise(potentials[clique]);
    }
    const distributions = new Map();
    for (const [node, at] of this.cliqueOf) {
      distributions.set(node, marginal(potentials[at], [node], sizes).values);
    }
    return { logarithm, distributions };
  }

  withEvidence(evidence) {
    const { sizes } = this;
    const copies = this.potentials.map(({ scope, values }) => ({ scope, values: values.slice() }));
    for (const [node, state] of evidence) {
      const indicator = { scope: [node], values: new Float64Array(sizes[node]) };
      indicator.values[state] = 1;
      multiplyBy(copies[this.cliqueOf.get(node)], indicator, sizes);
    }
    return copies;
  }
}
