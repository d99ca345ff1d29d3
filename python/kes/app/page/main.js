// The entry point: chooses the step by the address, and keeps what is common to all steps.

import { byId, element } from "../../show/report/template/dom.js";
import { get } from "./api.js";
import { listenCode, showCode } from "./code-panel.js";
import { showHistory } from "./history-step.js";
import { jobText } from "./job-text.js";
import { showKnowledge } from "./knowledge-step.js";
import { showLearn } from "./learn-step.js";
import { attempt, clearMessages } from "./messages.js";
import { showResult } from "./result-step.js";
import { loadState, store, subscribe } from "./store.js";
import { showTable } from "./table-step.js";

const STEPS = {
  table: showTable,
  knowledge: showKnowledge,
  learn: showLearn,
  result: showResult,
  history: showHistory,
};
const PAUSE = 1500; // milliseconds between two looks at the jobs

let shownStep = null;
let leave = null; // ends what the last step has started

function wanted() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const step = STEPS[name] ? name : "table";
  return { step, about: rest.map(decodeURIComponent) };
}

async function route() {
  const { step, about } = wanted();
  leave?.();
  leave = null;
  clearMessages();
  for (const link of document.querySelectorAll(".steps a")) {
    if (link.hash === `#${step}`) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  const place = byId("step");
  place.replaceChildren();
  if (shownStep !== null && shownStep !== step) place.focus();
  shownStep = step;
  updateCode();
  const part = element("div");
  place.append(part);
  leave = (await attempt(() => STEPS[step](part, ...about))) ?? null;
}

// The code of the draft; a result has its own.
function updateCode() {
  if (["result", "history"].includes(wanted().step)) return;
  const hint =
    "The command gives the same file, byte for byte; the lines give the same models and scores.";
  showCode(store.described.code, hint);
}

async function watchJobs() {
  try {
    store.server.jobs = await get("jobs");
    const running = store.server.jobs.filter(({ state }) => ["queued", "running"].includes(state));
    const line = byId("job-line");
    line.hidden = !running.length || wanted().step === "learn";
    const text = running.map(jobText).join(" · ");
    if (line.textContent !== text) line.textContent = text;
  } catch {
    // The server is away for a moment; the next action says so.
  }
  setTimeout(watchJobs, PAUSE);
}

listenCode();
subscribe(updateCode);
await attempt(async () => {
  await loadState();
  byId("folder").textContent = `in ${store.server.folder}`;
  document.title = `kes · ${store.server.folder}`;
  window.addEventListener("hashchange", route);
  await route();
  watchJobs();
});
