// A large network in parts: a small picture of each cluster, and what it is joined to.

import { bdi, button, byId, counted, element } from "./dom.js";
import { drawNetwork } from "./drawing.js";
import { data, ends, modelEdges } from "./model.js";

const BROAD = 330; // points: wider pictures take two columns

function hub(cluster, degree) {
  return cluster.nodes.reduce((best, node) => (degree[node] > degree[best] ? node : best));
}

// Show the clusters; `choose` is called with a variable that is chosen.
export function showOverview(choose, kind) {
  const edges = modelEdges(data.best);
  const degree = data.names.map(() => 0);
  const home = [];
  data.clusters.forEach((cluster, number) => cluster.nodes.forEach((node) => { home[node] = number; }));
  const across = data.clusters.map(() => new Map());
  for (const edge of edges) {
    const [a, b] = ends(edge);
    degree[a] += 1;
    degree[b] += 1;
    if (home[a] !== home[b]) {
      for (const [one, other] of [[a, b], [b, a]]) {
        const own = across[home[one]];
        own.set(home[other], (own.get(home[other]) ?? 0) + 1);
      }
    }
  }
  const cards = data.clusters.map((cluster, number) => card(cluster, number, {
    edges: edges.filter((edge) => data.pairs[edge.pair].every((node) => home[node] === number)),
    around: hub(cluster, degree), across: across[number], choose, kind,
  }));
  byId("overview").replaceChildren(...cards);
}

function card(cluster, number, { edges, around, across, choose, kind }) {
  const id = `cluster-${number + 1}`;
  const heading = cluster.layout
    ? element("h3", {}, `${number + 1}. Around `, bdi(data.names[around]), `: ${counted(cluster.nodes.length, "variable")}`)
    : element("h3", {}, `Joined to nothing: ${counted(cluster.nodes.length, "variable")}`);
  const made = element("figure", { class: "cluster", id, tabindex: "-1" }, element("figcaption", {}, heading));
  if (cluster.layout) {
    const picture = drawNetwork(edges, cluster.layout, kind);
    const [width, height] = cluster.layout.size;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("width", width);
    picture.setAttribute("height", height);
    made.append(picture);
    made.classList.toggle("broad", width > BROAD);
  } else {
    made.classList.add("all");
    const names = cluster.nodes.map((node) => button(bdi(data.names[node]), () => choose(node)));
    made.append(element("div", { class: "chips" }, ...names));
  }
  if (across.size) {
    const links = [...across].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([other, count]) =>
      button(`${counted(count, "edge")} to part ${other + 1}`, () => {
        const there = byId(`cluster-${other + 1}`);
        there.scrollIntoView({ block: "nearest" });
        there.focus({ preventScroll: true });
      }));
    made.append(element("div", { class: "chips" }, ...links));
  }
  return made;
}
