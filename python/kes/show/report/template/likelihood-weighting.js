// Likelihood weighting: samples from a network of any kind, weighted by the likelihood of the
// evidence [Fung & Chang 1990]. The random numbers are the same each time, so that equal questions
// have equal answers.

export const SAMPLES = 4000;
export const MIN_EFFECTIVE = 30; // effective samples: fewer are hardly better than a guess

// The generator mulberry32.
function randomStream(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// The probabilities of the states of a node given the values of its parents.
export function stateProbabilities(network, node, values) {
  const { parents, kind, numbers } = network.cpds[node];
  const size = network.sizes[node];
  if (kind === "cases") {
    const start = network.row(node, values) * size;
    return network.table(node).slice(start, start + size);
  }
  const logOdds = numbers.coefficients.map(([intercept, ...coefficients]) =>
    network.predictor(parents, intercept, coefficients, values, numbers.degree),
  );
  return softmax([0, ...logOdds]);
}

function softmax(logs) {
  const top = Math.max(...logs);
  const parts = logs.map((log) => Math.exp(log - top));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

function normalLogDensity(value, mean, deviation) {
  if (deviation === 0) return value === mean ? 0 : -Infinity;
  const standardised = (value - mean) / deviation;
  return -(standardised ** 2) / 2 - Math.log(deviation * Math.sqrt(2 * Math.PI));
}

// Draw samples: the values of each node, and weights that sum to 1; no weights if the evidence is
// impossible in all samples.
export function drawSamples(network, evidence, count = SAMPLES) {
  const random = randomStream(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const columns = network.cpds.map(() => new Float64Array(count));
  const logWeights = new Float64Array(count);
  const values = new Float64Array(network.cpds.length);
  for (let i = 0; i < count; i += 1) {
    for (const node of network.order) {
      const known = evidence.get(node);
      const given = known === undefined ? known : network.score(node, known);
      if (network.isContinuous(node)) {
        const { parents, numbers } = network.cpds[node];
        const { intercept, coefficients, deviation, degree } = numbers;
        const mean = network.predictor(parents, intercept, coefficients, values, degree);
        values[node] = given ?? mean + deviation * normal();
        if (given !== undefined) logWeights[i] += normalLogDensity(given, mean, deviation);
      } else {
        const own = stateProbabilities(network, node, values);
        values[node] = given ?? pick(own, random());
        if (given !== undefined) logWeights[i] += Math.log(own[given]);
      }
      columns[node][i] = network.value(node, values[node]);
    }
  }
  return { columns, ...normalised(logWeights) };
}

// The state in which a uniform random number falls.
function pick(probabilities, uniform) {
  let sum = 0;
  for (let state = 0; state < probabilities.length; state += 1) {
    sum += probabilities[state];
    if (uniform < sum) return state;
  }
  return probabilities.length - 1;
}

// Weights that sum to 1, the effective number of samples, and the log-likelihood of the evidence.
function normalised(logWeights) {
  const top = logWeights.reduce((most, log) => Math.max(most, log), -Infinity);
  if (top === -Infinity) return { weights: null, effective: 0, logarithm: -Infinity };
  const raw = logWeights.map((log) => Math.exp(log - top));
  const total = raw.reduce((sum, w) => sum + w, 0);
  const squares = raw.reduce((sum, w) => sum + w * w, 0);
  return {
    weights: raw.map((w) => w / total),
    effective: total ** 2 / squares,
    logarithm: top + Math.log(total / logWeights.length),
  };
}

// The distribution of a node in weighted samples with standard errors: probabilities, or mean and
// standard deviation, and the samples themselves.
export function sampleDistribution(network, node, { columns, weights }) {
  const column = columns[node];
  if (!network.isContinuous(node)) {
    const shares = new Array(network.sizes[node]).fill(0);
    column.forEach((state, i) => {
      shares[state] += weights[i];
    });
    const error = (share, state) => {
      const deviation = (own) => (own === state ? 1 : 0) - share;
      return Math.sqrt(column.reduce((sum, own, i) => sum + (weights[i] * deviation(own)) ** 2, 0));
    };
    shares.errors = shares.map(error);
    return shares;
  }
  const mean = column.reduce((sum, value, i) => sum + weights[i] * value, 0);
  const variance = column.reduce((sum, value, i) => sum + weights[i] * (value - mean) ** 2, 0);
  const error = column.reduce((sum, value, i) => sum + (weights[i] * (value - mean)) ** 2, 0);
  const samples = { values: column, weights };
  return { mean, deviation: Math.sqrt(variance), error: Math.sqrt(error), samples };
}
