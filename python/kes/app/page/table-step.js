// The first step: choose a table, and see how it is read.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { readCards, readSome, variables } from "./cards.js";
import { columnCard } from "./column-card.js";
import { chooseTable } from "./file-choice.js";
import { attempt, message } from "./messages.js";
import { change, store } from "./store.js";
import { checkTable, problemMessage } from "./table-check.js";
import { tableSettings } from "./table-settings.js";

const READING = "Reading the table…";
const MANY = 24; // columns beyond which a filter helps

export async function showTable(place) {
  const { file, example } = store.draft;
  if (!file && !example) {
    place.append(chooseTable(() => showAgain(place)));
    return;
  }
  await showCards(place);
}

async function showAgain(place) {
  store.cards = null;
  store.check = null;
  place.replaceChildren();
  await attempt(() => showTable(place));
}

async function showCards(place) {
  const { file, example } = store.draft;
  const title = file ? bdi(file) : `ALARM, ${counted(example, "row")}`;
  const status = element("p", { class: "hint", role: "status" }, READING);
  const other = button("Choose another table", async () => {
    await change({
      ...Object.fromEntries(Object.keys(store.draft).map((name) => [name, null])),
    });
    showAgain(place);
  });
  const head = element("section", { class: "panel", "aria-labelledby": "table-name" });
  head.append(
    element("div", { class: "bar" }, element("h1", { id: "table-name" }, title), other),
    status,
  );
  place.append(head);
  try {
    await readCards();
  } catch (error) {
    status.remove();
    head.append(message(error.message));
    return;
  }
  if (!head.isConnected) return; // another table was chosen meanwhile
  const { rows, columns, note } = store.cards;
  if (note) head.append(message(note));
  const problem = element("div", { id: "problem", role: "status" });
  const notes = element("details", { hidden: "" });
  const refresh = async () => {
    if (await showCheck(problem, notes, repaint)) {
      status.textContent = `${counted(rows, "row")}, ${counted(columns.length, "column")}`;
    }
  };
  const grid = element("div", { class: "column-cards" });
  // Show columns again: those named, or all after a change that concerns the whole table. The
  // settings stay if they caused it, as somebody may be typing in them.
  const repaint = async (names, isBySettings = false) => {
    status.textContent = READING;
    await attempt(async () => {
      if (names) await readSome(names);
      else await readCards(true);
      if (!head.isConnected) return;
      if (!isBySettings) settings = replaced(settings, newSettings());
      fill(grid, filter.value, repaint);
      refresh();
    });
  };
  const newSettings = () => tableSettings(() => repaint(null, true));
  let settings = newSettings();
  head.append(problem, settings, notes, next());
  const filter = element("input", { type: "search", placeholder: "part of a name" });
  filter.addEventListener("input", () => fill(grid, filter.value, repaint));
  const bar = element("div", { class: "controls" });
  if (columns.length > MANY) {
    bar.append(element("label", {}, "Show columns with ", filter));
    if (file) bar.append(leaveOut(filter, repaint));
  }
  const hint = file
    ? "Each column as it will be read, and why. Change the kind where it is wrong."
    : "Each column of the example, and how often its states occur.";
  const cards = element("section", { class: "panel", "aria-labelledby": "columns-heading" });
  cards.append(
    element("h2", { id: "columns-heading" }, "Columns"),
    element("p", { class: "hint" }, hint),
    bar,
    grid,
  );
  place.append(cards);
  fill(grid, "", repaint);
  refresh();
}

// Keep open what the user has unfolded.
function replaced(old, made) {
  if (old.querySelector("details[open]")) made.querySelector("details").open = true;
  old.replaceWith(made);
  return made;
}

function matching(text) {
  const wanted = text.toLowerCase();
  return store.cards.columns.filter(({ name }) => name.toLowerCase().includes(wanted));
}

function fill(grid, text, repaint) {
  grid.replaceChildren(...matching(text).map((column) => columnCard(column, repaint)));
}

function leaveOut(filter, repaint) {
  return button("Leave out all shown", async () => {
    const names = matching(filter.value).map(({ name }) => name);
    await change({ kinds: Object.fromEntries(names.map((name) => [name, "omit"])) });
    repaint(names);
  });
}

function next() {
  const first = element("span", {}, "or first say ");
  first.append(element("a", { href: "#knowledge" }, "what you know about the variables"));
  return element(
    "div",
    { class: "next" },
    element("a", { href: "#learn" }, "Go on to learning"),
    first,
  );
}

// --- obstacles ---

// Show what the table lacks, or that it is ready; return whether that is known.
async function showCheck(problem, notes, repaint) {
  const found = await checkTable();
  if (!found) return false; // another change was faster
  if (found.problem) {
    const mended = ({ kinds }) => repaint(kinds ? Object.keys(kinds) : null);
    problem.replaceChildren(problemMessage(found.problem, mended));
  } else {
    const used = variables().length;
    const text = used > 1 ? " ready to learn from." : " takes part; a network needs at least two.";
    problem.replaceChildren(message(counted(used, "variable") + text, { good: used > 1 }));
  }
  notes.hidden = !found.notes.length;
  const items = found.notes.map((text) => element("li", {}, text));
  const title = element("summary", {}, `Notes on the table (${number(found.notes.length, 0)})`);
  notes.replaceChildren(title, element("ul", {}, ...items));
  return true;
}
