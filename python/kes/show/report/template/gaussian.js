// Exact answers of a Gaussian network: all nodes together are normal, and so are any given others.

import { inOrder } from "./local.js";

export class Gaussian {
  // Families of which some are linear; others are those of constants, which have no part in it.
  constructor(families) {
    const n = families.length;
    this.nodes = new Set(families.filter(({ kind }) => kind === "linear").map(({ node }) => node));
    this.mean = new Float64Array(n);
    const paths = Array.from({ length: n }, (_, i) => { // what a unit of each noise adds to a node
      const row = new Float64Array(n);
      row[i] = 1;
      return row;
    });
    for (const node of inOrder(families).filter((one) => this.nodes.has(one))) {
      const { parents, numbers: { intercept, coefficients } } = families[node];
      this.mean[node] = intercept;
      parents.forEach((parent, i) => {
        this.mean[node] += coefficients[i] * this.mean[parent];
        for (let j = 0; j < n; j += 1) paths[node][j] += coefficients[i] * paths[parent][j];
      });
    }
    const deviations = families.map(({ numbers }) => numbers.deviation ?? 0);
    this.spread = paths.map((row) => row.map((value, j) => value * deviations[j]));
  }

  covariance(a, b) {
    let sum = 0;
    for (let j = 0; j < this.mean.length; j += 1) sum += this.spread[a][j] * this.spread[b][j];
    return sum;
  }

  // Mean and deviation of every node given values of some, and for a node how it moves with each
  // other: `with(a, b)` is the covariance of the two given the values.
  answer(evidence) {
    const known = [...evidence.keys()].filter((node) => this.covariance(node, node) > 0);
    const factor = cholesky(known.map((a) => known.map((b) => this.covariance(a, b))));
    const loadings = this.spread.map((_, node) => solveLower(factor, known.map((k) => this.covariance(k, node))));
    const surprise = solveLower(factor, known.map((k) => evidence.get(k) - this.mean[k]));
    const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
    const together = (a, b) => this.covariance(a, b) - dot(loadings[a], loadings[b]);
    const distributions = new Map([...this.nodes].map((node) => {
      const variance = evidence.has(node) ? 0 : Math.max(0, together(node, node));
      const mean = evidence.has(node) ? evidence.get(node) : this.mean[node] + dot(loadings[node], surprise);
      return [node, { mean, deviation: Math.sqrt(variance) }];
    }));
    return { distributions, with: together };
  }
}

export function cholesky(matrix) {
  const lower = matrix.map((row) => row.map(() => 0));
  for (let i = 0; i < matrix.length; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i][j];
      for (let k = 0; k < j; k += 1) sum -= lower[i][k] * lower[j][k];
      // A node that others determine has no variance left, but for rounding.
      lower[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-12 * matrix[i][i])) : sum / lower[j][j];
    }
  }
  return lower;
}

export function solveLower(lower, right) {
  const found = [];
  right.forEach((value, i) => {
    let sum = value;
    for (let k = 0; k < i; k += 1) sum -= lower[i][k] * found[k];
    found.push(sum / lower[i][i]);
  });
  return found;
}
