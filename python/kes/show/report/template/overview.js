// A large network in parts: a small picture of each cluster, and links to the clusters around it.

import { data } from "./data.js";
import { bdi, button, byId, element } from "./dom.js";
import { drawNetwork, markSelection } from "./drawing.js";
import { counted } from "./format.js";
import { degrees, ends, modelEdges, surroundings } from "./graphs.js";
import { build, whenNear } from "./lazy.js";
import { state } from "./state.js";

const BROAD = 330; // wider pictures take two columns
const AT_ONCE = 30; // clusters that are drawn when the page opens

// Show the clusters of the best network. `selectNode` is called with a variable that is clicked.
export function showOverview(selectNode, strength) {
  const edges = modelEdges(data.best);
  const counts = degrees(edges);
  const clusterOf = [];
  data.clusters.forEach(({ nodes }, number) => {
    for (const node of nodes) clusterOf[node] = number;
  });
  const links = countLinks(edges, clusterOf);
  const within = data.clusters.map(() => []);
  for (const edge of edges) {
    const [a, b] = ends(edge).map((node) => clusterOf[node]);
    if (a === b) within[a].push(edge);
  }
  const cards = data.clusters.map(({ nodes, layout }, number) => {
    const id = `cluster-${number + 1}`;
    const card = element("figure", { class: "cluster", id, tabindex: "-1" });
    if (layout) {
      const hub = nodes.reduce((best, node) => (counts[node] > counts[best] ? node : best));
      const title = [
        `${number + 1}. Around `,
        bdi(data.names[hub]),
        `: ${counted(nodes.length, "variable")}`,
      ];
      const drawn = () => [
        picture(within[number], layout, strength),
        ...linkButtons(links[number]),
      ];
      card.append(caption(...title), ...(number < AT_ONCE ? drawn() : [drawnLater(layout, drawn)]));
      card.classList.toggle("broad", layout.size[0] > BROAD);
    } else {
      card.classList.add("all");
      const names = nodes.map((node) => button(bdi(data.names[node]), () => selectNode(node)));
      const title = `Without connections: ${counted(nodes.length, "variable")}`;
      card.append(caption(title), element("div", { class: "chips" }, ...names));
    }
    return card;
  });
  byId("overview").replaceChildren(...cards);
}

// For each cluster, the number of edges to each other one.
function countLinks(edges, clusterOf) {
  const links = data.clusters.map(() => new Map());
  for (const edge of edges) {
    const [a, b] = ends(edge).map((node) => clusterOf[node]);
    if (a === b) continue;
    links[a].set(b, (links[a].get(b) ?? 0) + 1);
    links[b].set(a, (links[b].get(a) ?? 0) + 1);
  }
  return links;
}

function caption(...title) {
  return element("figcaption", {}, element("h3", {}, ...title));
}

// An empty picture of the same size, drawn with its links when it comes near the screen.
function drawnLater(layout, drawn) {
  const [width, height] = layout.size;
  const place = element("div", { class: "later" });
  place.style.width = `${width}px`;
  place.style.height = `${height}px`;
  whenNear(place, () => place.replaceWith(...drawn()));
  return place;
}

function picture(edges, layout, strength) {
  const made = drawNetwork(edges, layout, strength);
  const [width, height] = layout.size;
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  for (const [name, value] of Object.entries(size)) made.setAttribute(name, value);
  if (state.node !== null || state.found.length) {
    markSelection(made, blanketIn(modelEdges(data.best)), state);
  }
  return made;
}

// The Markov blanket of the selected variable.
export function blanketIn(edges) {
  return new Set(state.node === null ? [] : surroundings(edges, state.node).blanket);
}

// Bring a variable into view, drawing its part if it still waits.
export function revealInOverview(node) {
  const number = data.clusters.findIndex(({ nodes }) => nodes.includes(node));
  const card = byId(`cluster-${number + 1}`);
  const later = card.querySelector(".later");
  if (later) build(later);
  const place = card.querySelector(`.node[data-node="${node}"]`);
  if (!place) return; // it has no connections
  const { top, bottom } = place.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) place.scrollIntoView({ block: "center", inline: "nearest" });
}

function linkButtons(links) {
  const order = [...links].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const buttons = order.map(([other, count]) =>
    button(`${counted(count, "edge")} to part ${other + 1}`, () => {
      const card = byId(`cluster-${other + 1}`);
      card.scrollIntoView({ block: "nearest" });
      card.focus({ preventScroll: true });
    }),
  );
  return buttons.length ? [element("div", { class: "chips" }, ...buttons)] : [];
}
