// Cases drawn from a network of any kind, weighted by how well they fit what is known [Fung & Chang 1990].
// The stream of numbers is the same each time: equal questions have equal answers.

import { inOrder, isContinuous, probabilities } from "./local.js";
import { data } from "./model.js";

export const DRAWS = 4000;
export const LEAST = 30; // draws that must be left in effect: fewer are hardly more than a guess

function stream(seed) { // mulberry32
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// The regressors of a family in a case, in the order of its coefficients.
export function regress(parents, coefficients, values, start) {
  let sum = start;
  let at = 0;
  for (const parent of parents) {
    if (isContinuous(parent)) {
      sum += coefficients[at] * values[parent];
      at += 1;
    } else {
      if (values[parent] > 0) sum += coefficients[at + values[parent] - 1];
      at += data.states[parent].length - 1;
    }
  }
  return sum;
}

// The probabilities of the states of a node in a case.
function chances(family, values) {
  const { node, parents, kind } = family;
  const states = data.states[node].length;
  if (kind === "cases") {
    family.table ??= probabilities(family);
    const row = parents.reduce((sum, parent) => sum * data.states[parent].length + values[parent], 0);
    return family.table.slice(row * states, (row + 1) * states);
  }
  const odds = [0, ...family.numbers.coefficients.map(([first, ...rest]) => regress(parents, rest, values, first))];
  const top = Math.max(...odds);
  const parts = odds.map((value) => Math.exp(value - top));
  const all = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / all);
}

function logNormal(value, mean, deviation) {
  if (deviation === 0) return value === mean ? 0 : -Infinity;
  return -(((value - mean) / deviation) ** 2) / 2 - Math.log(deviation * Math.sqrt(2 * Math.PI));
}

// Draw cases; returns the values of each node, and the weights, which sum to 1 if any draw fits.
export function draw(families, known, count = DRAWS) {
  const random = stream(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const order = inOrder(families);
  const columns = families.map(() => new Float64Array(count));
  const logs = new Float64Array(count);
  const values = new Float64Array(families.length);
  for (let i = 0; i < count; i += 1) {
    for (const node of order) {
      const family = families[node];
      const given = known.get(node);
      if (isContinuous(node)) {
        const { intercept, coefficients, deviation } = family.numbers;
        const mean = regress(family.parents, coefficients, values, intercept);
        values[node] = given ?? mean + deviation * normal();
        if (given !== undefined) logs[i] += logNormal(given, mean, deviation);
      } else {
        const own = chances(family, values);
        values[node] = given ?? pick(own, random());
        if (given !== undefined) logs[i] += Math.log(own[given]);
      }
      columns[node][i] = values[node];
    }
  }
  return { columns, ...weighted(logs) };
}

function pick(shares, at) {
  let sum = 0;
  for (let state = 0; state < shares.length; state += 1) {
    sum += shares[state];
    if (at < sum) return state;
  }
  return shares.length - 1;
}

function weighted(logs) {
  const top = logs.reduce((most, log) => Math.max(most, log), -Infinity);
  if (top === -Infinity) return { weights: null, effective: 0, logarithm: -Infinity };
  const weights = logs.map((log) => Math.exp(log - top));
  const all = weights.reduce((sum, w) => sum + w, 0);
  const squares = weights.reduce((sum, w) => sum + w * w, 0);
  return { weights: weights.map((w) => w / all), effective: all ** 2 / squares, logarithm: top + Math.log(all / logs.length) };
}

// The distribution of a node in weighted draws, with its standard error: shares, or mean and deviation.
export function distribution(node, column, weights) {
  if (!isContinuous(node)) {
    const shares = new Array(data.states[node].length).fill(0);
    column.forEach((state, i) => { shares[state] += weights[i]; });
    shares.errors = shares.map((share, state) =>
      Math.sqrt(column.reduce((sum, own, i) => sum + (weights[i] * ((own === state ? 1 : 0) - share)) ** 2, 0)));
    return shares;
  }
  const mean = column.reduce((sum, value, i) => sum + weights[i] * value, 0);
  const variance = column.reduce((sum, value, i) => sum + weights[i] * (value - mean) ** 2, 0);
  const error = Math.sqrt(column.reduce((sum, value, i) => sum + (weights[i] * (value - mean)) ** 2, 0));
  return { mean, deviation: Math.sqrt(variance), error };
}
