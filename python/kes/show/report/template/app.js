// What is chosen, and the one function that brings all parts of the page in line with it.

const byId = (id) => document.getElementById(id);

const state = {
  view: "optimum",
  first: data.best,
  second: data.ges === data.best ? Math.min(1, data.optima.length - 1) : data.ges,
  threshold: 0.5,
  kind: kinds[0],
  node: null,
};

const viewport = new Viewport(byId("stage"));
let drawn = { edges: [], layout: null };

function currentEdges() {
  if (state.view === "consensus") return consensusEdges(state.threshold, state.kind);
  if (state.view === "difference") return differenceEdges(state.first, state.second);
  return modelEdges(state.first);
}

// The best optima have layouts of their own; all else shares the first, where nodes stay put.
function currentLayout() {
  return data.layouts[state.view === "optimum" ? data.own[state.first] ?? 0 : 0];
}

function heading(edges) {
  if (state.view === "consensus") {
    return `Consensus: ${counted(edges.length, "edge")} with at least ${Math.round(100 * state.threshold)} % ${KINDS[state.kind]}`;
  }
  if (state.view === "difference") return `${nameOf(state.first)} and ${nameOf(state.second)}`;
  const { score, edges: own, compelled, known, origin } = data.optima[state.first];
  const directed = known.length ? `${compelled} compelled, ${known.length} directed by knowledge` : `${compelled} compelled`;
  return `${titleOf(state.first)}: score ${number(score, 2)}, ${counted(own.length, "edge")}, ${directed}, ${origin}`;
}

function render() {
  const edges = currentEdges();
  const layout = currentLayout();
  const picture = drawNetwork(edges, layout, state.kind);
  viewport.show(picture, layout.size, layout === drawn.layout);
  drawn = { edges, layout };
  markNode(picture, edges, state.node);
  drawLegend(state.view, state.kind, edges);
  showDetails(state, edges, chooseNode);
  byId("shown").textContent = heading(edges);
  byId("first-label").textContent = state.view === "difference" ? "First" : "Optimum";
  byId("threshold-value").textContent = `${Math.round(100 * state.threshold)} %`;
  byId("first").value = String(state.first);
  byId("second").value = String(state.second);
  document.querySelector(`input[name="view"][value="${state.view}"]`).checked = true;
  for (const part of document.querySelectorAll("[data-view]")) {
    part.hidden = !part.dataset.view.split(" ").includes(state.view);
  }
}

function chooseNode(node) {
  state.node = node === state.node ? null : node;
  markNode(viewport.picture, drawn.edges, state.node);
  showDetails(state, drawn.edges, chooseNode);
  if (state.node !== null) viewport.reveal(drawn.layout.nodes[state.node]);
}

function chooseOptimum(index) {
  state.first = index;
  if (state.view === "consensus") state.view = "optimum";
  optimaTable.select(index);
  optimaTable.reveal();
  charts?.select(index);
  render();
}

// --- controls ---

function fillChoices() {
  const options = () => data.optima.map((optimum, index) =>
    element("option", { value: index }, `${titleOf(index)} · ${number(optimum.score, 1)}`));
  byId("first").append(...options());
  byId("second").append(...options());
  byId("kind").append(...kinds.map((kind) => element("option", { value: kind }, KINDS[kind])));
  const [example] = modelEdges(data.best);
  byId("edge-filter").placeholder = example ? `such as ${edgeText(example)}` : "";
  byId("threshold").min = String(Math.round(100 * data.least));
}

function listen() {
  for (const radio of document.querySelectorAll('input[name="view"]')) {
    radio.addEventListener("change", () => { state.view = radio.value; render(); });
  }
  byId("first").addEventListener("change", (event) => chooseOptimum(Number(event.target.value)));
  byId("second").addEventListener("change", (event) => { state.second = Number(event.target.value); render(); });
  byId("kind").addEventListener("change", (event) => { state.kind = event.target.value; render(); });
  byId("threshold").addEventListener("input", (event) => { state.threshold = Number(event.target.value) / 100; render(); });
  byId("find").addEventListener("input", (event) => find(event.target.value));
  byId("zoom-in").addEventListener("click", () => viewport.zoom(1.25));
  byId("zoom-out").addEventListener("click", () => viewport.zoom(0.8));
  byId("zoom-fit").addEventListener("click", () => viewport.fit());
  const stage = byId("stage");
  const nodeOf = (event) => event.target.closest(".node")?.dataset.node;
  stage.addEventListener("click", (event) => {
    const node = nodeOf(event);
    if (node !== undefined && !viewport.moved) chooseNode(Number(node));
  });
  stage.addEventListener("keydown", (event) => {
    const node = nodeOf(event);
    if (node !== undefined && (event.key === "Enter" || event.key === " ")) {
      chooseNode(Number(node));
      event.preventDefault();
    } else if (event.key === "Escape" && state.node !== null) {
      chooseNode(null);
    }
  });
}

// The variable that was typed, or the only one that begins with it.
function find(typed) {
  const text = typed.trim().toLowerCase();
  const lower = data.names.map((name) => name.toLowerCase());
  const begin = lower.filter((name) => text && name.startsWith(text));
  const node = lower.indexOf(begin.length === 1 ? begin[0] : text);
  if (node >= 0 && node !== state.node) chooseNode(node);
}

fillChoices();
listen();
const optimaTable = new OptimaTable(chooseOptimum);
render();
// The charting library comes last, so that it does not keep the rest waiting.
let charts = null;
document.addEventListener("DOMContentLoaded", () => { charts = new Charts(chooseOptimum); });
