// Networks as SVG: curves and places come from Graphviz, arrowheads and widths are made here.

import { byId, element, percent, printable, svg } from "./dom.js";
import { KINDS, data, edgeText, isClear, surroundings } from "./model.js";

const BOX_HEIGHT = 22;

function toPoints(numbers) {
  const points = [];
  for (let i = 0; i < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
  return points;
}

export function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

// The part of a cubic Bézier curve up to parameter t (de Casteljau).
function split(piece, t) {
  const result = [piece[0]];
  let row = piece;
  while (row.length > 1) {
    row = row.slice(1).map((p, i) => [
      row[i][0] + t * (p[0] - row[i][0]),
      row[i][1] + t * (p[1] - row[i][1]),
    ]);
    result.push(row[0]);
  }
  return result;
}

// The curve without its last `length`, which the arrowhead covers.
function cut(points, length) {
  const tip = points[points.length - 1];
  let start = points.length - 4;
  while (start > 0 && distance(points[start], tip) < length) start -= 3;
  const piece = points.slice(start, start + 4);
  let [low, high] = [0.01, 1];
  for (let i = 0; i < 16; i += 1) {
    const middle = (low + high) / 2;
    const end = split(piece, middle)[3];
    if (distance(end, tip) < length) high = middle;
    else low = middle;
  }
  return [...points.slice(0, start), ...split(piece, low)];
}

function pathData(points) {
  const text = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${text[0]}C${text.slice(1).join(" ")}`;
}

function arrowhead(base, tip, width) {
  const along = [tip[0] - base[0], tip[1] - base[1]];
  const scale = width / 2 / Math.max(Math.hypot(...along), 1e-9);
  const across = [-along[1] * scale, along[0] * scale];
  return [tip, [base[0] + across[0], base[1] + across[1]], [base[0] - across[0], base[1] - across[1]]]
    .map((p) => p.map((c) => c.toFixed(1)).join(","))
    .join(" ");
}

function edgeWidth(edge, kind) {
  return 0.7 + 2.1 * data.supports[kind][edge.pair][0];
}

function drawEdge(edge, layout, kind) {
  let points = toPoints(layout.curves[edge.pair]);
  if (edge.status === 2) points.reverse();
  const width = edgeWidth(edge, kind);
  const support = data.supports[kind][edge.pair][0];
  const own = edge.status === 0 ? "open" : edge.known ? "known" : isClear(edge) ? "" : "pale";
  const group = svg("g", { class: `edge ${edge.change || own}`.trim(), "data-pair": edge.pair });
  const title = svg("title");
  title.textContent = printable(`${edgeText(edge)}\n${KINDS[kind]} ${percent(support)}`);
  group.append(title, svg("path", { class: "touch", d: pathData(points) }));
  if (edge.status !== 0) {
    const tip = points[points.length - 1];
    points = cut(points, 6.5 + 1.1 * width);
    const corners = arrowhead(points[points.length - 1], tip, 5 + 1.3 * width);
    group.append(svg("polygon", { points: corners }));
  }
  group.append(svg("path", { d: pathData(points), "stroke-width": width.toFixed(2) }));
  return group;
}

function drawNode(node, layout) {
  const [x, y] = layout.nodes[node];
  const width = data.boxes[node];
  const group = svg("g", {
    class: "node",
    tabindex: "0",
    role: "button",
    "aria-label": printable(data.names[node]),
    "aria-pressed": "false",
    "data-node": node,
  });
  const title = svg("title");
  title.textContent = printable(data.names[node]);
  const box = { x: x - width / 2, y: y - BOX_HEIGHT / 2, width, height: BOX_HEIGHT, rx: 5 };
  const text = svg("text", { x, y: y + 3.6 });
  text.textContent = printable(data.labels[node]);
  group.append(title, svg("rect", box), text);
  return group;
}

// Nodes follow edges, so that they are in front; tabbing goes from top to bottom.
export function drawNetwork(edges, layout, kind) {
  const edgeGroup = svg("g", {}, ...edges.map((edge) => drawEdge(edge, layout, kind)));
  const place = (node) => layout.nodes[node];
  const order = Object.keys(layout.nodes)
    .map(Number)
    .sort((a, b) => place(a)[1] - place(b)[1] || place(a)[0] - place(b)[0]);
  const nodeGroup = svg("g", {}, ...order.map((node) => drawNode(node, layout)));
  return svg("svg", { "aria-label": "network" }, edgeGroup, nodeGroup);
}

// Bring out a node with its blanket, an edge, and nodes that were searched for.
export function markChosen(picture, edges, { node, pair, found }) {
  picture.classList.toggle("focused", node !== null);
  const near = node === null ? null : surroundings(edges, node);
  const blanket = new Set(near ? near.blanket : []);
  for (const group of picture.querySelectorAll(".node")) {
    const own = Number(group.dataset.node);
    group.classList.toggle("chosen", own === node);
    group.classList.toggle("blanket", blanket.has(own));
    group.classList.toggle("found", found.includes(own));
    group.setAttribute("aria-pressed", String(own === node));
  }
  const inside = new Set(blanket).add(node);
  for (const group of picture.querySelectorAll(".edge")) {
    const [x, y] = data.pairs[Number(group.dataset.pair)];
    group.classList.toggle("near", inside.has(x) && inside.has(y));
    group.classList.toggle("picked", Number(group.dataset.pair) === pair);
  }
}

const MODEL = [
  ["", 1, "direction clear"],
  ["pale", 1, "direction uncertain"],
  ["known", 1, "direction told to the search"],
  ["open", 0, "direction open: equally good networks differ"],
];
const LEGENDS = {
  overview: MODEL,
  optimum: MODEL,
  consensus: [...MODEL.slice(0, 2), ["open", 0, "no supported direction"]],
  difference: [
    ["removed", 1, "only in the first"],
    ["added", 1, "only in the second"],
    ["turned", 1, "direction differs (drawn as in the second)"],
    ["same", 1, "in both"],
  ],
};

export function drawLegend(view, kind, edges) {
  const used = LEGENDS[view].filter(([look]) => look !== "known" || edges.some((edge) => edge.known));
  const items = used.map(([look, directed, text]) => {
    const line = svg("g", { class: `edge ${look}` }, svg("path", { d: "M2 6H36", "stroke-width": 2 }));
    if (directed) line.append(svg("polygon", { points: "44,6 35,2 35,10" }));
    return element("li", {}, svg("svg", { viewBox: "0 0 46 12", "aria-hidden": "true" }, line), text);
  });
  items.push(element("li", {}, `Width: ${KINDS[kind]}`));
  byId("legend").replaceChildren(...items);
}
