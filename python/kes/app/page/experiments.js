// Experiments: a column that says which intervention a row is from, and what each one acts on.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { post } from "./api.js";
import { readingDraft } from "./cards.js";
import { attempt } from "./messages.js";
import { change, store } from "./store.js";
import { choice } from "./table-settings.js";
import { withTarget } from "./tier-board.js";

const KINDS = {
  unknown: "acts on something, I do not know on what",
  none: "no intervention",
  known: "acts only on …",
};

// Values with "acts only on" chosen, but no target yet: the next answer of the server draws
// the block anew and must not forget them.
const pending = new Set();

// `changed` is called when the variables are others. `names` are those of the table.
export function experiments(names, changed) {
  const box = element("details", { class: "experiments" }, element("summary", {}, "Experiments"));
  const columns = Object.keys(store.draft.interventions ?? {});
  box.open = columns.length > 0;
  const hint =
    "Does a column say which experiment, treatment or intervention a row is from? What its values " +
    "act on decides directions that cases alone leave open.";
  box.append(element("p", { class: "hint" }, hint));
  for (const column of columns) box.append(columnBlock(column, names, changed));
  const candidates = store.cards.columns.filter(({ used }) => used === "discrete");
  const free = candidates.map(({ name }) => name).filter((name) => !columns.includes(name));
  const add = choice("Column of experiments", ["", ...free], "", "none");
  add.select.addEventListener("change", () => {
    if (add.select.value) set(add.select.value, {}, changed);
  });
  box.append(element("div", { class: "controls" }, add.label));
  return box;
}

async function set(column, targets, changed) {
  const others = Object.entries(store.draft.interventions ?? {}).filter(([one]) => one !== column);
  const all = targets === null ? others : [...others, [column, targets]];
  const interventions = all.length ? Object.fromEntries(all) : null;
  await attempt(() => change({ interventions }));
  changed();
}

function columnBlock(column, names, changed) {
  const body = element("div", {}, element("p", { role: "status" }, "Reading the values…"));
  const remove = button("This is no experiment", () => set(column, null, changed));
  attempt(async () => {
    const values = await post("states", { draft: readingDraft(), column });
    body.replaceChildren(...values.map((value) => valueLine(column, value, names, changed)));
  });
  const head = element("div", { class: "bar" }, element("h3", {}, bdi(column)), remove);
  return element("div", { class: "experiment" }, head, body);
}

function valueLine(column, value, names, changed) {
  const targets = store.draft.interventions[column] ?? {};
  const own = targets[value];
  const key = JSON.stringify([column, value]);
  let kind = "known";
  if (!pending.has(key)) {
    if (own === undefined) kind = "unknown";
    else if (!own.length) kind = "none";
  }
  const made = choice("", Object.keys(KINDS), kind, KINDS);
  made.select.setAttribute("aria-label", `What ${value} acts on`);
  const chips = element("div", { class: "chips" });
  const show = () => {
    const isKnown = made.select.value === "known";
    const buttons = names.map((name) => {
      const pressed = { class: "chip", "aria-pressed": String(own?.includes(name) ?? false) };
      return button(
        bdi(name),
        () => set(column, withTarget(targets, value, name), changed),
        pressed,
      );
    });
    chips.replaceChildren(...(isKnown ? buttons : []));
  };
  made.select.addEventListener("change", () => {
    if (made.select.value === "known") {
      pending.add(key);
      return show();
    }
    pending.delete(key);
    set(column, withTarget(targets, value, made.select.value === "none" ? [] : null), changed);
  });
  show();
  return element(
    "div",
    { class: "controls" },
    element("strong", {}, bdi(value)),
    made.select,
    chips,
  );
}
