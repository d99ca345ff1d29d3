// A fitted network: the conditional probability distribution (CPD) of each node given its parents.
//
// A CPD is { node, parents, kind, numbers }. Its kind is
//   "cases"     a table, given by the cases that it was counted from,
//   "linear"    a normal distribution whose mean is linear in the parents,
//   "logistic"  log-odds of each state but the first, linear in the parents,
//   "large"     a table that was left out of the page.
// With a `degree` above 1 among its numbers, linear stands for sums of curves: continuous variables
// are then normal scores, and enter as their polynomials.

import { interpolate, polynomials } from "./polynomials.js";

// The combinations in which at least two states are not the first; the last changes fastest.
export function interactions(sizes) {
  const extend = (cells, size) =>
    cells.flatMap((cell) => Array.from({ length: size }, (_, code) => [...cell, code]));
  const several = (cell) => cell.filter((code) => code > 0).length >= 2;
  return sizes.reduce(extend, [[]]).filter(several);
}

export class FittedNetwork {
  // `sizes` has the number of states of each node, 0 for a continuous one; `ess` is the equivalent
  // sample size of the prior that smooths the tables. In a network with curves, `scores` has for each
  // continuous node some of its values and their normal scores.
  constructor(cpds, sizes, ess, scores = null) {
    this.cpds = cpds;
    this.sizes = sizes;
    this.ess = ess;
    this.scores = scores;
    this.tables = new Map();
  }

  isContinuous(node) {
    return this.sizes[node] === 0;
  }

  // The normal score of a value of a node, if the network has scores; else the value.
  score(node, value) {
    const known = this.scores?.[node];
    return known ? interpolate(value, known.values, known.scores) : value;
  }

  // The value that has a score.
  value(node, score) {
    const known = this.scores?.[node];
    return known ? interpolate(score, known.scores, known.values) : score;
  }

  has(...kinds) {
    return this.cpds.some(({ kind }) => kinds.includes(kind));
  }

  // Number of cases with each configuration of the parents; the last parent changes fastest.
  parentCases(node) {
    const size = this.sizes[node];
    const { numbers } = this.cpds[node];
    const sums = new Array(numbers.length / size).fill(0);
    numbers.forEach((count, cell) => {
      sums[Math.floor(cell / size)] += count;
    });
    return sums;
  }

  // The probability table of a node, as kes.fit computes it: the posterior mean under a Dirichlet
  // prior that spreads `ess` cases evenly over the table. A row holds one configuration.
  table(node) {
    if (!this.tables.has(node)) {
      const { numbers } = this.cpds[node];
      const size = this.sizes[node];
      const sums = this.parentCases(node);
      const extra = this.ess / numbers.length;
      const shares = numbers.map(
        (count, cell) => (count + extra) / (sums[Math.floor(cell / size)] + extra * size),
      );
      this.tables.set(node, shares);
    }
    return this.tables.get(node);
  }

  // The row of a probability table that belongs to the values of the parents.
  row(node, values) {
    return this.cpds[node].parents.reduce(
      (row, parent) => row * this.sizes[parent] + values[parent],
      0,
    );
  }

  // The linear predictor: a continuous parent has one coefficient, a discrete one has a coefficient
  // for each state but the first. Interactions of discrete parents may follow. With a degree above
  // 1, a continuous parent has a coefficient for each polynomial.
  predictor(parents, intercept, coefficients, values, degree = 1) {
    let sum = intercept;
    let at = 0;
    for (const parent of parents) {
      if (this.isContinuous(parent)) {
        const own = degree > 1 ? polynomials(values[parent], degree) : [values[parent]];
        for (const [k, value] of own.entries()) sum += coefficients[at + k] * value;
        at += own.length;
      } else {
        if (values[parent] > 0) sum += coefficients[at + values[parent] - 1];
        at += this.sizes[parent] - 1;
      }
    }
    if (at < coefficients.length) {
      const discrete = parents.filter((parent) => !this.isContinuous(parent));
      const cells = interactions(discrete.map((parent) => this.sizes[parent]));
      const isHere = (cell) => cell.every((code, i) => code === values[discrete[i]]);
      const place = cells.findIndex(isHere);
      if (place >= 0) sum += coefficients[at + place];
    }
    return sum;
  }

  // All nodes, parents before children.
  get order() {
    this.sorted ??= topological(this.cpds);
    return this.sorted;
  }

  // Some nodes and all their ancestors, by number.
  ancestors(nodes) {
    const found = new Set();
    const waiting = [...nodes];
    while (waiting.length) {
      const node = waiting.pop();
      if (!found.has(node)) waiting.push(...this.cpds[node].parents);
      found.add(node);
    }
    return [...found].sort((a, b) => a - b);
  }
}

function topological(cpds) {
  const done = new Set();
  const order = [];
  const visit = (node) => {
    if (done.has(node)) return;
    done.add(node);
    cpds[node].parents.forEach(visit);
    order.push(node);
  };
  cpds.forEach((_, node) => {
    visit(node);
  });
  return order;
}
