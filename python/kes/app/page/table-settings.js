// Settings of the whole table: missing cells, cuts, dates, weights, and the variable to predict.

import { element } from "../../show/report/template/dom.js";
import { variables } from "./cards.js";
import { attempt } from "./messages.js";
import { listed } from "./option-form.js";
import { change, store } from "./store.js";

const MISSING = {
  "": "there should be none: stop if there are",
  em: "fill them in from the model (EM)",
  drop: "leave out incomplete rows",
  state: "make “missing” a state of its own",
};
const DATES = { "": "leave them out", days: "use them as days", year: "use them as years" };

// `changed` is called when the table has to be read again.
export function tableSettings(changed) {
  const names = store.cards.columns.map(({ name }) => name);
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
  const weights = choice("Column of weights", ["", ...names], draft.weights, "none");
  weights.select.addEventListener("change", () => set({ weights: weights.select.value || null }));
  const dates = choice("Dates", Object.keys(DATES), draft.dates, DATES);
  dates.select.addEventListener("change", () => set({ dates: dates.select.value || null }));
  const marks = field("Also missing", "text", "such as NA, ?, -99", draft.na_values?.join(", "));
  marks.input.addEventListener("change", () => set({ na_values: listed(marks.input.value) }));
  const cut = field("Cut numbers into states", "number", "no", cuts(draft.options?.discretize));
  cut.input.min = "2";
  cut.input.addEventListener("change", () =>
    set({ options: { discretize: cut.input.value ? Number(cut.input.value) : null } }),
  );
  const parts = [missing, marks, cut, target, weights, dates];
  return element("div", { class: "option-grid" }, ...parts.map(({ label }) => label));
}

function cuts(discretize) {
  return typeof discretize === "number" ? String(discretize) : "";
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
