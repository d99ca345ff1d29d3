// The entry point: creates the parts of the page and keeps them in agreement with the state.

import {
  fillControls,
  listenControls,
  listenPictures,
  listenZoom,
  updateControls,
} from "./controls.js";
import { data } from "./data.js";
import { byId } from "./dom.js";
import { EdgeTable } from "./edge-table.js";
import { tellFrame } from "./embedding.js";
import { listenFind } from "./find.js";
import { degrees, modelEdges } from "./graphs.js";
import { whenNear } from "./lazy.js";
import { hasManyNames } from "./name-list.js";
import { NetworkView } from "./network-view.js";
import { OptimaTable } from "./optima-table.js";
import { QueryPanel } from "./query-panel.js";
import { listenSaveButtons, updateSaveButtons } from "./save-buttons.js";
import { addScrollHint } from "./scroll-hint.js";
import { SearchCharts } from "./search-charts.js";
import { state } from "./state.js";
import { showVariables } from "./variable-cards.js";

const network = new NetworkView(toggleNode);
const edgeTable = new EdgeTable(toggleEdge);
// Parts further down are created later.
let queryPanel = null;
let optimaTable = null;
let charts = null;

function render() {
  network.render();
  updateControls();
  updateSaveButtons();
  edgeTable.show(state, network.edges);
}

function change(parts) {
  Object.assign(state, parts);
  render();
}

// --- selection ---

function select(parts) {
  Object.assign(state, { node: null, pair: null, ...parts });
  network.mark();
  edgeTable.select(state.pair);
  tellFrame(state);
}

function selectNode(node) {
  select({ node });
  network.reveal(node);
  queryPanel?.show(state.first, node);
}

function toggleNode(node) {
  if (node === state.node) select({});
  else selectNode(node);
}

function toggleEdge(pair) {
  select({ pair: pair === state.pair ? null : pair });
}

function selectModel(index) {
  state.first = index;
  if (state.view === "consensus" || state.view === "overview") state.view = "optimum";
  optimaTable?.select(index);
  charts?.select(index);
  render();
  queryPanel?.show(index, queryPanel.node);
}

// The overview has no picture of the whole network; of thousands of variables, that shows nothing.
function leaveOverview() {
  if (state.view === "overview") change({ view: "optimum" });
}

function showMatches(nodes) {
  if (nodes.length && !hasManyNames) leaveOverview();
  select({ found: nodes });
}

function showPicture() {
  leaveOverview();
  return network.viewport;
}

// The variable that the query panel starts with: the target, or the one with most neighbours in the
// best network.
function firstTarget() {
  if (data.target !== null) return data.target;
  const counts = degrees(modelEdges(data.best));
  return counts.indexOf(Math.max(...counts));
}

fillControls();
listenControls({ change, selectModel });
listenZoom(network.viewport);
listenPictures(network.viewport, {
  selectNode: toggleNode,
  selectEdge: toggleEdge,
  clear: () => select({ found: [] }),
});
listenFind({ showMatches, selectNode });
listenSaveButtons(showPicture);
showVariables(selectNode);
for (const code of document.querySelectorAll("#reproduce pre code")) addScrollHint(code);
render();
whenNear(byId("target"), () => {
  // A question leaves the selection in the picture alone.
  queryPanel = new QueryPanel((node) => queryPanel.show(state.first, node));
  queryPanel.show(state.first, state.node ?? firstTarget());
});
whenNear(byId("landscape"), () => {
  charts = new SearchCharts(selectModel, state.first);
});
whenNear(byId("optima"), () => {
  optimaTable = new OptimaTable(selectModel, state.first);
});
