import assert from "node:assert/strict";
import { test } from "node:test";
import { binShares } from "../../python/kes/show/report/template/bin-shares.js";
import { allClose } from "./close.js";

// The share of a standard normal distribution between two values, by Simpson's rule.
function integral(low, high, mean, deviation) {
  const density = (x) =>
    Math.exp(-(((x - mean) / deviation) ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI));
  const steps = 2000;
  const width = (high - low) / steps;
  let sum = density(low) + density(high);
  for (let i = 1; i < steps; i += 1) sum += density(low + i * width) * (i % 2 ? 4 : 2);
  return (sum * width) / 3;
}

test("the columns of a normal distribution are its integrals, tails included", () => {
  const found = binShares({ mean: 1.3, deviation: 0.8 }, [0, 4], 4);
  const far = 12;
  const edges = [-far, 1, 2, 3, far];
  const expected = [0, 1, 2, 3].map((i) => integral(edges[i], edges[i + 1], 1.3, 0.8));
  allClose(found, expected, 1e-6);
});

test("a mixture is the sum of its components", () => {
  const components = [
    { share: 0.25, mean: 0 },
    { share: 0.75, mean: 3 },
  ];
  const found = binShares({ components, within: 0.5, mean: 2.25, deviation: 9 }, [0, 4], 8);
  const one = binShares({ mean: 0, deviation: 0.5 }, [0, 4], 8);
  const two = binShares({ mean: 3, deviation: 0.5 }, [0, 4], 8);
  allClose(
    found,
    one.map((share, i) => 0.25 * share + 0.75 * two[i]),
    1e-12,
  );
});

test("samples count by their weights, and a fixed value fills one column", () => {
  const samples = { values: [0.5, 1.5, 1.6, 9], weights: [0.1, 0.2, 0.3, 0.4] };
  allClose(binShares({ samples }, [0, 4], 4), [0.1, 0.5, 0, 0.4], 1e-12);
  assert.deepEqual(binShares({ mean: 2.5, deviation: 0 }, [0, 4], 4), [0, 0, 1, 0]);
});
