// The local models of a fitted network: tables from cases, linear and logistic ones as they are.

import { data } from "./model.js";

// The families of a model, by node; null if the page does not have them.
export function familiesOf(index) {
  const own = data.tables?.of[index];
  return own ? own.map((number) => data.tables.families[number]).map(asFamily) : null;
}

function asFamily([node, parents, kind, numbers]) {
  return { node, parents, kind, numbers };
}

export function isContinuous(node) {
  return data.states[node].length === 0;
}

// Cases of each configuration of the parents; the last parent changes fastest.
export function configurationCases({ node, numbers }) {
  const states = data.states[node].length;
  const sums = new Array(numbers.length / states).fill(0);
  numbers.forEach((count, cell) => { sums[Math.floor(cell / states)] += count; });
  return sums;
}

// Probabilities as kes.fit has them: what is expected after these cases, with a prior of `ess` cases
// that are spread evenly over the table.
export function probabilities(family) {
  const states = data.states[family.node].length;
  const sums = configurationCases(family);
  const extra = data.tables.ess / family.numbers.length;
  return family.numbers.map((count, cell) =>
    (count + extra) / (sums[Math.floor(cell / states)] + extra * states));
}

// The states of the parents in a row of a table.
export function configuration(parents, row) {
  const found = [];
  let rest = row;
  for (let i = parents.length - 1; i >= 0; i -= 1) {
    const states = data.states[parents[i]];
    found.unshift(states[rest % states.length]);
    rest = Math.floor(rest / states.length);
  }
  return found;
}

// What the coefficients of a linear or logistic model belong to: a parent, or a state of it.
export function regressors(parents) {
  return parents.flatMap((parent) => isContinuous(parent)
    ? [{ parent, text: data.names[parent] }]
    : data.states[parent].slice(1).map((state) => ({ parent, text: `${data.names[parent]} = ${state}` })));
}

// Parents before their children.
export function inOrder(families) {
  const done = new Set();
  const order = [];
  const visit = (node) => {
    if (done.has(node)) return;
    done.add(node);
    families[node].parents.forEach(visit);
    order.push(node);
  };
  families.forEach((_, node) => visit(node));
  return order;
}

// Some nodes and all above them, in order.
export function ancestors(families, nodes) {
  const found = new Set();
  const waiting = [...nodes];
  while (waiting.length) {
    const node = waiting.pop();
    if (!found.has(node)) waiting.push(...families[node].parents);
    found.add(node);
  }
  return [...found].sort((a, b) => a - b);
}
