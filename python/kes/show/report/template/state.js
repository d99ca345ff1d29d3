// The state of the network section: what is drawn, and what is selected in it.

import { data, strengthKinds } from "./data.js";
import { consensusEdges, differenceEdges, modelEdges } from "./graphs.js";

const LARGE = 50; // variables: larger networks open with the overview
const NARROW = "(max-width: 600px)";

const opensWithOverview =
  data.clusters && (data.names.length > LARGE || matchMedia(NARROW).matches);

export const state = {
  view: opensWithOverview ? "overview" : "optimum", // or "consensus", "difference"
  first: data.best, // the model that is drawn
  second: data.ges === data.best ? Math.min(1, data.optima.length - 1) : data.ges,
  thresholds: { ...data.thresholds }, // of the consensus: nats of evidence, or a share
  strength: strengthKinds[0], // what decides widths and the consensus
  node: null, // the selected variable
  pair: null, // the selected edge
  found: [], // the variables that a search found
};

// The unit of what decides widths and the consensus.
export function unit() {
  return state.strength === "evidence" ? "evidence" : "share";
}

// The least strength of an edge in the consensus.
export function threshold() {
  return state.thresholds[unit()];
}

// The edges that the current view draws.
export function currentEdges() {
  if (state.view === "consensus") return consensusEdges(threshold(), state.strength);
  if (state.view === "difference") return differenceEdges(state.first, state.second);
  return modelEdges(currentModel());
}

// The model that is drawn, or compared with another.
export function currentModel() {
  return state.view === "overview" ? data.best : state.first;
}

// The same if it is drawn alone, else null.
export function singleModel() {
  return ["overview", "optimum"].includes(state.view) ? currentModel() : null;
}
