// What is chosen, and the functions that bring all parts of the page in line with it.

import { lineChart } from "./chart.js";
import { byId, counted, element, number } from "./dom.js";
import { save, savePng, saveSvg } from "./download.js";
import { drawLegend, drawNetwork, markChosen } from "./drawing.js";
import { EdgeTable, edgeWords } from "./edges.js";
import { bif, cannotSave, json } from "./files.js";
import { Landscape } from "./landscape.js";
import { whenNear } from "./later.js";
import { KINDS, consensusEdges, data, differenceEdges, edgeText, fileName, isClear, kinds, modelEdges, nameOf, surroundings, titleOf } from "./model.js";
import { OptimaTable } from "./optima.js";
import { showOverview } from "./overview.js";
import { fitCommand } from "./query.js";
import { hintSideways } from "./sideways.js";
import { TargetView } from "./target.js";
import { showVariables } from "./variables.js";
import { Viewport } from "./viewport.js";

const LARGE = 50; // variables: more are not read at a glance
const NARROW = "(max-width: 600px)";
const needsOverview = data.clusters && (data.names.length > LARGE || matchMedia(NARROW).matches);

const state = {
  view: needsOverview ? "overview" : "optimum",
  first: data.best,
  second: data.ges === data.best ? Math.min(1, data.optima.length - 1) : data.ges,
  threshold: 0.5,
  kind: kinds[0],
  node: null,
  pair: null,
  found: [], // variables that were searched for
};

const viewport = new Viewport(byId("stage"));
const edgeTable = new EdgeTable(chooseEdge);
let drawn = { edges: [], layout: null };
let target = null;
let optimaTable = null;
let landscape = null;

// --- the network ---

function currentEdges() {
  if (state.view === "consensus") return consensusEdges(state.threshold, state.kind);
  if (state.view === "difference") return differenceEdges(state.first, state.second);
  return modelEdges(state.view === "overview" ? data.best : state.first);
}

// The best optima have layouts of their own; all else shares the first, where nodes stay put.
function currentLayout() {
  return data.layouts[state.view === "optimum" ? data.own[state.first] ?? 0 : 0];
}

// Where most of a network is, from left to right: variables without edges stand in a long row.
function middleOf(edges, layout) {
  const places = edges.flatMap(({ pair }) => data.pairs[pair].map((node) => layout.nodes[node][0]));
  return places.length ? (Math.min(...places) + Math.max(...places)) / 2 : layout.size[0] / 2;
}

function heading(edges) {
  const clear = edges.length
    ? `${counted(edges.length, "connection")}, direction clear for ${edges.filter(isClear).length}`
    : "nothing is connected";
  if (state.view === "overview") {
    const parts = data.clusters.filter(({ layout }) => layout).length;
    const alone = data.clusters.filter(({ layout }) => !layout).reduce((sum, { nodes }) => sum + nodes.length, 0);
    return `The best network in ${counted(parts, "part")}: ${clear}${alone ? `; ${counted(alone, "variable")} joined to nothing` : ""}`;
  }
  if (state.view === "consensus") {
    return `Consensus: ${counted(edges.length, "edge")} with at least ${Math.round(100 * state.threshold)} % ${KINDS[state.kind]}`;
  }
  if (state.view === "difference") return `${nameOf(state.first)} and ${nameOf(state.second)}`;
  if (state.first === data.best) return `The best network: ${clear}`;
  const { score, origin } = data.optima[state.first];
  return `${titleOf(state.first)}: ${clear}, score ${number(score, 2)}, ${origin}`;
}

function render() {
  const edges = currentEdges();
  const isOverview = state.view === "overview";
  byId("stage").hidden = isOverview;
  byId("overview").hidden = !isOverview;
  if (isOverview) {
    if (!byId("overview").childElementCount) showOverview(chooseNode, state.kind);
    drawn = { edges, layout: null };
  } else {
    const layout = currentLayout();
    const picture = drawNetwork(edges, layout, state.kind);
    viewport.show(picture, layout.size, layout === drawn.layout, middleOf(edges, layout));
    drawn = { edges, layout };
  }
  mark();
  drawLegend(state.view, state.kind, edges);
  byId("shown").textContent = heading(edges);
  byId("first-label").textContent = state.view === "difference" ? "First" : "Model";
  byId("threshold-value").textContent = `${Math.round(100 * state.threshold)} %`;
  byId("first").value = String(state.first);
  if (state.view === "difference") fillModels(byId("second"));
  byId("second").value = String(state.second);
  document.querySelector(`input[name="view"][value="${state.view}"]`).checked = true;
  for (const part of document.querySelectorAll("[data-view]")) {
    part.hidden = !part.dataset.view.split(" ").includes(state.view);
  }
  showSaving();
  edgeTable.show(state, edges);
}

function mark() {
  for (const picture of document.querySelectorAll("#stage > svg, #overview:not([hidden]) svg")) {
    markChosen(picture, drawn.edges, state);
  }
  say();
}

// What is chosen, in words.
function say() {
  const edge = drawn.edges.find(({ pair }) => pair === state.pair);
  const model = state.view === "overview" ? data.best : state.view === "optimum" ? state.first : null;
  const words = edge ? edgeWords(edge, model) : "";
  const [said, also] = [byId("said"), byId("edge-words")];
  if (also) also.textContent = words;
  if (edge || state.node === null) said.textContent = words;
  else {
    const { blanket } = surroundings(drawn.edges, state.node);
    const link = element("a", { href: "#target" }, "Ask about it.");
    said.replaceChildren(element("bdi", {}, data.names[state.node]), ` is joined to, or shares a child with, ${counted(blanket.length, "variable")}. `, link);
  }
}

// --- choosing ---

function chooseNode(node) {
  state.node = node === state.node ? null : node;
  state.pair = null;
  mark();
  edgeTable.select(null);
  if (state.node === null) return;
  if (drawn.layout) viewport.reveal(drawn.layout.nodes[state.node]);
  target?.show(state.first, state.node);
}

// From the cards of the variables: the variable stays chosen.
function bringOut(node) {
  if (node !== state.node) chooseNode(node);
}

// From the panel of answers: the picture stays as it is.
function askAbout(node) {
  target.show(state.first, node);
}

function chooseNothing() {
  [state.node, state.pair, state.found] = [null, null, []];
  mark();
  edgeTable.select(null);
}

function chooseEdge(pair) {
  state.pair = pair === state.pair ? null : pair;
  state.node = null;
  mark();
  edgeTable.select(state.pair);
}

function chooseOptimum(index) {
  state.first = index;
  if (state.view === "consensus" || state.view === "overview") state.view = "optimum";
  optimaTable?.select(index);
  landscape?.select(index);
  render();
  target?.show(index, target.node);
}

// --- saving ---

const shownModel = () => (state.view === "overview" ? data.best : state.first);

function showSaving() {
  const index = shownModel();
  for (const format of ["bif", "json"]) {
    const button = byId(`save-${format}`);
    button.hidden = button.disabled = Boolean(cannotSave(index, format));
  }
  const why = cannotSave(index, "bif");
  const command = fitCommand(index, data.files.bif || !cannotSave(index, "json") ? "bif" : "json");
  byId("save-note").replaceChildren(...(why ? [`${why} In a shell: `, element("code", {}, command)] : [`BIF and JSON hold ${nameOf(index)}, fitted.`]));
}

function saveNetwork(format, write, type) {
  const index = shownModel();
  if (!cannotSave(index, format)) save(fileName("network", format), [write(index)], type);
}

// The overview has many pictures: the one of the whole network is saved, and shown for that.
function savePicture(write) {
  if (state.view === "overview") {
    state.view = "optimum";
    render();
  }
  write(viewport.picture, viewport.size, `${data.stem}-${state.view === "optimum" ? "network" : state.view}`);
}

function listenSaving() {
  byId("save-svg").addEventListener("click", () => savePicture(saveSvg));
  byId("save-png").addEventListener("click", () => savePicture(savePng));
  byId("save-bif").addEventListener("click", () => saveNetwork("bif", bif, "text/plain"));
  byId("save-json").addEventListener("click", () => saveNetwork("json", json, "application/json"));
}

// --- controls ---

function fillModels(select) {
  if (select.options.length) return;
  select.append(...data.optima.map((optimum, index) =>
    element("option", { value: index }, `${titleOf(index)} · ${number(optimum.score, 1)}`)));
}

function fillChoices() {
  fillModels(byId("first"));
  byId("names").append(...data.names.map((name) => element("option", { value: name })));
  byId("kind").append(...kinds.map((kind) => element("option", { value: kind }, KINDS[kind])));
  const [example] = modelEdges(data.best);
  byId("edge-filter").placeholder = example ? `such as ${edgeText(example)}` : "";
  byId("threshold").min = String(Math.round(100 * data.least));
  byId("overview-tab").hidden = !data.clusters;
  byId("fullscreen").hidden = !document.fullscreenEnabled;
}

function listen() {
  const on = (id, event, act) => byId(id).addEventListener(event, act);
  for (const radio of document.querySelectorAll('input[name="view"]')) {
    radio.addEventListener("change", () => { state.view = radio.value; state.pair = null; render(); });
  }
  on("first", "change", (event) => chooseOptimum(Number(event.target.value)));
  on("second", "change", (event) => { state.second = Number(event.target.value); render(); });
  on("kind", "change", (event) => { state.kind = event.target.value; render(); });
  on("threshold", "input", (event) => { state.threshold = Number(event.target.value) / 100; render(); });
  on("find", "input", (event) => find(event.target.value));
  on("find", "keydown", (event) => {
    if (event.key === "Enter") findNext();
    if (event.key === "Escape") { byId("find").value = ""; find(""); }
  });
  document.addEventListener("fullscreenchange", () => {
    byId("fullscreen").textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
  });
  on("zoom-in", "click", () => viewport.zoom(1.25));
  on("zoom-out", "click", () => viewport.zoom(0.8));
  on("zoom-fit", "click", () => viewport.fit());
  on("fullscreen", "click", () => (document.fullscreenElement ? document.exitFullscreen() : byId("network").requestFullscreen()));
  for (const id of ["stage", "overview"]) {
    on(id, "click", (event) => {
      if (id === "stage" && viewport.moved) return;
      if (!chooseAt(event) && !event.target.closest("button")) chooseNothing(); // the background
    });
    on(id, "keydown", (event) => {
      if (event.key === "Escape") chooseNothing();
      else if ((event.key === "Enter" || event.key === " ") && chooseAt(event)) event.preventDefault();
    });
  }
}

// Choose the node or edge that an event is about; tell whether there is one.
function chooseAt(event) {
  const node = event.target.closest(".node")?.dataset.node;
  const pair = event.target.closest(".edge")?.dataset.pair;
  if (node !== undefined) chooseNode(Number(node));
  else if (pair !== undefined) chooseEdge(Number(pair));
  return node !== undefined || pair !== undefined;
}

// Variables whose names have what was typed are brought out. The one that is called so, or the only one
// that begins with it or has it, is chosen at once; Enter goes from one to the next.
function find(typed) {
  const text = typed.trim().toLowerCase();
  const lower = data.names.map((name) => name.toLowerCase());
  const fitting = (test) => lower.flatMap((name, node) => (text && test(name) ? [node] : []));
  const [exact, begin, has] = [fitting((name) => name === text), fitting((name) => name.startsWith(text)), fitting((name) => name.includes(text))];
  const only = [exact, begin, has].find((nodes) => nodes.length === 1)?.[0];
  if (has.length && state.view === "overview") {
    state.view = "optimum";
    render();
  }
  state.found = has;
  state.node = null;
  state.pair = null;
  if (only !== undefined) chooseNode(only);
  else mark();
  const many = has.length > 1 ? `${has.length} variables; Enter goes to the next` : "";
  byId("find-status").textContent = text && !has.length ? `no variable like “${typed.trim()}”` : only === undefined ? many : has.length > 1 ? many : "";
}

function findNext() {
  if (!state.found.length) return;
  const at = (state.found.indexOf(state.node) + 1) % state.found.length;
  if (state.found[at] !== state.node) chooseNode(state.found[at]);
  byId("find-status").textContent = `${at + 1} of ${counted(state.found.length, "variable")}`;
}

// --- parts further down ---

function drawCharts() {
  const { scores, accumulation, best } = data.charts;
  const ges = data.optima[data.ges].score;
  lineChart(byId("scores"), {
    xLabel: "runs, best first", yLabel: "score", levels: [{ name: "GES", y: ges }],
    series: [{ name: "runs", look: "main", x: scores.ranks, y: scores.scores,
      told: (i) => [`run ${scores.runs[i]}: ${scores.optima[i] === null ? "an optimum not on this page" : nameOf(scores.optima[i])}`, `score ${number(scores.scores[i], 4)}`] }],
    choose: (i) => { if (scores.optima[i] !== null) chooseOptimum(scores.optima[i]); },
  });
  lineChart(byId("accumulation"), {
    xLabel: "runs", yLabel: "found, on average", fromZero: true,
    series: [
      { name: "models", look: "main", x: accumulation.runs, y: accumulation.models, told: (i) => [counted(accumulation.runs[i], "run"), `${number(accumulation.models[i], 1)} models`] },
      { name: "score levels", look: "dotted", x: accumulation.runs, y: accumulation.levels, told: (i) => [`${number(accumulation.levels[i], 1)} score levels`] },
    ],
  });
  lineChart(byId("best-so-far"), {
    xLabel: "runs", yLabel: "best score so far", levels: [{ name: "GES", y: ges }],
    series: [
      { name: "these runs, in order", look: "main", steps: true, x: best.runs, y: best.observed, told: (i) => [counted(best.runs[i], "run"), `best ${number(best.observed[i], 4)}`] },
      { name: "average over all orders", look: "dotted", x: best.runs, y: best.expected, told: (i) => [`on average ${number(best.expected[i], 4)}`] },
    ],
  });
  landscape = new Landscape(byId("landscape"), chooseOptimum, state.first);
}

function listenSize() {
  let width = byId("scores").clientWidth;
  new ResizeObserver(() => {
    if (byId("scores").clientWidth === width || !landscape) return;
    width = byId("scores").clientWidth;
    drawCharts();
  }).observe(byId("scores"));
}

fillChoices();
listen();
listenSaving();
showVariables(bringOut);
for (const code of document.querySelectorAll("#repeat pre code")) hintSideways(code);
render();
whenNear(byId("target"), () => {
  target = new TargetView(askAbout);
  target.show(state.first, state.node ?? mostJoined());
});
whenNear(byId("landscape"), () => { drawCharts(); listenSize(); });
whenNear(byId("optima"), () => { optimaTable = new OptimaTable(chooseOptimum, state.first); });

// The variable to start with: the one with most neighbours in the best network.
function mostJoined() {
  const degree = data.names.map(() => 0);
  for (const { pair } of modelEdges(data.best)) data.pairs[pair].forEach((node) => { degree[node] += 1; });
  return degree.indexOf(Math.max(...degree));
}
