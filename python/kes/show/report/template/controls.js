// The controls above and around the network: views, models, threshold, zoom, clicks and keys.

import { data, strengthKinds, titleOf } from "./data.js";
import { byId, element, on } from "./dom.js";
import { number } from "./format.js";
import { edgeText, modelEdges } from "./graphs.js";
import { hasManyNames, suggestNames } from "./name-list.js";
import { state, threshold, unit } from "./state.js";
import { strengthText } from "./strength.js";

// Fill what does not change later.
export function fillControls() {
  fillModels(byId("first"));
  if (!hasManyNames) suggestNames(data.names.map((_, node) => node));
  byId("support").append(
    ...strengthKinds.map((kind) => element("option", { value: kind }, data.support_labels[kind])),
  );
  const [example] = modelEdges(data.best);
  byId("edge-filter").placeholder = example ? `such as ${edgeText(example)}` : "";
  byId("overview-tab").hidden = !data.clusters;
  byId("fullscreen").hidden = !document.fullscreenEnabled;
}

function fillModels(select) {
  if (select.options.length) return;
  const label = (index) => `${titleOf(index)} · ${number(data.optima[index].score, 1)}`;
  select.append(
    ...data.optima.map((_, index) => element("option", { value: index }, label(index))),
  );
}

// Show the state in the controls.
export function updateControls() {
  const isDifference = state.view === "difference";
  byId("first-label").textContent = isDifference ? "First" : "Model";
  updateThreshold();
  byId("first").value = String(state.first);
  if (isDifference) fillModels(byId("second"));
  byId("second").value = String(state.second);
  document.querySelector(`input[name="view"][value="${state.view}"]`).checked = true;
  for (const part of document.querySelectorAll("[data-view]")) {
    part.hidden = !part.dataset.view.split(" ").includes(state.view);
  }
}

// The slider has whole nats of evidence, or percent.
function updateThreshold() {
  const slider = byId("threshold");
  const isEvidence = unit() === "evidence";
  slider.min = String(isEvidence ? 1 : Math.round(100 * data.least));
  slider.max = String(isEvidence ? data.full_width : 100);
  slider.value = String(isEvidence ? threshold() : Math.round(100 * threshold()));
  byId("threshold-value").textContent = strengthText(state.strength, threshold(), 0);
}

// Call `change` with the parts of the state that a control changes, and `selectModel` with a model.
export function listenControls({ change, selectModel }) {
  for (const radio of document.querySelectorAll('input[name="view"]')) {
    radio.addEventListener("change", () => change({ view: radio.value, pair: null }));
  }
  on("first", "change", ({ target }) => selectModel(Number(target.value)));
  on("second", "change", ({ target }) => change({ second: Number(target.value) }));
  on("support", "change", ({ target }) => change({ strength: target.value }));
  on("threshold", "input", ({ target }) => {
    const value = Number(target.value) / (unit() === "evidence" ? 1 : 100);
    change({ thresholds: { ...state.thresholds, [unit()]: value } });
  });
}

export function listenZoom(viewport) {
  on("zoom-in", "click", () => viewport.zoom(1.25));
  on("zoom-out", "click", () => viewport.zoom(0.8));
  on("zoom-fit", "click", () => viewport.fit());
  on("fullscreen", "click", () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else byId("network").requestFullscreen();
  });
  document.addEventListener("fullscreenchange", () => {
    byId("fullscreen").textContent = document.fullscreenElement
      ? "Exit full screen"
      : "Full screen";
  });
}

// Select nodes and edges by click or key; a click on the background, or Escape, clears.
export function listenPictures(viewport, { selectNode, selectEdge, clear }) {
  const selectAt = ({ target }) => {
    const node = target.closest(".node")?.dataset.node;
    const pair = target.closest(".edge")?.dataset.pair;
    if (node !== undefined) selectNode(Number(node));
    else if (pair !== undefined) selectEdge(Number(pair));
    return node !== undefined || pair !== undefined;
  };
  for (const id of ["stage", "overview"]) {
    on(id, "click", (event) => {
      if (id === "stage" && viewport.moved) return; // the end of a drag
      if (!selectAt(event) && !event.target.closest("button")) clear();
    });
    on(id, "keydown", (event) => {
      if (event.key === "Escape") clear();
      else if (["Enter", " "].includes(event.key) && selectAt(event)) event.preventDefault();
    });
  }
}
