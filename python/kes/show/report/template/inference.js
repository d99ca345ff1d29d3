// What answers questions in the page: discrete networks by their junction tree and Gaussian ones in closed
// form, exactly; mixed ones exactly where they are mixtures of normal distributions, else by draws.

import { Gaussian } from "./gaussian.js";
import { JunctionTree, MOST_CELLS } from "./junction.js";
import { ancestors, familiesOf, inOrder } from "./local.js";
import { Mixed, mixedInfluences } from "./mixed.js";
import { data, modelEdges, surroundings } from "./model.js";
import { number } from "./dom.js";

const states = data.states.map((own) => own.length);
const kept = new Map();

function remembered(key, make) {
  if (!kept.has(key)) kept.set(key, make());
  return kept.get(key);
}

// What answers questions about a variable of a model: { engine, note }; no engine if nothing can.
export function answering(index, target) {
  const families = remembered(`families ${index}`, () => familiesOf(index));
  if (!data.tables) return { note: "This report was made without the data, so it cannot compute answers." };
  if (!families) return { note: "Only the best optima have their numbers here: choose one of them." };
  const isConstant = ({ node }) => states[node] === 1;
  if (families.every((family) => family.kind === "linear" || isConstant(family))) {
    if (isConstant(families[target])) return { note: "It has one state only, so there is nothing to ask." };
    return { engine: remembered(`gaussian ${index}`, () => new Gaussian(families)), note: "" };
  }
  const has = (kinds) => families.some(({ kind }) => kinds.includes(kind));
  if (has(["linear", "logistic"]) && !has(["large"])) {
    return { engine: remembered(`mixed ${index}`, () => new Mixed(families)), note: "" };
  }
  return discrete(index, target, families);
}

function discrete(index, target, families) {
  const inside = remembered(`tabular ${index}`, () => tabular(families));
  if (!inside.has(target)) return { note: "It hangs on tables that are too large for this page." };
  const all = [...inside].map((node) => families[node]);
  const whole = remembered(`whole ${index}`, () => new JunctionTree(all, states));
  const partly = all.length < families.length ? "What hangs on tables that are too large for this page cannot be set." : "";
  if (whole.isFeasible) return { engine: whole, note: partly };
  const near = [target, ...surroundings(modelEdges(index), target).blanket].filter((node) => inside.has(node));
  const above = ancestors(families, near);
  const part = remembered(`part ${index} ${target}`, () => new JunctionTree(above.map((node) => families[node]), states));
  const large = `All variables together would take more than ${number(MOST_CELLS, 0)} numbers at a time`;
  if (!part.isFeasible) return { note: `${large}, and so would this variable's surroundings.` };
  return { engine: part, note: `${large}: only the variable, its Markov blanket and what is above them can be set.` };
}

// Nodes that have tables here, and all above them too: what is below has no say in it.
function tabular(families) {
  const found = new Set();
  for (const node of inOrder(families)) {
    const { parents, kind } = families[node];
    if (kind === "cases" && parents.every((parent) => found.has(parent))) found.add(node);
  }
  return found;
}

// How much each other variable tells about a target, most first.
export function influences(engine, target, evidence) {
  const others = [...engine.nodes].filter((node) => node !== target && !evidence.has(node));
  const way = engine instanceof Gaussian ? linearInfluences : engine instanceof Mixed ? mixedInfluences : discreteInfluences;
  const found = way(engine, target, evidence, others);
  return found.sort((a, b) => b.tells - a.tells || a.node - b.node);
}

// Share of the variance that goes away once the other is known, and what a deviation more of it does.
function linearInfluences(engine, target, evidence, others) {
  const answer = engine.answer(evidence);
  const own = answer.distributions.get(target).deviation;
  return others.map((node) => {
    const { deviation } = answer.distributions.get(node);
    const slope = deviation > 0 ? answer.with(node, target) / deviation ** 2 : 0;
    return { node, tells: own > 0 ? Math.min(1, (slope * deviation / own) ** 2) : 0, shift: slope * deviation };
  });
}

// Mutual information, from the distributions of the others given each state of the target; and the
// state of the other that moves the target most, with what becomes of the target.
function discreteInfluences(engine, target, evidence, others) {
  const now = engine.answer(evidence);
  const own = now.distributions.get(target);
  const given = [...own].map((share, state) =>
    (share > 0 ? engine.answer(new Map(evidence).set(target, state)).distributions : null));
  return others.map((node) => {
    const shares = now.distributions.get(node);
    let tells = 0;
    let most = { apart: -1 };
    shares.forEach((share, state) => {
      if (share <= 0) return;
      const then = [...own].map((p, t) => (given[t] ? (p * given[t].get(node)[state]) / share : 0));
      const apart = then.reduce((sum, p, t) => sum + Math.abs(p - own[t]), 0) / 2;
      then.forEach((p, t) => { if (p > 0) tells += share * p * Math.log(p / own[t]); });
      if (share >= 0.01 && apart > most.apart) most = { apart, state, share, then };
    });
    return { node, tells: Math.max(0, tells), most };
  });
}
