import assert from "node:assert/strict";
import { test } from "node:test";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import {
  drawSamples,
  sampleDistribution,
} from "../../python/kes/show/report/template/likelihood-weighting.js";
import { mixture } from "../../python/kes/show/report/template/mixture.js";
import { interpolate, polynomials } from "../../python/kes/show/report/template/polynomials.js";
import { close } from "./close.js";

test("polynomials are those of the textbook, of clipped scores", () => {
  for (const score of [-2, -1, 0, 0.4, 1.5]) {
    const u = score / 2;
    const book = [u, (3 * u ** 2 - 1) / 2, (5 * u ** 3 - 3 * u) / 2];
    polynomials(score, 3).forEach((value, k) => {
      close(value, book[k]);
    });
  }
  assert.deepEqual(polynomials(7, 4), [1, 1, 1, 1]);
});

test("values between points are interpolated, and constant beyond", () => {
  const value = (x) => interpolate(x, [0, 1, 3], [10, 20, 60]);
  assert.deepEqual([-5, 0, 0.5, 1, 2, 3, 9].map(value), [10, 10, 15, 20, 40, 60, 60]);
});

// x is normal, y = P2(x) + 0.1 noise; the values of x are ten times its scores.
function parabola() {
  const cpds = [
    {
      node: 0,
      parents: [],
      kind: "linear",
      numbers: { intercept: 0, coefficients: [], deviation: 1 },
    },
    {
      node: 1,
      parents: [0],
      kind: "linear",
      numbers: { intercept: 0, coefficients: [0, 1], deviation: 0.1, degree: 2 },
    },
  ];
  const scores = [
    { values: [-50, 50], scores: [-5, 5] },
    { values: [-5, 5], scores: [-5, 5] },
  ];
  return new FittedNetwork(cpds, [0, 0], 1, scores);
}

test("a curve predicts its child from the value of its parent", () => {
  const network = parabola();
  for (const value of [-15, 0, 12]) {
    const found = sampleDistribution(network, 1, drawSamples(network, new Map([[0, value]])));
    const expected = (3 * (value / 20) ** 2 - 1) / 2;
    assert.ok(Math.abs(found.mean - expected) < 4 * found.error + 1e-9);
    assert.ok(Math.abs(found.deviation - 0.1) < 0.01);
  }
});

test("given the child of a parabola, the parent is on either side, which no mixture says", () => {
  const network = parabola();
  const evidence = new Map([[1, (3 * 0.8 ** 2 - 1) / 2]]);
  const { columns, weights } = drawSamples(network, evidence, 20000);
  const share = (inside) => columns[0].reduce((sum, x, i) => sum + (inside(x) ? weights[i] : 0), 0);
  assert.ok(Math.abs(share((x) => x > 0) - 0.5) < 0.1);
  assert.ok(share((x) => Math.abs(Math.abs(x) - 16) < 5) > 0.95);
  assert.equal(mixture(network, 0, evidence), null);
});
