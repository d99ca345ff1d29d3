// The fourth step: the report on a result, and what to do with it.

import { bdi, element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { get, part, post } from "./api.js";
import { showCode } from "./code-panel.js";
import { attempt, busyButton } from "./messages.js";
import { PictureKnowledge } from "./picture-knowledge.js";
import { actionCards } from "./result-actions.js";
import { loadFiles, store } from "./store.js";

export async function showResult(place, name) {
  const chosen = name ?? store.result ?? (await newest());
  if (!chosen) {
    showCode(null, "");
    place.append(element("p", { class: "panel" }, "There is no result yet: learn first."));
    return undefined;
  }
  store.result = chosen;
  await loadFiles();
  const summary = await get(`results/${part(chosen)}`);
  showResultCode(summary);
  const frame = element("iframe", {
    class: "report",
    title: `Report on ${chosen}`,
    sandbox: "allow-scripts allow-downloads allow-modals",
    allow: "fullscreen",
  });
  const knowledge = new PictureKnowledge(summary, frame);
  place.append(head(summary), reportPanel(chosen, frame), knowledge.view, actionsPanel(summary));
  return () => knowledge.leave();
}

async function newest() {
  const { results } = await get("files");
  return results[0]?.name;
}

export function showResultCode({ commands, python }) {
  const hint = commands.length
    ? "The command gives the same file, byte for byte; the lines give the same models and scores."
    : "These lines give the same result; the shell has no options for it.";
  showCode({ shell: commands.join("\n"), python }, hint);
}

function head(summary) {
  const { name, table, cases, variables, score, edges, optima, runs, proven, knowledge } = summary;
  const facts = [
    `from ${table}: ${counted(cases, "case")}, ${counted(variables, "variable")}`,
    `${counted(edges, "edge")}, best score ${number(score, 1)}${proven ? ", proven to be the highest" : ""}`,
    `${counted(optima, "model")} found by ${counted(runs, "run")}`,
  ];
  if (knowledge) facts.push(`with knowledge: ${knowledge}`);
  return element(
    "section",
    { class: "panel" },
    element("h1", {}, bdi(name)),
    element("p", {}, facts.join(" · ")),
  );
}

function reportPanel(name, frame) {
  const status = element("p", { role: "status" }, "Making the report…");
  const panel = element("section", { "aria-label": "Report" }, status);
  attempt(async () => {
    const { address } = await post(`results/${part(name)}/view`);
    frame.src = address;
    const own = element("a", { href: address, target: "_blank", rel: "noopener" }, "Open it alone");
    status.replaceChildren("The report. ", own);
    panel.append(frame);
  }).then(() => {
    if (!frame.src) status.remove();
  });
  return panel;
}

function actionsPanel(summary) {
  const answer = element("div", { class: "answer", role: "status" });
  const more = element("div", {}, element("h3", {}, "Go on searching"), ...moreButtons(summary));
  return element(
    "section",
    { class: "panel", id: "actions", "aria-labelledby": "actions-heading" },
    element("h2", { id: "actions-heading" }, "What to do with it"),
    element("div", { class: "actions" }, ...actionCards(summary, answer), more),
    answer,
  );
}

const MORE = {
  runs: ["More runs", "twice as many"],
  improve: ["Improve further", "recombine and refine what was found"],
  prove: ["Prove", "that no network scores higher; may take long"],
  evidence: ["Evidence for all edges", "in the report; may take minutes"],
};

function moreButtons({ name, proven }) {
  const line = ([how, [label, hint]]) => {
    const made = busyButton(label, async () => {
      await post(`results/${part(name)}/more`, { how });
      location.hash = "#learn";
    });
    return element("p", {}, made, " ", element("span", { class: "count" }, hint));
  };
  const offered = Object.entries(MORE).filter(([how]) => !(proven && how === "prove"));
  return offered.map(line);
}
