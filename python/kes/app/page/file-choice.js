// Choose a table: drop a file, take one of the folder, or the built-in example.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { part, upload } from "./api.js";
import { attempt } from "./messages.js";
import { change, loadFiles, store } from "./store.js";

const EXAMPLE_ROWS = 2000;
const ELSEWHERE = {
  graphs: "a graph, and in the folder now: compare it with a result, at the step Result.",
  knowledge: "a knowledge file, and in the folder now: load it at the step What you know.",
};

export function chooseTable(chosen) {
  const take = (parts) =>
    attempt(async () => {
      await change(parts);
      await chosen();
    });
  const example = element("section", { class: "panel" });
  example.append(
    element("h2", {}, "Just look around"),
    element(
      "p",
      {},
      `Patients in intensive care: 37 variables, ${counted(EXAMPLE_ROWS, "row")}, drawn from the ` +
        "published network ALARM.",
    ),
    button("Take the built-in example", () => take({ example: EXAMPLE_ROWS })),
  );
  return element("div", {}, dropPanel(take), ...folderPanel(take), example);
}

function dropPanel(take) {
  const what =
    "kes finds which columns of a table depend on each other directly, tells how sure each of these " +
    "connections is, and answers questions: what if, what follows, what to expect of a new case.";
  const hint =
    "A row for each case, a column for each variable: CSV, Parquet or Excel. It is copied into " +
    "the folder and never leaves this machine.";
  const bar = element("progress", { max: "1", value: "0", hidden: "", "aria-label": "Sent" });
  const input = fileInput("Choose a file", (file) => send(file));
  const zone = element(
    "div",
    { class: "drop" },
    element("span", {}, "Drop a table here, or"),
    input,
    bar,
  );
  const send = (file) =>
    attempt(async () => {
      bar.hidden = false;
      try {
        const { name, sort } = await upload(file, (share) => {
          bar.value = share;
        });
        await loadFiles();
        if (sort === "results") location.hash = `#result/${part(name)}`;
        else if (ELSEWHERE[sort]) throw new Error(`${name} is ${ELSEWHERE[sort]}`);
        else await take({ file: name });
      } finally {
        bar.hidden = true;
      }
    });
  acceptDrops(zone, send);
  const head = [
    element("h1", {}, "Which table?"),
    element("p", {}, what),
    element("p", { class: "hint" }, hint),
  ];
  return element("section", { class: "panel" }, ...head, zone);
}

function sizeText(bytes) {
  return bytes < 1e6 ? `${number(bytes / 1e3, 0)} kB` : `${number(bytes / 1e6, 1)} MB`;
}

// An input for a file.
export function fileInput(text, action) {
  const input = element("input", { type: "file", "aria-label": text });
  input.addEventListener("change", () => {
    if (input.files.length) action(input.files[0]);
  });
  return input;
}

function acceptDrops(zone, send) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) send(file);
  });
}

function folderPanel(take) {
  const { tables } = store.server.files;
  if (!tables.length) return [];
  const items = tables.map(({ name, bytes }) => {
    const size = element("span", { class: "count" }, ` ${sizeText(bytes)}`);
    return element(
      "li",
      {},
      button(bdi(name), () => take({ file: name })),
      size,
    );
  });
  const list = element("ul", { class: "facts-list" }, ...items);
  const title = element("h2", {}, "Tables of the folder");
  return [element("section", { class: "panel" }, title, list)];
}
