// Exact inference in a Gaussian network: its joint distribution is normal, and so are all
// conditional ones.

import { cholesky, dot, solveLower } from "./linear-algebra.js";

export class Gaussian {
  // Only the linear CPDs of the network take part; a linear node's parents must be linear too.
  constructor(network) {
    const { cpds } = network;
    const n = cpds.length;
    this.nodes = new Set(cpds.filter(({ kind }) => kind === "linear").map(({ node }) => node));
    this.mean = new Float64Array(n);
    // effects[i][j]: change of node i for one unit of the noise of node j.
    const effects = cpds.map((_, i) => {
      const row = new Float64Array(n);
      row[i] = 1;
      return row;
    });
    for (const node of network.order.filter((one) => this.nodes.has(one))) {
      const { parents, numbers } = cpds[node];
      this.mean[node] = numbers.intercept;
      parents.forEach((parent, i) => {
        const coefficient = numbers.coefficients[i];
        this.mean[node] += coefficient * this.mean[parent];
        for (let j = 0; j < n; j += 1) effects[node][j] += coefficient * effects[parent][j];
      });
    }
    const deviations = cpds.map(({ numbers }) => numbers?.deviation ?? 0);
    // The covariance matrix is the product of this one and its transpose.
    this.root = effects.map((row) => row.map((value, j) => value * deviations[j]));
  }

  covariance(a, b) {
    return dot(this.root[a], this.root[b]);
  }

  // Mean and standard deviation of every node given the values of some, and a function for the
  // conditional covariance of two nodes.
  answer(evidence) {
    // Nodes without variance are constant and tell nothing.
    const given = [...evidence.keys()].filter((node) => this.covariance(node, node) > 0);
    const lower = cholesky(given.map((a) => given.map((b) => this.covariance(a, b))));
    const loadings = this.root.map((_, node) =>
      solveLower(
        lower,
        given.map((k) => this.covariance(k, node)),
      ),
    );
    const residual = solveLower(
      lower,
      given.map((k) => evidence.get(k) - this.mean[k]),
    );
    const covariance = (a, b) => this.covariance(a, b) - dot(loadings[a], loadings[b]);
    const distributions = new Map();
    for (const node of this.nodes) {
      const isGiven = evidence.has(node);
      const mean = isGiven ? evidence.get(node) : this.mean[node] + dot(loadings[node], residual);
      const variance = isGiven ? 0 : Math.max(0, covariance(node, node));
      distributions.set(node, { mean, deviation: Math.sqrt(variance) });
    }
    return { distributions, covariance };
  }
}
