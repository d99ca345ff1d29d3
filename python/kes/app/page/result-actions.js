// Actions on a result: ask, effects, predict, compare, download. Each shows the command behind it.

import { element } from "../../show/report/template/dom.js";
import { part, post, upload } from "./api.js";
import { codeBlock } from "./code-panel.js";
import { fileInput } from "./file-choice.js";
import { attempt, busyButton } from "./messages.js";
import { differenceText } from "./nats.js";
import { questionParts, questionText } from "./question.js";
import { store } from "./store.js";
import { choice } from "./table-settings.js";

const MOST_ROWS = 200; // of a table on the page

export function actionCards(summary, answer) {
  const path = `results/${part(summary.name)}`;
  const show = (title, found) => {
    answer.replaceChildren(...shown(title, found));
    answer.scrollIntoView({ block: "nearest" });
  };
  return [
    askCard(summary, path, show),
    effectsCard(summary, path, show),
    predictCard(summary, path, show),
    compareCard(summary, path, show),
    downloadCard(summary, path, show),
  ];
}

// --- answers ---

function shown(title, { text, summary, table, note, file, code }) {
  const parts = [element("h3", { tabindex: "-1" }, title)];
  for (const one of [summary, table]) if (one) parts.push(tableView(one));
  if (text)
    parts.push(element("pre", { tabindex: "0", "aria-label": title }, element("code", {}, text)));
  if (note) parts.push(element("p", { class: "hint" }, note));
  if (file) parts.push(element("p", {}, download(file)));
  parts.push(element("p", { class: "hint" }, "The same in code:"), codeBlock(code));
  return parts;
}

function tableView({ columns, rows }) {
  const heads = columns.map((name) => element("th", { scope: "col", class: "text" }, name));
  const lines = rows
    .slice(0, MOST_ROWS)
    .map((row) =>
      element("tr", {}, ...row.map((cell) => element("td", { class: "text" }, cellText(cell)))),
    );
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...lines),
  );
  return element(
    "div",
    { class: "wide", tabindex: "0", role: "group", "aria-label": "Table" },
    table,
  );
}

function cellText(cell) {
  if (cell === null) return "";
  return typeof cell === "number" && !Number.isInteger(cell) ? cell.toPrecision(4) : String(cell);
}

function download(file) {
  return element("a", { href: `/files/${part(file)}`, download: file }, `Save ${file}`);
}

// --- cards ---

function card(title, ...parts) {
  return element("div", {}, element("h3", {}, title), ...parts);
}

function names(title, summary, selected) {
  const made = choice(title, summary.names, selected, "");
  return made;
}

function askCard(summary, path, show) {
  const [a, b] = summary.directed[0] ?? [];
  const about = names("What to expect of", summary, summary.target ?? b ?? summary.names[0]);
  const given = choice(
    "if",
    ["", ...summary.names],
    about.select.value !== a && summary.states[a]?.length ? a : "", // a number would lack its value
    "nothing else is known",
  );
  const value = element("span");
  const question = element("input", { type: "text" });
  const chosen = () => [
    about.select.value,
    given.select.value,
    value.querySelector("select, input")?.value.trim() ?? "",
  ];
  const write = () => {
    question.value = questionText(summary, ...chosen());
  };
  const offer = () => {
    value.replaceChildren(...valueChoice(summary, given.select.value, write));
    write();
  };
  about.select.addEventListener("change", write);
  given.select.addEventListener("change", offer);
  offer();
  const ask = busyButton("Ask", async () => {
    const text = question.value;
    const isOwn = text !== questionText(summary, ...chosen());
    const [, condition, own] = chosen();
    if (!isOwn && condition && own === "") throw new Error(`Say which value ${condition} has.`);
    const parts = isOwn ? null : questionParts(summary, ...chosen());
    show(text, await post(`${path}/do/query`, { question: text, parts }));
  });
  const hint = element(
    "p",
    { class: "hint" },
    "Or click states in the report, under “Ask about a variable”.",
  );
  const written = element("label", {}, "The question, which you may edit", question);
  return card("Ask", about.label, given.label, value, written, ask, hint);
}

// The states of a variable to choose from, or a number.
function valueChoice({ states }, name, changed) {
  if (!name) return [];
  const made = states[name].length
    ? choice("is", states[name], states[name][0], {}).label
    : element("label", {}, "is", element("input", { type: "text", placeholder: "a number" }));
  const input = made.querySelector("select, input");
  for (const option of input.options ?? []) option.textContent = option.value;
  input.addEventListener("input", changed);
  return [made];
}

function effectsCard(summary, path, show) {
  const [a, b] = summary.directed[0] ?? summary.names;
  const x = names("Effect of setting", summary, a);
  const y = names("on", summary, b ?? a);
  const ask = busyButton("Estimate", async () => {
    const about = { x: x.select.value, y: y.select.value };
    show(`Effect of ${about.x} on ${about.y}`, await post(`${path}/effects`, about));
  });
  return card("Effects", x.label, y.label, ask);
}

function predictCard(summary, path, show) {
  const tables = store.server.files.tables.map(({ name }) => name);
  const table = choice("Rows of", tables, summary.table, "");
  const target = names("Predict", summary, summary.target ?? summary.names.at(-1));
  const input = fileInput("Another file to predict", (file) =>
    attempt(async () => {
      const { name } = await upload(file, () => {});
      table.select.append(element("option", { value: name, selected: "" }, name));
    }),
  );
  const ask = busyButton("Predict", async () => {
    const about = { table: table.select.value, target: target.select.value };
    if (!about.table) throw new Error("Choose a table to predict first.");
    show(`Predictions of ${about.target}`, await post(`${path}/do/predict`, about));
  });
  const other = element("label", {}, "or of another file", input);
  return card("Predict a file", target.label, table.label, other, ask);
}

function compareCard(summary, path, show) {
  const { results, graphs } = store.server.files;
  const others = [...results, ...graphs].map(({ name }) => name);
  const other = choice(
    "Another result or graph",
    ["", ...others.filter((name) => name !== summary.name)],
    "",
    "…",
  );
  const input = fileInput("An expert's graph: BIF or DOT", (file) =>
    attempt(async () => {
      const { name } = await upload(file, () => {});
      other.select.append(element("option", { value: name, selected: "" }, name));
    }),
  );
  const ask = busyButton("Compare", async () => {
    const about = { other: other.select.value };
    if (!about.other) throw new Error("Choose another result or a graph first.");
    const found = await post(`${path}/compare`, about);
    const note = differenceText(found, summary.name);
    show(`Differences of ${about.other}`, { ...found, note });
  });
  const expert = element("label", {}, "or an expert's graph (BIF, DOT)", input);
  return card("Compare", other.label, expert, ask);
}

const FILES = {
  report: "Report (HTML)",
  bif: "Network (BIF)",
  json: "Network (JSON)",
  edges: "Edges (CSV)",
  svg: "Picture (SVG)",
};

function downloadCard(summary, path, show) {
  const links = element("div", { class: "downloads" });
  links.append(
    element("a", { href: `/files/${part(summary.name)}`, download: summary.name }, "Result (kes)"),
  );
  const buttons = Object.entries(FILES).map(([name, label]) =>
    busyButton(label, async () => {
      const found = await post(`${path}/do/${name}`);
      show(label, found);
      links.append(download(found.file));
      links.lastElementChild.click();
    }),
  );
  return card("Save", element("div", { class: "downloads" }, ...buttons), links);
}
