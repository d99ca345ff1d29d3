// The local model of a variable as a table: probabilities with the cases behind them, or coefficients.

import { interval, terms } from "./coefficients.js";
import { bdi, button, cases, element, number, short } from "./dom.js";
import { saveCsv } from "./download.js";
import { configuration, configurationCases, familiesOf, probabilities } from "./local.js";
import { data, fileName } from "./model.js";
import { hintSideways } from "./sideways.js";

const MOST_ROWS = 400;

export function plainTable(headings, rows) {
  const head = element("tr", {}, ...headings.map(([text, look]) => element("th", { scope: "col", class: look }, bdi(text))));
  const body = element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells)));
  const table = element("table", {}, element("thead", {}, head), body);
  const wide = element("div", { class: "wide", tabindex: "0" }, table);
  hintSideways(table);
  return wide;
}

function python(code) {
  return element("pre", { tabindex: "0" }, element("code", {}, code));
}

// All about how a variable depends on its parents in the network that was fitted to a model.
export function nodeTable(index, node) {
  const name = JSON.stringify(data.names[node]);
  const fitted = `optima[${data.optima[index].number}].fit(data)`;
  if (!data.tables) {
    return [
      element("p", {}, "This report was made without the data. To have the numbers in it:"),
      python('optima.report("report.html", data=data)'),
      element("p", {}, "Or ask for these:"),
      python(data.states[node].length ? `${fitted}.cpt(${name})` : `${fitted}.coefficients(${name})`),
    ];
  }
  const family = familiesOf(index)?.[node];
  if (!family) return [element("p", {}, "Only the best optima have their numbers here. In Python:"), python(`${fitted}.local(${name})`)];
  if (family.kind === "large") return [element("p", {}, "The table is too large to be shown. In Python:"), python(`${fitted}.cpt(${name})`)];
  return family.kind === "cases" ? probabilityTable(family) : coefficientTable(family);
}

function given(parents) {
  return parents.length
    ? `Given ${parents.map((parent) => data.names[parent]).join(", ")}, in one network of the class.`
    : "It has no parents in the network that was taken from the class.";
}

function probabilityTable(family) {
  const { node, parents } = family;
  const shares = probabilities(family);
  const states = data.states[node];
  const counts = configurationCases(family);
  const headings = [
    ...parents.map((parent) => [data.names[parent], "text"]),
    ...states.map((state) => [state, ""]),
    ["cases", ""],
  ];
  const plain = counts.map((count, row) => [
    ...configuration(parents, row), ...shares.slice(row * states.length, (row + 1) * states.length), count,
  ]);
  const rows = plain.slice(0, MOST_ROWS).map((values, row) => values.map((value, i) => {
    if (i < parents.length) return element("td", { class: "text parent" }, bdi(value));
    if (i === values.length - 1) return casesCell(counts[row]);
    const cell = element("td", { class: "share" }, value.toFixed(4));
    cell.style.setProperty("--share", value);
    return cell;
  }));
  const note = `${given(parents)} Probabilities are smoothed relative frequencies` +
    (counts.some((count) => count < data.few) ? `; rows of fewer than ${data.few} cases are marked: they are hardly more than a guess.` : ".");
  const cut = plain.length > MOST_ROWS ? [element("p", {}, `The first ${MOST_ROWS} of ${number(plain.length, 0)} rows; the CSV file has all.`)] : [];
  const save = button("CSV", () => saveCsv(fileName(data.labels[node], "csv"), [headings.map(([text]) => text), ...plain]), { class: "save-table" });
  return [element("p", {}, note, " ", save), plainTable(headings, rows), ...cut];
}

export function casesCell(count) {
  const cell = element("td", { class: "cases" }, cases(count));
  if (count < data.few) cell.append(element("span", { class: "tag few", title: "hardly more than a guess" }, "few"));
  return cell;
}

function coefficientTable(family) {
  const { node, parents, kind, numbers } = family;
  const own = terms(family);
  const logistic = kind === "logistic";
  const heads = [...(logistic ? ["state"] : []), "term", "coefficient", "95 % interval from", "to"];
  const plain = own.map(({ state, text, value, error }) => {
    const ends = interval(value, error);
    return [...(logistic ? [state] : []), text, value, ends?.[0] ?? null, ends?.[1] ?? null];
  });
  const texts = logistic ? 2 : 1;
  const rows = plain.map((values) => values.map((value, i) => (i < texts
    ? element("td", { class: "text" }, bdi(value))
    : element("td", { class: "number" }, value === null ? "" : short(value)))));
  const what = logistic
    ? `How the log-odds of each state against “${data.states[node][0]}” depend on them.`
    : parents.length
      ? `Its mean is linear in them; around it the deviation is ${short(numbers.deviation)}.`
      : `It is taken as normal, with the intercept as its mean and deviation ${short(numbers.deviation)}.`;
  const save = button("CSV", () => saveCsv(fileName(data.labels[node], "csv"), [heads, ...plain]), { class: "save-table" });
  const headings = heads.map((text, i) => [text, i < texts ? "text" : ""]);
  return [element("p", {}, `${given(parents)} ${what} It was estimated from ${cases(data.cases)} cases. `, save), plainTable(headings, rows)];
}
