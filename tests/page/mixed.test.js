import assert from "node:assert/strict";
import { test } from "node:test";
import { FittedNetwork } from "../../python/kes/show/report/template/cpds.js";
import { influences } from "../../python/kes/show/report/template/influences.js";
import {
  drawSamples,
  MIN_EFFECTIVE,
  SAMPLES,
  sampleDistribution,
  stateProbabilities,
} from "../../python/kes/show/report/template/likelihood-weighting.js";
import { Mixed } from "../../python/kes/show/report/template/mixed.js";
import { mixture } from "../../python/kes/show/report/template/mixture.js";
import {
  combinations,
  conditional,
  conditioned,
  gaussianJoint,
  generator,
  marginals,
  mutualInformation,
  randomDiscrete,
} from "./brute-force.js";
import { allClose, close } from "./close.js";

// Nodes 0, 1 and 2 are discrete, 3, 4 and 5 continuous; continuous nodes have parents of both kinds.
const SIZES = [2, 3, 2, 0, 0, 0];
const DISCRETE = [0, 1, 2];
const LINEAR = {
  3: { parents: [0, 1], intercept: 1, coefficients: [2, -1, 3], deviation: 0.7 },
  4: { parents: [2, 3], intercept: -2, coefficients: [4, 0.5], deviation: 1.1 },
  5: { parents: [4, 3], intercept: 0, coefficients: [-1, 0.3], deviation: 0.4 },
};

function mixtureNetwork() {
  const linear = Object.entries(LINEAR).map(([node, { parents, ...numbers }]) => ({
    node: Number(node),
    parents,
    kind: "linear",
    numbers,
  }));
  const cpds = [
    { node: 0, parents: [], kind: "cases", numbers: [3, 5] },
    { node: 1, parents: [0], kind: "cases", numbers: [1, 2, 3, 4, 1, 0] },
    { node: 2, parents: [1], kind: "cases", numbers: [5, 1, 2, 2, 0, 7] },
    ...linear,
  ];
  return new FittedNetwork(cpds, SIZES, 1);
}

// The intercepts of the continuous nodes in a combination of states.
function intercept(node, values) {
  const { parents, intercept: start, coefficients } = LINEAR[node];
  let at = 0;
  let sum = start;
  for (const parent of parents) {
    if (SIZES[parent] === 0) at += 1;
    else {
      if (values[parent] > 0) sum += coefficients[at + values[parent] - 1];
      at += SIZES[parent] - 1;
    }
  }
  return sum;
}

// A normal distribution for each combination of states, with its probability and the evidence's.
function enumerate(network, evidence) {
  const matrix = [
    [0, 0, 0],
    [0.5, 0, 0],
    [0.3, -1, 0],
  ];
  const numeric = new Map([...evidence].filter(([n]) => n > 2).map(([n, value]) => [n - 3, value]));
  return [...combinations(DISCRETE, SIZES)]
    .filter((values) =>
      DISCRETE.every((node) => (evidence.get(node) ?? values[node]) === values[node]),
    )
    .map((values) => {
      const intercepts = [3, 4, 5].map((node) => intercept(node, values));
      const normal = conditioned(gaussianJoint(intercepts, matrix, [0.7, 1.1, 0.4]), numeric);
      const prior = DISCRETE.reduce((p, node) => p * conditional(network, node, values), 1);
      return { values, normal, weight: prior * Math.exp(normal.logDensity) };
    });
}

const EVIDENCE = [
  new Map(),
  new Map([[1, 2]]),
  new Map([[4, 1.5]]),
  new Map([
    [0, 1],
    [5, -2],
  ]),
  new Map([
    [3, 2],
    [5, 1],
    [2, 0],
  ]),
];

test("mixtures are those of all combinations of states", () => {
  const network = mixtureNetwork();
  for (const evidence of EVIDENCE) {
    const parts = enumerate(network, evidence);
    const total = parts.reduce((sum, { weight }) => sum + weight, 0);
    for (let target = 0; target < 6; target += 1) {
      if (evidence.has(target)) continue;
      const { found, logarithm } = mixture(network, target, evidence);
      close(logarithm, Math.log(total), 1e-8);
      if (target < 3) {
        const shares = new Array(SIZES[target]).fill(0);
        for (const { values, weight } of parts) shares[values[target]] += weight / total;
        allClose(found, shares, 1e-8);
        continue;
      }
      const moment = (f) =>
        parts.reduce((sum, { normal, weight }) => sum + (weight / total) * f(normal), 0);
      const at = target - 3;
      const mean = moment((normal) => normal.mean[at]);
      const second = moment((normal) => normal.mean[at] ** 2 + normal.covariance[at][at]);
      close(found.mean, mean, 1e-8);
      close(found.deviation, Math.sqrt(second - mean ** 2), 1e-8);
    }
  }
});

test("a network with a logistic node above is not a mixture", () => {
  const network = logisticNetwork();
  assert.equal(mixture(network, 1, new Map()), null);
  assert.notEqual(mixture(network, 0, new Map()), null, "nothing logistic is above it");
});

test("impossible states make a mixture impossible", () => {
  const cpds = [
    { node: 0, parents: [], kind: "cases", numbers: [1, 0] },
    {
      node: 1,
      parents: [0],
      kind: "linear",
      numbers: { intercept: 0, coefficients: [1], deviation: 1 },
    },
  ];
  const network = new FittedNetwork(cpds, [2, 0], 0);
  assert.deepEqual(mixture(network, 1, new Map([[0, 1]])), { found: null, logarithm: -Infinity });
  assert.equal(new Mixed(network).answer(new Map([[0, 1]]), 1).distributions, null);
});

// --- likelihood weighting ---

// A standard normal node with a logistic child of three states.
function logisticNetwork() {
  const coefficients = [
    [0.5, 2],
    [-1, -1],
  ];
  const cpds = [
    {
      node: 0,
      parents: [],
      kind: "linear",
      numbers: { intercept: 0, coefficients: [], deviation: 1 },
    },
    { node: 1, parents: [0], kind: "logistic", numbers: { coefficients } },
  ];
  return new FittedNetwork(cpds, [0, 3], 1);
}

function logisticProbabilities(x) {
  const odds = [1, Math.exp(0.5 + 2 * x), Math.exp(-1 - x)];
  const total = odds[0] + odds[1] + odds[2];
  return odds.map((one) => one / total);
}

// Integrate against the standard normal density by the trapezoidal rule.
function integrate(f) {
  const step = 0.001;
  let sum = 0;
  for (let x = -9; x <= 9; x += step) sum += f(x) * Math.exp((-x * x) / 2);
  return (sum * step) / Math.sqrt(2 * Math.PI);
}

test("logistic probabilities follow from the log-odds", () => {
  const network = logisticNetwork();
  for (const x of [-3, 0, 0.7, 800]) {
    const found = stateProbabilities(network, 1, [x]);
    if (x < 100) allClose(found, logisticProbabilities(x));
    else allClose(found, [0, 1, 0]);
  }
});

test("weighted samples agree with integrals within their standard errors", () => {
  const network = logisticNetwork();
  const prior = drawSamples(network, new Map());
  close(prior.effective, SAMPLES);
  const shares = sampleDistribution(network, 1, prior);
  shares.forEach((share, state) => {
    const expected = integrate((x) => logisticProbabilities(x)[state]);
    assert.ok(Math.abs(share - expected) < 4 * shares.errors[state]);
    close(shares.errors[state], Math.sqrt((expected * (1 - expected)) / SAMPLES), 1e-3);
  });
  for (const state of [0, 1, 2]) {
    const likelihood = (x) => logisticProbabilities(x)[state];
    const total = integrate(likelihood);
    const samples = drawSamples(network, new Map([[1, state]]));
    close(samples.logarithm, Math.log(total), 0.08);
    const { mean, deviation, error } = sampleDistribution(network, 0, samples);
    const expected = integrate((x) => x * likelihood(x)) / total;
    const second = integrate((x) => x * x * likelihood(x)) / total;
    assert.ok(Math.abs(mean - expected) < 4 * error);
    assert.ok(error > 0.005 && error < 0.05);
    close(deviation, Math.sqrt(second - expected ** 2), 0.08);
    // 1 / sum of w²: E[p]² / E[p²] of all samples.
    const effective = (SAMPLES * total ** 2) / integrate((x) => likelihood(x) ** 2);
    close(samples.effective, effective, 0.1);
  }
});

test("samples of a discrete network agree with its joint distribution", () => {
  const network = randomDiscrete(generator(9), 5);
  const evidence = new Map([[2, 0]]);
  const { total, distributions } = marginals(network, evidence);
  const samples = drawSamples(network, evidence);
  close(samples.logarithm, Math.log(total), 0.1);
  network.cpds.forEach((_, node) => {
    const shares = sampleDistribution(network, node, samples);
    shares.forEach((share, state) => {
      const error = Math.max(shares.errors[state], 1e-3);
      assert.ok(Math.abs(share - distributions[node][state]) < 4 * error);
    });
  });
});

test("equal questions have equal answers, and impossible evidence has none", () => {
  const network = mixtureNetwork();
  const evidence = new Map([[4, 1]]);
  assert.deepEqual(drawSamples(network, evidence), drawSamples(network, evidence));
  const cpds = [{ node: 0, parents: [], kind: "cases", numbers: [1, 0] }];
  const found = drawSamples(new FittedNetwork(cpds, [2], 0), new Map([[0, 1]]));
  assert.equal(found.weights, null);
  assert.equal(found.effective, 0);
  assert.equal(found.logarithm, -Infinity);
});

// --- the engine for both ---

test("the target is exact where it can be, and the others are estimated", () => {
  const network = mixtureNetwork();
  const engine = new Mixed(network);
  const evidence = new Map([[1, 2]]);
  const answer = engine.answer(evidence, 4);
  assert.ok(answer.exact);
  assert.deepEqual(answer.distributions.get(4), mixture(network, 4, evidence).found);
  close(answer.distributions.get(3).mean, mixture(network, 3, evidence).found.mean, 0.05);
  assert.notEqual(answer.distributions.get(3).error, undefined);
  close(answer.logarithm, mixture(network, 4, evidence).logarithm);
  assert.equal(engine.answer(new Map([[5, 1]]), 4).logarithm, null, "a density");
  const estimated = new Mixed(logisticNetwork()).answer(new Map([[1, 1]]), 0);
  assert.ok(!estimated.exact);
  assert.ok(estimated.distributions.get(0).error > 0);
});

test("too few samples give no estimates, but exact answers", () => {
  const network = mixtureNetwork();
  const answer = new Mixed(network).answer(new Map([[5, 500]]), 4);
  assert.ok(answer.samples.effective < MIN_EFFECTIVE);
  assert.ok(answer.exact);
  assert.deepEqual([...answer.distributions.keys()], [4]);
  assert.deepEqual(influences(new Mixed(network), 4, new Map([[5, 500]])), []);
});

// --- influences ---

test("explained variance and information are near those of the joint distribution", () => {
  const network = mixtureNetwork();
  const engine = new Mixed(network);
  const parts = enumerate(network, new Map());
  // The share of the variance of node 3 between the states of node 1.
  const all = mixture(network, 3, new Map()).found;
  let between = 0;
  for (const state of [0, 1, 2]) {
    const own = parts.filter(({ values }) => values[1] === state);
    const share = own.reduce((sum, { weight }) => sum + weight, 0);
    const mean = own.reduce(
      (sum, { weight, normal }) => sum + (weight / share) * normal.mean[0],
      0,
    );
    between += share * (mean - all.mean) ** 2;
  }
  const byNode = (target) =>
    new Map(influences(engine, target, new Map()).map((one) => [one.node, one]));
  close(byNode(3).get(1).information, between / all.deviation ** 2, 0.03);
  // Mutual information of two discrete nodes.
  const discrete = new FittedNetwork(network.cpds.slice(0, 3), SIZES.slice(0, 3), 1);
  close(byNode(1).get(2).information, mutualInformation(discrete, 1, 2, new Map()), 0.02);
  assert.equal(byNode(1).get(2).most.after.length, 3);
});

test("numbers are compared by groups of equal weight", () => {
  // y = 2 x + noise with a standard normal x: of the variance 4 + 1, the means of the eighths of x
  // explain 4 times their own variance.
  const linear = (node, parents, coefficients) => ({
    node,
    parents,
    kind: "linear",
    numbers: { intercept: 0, coefficients, deviation: 1 },
  });
  const cpds = [
    linear(0, [], []),
    linear(1, [0], [2]),
    { node: 2, parents: [], kind: "cases", numbers: [1, 1] },
  ];
  const engine = new Mixed(new FittedNetwork(cpds, [0, 0, 2], 1));
  const [{ node, information, most }] = influences(engine, 1, new Map());
  const eighth = (x) => Math.min(7, Math.floor(8 * cumulative(x)));
  const means = Array.from(
    { length: 8 },
    (_, i) => 8 * integrate((x) => (eighth(x) === i ? x : 0)),
  );
  const variance = means.reduce((sum, mean) => sum + mean ** 2 / 8, 0);
  assert.equal(node, 0);
  close(information, (4 * variance) / 5, 0.03);
  assert.ok([0, 7].includes(most.group), "the outer groups are the farthest from the mean");
  close(Math.abs(most.mean), 2 * means[7], 0.1);
});

// The standard normal distribution function, by the series of Marsaglia.
function cumulative(x) {
  if (Math.abs(x) > 8) return x > 0 ? 1 : 0;
  let [sum, term] = [x, x];
  for (let i = 3; Math.abs(term) > 1e-17; i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  return 0.5 + (sum * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
}

test("unconnected variables tell nothing", () => {
  const network = logisticNetwork();
  const cpds = [...network.cpds, { node: 2, parents: [], kind: "cases", numbers: [4, 6] }];
  const engine = new Mixed(new FittedNetwork(cpds, [0, 3, 2], 1));
  assert.deepEqual(
    influences(engine, 0, new Map()).map(({ node }) => node),
    [1],
  );
  assert.deepEqual(influences(engine, 2, new Map()), []);
});
