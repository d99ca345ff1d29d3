// The search box for variables. All matches are marked; the variable with exactly this name, or the
// only match, is selected at once; Enter goes from one match to the next.

import { byId, on } from "./dom.js";
import { matchNames } from "./edge-filter.js";
import { counted } from "./format.js";
import { hasManyNames, suggestNames } from "./name-list.js";
import { state } from "./state.js";

// `showMatches` is called with all matches, `selectNode` with the one to select.
export function listenFind({ showMatches, selectNode }) {
  const find = (typed) => {
    const { exact, starting, containing } = matchNames(typed);
    const single = [exact, starting, containing].find((nodes) => nodes.length === 1)?.[0];
    if (hasManyNames) suggestNames(containing);
    showMatches(containing);
    if (single !== undefined) selectNode(single);
    byId("find-status").textContent = status(typed.trim(), containing.length);
  };
  const findNext = () => {
    if (!state.found.length) return;
    const at = (state.found.indexOf(state.node) + 1) % state.found.length;
    if (state.found[at] !== state.node) selectNode(state.found[at]);
    byId("find-status").textContent = `${at + 1} of ${counted(state.found.length, "variable")}`;
  };
  on("find", "input", ({ target }) => find(target.value));
  on("find", "keydown", ({ key, target }) => {
    if (key === "Enter") findNext();
    if (key === "Escape") {
      target.value = "";
      find("");
    }
  });
}

function status(text, count) {
  if (text && !count) return `no variable matches “${text}”`;
  return count > 1 ? `${count} variables; Enter goes to the next` : "";
}
