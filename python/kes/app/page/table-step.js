// The first step: choose a table, and see how it is read.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { counted, number } from "../../show/report/template/format.js";
import { post } from "./api.js";
import { readCards, readingDraft, readSome, variables } from "./cards.js";
import { columnCard } from "./column-card.js";
import { chooseTable } from "./file-choice.js";
import { attempt, message } from "./messages.js";
import { applyFix, change, store } from "./store.js";
import { tableSettings } from "./table-settings.js";

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
  place.replaceChildren();
  await attempt(() => showTable(place));
}

async function showCards(place) {
  const { file, example } = store.draft;
  const title = file ? bdi(file) : `ALARM, ${counted(example, "row")}`;
  const status = element("p", { class: "hint", role: "status" }, "Reading the table…");
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
  const { rows, columns, note } = store.cards;
  status.textContent = `${counted(rows, "row")}, ${counted(columns.length, "column")}`;
  if (note) head.append(message(note));
  const problem = element("div", { id: "problem" });
  const notes = element("details", { hidden: "" });
  const refresh = () => check(problem, notes, head, repaint);
  const grid = element("div", { class: "column-cards" });
  // Show columns again: those named, or all after a change that concerns the whole table.
  const repaint = async (names) => {
    await attempt(async () => {
      if (names) await readSome(names);
      else await readCards(true);
      if (names)
        settings = replaced(
          settings,
          tableSettings(() => repaint(null)),
        );
      fill(grid, filter.value, repaint);
      refresh();
    });
  };
  let settings = tableSettings(() => repaint(null));
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

// --- what stands in the way ---

let latest = 0;

// Read the table as the search will, and show what stands in the way, with buttons that mend it.
async function check(problem, notes, head, repaint) {
  latest += 1;
  const own = latest;
  const found = await attempt(() => post("check", { draft: readingDraft() }));
  if (!found || own !== latest) return; // another change was faster
  head.dataset.checked = found.problem ? "no" : "yes";
  if (found.problem) {
    const fixes = found.problem.fixes.map(({ label, change: parts }) => ({
      label,
      action: async () => {
        await applyFix(parts);
        repaint(parts.kinds ? Object.keys(parts.kinds) : null);
      },
    }));
    problem.replaceChildren(message(found.problem.message, { fixes }));
  } else {
    const used = `${counted(variables().length, "variable")} ready to learn from.`;
    problem.replaceChildren(message(used, { good: true }));
  }
  notes.hidden = !found.notes.length;
  const items = found.notes.map((text) => element("li", {}, text));
  const title = element("summary", {}, `Notes on the table (${number(found.notes.length, 0)})`);
  notes.replaceChildren(title, element("ul", {}, ...items));
}
