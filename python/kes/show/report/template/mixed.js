// Answers of networks of both kinds: exact for the variable in question where they can be, by weighted
// draws for the others, and for all where they cannot.

import { LEAST, distribution, draw } from "./draws.js";
import { ancestors, isContinuous } from "./local.js";
import { mixture } from "./mixture.js";
import { data } from "./model.js";

const PARTS = 8; // that numbers are cut into, to see what they tell

export class Mixed {
  constructor(families) {
    this.families = families;
    this.nodes = new Set(families.filter(({ kind }) => kind !== "large").map(({ node }) => node));
    this.kept = new Map();
  }

  // Distributions of all nodes; `exact` tells whether that of the target is. None of those that draws
  // give if too few of these fit what is known.
  answer(known, target) {
    const key = JSON.stringify([target, [...known]]);
    if (!this.kept.has(key)) this.kept.set(key, this.find(known, target));
    return this.kept.get(key);
  }

  find(known, target) {
    const drawn = draw(this.families, known);
    const distributions = new Map();
    if (drawn.effective >= LEAST) {
      for (const node of this.nodes) distributions.set(node, distribution(node, drawn.columns[node], drawn.weights));
    }
    const exact = mixture(this.families, ancestors(this.families, [target, ...known.keys()]), target, known);
    if (exact?.found) distributions.set(target, exact.found);
    const isPossible = exact === null || exact.found !== null;
    const logarithm = exact ? exact.logarithm : drawn.logarithm;
    const isDensity = [...known.keys()].some(isContinuous);
    return { distributions: isPossible ? distributions : null, exact: Boolean(exact), logarithm: isDensity ? null : logarithm, drawn };
  }
}

// How much each other variable tells about a target, from the draws: of states mutual information, of
// numbers the share of the variance that goes with it. Numbers of the others are cut into parts.
export function mixedInfluences(engine, target, known, others) {
  const { drawn } = engine.answer(known, target);
  if (drawn.effective < LEAST) return [];
  const near = joinedTo(engine.families, target);
  return others.filter((node) => near.has(node)).map((node) => {
    const groups = grouped(node, drawn);
    const found = isContinuous(target) ? explained(target, groups, drawn) : information(target, groups, drawn);
    return { node, ...found };
  });
}

// The nodes that paths of any directions lead to: no other can tell anything, whatever draws say.
function joinedTo(families, target) {
  const around = families.map(({ parents }) => new Set(parents));
  families.forEach(({ parents }, node) => parents.forEach((parent) => around[parent].add(node)));
  const found = new Set([target]);
  for (const node of found) around[node].forEach((other) => found.add(other)); // a set grows while it is gone through
  return found;
}

// The group of each draw, and what the groups are called.
function grouped(node, { columns, weights }) {
  const column = columns[node];
  if (!isContinuous(node)) return { of: column, count: data.states[node].length, kind: "state" };
  const order = [...column.keys()].sort((a, b) => column[a] - column[b]);
  const of = new Float64Array(column.length);
  let sum = 0;
  for (const i of order) {
    of[i] = Math.min(PARTS - 1, Math.floor(sum * PARTS));
    sum += weights[i];
  }
  return { of, count: PARTS, kind: "part" };
}

function explained(target, { of, count, kind }, { columns, weights, effective }) {
  const column = columns[target];
  const [mass, sums] = [new Array(count).fill(0), new Array(count).fill(0)];
  column.forEach((value, i) => { mass[of[i]] += weights[i]; sums[of[i]] += weights[i] * value; });
  const mean = sums.reduce((all, part) => all + part, 0);
  const variance = column.reduce((all, value, i) => all + weights[i] * (value - mean) ** 2, 0);
  const groups = sums.map((part, group) => ({ group, share: mass[group], mean: mass[group] > 0 ? part / mass[group] : mean }));
  const between = groups.reduce((all, one) => all + one.share * (one.mean - mean) ** 2, 0);
  const used = groups.filter(({ share }) => share > 0).length;
  const ratio = variance > 0 ? between / variance : 0;
  const tells = Math.max(0, 1 - ((1 - ratio) * (effective - 1)) / Math.max(1, effective - used)); // without what chance alone explains
  const met = groups.filter(({ share }) => share >= 0.01);
  const most = met.reduce((a, b) => (Math.abs(b.mean - mean) > Math.abs(a.mean - mean) ? b : a), met[0]);
  return { tells, kind, most, mean };
}

function information(target, { of, count, kind }, { columns, weights, effective }) {
  const states = data.states[target].length;
  const joint = Array.from({ length: count }, () => new Array(states).fill(0));
  columns[target].forEach((state, i) => { joint[of[i]][state] += weights[i]; });
  const own = Array.from({ length: states }, (_, state) => joint.reduce((all, row) => all + row[state], 0));
  const sums = joint.map((row) => row.reduce((all, part) => all + part, 0));
  let tells = 0;
  joint.forEach((row, group) => row.forEach((part, state) => { if (part > 0) tells += part * Math.log(part / sums[group] / own[state]); }));
  const used = (parts) => parts.filter((part) => part > 0).length;
  const freedom = (used(sums) - 1) * (used(own) - 1);
  const chance = freedom / (2 * effective); // what independent ones seem to tell [Miller 1955]
  const spread = Math.sqrt(freedom / 2) / effective; // and by how much that varies
  const apart = (group) => joint[group].reduce((all, part, state) => all + Math.abs(part / sums[group] - own[state]), 0);
  const met = sums.flatMap((share, group) => (share >= Math.min(0.01, Math.max(...sums)) ? [group] : []));
  const group = met.reduce((a, b) => (apart(b) > apart(a) ? b : a), met[0]);
  return { tells: tells - chance > 3 * spread ? tells - chance : 0, kind, own, most: { group, then: joint[group].map((part) => part / sums[group]) } };
}

