// Graphs as lists of edges: models, consensus and differences.
//
// An edge is { pair, status } with the status 0 (no direction), 1 (x to y) or 2 (y to x).

import { data } from "./data.js";

// The edges of a model. An edge is `known` if its direction follows from background knowledge, and
// `decided` if it follows from exogenous variables, such as experiments.
export function modelEdges(index) {
  const [known, decided] = [data.optima[index].known, data.optima[index].decided].map(
    (pairs) => new Set(pairs),
  );
  return data.optima[index].edges.map((code) => {
    const pair = Math.floor(code / 3);
    return { pair, status: code % 3, known: known.has(pair), decided: decided.has(pair) };
  });
}

// The edges whose strength reaches a threshold; a direction has to reach it too. By evidence, a
// direction has to be clear.
export function consensusEdges(threshold, kind) {
  const edges = [];
  data.supports[kind].forEach(([strength, direction, ofDirection], pair) => {
    if (strength === 0 || strength < threshold) return;
    const isDirected = kind === "evidence" || ofDirection >= threshold;
    edges.push({ pair, status: isDirected ? direction : 0 });
  });
  return edges;
}

// The edges of two models, with the change from the first to the second.
export function differenceEdges(first, second) {
  const before = new Map(modelEdges(first).map((edge) => [edge.pair, edge.status]));
  const after = new Map(modelEdges(second).map((edge) => [edge.pair, edge.status]));
  const edges = [];
  for (const [pair, status] of before) {
    if (!after.has(pair)) edges.push({ pair, status, change: "removed" });
    else if (after.get(pair) === status) edges.push({ pair, status, change: "same" });
    else edges.push({ pair, status: after.get(pair), change: "turned" });
  }
  for (const [pair, status] of after) {
    if (!before.has(pair)) edges.push({ pair, status, change: "added" });
  }
  return edges;
}

// Nats by which the direction of an edge beats the opposite one; null if unknown.
export function directionNats(edge) {
  const nats = data.evidence?.direction[edge.pair] ?? null;
  if (nats === null || edge.status === 0) return null;
  return edge.status === 1 ? nats : -nats;
}

// The standard error of the nats for a direction, or null.
export function directionError(edge) {
  return data.evidence?.error[edge.pair] ?? null;
}

// Whether the direction of an edge can be relied on, as Python decided.
export function isClear(edge) {
  return edge.status !== 0 && (Boolean(edge.known) || data.clear[edge.pair] === edge.status);
}

// The two variables of an edge, in its direction.
export function ends(edge) {
  const [x, y] = data.pairs[edge.pair];
  return edge.status === 2 ? [y, x] : [x, y];
}

export function edgeText(edge) {
  const [from, to] = ends(edge);
  return `${data.names[from]} ${edge.status === 0 ? "–" : "→"} ${data.names[to]}`;
}

// Number of edges of each variable.
export function degrees(edges) {
  const found = data.names.map(() => 0);
  for (const { pair } of edges) for (const node of data.pairs[pair]) found[node] += 1;
  return found;
}

// The Markov blanket of a node, and its parts: parents, children, neighbours by edges without
// direction, and the other parents of its children.
export function surroundings(edges, node) {
  const found = { parents: [], children: [], undirected: [], spouses: [] };
  for (const edge of edges) {
    const [from, to] = ends(edge);
    if (edge.status === 0 && from === node) found.undirected.push(to);
    else if (edge.status === 0 && to === node) found.undirected.push(from);
    else if (to === node) found.parents.push(from);
    else if (from === node) found.children.push(to);
  }
  const blanket = new Set([...found.parents, ...found.children, ...found.undirected]);
  for (const edge of edges) {
    const [from, to] = ends(edge);
    const isParent = edge.status !== 0 && found.children.includes(to);
    if (isParent && from !== node && !blanket.has(from)) {
      blanket.add(from);
      found.spouses.push(from);
    }
  }
  return { ...found, blanket: [...blanket] };
}
