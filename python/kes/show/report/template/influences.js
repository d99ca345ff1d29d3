// Information of each variable on a target, given the evidence: mutual information in nats for a
// discrete target, explained share of the variance for a continuous one.

import { Gaussian } from "./gaussian.js";
import { MIN_EFFECTIVE } from "./likelihood-weighting.js";
import { Mixed } from "./mixed.js";

const GROUPS = 8; // equally probable groups of values of a continuous variable
const MIN_SHARE = 0.01; // rarer states are not given as examples

// All other variables, the most informative first: { node, information, ... }.
export function influences(engine, target, evidence) {
  const others = [...engine.nodes].filter((node) => node !== target && !evidence.has(node));
  const found = influencesBy(engine)(engine, target, evidence, others);
  return found.sort((a, b) => b.information - a.information || a.node - b.node);
}

function influencesBy(engine) {
  if (engine instanceof Gaussian) return gaussianInfluences;
  return engine instanceof Mixed ? mixedInfluences : discreteInfluences;
}

// `shift` is the change of the target's mean for one standard deviation of the other variable.
function gaussianInfluences(engine, target, evidence, others) {
  const { distributions, covariance } = engine.answer(evidence);
  const own = distributions.get(target).deviation;
  return others.map((node) => {
    const { deviation } = distributions.get(node);
    const shift = deviation > 0 ? covariance(node, target) / deviation : 0;
    return { node, information: own > 0 ? Math.min(1, (shift / own) ** 2) : 0, shift };
  });
}

// `most` is the state of the other variable that changes the target most, and the distribution of
// the target given that state.
function discreteInfluences(engine, target, evidence, others) {
  const now = engine.answer(evidence).distributions;
  const own = [...now.get(target)];
  const given = own.map((share, state) =>
    share > 0 ? engine.answer(new Map(evidence).set(target, state)).distributions : null,
  );
  return others.map((node) => {
    let information = 0;
    let most = null;
    now.get(node).forEach((share, state) => {
      if (share <= 0) return;
      const after = own.map((p, t) => (given[t] ? (p * given[t].get(node)[state]) / share : 0)); // Bayes
      const distance = totalVariation(after, own);
      information += share * divergence(after, own);
      if (share >= MIN_SHARE && !(distance <= most?.distance)) most = { distance, state, after };
    });
    return { node, information: Math.max(0, information), most };
  });
}

function totalVariation(p, q) {
  return p.reduce((sum, share, i) => sum + Math.abs(share - q[i]), 0) / 2;
}

// The Kullback-Leibler divergence.
function divergence(p, q) {
  return p.reduce((sum, share, i) => (share > 0 ? sum + share * Math.log(share / q[i]) : sum), 0);
}

// From weighted samples; values of continuous variables are grouped.
function mixedInfluences(engine, target, evidence, others) {
  const { network } = engine;
  const { samples } = engine.answer(evidence, target);
  if (samples.effective < MIN_EFFECTIVE) return [];
  const inside = connected(network, target);
  const measure = network.isContinuous(target) ? explainedVariance : mutualInformation;
  return others
    .filter((node) => inside.has(node))
    .map((node) => ({
      node,
      ...measure(network, target, grouped(network, node, samples), samples),
    }));
}

// The nodes of the target's connected component: others are independent of it, whatever the samples
// suggest.
function connected(network, target) {
  const neighbours = network.cpds.map(({ parents }) => new Set(parents));
  network.cpds.forEach(({ parents }, node) => {
    for (const parent of parents) neighbours[parent].add(node);
  });
  const found = new Set([target]);
  for (const node of found) for (const other of neighbours[node]) found.add(other); // grows in the loop
  return found;
}

// The group of each sample: a state, or one of several ranges of values with equal weight.
function grouped(network, node, { columns, weights }) {
  const column = columns[node];
  if (!network.isContinuous(node)) return { groupOf: column, count: network.sizes[node] };
  const order = [...column.keys()].sort((a, b) => column[a] - column[b]);
  const groupOf = new Float64Array(column.length);
  let sum = 0;
  for (const i of order) {
    groupOf[i] = Math.min(GROUPS - 1, Math.floor(sum * GROUPS));
    sum += weights[i];
  }
  return { groupOf, count: GROUPS };
}

// The share of the variance between groups, without what chance alone explains (adjusted R²).
function explainedVariance(_, target, { groupOf, count }, { columns, weights, effective }) {
  const column = columns[target];
  const [mass, sums] = [new Array(count).fill(0), new Array(count).fill(0)];
  column.forEach((value, i) => {
    mass[groupOf[i]] += weights[i];
    sums[groupOf[i]] += weights[i] * value;
  });
  const mean = sums.reduce((all, part) => all + part, 0);
  const variance = column.reduce((all, value, i) => all + weights[i] * (value - mean) ** 2, 0);
  const groups = sums
    .map((part, group) => ({ group, share: mass[group], mean: part / mass[group] }))
    .filter(({ share }) => share > 0);
  const between = groups.reduce((all, one) => all + one.share * (one.mean - mean) ** 2, 0);
  const ratio = variance > 0 ? between / variance : 0;
  const freedom = Math.max(1, effective - groups.length);
  const information = Math.max(0, 1 - ((1 - ratio) * (effective - 1)) / freedom);
  const distance = (one) => Math.abs(one.mean - mean);
  const frequent = groups.filter(({ share }) => share >= MIN_SHARE);
  const most = frequent.reduce((a, b) => (distance(b) > distance(a) ? b : a), frequent[0]);
  return { information, mean, most: most ?? null };
}

// Mutual information minus its bias [Miller 1955]; zero unless it exceeds three standard deviations
// of what independent variables show by chance.
function mutualInformation(network, target, { groupOf, count }, { columns, weights, effective }) {
  const size = network.sizes[target];
  const joint = Array.from({ length: count }, () => new Array(size).fill(0));
  columns[target].forEach((state, i) => {
    joint[groupOf[i]][state] += weights[i];
  });
  const own = Array.from({ length: size }, (_, state) =>
    joint.reduce((all, row) => all + row[state], 0),
  );
  const groups = joint
    .map((row, group) => ({ group, share: row.reduce((all, part) => all + part, 0), row }))
    .filter(({ share }) => share > 0)
    .map(({ group, share, row }) => ({ group, share, after: row.map((part) => part / share) }));
  const raw = groups.reduce((sum, { share, after }) => sum + share * divergence(after, own), 0);
  const freedom = (groups.length - 1) * (own.filter((share) => share > 0).length - 1);
  const bias = freedom / (2 * effective);
  const deviation = Math.sqrt(freedom / 2) / effective;
  const information = raw - bias > 3 * deviation ? raw - bias : 0;
  const distance = ({ after }) => totalVariation(after, own);
  const frequent = groups.filter(({ share }) => share >= MIN_SHARE);
  const most = frequent.reduce((a, b) => (distance(b) > distance(a) ? b : a), frequent[0]);
  return { information, own, most: most ?? null };
}
