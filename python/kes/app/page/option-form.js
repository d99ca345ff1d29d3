// The options of a search, as the server declares them.

import { element } from "../../show/report/template/dom.js";
import { attempt } from "./messages.js";
import { change, store } from "./store.js";

const LONGEST = 24; // characters of a default that an input has place for

export function optionForm() {
  const box = element("details", { id: "more" }, element("summary", {}, "More options"));
  for (const { title, options } of store.server.options) {
    const fields = options.map(optionField);
    box.append(element("h3", {}, title), element("div", { class: "option-grid" }, ...fields));
  }
  box.open = Object.keys(store.draft.options ?? {}).some((name) => name !== "discretize");
  return box;
}

function optionField(option) {
  const { name, label, help, doc } = option;
  const input = made(option, store.draft.options?.[name]);
  input.addEventListener("change", () =>
    attempt(() => change({ options: { [name]: chosenValue(option, input) } })),
  );
  const text = element("span", { title: doc }, label);
  const usual = long(defaultText(option)) ? ` By default: ${defaultText(option)}.` : "";
  return element("label", {}, text, input, element("small", {}, `${help}${usual}`));
}

function made(option, value) {
  const { input, choices, names, least, most, step, hint } = option;
  const isGiven = value !== undefined;
  if (input === "switch") {
    return element("input", { type: "checkbox", ...(value ? { checked: "" } : {}) });
  }
  if (input === "choice") {
    const select = element("select", {}, element("option", { value: "" }, shortDefault(option)));
    choices.forEach((one, i) => {
      const chosen = isGiven && value === one ? { selected: "" } : {};
      const shown = names?.[i] ?? String(one);
      select.append(element("option", { value: String(one), ...chosen }, shown));
    });
    return select;
  }
  const type = input === "names" ? "text" : input;
  const attributes = { type, placeholder: shortDefault(option) || hint || "none" };
  if (input === "number") Object.assign(attributes, { min: least, max: most ?? "", step });
  return element("input", { ...attributes, ...(isGiven ? { value } : {}) });
}

// Whether a text is too long for an input.
function long(text) {
  return text.length > LONGEST;
}

function shortDefault(option) {
  const text = defaultText(option);
  return long(text) ? "by default" : text;
}

function defaultText(option) {
  return { True: "yes", False: "no" }[option.default] ?? option.default ?? "";
}

// Names that are separated by commas; null if there are none.
export function listed(text) {
  const found = text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  return found.length ? found : null;
}

// The value of an input for the draft; null is the default.
export function chosenValue({ input, choices }, { type, value, checked }) {
  if (type === "checkbox") return checked || null;
  if (value === "") return null;
  if (input === "choice") return choices.find((one) => String(one) === value) ?? null;
  if (input === "names") return listed(value);
  const amount = Number(value);
  return value.trim() !== "" && Number.isFinite(amount) ? amount : value;
}
