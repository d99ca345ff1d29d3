// Comparison of numbers up to rounding errors.

import assert from "node:assert/strict";

export function close(found, expected, tolerance = 1e-9) {
  const isClose = Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected));
  assert.ok(isClose, `${found} is not ${expected} up to ${tolerance}`);
}

export function allClose(found, expected, tolerance = 1e-9) {
  assert.equal(found.length, expected.length);
  expected.forEach((value, i) => {
    close(found[i], value, tolerance);
  });
}
