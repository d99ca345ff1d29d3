// Choose the inference engine for a model: a junction tree for discrete networks, the closed form
// for Gaussian ones, and mixtures or likelihood weighting for mixed ones.

import { data } from "./data.js";
import { fittedNetwork, whyNotFitted } from "./fitted.js";
import { number } from "./format.js";
import { Gaussian } from "./gaussian.js";
import { modelEdges, surroundings } from "./graphs.js";
import { JunctionTree, MAX_CELLS } from "./junction-tree.js";
import { Mixed } from "./mixed.js";

const cache = new Map();

function cached(key, make) {
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key);
}

// { engine, note } for questions about a variable of a model; without an engine, the note says why.
export function engineFor(index, target) {
  const network = fittedNetwork(index);
  if (!network) {
    return { note: `${whyNotFitted()}${data.tables ? " Select one of them." : ""}` };
  }
  const isConstant = (node) => network.sizes[node] === 1;
  const isLinear = ({ node, kind }) => kind === "linear" || isConstant(node);
  if (!network.scores && network.cpds.every(isLinear)) {
    if (isConstant(target)) return { note: "This variable has a single state." };
    return { engine: cached(`gaussian ${index}`, () => new Gaussian(network)), note: "" };
  }
  if (network.has("linear", "logistic") && !network.has("large")) {
    return { engine: cached(`mixed ${index}`, () => new Mixed(network)), note: "" };
  }
  return discreteEngine(index, target, network);
}

// The tree of the whole network if it is small enough, else of the surroundings of the target.
function discreteEngine(index, target, network) {
  const available = cached(`available ${index}`, () => withTables(network));
  if (!available.has(target)) {
    return { note: "This variable depends on tables that are too large for this page." };
  }
  const whole = cached(`whole ${index}`, () => new JunctionTree(network, [...available]));
  if (whole.isFeasible) {
    const isComplete = available.size === network.cpds.length;
    const note = "Variables that depend on tables too large for this page cannot be set.";
    return { engine: whole, note: isComplete ? "" : note };
  }
  const near = [target, ...surroundings(modelEdges(index), target).blanket];
  const nodes = network.ancestors(near.filter((node) => available.has(node)));
  const part = cached(`part ${index} ${target}`, () => new JunctionTree(network, nodes));
  const limit = `Exact inference in the whole network needs more than ${number(MAX_CELLS, 0)} numbers`;
  if (part.isFeasible) {
    const note = `${limit}: only this variable, its Markov blanket and their ancestors can be set.`;
    return { engine: part, note };
  }
  return { note: `${limit}, and so does the part around this variable.` };
}

// The nodes that have tables and whose ancestors have them too; descendants do not matter.
function withTables(network) {
  const found = new Set();
  for (const node of network.order) {
    const { parents, kind } = network.cpds[node];
    if (kind === "cases" && parents.every((parent) => found.has(parent))) found.add(node);
  }
  return found;
}
