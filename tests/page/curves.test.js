import assert from "node:assert/strict";
import { test } from "node:test";
import {
  distance,
  pathData,
  shortened,
  toPoints,
  trianglePoints,
} from "../../python/kes/show/report/template/curves.js";
import { close } from "./close.js";

// A straight line of two pieces, and a bent one.
const STRAIGHT = [0, 0, 10, 0, 20, 0, 30, 0, 40, 0, 50, 0, 60, 0];
const BENT = [0, 0, 10, 30, 20, 30, 40, 10];

// A point of a cubic Bézier curve by the Bernstein polynomials.
function bezier([a, b, c, d], t) {
  const weights = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
  const at = (axis) => [a, b, c, d].reduce((sum, p, i) => sum + weights[i] * p[axis], 0);
  return [at(0), at(1)];
}

test("a shortened curve ends where the arrowhead begins", () => {
  for (const numbers of [STRAIGHT, BENT]) {
    const points = toPoints(numbers);
    for (const length of [4, 9, 33]) {
      const found = shortened(points, length);
      assert.deepEqual(found[0], points[0]);
      assert.equal(found.length % 3, 1);
      close(distance(found.at(-1), points.at(-1)), length, 1e-2);
    }
  }
});

test("it is a part of the curve", () => {
  const points = toPoints(BENT);
  const found = shortened(points, 9);
  const nearest = (p) =>
    Math.min(...Array.from({ length: 2001 }, (_, i) => distance(p, bezier(points, i / 2000))));
  for (const t of [0, 0.25, 0.5, 0.75, 1]) assert.ok(nearest(bezier(found, t)) < 0.05);
});

test("paths and arrowheads are written with one decimal", () => {
  assert.equal(pathData(toPoints([0, 0, 1, 2, 3, 4, 5.55, 6])), "M0.0 0.0C1.0 2.0 3.0 4.0 5.5 6.0");
  assert.equal(trianglePoints([0, 0], [10, 0], 4), "10.0,0.0 0.0,2.0 0.0,-2.0");
});
