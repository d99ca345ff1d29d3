// Render the network section from the state: picture or overview, heading, legend and selection.

import { data, nameOf, titleOf } from "./data.js";
import { byId, element } from "./dom.js";
import { drawLegend, drawNetwork, markSelection } from "./drawing.js";
import { describeEdge } from "./edge-description.js";
import { counted, number } from "./format.js";
import { isClear, surroundings } from "./graphs.js";
import { blanketIn, revealInOverview, showOverview } from "./overview.js";
import { currentEdges, singleModel, state, threshold } from "./state.js";
import { strengthText } from "./strength.js";
import { Viewport } from "./viewport.js";

export class NetworkView {
  // `selectNode` is called for variables that are buttons of the overview.
  constructor(selectNode) {
    this.selectNode = selectNode;
    this.viewport = new Viewport(byId("stage"));
    this.edges = [];
    this.layout = null;
  }

  render() {
    this.edges = currentEdges();
    const isOverview = state.view === "overview";
    byId("stage").hidden = isOverview;
    byId("overview").hidden = !isOverview;
    if (isOverview) this.renderOverview();
    else this.renderPicture();
    this.mark();
    drawLegend(state.view, state.strength, this.edges);
    byId("shown").textContent = heading(this.edges);
  }

  renderOverview() {
    const isNew = !byId("overview").childElementCount;
    if (isNew) showOverview(this.selectNode, state.strength);
    this.layout = null;
  }

  renderPicture() {
    const layout = currentLayout();
    const picture = drawNetwork(this.edges, layout, state.strength);
    const keepsPlace = layout === this.layout;
    this.viewport.show(picture, layout.size, keepsPlace);
    this.layout = layout;
  }

  // Bring out what is selected, and describe it.
  mark() {
    const blanket = blanketIn(this.edges);
    for (const picture of document.querySelectorAll("#stage > svg, #overview:not([hidden]) svg")) {
      markSelection(picture, blanket, state);
    }
    this.describe();
  }

  describe() {
    const edge = this.edges.find(({ pair }) => pair === state.pair);
    const text = edge ? describeEdge(edge, singleModel()) : "";
    const [below, inTable] = [byId("selection"), byId("edge-description")];
    if (inTable) inTable.textContent = text;
    if (edge || state.node === null) below.textContent = text;
    else below.replaceChildren(...this.describeNode());
  }

  describeNode() {
    const count = surroundings(this.edges, state.node).blanket.length;
    return [
      element("bdi", {}, data.names[state.node]),
      ` has ${counted(count, "variable")} in its Markov blanket. `,
      element("a", { href: "#target" }, "Ask about it."),
    ];
  }

  // Scroll the picture, or the overview, to a node.
  reveal(node) {
    if (this.layout) this.viewport.reveal(this.layout.nodes[node]);
    else revealInOverview(node);
  }
}

// The best optima have layouts of their own; all other pictures share one, so that nodes stay put.
function currentLayout() {
  return data.layouts[state.view === "optimum" ? (data.own[state.first] ?? 0) : 0];
}

function heading(edges) {
  if (state.view === "consensus") {
    const least = strengthText(state.strength, threshold(), 0);
    const kind = data.support_labels[state.strength];
    const of = state.strength === "evidence" ? " of" : "";
    return `Consensus: ${counted(edges.length, "edge")} with at least ${least}${of} ${kind}`;
  }
  if (state.view === "difference") return `${nameOf(state.first)} and ${nameOf(state.second)}`;
  const summary = edges.length
    ? `${counted(edges.length, "connection")}, direction clear for ${edges.filter(isClear).length}`
    : "no variables are connected";
  if (state.view === "overview") return overviewHeading(summary);
  if (state.first === data.best) return `The best network: ${summary}`;
  const { score, origin } = data.optima[state.first];
  return `${titleOf(state.first)}: ${summary}, score ${number(score, 2)}, ${origin}`;
}

function overviewHeading(summary) {
  const parts = data.clusters.filter(({ layout }) => layout).length;
  const isolated = data.clusters
    .filter(({ layout }) => !layout)
    .reduce((sum, { nodes }) => sum + nodes.length, 0);
  const rest = isolated ? `; ${counted(isolated, "variable")} without connections` : "";
  return `The best network in ${counted(parts, "part")}: ${summary}${rest}`;
}
