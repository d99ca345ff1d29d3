// Networks as SVG. Graphviz decided on places and curves; arrowheads and widths are added here.

import { pathData, shortened, toPoints, trianglePoints } from "./curves.js";
import { data } from "./data.js";
import { byId, element, svg } from "./dom.js";
import { printable } from "./format.js";
import { edgeText, isClear } from "./graphs.js";
import { strengthOf, strengthText, widthShare } from "./strength.js";

const BOX_HEIGHT = 22;

// Draw the nodes after the edges, so that they are in front; the tab order is from top to bottom.
export function drawNetwork(edges, layout, strength) {
  const edgeGroup = svg("g", {}, ...edges.map((edge) => drawEdge(edge, layout, strength)));
  const place = (node) => layout.nodes[node];
  const order = Object.keys(layout.nodes)
    .map(Number)
    .sort((a, b) => place(a)[1] - place(b)[1] || place(a)[0] - place(b)[0]);
  const nodeGroup = svg("g", {}, ...order.map((node) => drawNode(node, layout)));
  return svg("svg", { "aria-label": "network" }, edgeGroup, nodeGroup);
}

function drawEdge(edge, layout, strength) {
  const width = 0.7 + 2.1 * widthShare(strength, edge.pair);
  let points = toPoints(layout.curves[edge.pair]);
  if (edge.status === 2) points.reverse();
  const title = svg("title");
  const ownStrength = strengthText(strength, strengthOf(strength, edge.pair));
  title.textContent = printable(
    `${edgeText(edge)}\n${data.support_labels[strength]} ${ownStrength}`,
  );
  const classes = `edge ${edge.change ?? directionClass(edge)}`.trim();
  const group = svg("g", { class: classes, "data-pair": edge.pair });
  group.append(title, svg("path", { class: "touch", d: pathData(points) }));
  if (edge.status !== 0) {
    const tip = points.at(-1);
    points = shortened(points, 6.5 + 1.1 * width);
    const corners = trianglePoints(points.at(-1), tip, 5 + 1.3 * width);
    group.append(svg("polygon", { points: corners }));
  }
  group.append(svg("path", { d: pathData(points), "stroke-width": width.toFixed(2) }));
  return group;
}

function directionClass(edge) {
  if (edge.status === 0) return "open";
  if (edge.known) return "known";
  return `${edge.decided ? "decided" : ""} ${isClear(edge) ? "" : "uncertain"}`.trim();
}

function drawNode(node, layout) {
  const [x, y] = layout.nodes[node];
  const width = data.boxes[node];
  const name = printable(data.names[node]);
  const title = svg("title");
  title.textContent = name;
  const box = { x: x - width / 2, y: y - BOX_HEIGHT / 2, width, height: BOX_HEIGHT, rx: 5 };
  const text = svg("text", { x, y: y + 3.6 }, printable(data.labels[node]));
  const attributes = {
    class: data.exogenous.includes(Number(node)) ? "node given" : "node",
    tabindex: "0",
    role: "button",
    "aria-label": name,
    "aria-pressed": "false",
    "data-node": node,
  };
  return svg("g", attributes, title, svg("rect", box), text);
}

// Mark the selected node with its Markov blanket, the selected edge, and the nodes that were found.
export function markSelection(picture, blanket, { node, pair, found }) {
  picture.classList.toggle("focused", node !== null);
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

const MODEL_LEGEND = [
  ["", true, "direction clear"],
  ["uncertain", true, "direction uncertain"],
  ["known", true, "direction from background knowledge"],
  ["decided", true, "direction decided by exogenous variables"],
  ["open", false, "direction open: equally good networks differ"],
];
const LEGENDS = {
  overview: MODEL_LEGEND,
  optimum: MODEL_LEGEND,
  consensus: [...MODEL_LEGEND.slice(0, 2), ["open", false, "no clear direction"]],
  difference: [
    ["removed", true, "only in the first"],
    ["added", true, "only in the second"],
    ["turned", true, "direction differs (drawn as in the second)"],
    ["same", true, "in both"],
  ],
};

export function drawLegend(view, strength, edges) {
  const has = { known: edges.some((edge) => edge.known), decided: edges.some((e) => e.decided) };
  const used = LEGENDS[view].filter(([name]) => has[name] ?? true);
  const items = used.map(([name, isDirected, text]) => {
    const line = svg("path", { d: "M2 6H36", "stroke-width": 2 });
    const sample = svg("g", { class: `edge ${name}` }, line);
    if (isDirected) sample.append(svg("polygon", { points: "44,6 35,2 35,10" }));
    const picture = svg("svg", { viewBox: "0 0 46 12", "aria-hidden": "true" }, sample);
    return element("li", {}, picture, text);
  });
  items.push(element("li", {}, `Width: ${data.support_labels[strength]}`));
  byId("legend").replaceChildren(...items);
}
