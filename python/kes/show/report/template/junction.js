// Exact answers of a discrete network, by its junction tree: the distributions of all variables
// given states of some, in two passes over a tree of cliques [Lauritzen & Spiegelhalter 1988].

import { arranged, divideInto, multiplyInto, normalise, ones, sizeOf, summedTo } from "./factor.js";
import { probabilities } from "./local.js";

export const MOST_CELLS = 2 ** 20; // of all cliques together: a browser sums so many at once

// The cliques of a graph in which no cycle lacks a chord, made by eliminating variables one by one,
// always the one whose clique has fewest cells.
function cliquesOf(families, states) {
  const joined = new Map(families.map(({ node }) => [node, new Set()]));
  for (const { node, parents } of families) {
    const scope = [node, ...parents];
    for (const a of scope) for (const b of scope) if (a !== b) joined.get(a).add(b);
  }
  const cells = (node) => sizeOf([node, ...joined.get(node)], states);
  const cost = new Map([...joined.keys()].map((node) => [node, cells(node)]));
  const cliques = [];
  let total = 0;
  while (joined.size) {
    let best = null;
    for (const [node, own] of cost) if (best === null || own < cost.get(best)) best = node;
    const others = [...joined.get(best)];
    const scope = [best, ...others].sort((a, b) => a - b);
    if (!cliques.some((clique) => scope.every((member) => clique.includes(member)))) {
      cliques.push(scope);
      total += sizeOf(scope, states);
      if (total > MOST_CELLS) return { cliques: null, total };
    }
    joined.delete(best);
    cost.delete(best);
    for (const a of others) {
      const near = joined.get(a);
      near.delete(best);
      for (const b of others) if (a !== b) near.add(b);
    }
    for (const a of others) cost.set(a, cells(a));
  }
  return { cliques, total };
}

// Join each clique to an earlier one with which it shares most; any such tree has the property that
// a variable's cliques hang together [Jensen & Jensen 1994]. A root is its own parent.
function treeOf(cliques) {
  const shared = (a, b) => cliques[a].filter((member) => cliques[b].includes(member));
  const order = [0];
  const parent = [0];
  const best = cliques.map((_, i) => ({ to: 0, by: i ? shared(i, 0).length : -1 }));
  while (order.length < cliques.length) {
    let next = -1;
    best.forEach(({ by }, i) => { if (by >= 0 && (next < 0 || by > best[next].by)) next = i; });
    parent[next] = best[next].to;
    order.push(next);
    best[next].by = -1;
    best.forEach((own, i) => {
      if (own.by < 0) return;
      const common = shared(i, next).length;
      if (common > own.by) best[i] = { to: next, by: common };
    });
  }
  return order.map((clique) => ({ clique, parent: parent[clique], separator: shared(clique, parent[clique]) }));
}

export class JunctionTree {
  // Families of tables that hold all parents of their nodes; `states` has the numbers of states.
  constructor(families, states) {
    this.states = states;
    this.nodes = new Set(families.map(({ node }) => node));
    const { cliques, total } = cliquesOf(families, states);
    this.cells = total;
    this.isFeasible = cliques !== null;
    if (!this.isFeasible) return;
    this.cliques = cliques;
    this.tree = treeOf(cliques);
    this.home = new Map();
    this.potentials = cliques.map((scope) => ones(scope, states));
    for (const family of families) {
      const scope = [...family.parents, family.node];
      const at = cliques.findIndex((clique) => scope.every((member) => clique.includes(member)));
      this.home.set(family.node, at);
      multiplyInto(this.potentials[at], arranged(scope, probabilities(family), states), states);
    }
  }

  // The distribution of every variable given evidence (a map from variables to states), and the
  // logarithm of the probability of the evidence, -Infinity if it is impossible.
  answer(evidence) {
    const { states } = this;
    const potentials = this.potentials.map(({ scope, values }) => ({ scope, values: values.slice() }));
    for (const [node, state] of evidence) {
      const mask = { scope: [node], values: new Float64Array(states[node]) };
      mask.values[state] = 1;
      multiplyInto(potentials[this.home.get(node)], mask, states);
    }
    let logarithm = 0;
    const messages = new Map();
    for (const { clique, parent, separator } of [...this.tree].reverse()) { // from the leaves
      if (clique === parent) continue;
      const message = summedTo(potentials[clique], separator, states);
      logarithm += normalise(message);
      messages.set(clique, message);
      multiplyInto(potentials[parent], message, states);
    }
    logarithm += normalise(potentials[this.tree[0].clique]);
    if (!Number.isFinite(logarithm)) return { logarithm: -Infinity, distributions: null };
    for (const { clique, parent, separator } of this.tree.slice(1)) { // from the root
      const message = summedTo(potentials[parent], separator, states);
      divideInto(message, messages.get(clique), states);
      multiplyInto(potentials[clique], message, states);
      normalise(potentials[clique]);
    }
    const distributions = new Map();
    for (const [node, at] of this.home) {
      distributions.set(node, summedTo(potentials[at], [node], states).values);
    }
    return { logarithm, distributions };
  }
}
