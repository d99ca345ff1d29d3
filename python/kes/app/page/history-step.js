// The results of the folder, newest first, with notes; two of them side by side.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { get, part, post, put } from "./api.js";
import { showCode } from "./code-panel.js";
import { attempt, busyButton } from "./messages.js";
import { differenceText } from "./nats.js";

export async function showHistory(place) {
  showCode(null, "");
  const results = await get("results");
  const panel = element("section", { class: "panel" }, element("h1", {}, "Results of the folder"));
  place.append(panel);
  if (!results.length) {
    panel.append(element("p", {}, "There is no result yet: learn first."));
    return;
  }
  const beside = element("div");
  const chosen = new Set();
  const compare = busyButton("Show the two side by side", () => showBeside(beside, [...chosen]));
  compare.disabled = true;
  const hint = element("p", { class: "hint" }, "Tick two results to see them side by side.");
  const rows = results.map((result) =>
    row(result, (isTicked) => {
      if (isTicked) chosen.add(result.name);
      else chosen.delete(result.name);
      compare.disabled = chosen.size !== 2;
    }),
  );
  const heads = ["", "Result", "Learned from", "Best network", "Note"].map((text) =>
    text ? element("th", { scope: "col", class: "text" }, text) : element("td"),
  );
  const table = element(
    "table",
    { class: "history" },
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows),
  );
  panel.append(hint, compare, element("div", { class: "wide" }, table));
  place.append(beside);
}

function row({ name, time, note, summary, problem }, tick) {
  const box = element("input", { type: "checkbox", "aria-label": `Compare ${name}` });
  box.addEventListener("change", () => tick(box.checked));
  const link = element("a", { href: `#result/${part(name)}` }, bdi(name));
  const when = element("span", { class: "count" }, new Date(1000 * time).toLocaleString());
  const text = element("textarea", { rows: "2", "aria-label": `Note on ${name}` });
  text.value = note;
  const saved = element("span", { class: "count", role: "status" });
  text.addEventListener("input", () => saved.replaceChildren());
  text.addEventListener("change", () =>
    attempt(async () => {
      await put(`results/${part(name)}/note`, { note: text.value });
      saved.replaceChildren("Saved.");
    }),
  );
  const cell = (...parts) => element("td", { class: "text" }, ...parts);
  const learned = summary
    ? `${summary.table}: ${counted(summary.cases, "case")}, ${counted(summary.variables, "variable")}`
    : problem;
  const best = summary
    ? `${counted(summary.edges, "edge")}, ${summary.criterion} ${number(summary.score, 1)}` +
      `${summary.proven ? ", proven" : ""}; ${counted(summary.runs, "run")}` +
      `${summary.knowledge ? `; ${summary.knowledge}` : ""}`
    : "";
  return element(
    "tr",
    {},
    element("td", {}, box),
    cell(link, element("br"), when),
    cell(learned),
    cell(best),
    cell(text, saved),
  );
}

async function showBeside(place, [first, second]) {
  const found = await post(`results/${part(first)}/compare`, { other: second });
  const frames = [];
  for (const name of [first, second]) {
    const { address } = await post(`results/${part(name)}/view`);
    const frame = element("iframe", {
      class: "report",
      title: `Report on ${name}`,
      src: address,
      sandbox: "allow-scripts allow-downloads allow-modals",
    });
    frames.push(element("div", {}, element("h2", {}, bdi(name)), frame));
  }
  const close = button("Close", () => place.replaceChildren());
  const head = element("div", { class: "bar" }, element("h2", {}, "Side by side"), close);
  place.replaceChildren(
    element(
      "section",
      { class: "panel" },
      head,
      element("p", {}, `${found.text}. ${differenceText(found, first)}`),
    ),
    element("div", { class: "pair-of-reports" }, ...frames),
  );
  showCode(found.code, "The comparison in code.");
}
