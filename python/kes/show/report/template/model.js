// What the page knows: models as lists of edges, and what follows from them.
// An edge is { pair, status }; the status is 0 (no direction), 1 (x to y) or 2 (y to x).

export const data = JSON.parse(document.getElementById("data").textContent);

export const KINDS = {
  search: "search support",
  weight: "relative weight",
  resampling: "resampling support",
};
export const kinds = Object.keys(data.supports);

// Edges that have their direction from knowledge are `known`.
export function modelEdges(index) {
  const known = new Set(data.optima[index].known);
  return data.optima[index].edges.map((code) => {
    const pair = Math.floor(code / 3);
    return { pair, status: code % 3, known: known.has(pair) };
  });
}

// The same rule as Optima.consensus: a direction needs the threshold, and more than the opposite.
export function consensusEdges(threshold, kind) {
  const reached = threshold - 1e-9;
  const edges = [];
  data.supports[kind].forEach(([joined, forward, backward], pair) => {
    if (joined < reached || joined === 0) return;
    const isForward = forward >= reached && forward > backward;
    const isBackward = backward >= reached && backward > forward;
    edges.push({ pair, status: isForward ? 1 : isBackward ? 2 : 0 });
  });
  return edges;
}

// Edges of either model, with the change from the first to the second.
export function differenceEdges(first, second) {
  const before = new Map(modelEdges(first).map((edge) => [edge.pair, edge.status]));
  const after = new Map(modelEdges(second).map((edge) => [edge.pair, edge.status]));
  const edges = [];
  for (const [pair, status] of before) {
    if (!after.has(pair)) edges.push({ pair, status, change: "removed" });
    else if (after.get(pair) === status) edges.push({ pair, status, change: "same" });
    else edges.push({ pair, status: after.get(pair), was: status, change: "turned" });
  }
  for (const [pair, status] of after) {
    if (!before.has(pair)) edges.push({ pair, status, change: "added" });
  }
  return edges;
}

// By how many nats the drawn direction of an edge beats the opposite; null if that is not known.
export function directionNats(edge) {
  const nats = data.evidence?.direction[edge.pair] ?? null;
  return nats === null || edge.status === 0 ? null : edge.status === 1 ? nats : -nats;
}

// Whether a direction can be relied on: by evidence, or where there is none by relative weight.
export function isClear(edge) {
  if (edge.status === 0) return false;
  const nats = directionNats(edge);
  if (edge.known) return true;
  return nats === null ? data.supports.weight[edge.pair][edge.status] >= data.limits.clear : nats >= data.limits.weak;
}

export function ends(edge) {
  const [x, y] = data.pairs[edge.pair];
  return edge.status === 2 ? [y, x] : [x, y];
}

export function edgeText(edge) {
  const [from, to] = ends(edge);
  return `${data.names[from]} ${edge.status === 0 ? "–" : "→"} ${data.names[to]}`;
}

// Parents, children and reversible neighbours of a node, and the other parents of its children.
export function surroundings(edges, node) {
  const found = { parents: [], children: [], open: [], spouses: [] };
  for (const edge of edges) {
    const [from, to] = ends(edge);
    if (edge.status === 0 && from === node) found.open.push(to);
    else if (edge.status === 0 && to === node) found.open.push(from);
    else if (to === node) found.parents.push(from);
    else if (from === node) found.children.push(to);
  }
  const joined = new Set([node, ...found.parents, ...found.children, ...found.open]);
  for (const edge of edges) {
    const [from, to] = ends(edge);
    if (edge.status !== 0 && found.children.includes(to) && !joined.has(from)) {
      joined.add(from);
      found.spouses.push(from);
    }
  }
  joined.delete(node);
  found.blanket = [...joined];
  return found;
}

// "Optimum 3" is optima[3] in Python.
export function nameOf(index) {
  return `Optimum ${data.optima[index].number}`;
}

export function titleOf(index) {
  const remarks = [];
  if (index === data.best) remarks.push("best");
  else if (index === data.best_run) remarks.push("best run");
  if (index === data.ges) remarks.push("GES");
  return nameOf(index) + (remarks.length ? ` (${remarks.join(", ")})` : "");
}

// What a file that is saved is called: after the source of the data, and what is in it.
export function fileName(what, ending) {
  return `${data.stem}-${what}.${ending}`;
}
