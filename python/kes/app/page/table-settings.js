// Settings of the whole table: missing cells, cuts, dates, weights, and the variable to predict.

import { element } from "../../show/report/template/dom.js";
import { variables } from "./cards.js";
import { attempt } from "./messages.js";
import { listed } from "./option-form.js";
import { change, store } from "./store.js";

const MISSING = {
  "": "none allowed",
  em: "fill them in (EM)",
  drop: "leave out incomplete rows",
  state: "“missing” is a state",
};
const DATES = { "": "leave them out", days: "use them as days", year: "use them as years" };

// `changed` is called when the table has to be read again.
export function tableSettings(changed) {
  const { draft } = store;
  const target = choice("Variable to predict", ["", ...variables()], draft.options?.target, "none");
  target.select.addEventListener("change", () =>
    attempt(() => change({ options: { target: target.select.value || null } })),
  );
  if (draft.example) return element("div", { class: "option-grid" }, target.label);
  const set = (parts) =>
    attempt(async () => {
      await change(parts);
      await changed();
    });
  const missing = choice("Missing cells", Object.keys(MISSING), draft.missing, MISSING);
  missing.select.addEventListener("change", () => set({ missing: missing.select.value || null }));
  const marks = field(
    "Texts that also mean missing",
    "text",
    "such as ?, -99",
    draft.na_values?.join(", "),
  );
  marks.input.addEventListener("change", () => set({ na_values: listed(marks.input.value) }));
  const parts = [missing, marks, target];
  const shown = element("div", { class: "option-grid" }, ...parts.map(({ label }) => label));
  return element("div", {}, shown, moreSettings(draft, set));
}

// Rarely used settings: cuts, dates, weights, and rows that are moments of a series.
function moreSettings(draft, set) {
  const names = store.cards.columns.map(({ name }) => name);
  const cuts = draft.options?.discretize;
  const isByColumn = typeof cuts === "object";
  const cut = field(
    "Cut all numbers into states",
    "number",
    isByColumn ? "by column" : "no",
    isByColumn ? "" : cuts,
  );
  cut.input.min = "2";
  cut.input.addEventListener("change", () =>
    set({ options: { discretize: cut.input.value ? Number(cut.input.value) : null } }),
  );
  const dates = choice("Dates", Object.keys(DATES), draft.dates, DATES);
  dates.select.addEventListener("change", () => set({ dates: dates.select.value || null }));
  const weights = choice("How often each row counts", ["", ...names], draft.weights, "once");
  weights.select.addEventListener("change", () => set({ weights: weights.select.value || null }));
  const box = element(
    "details",
    { class: "more-table" },
    element("summary", {}, "More about the table"),
  );
  box.open = Boolean((cuts && !isByColumn) || draft.dates || draft.weights || draft.series);
  const grid = (parts) =>
    element("div", { class: "option-grid" }, ...parts.map(({ label }) => label));
  const hint =
    "Are the rows moments of a series, such as visits of a patient or months of a market? Then " +
    "earlier rows can stand beside each row, as possible causes.";
  box.append(
    grid([cut, dates, weights]),
    element("h3", {}, "Series"),
    element("p", { class: "hint" }, hint),
    grid(seriesFields(draft.series ?? {}, names, set)),
  );
  return box;
}

function seriesFields({ lags, by = [], time }, names, set) {
  const before = field("Earlier rows beside each row", "number", "none", lags);
  before.input.min = "1";
  const groups = choice("What tells series apart", ["", ...names], by[0], "nothing: one series");
  const moment = choice("What orders the rows", ["", ...names], time, "they are in order");
  const inputs = [before.input, groups.select, moment.select];
  for (const select of inputs.slice(1)) select.disabled = !lags;
  for (const input of inputs) {
    input.addEventListener("change", () => {
      // More columns than one tell series apart only in drafts that come from the shell.
      const others = groups.select.value === by[0] ? by.slice(1) : [];
      const own = groups.select.value ? { by: [groups.select.value, ...others] } : {};
      const order = moment.select.value ? { time: moment.select.value } : {};
      const count = Number(before.input.value);
      for (const select of [groups.select, moment.select]) select.disabled = !count;
      set({ series: count ? { lags: count, ...own, ...order } : null });
    });
  }
  return [before, groups, moment];
}

// A list of choices; `texts` are their texts, or the text of the empty one.
export function choice(title, values, selected, texts) {
  const text = (value) => (typeof texts === "object" ? texts[value] : value || texts);
  const select = element("select", {});
  for (const value of values) {
    const attributes = value === (selected ?? "") ? { value, selected: "" } : { value };
    select.append(element("option", attributes, text(value)));
  }
  return { label: element("label", {}, title, select), select };
}

function field(title, type, placeholder, value) {
  const input = element("input", { type, placeholder, value: value ?? "" });
  return { label: element("label", {}, title, input), input };
}
