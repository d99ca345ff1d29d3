// The CPD of a variable as a table: probabilities with the cases behind them, or coefficients.

import { interval, terms } from "./coefficients.js";
import { data, fileName } from "./data.js";
import { bdi, button, element } from "./dom.js";
import { saveCsv } from "./download.js";
import { configuration } from "./export.js";
import { fittedNetwork, whyNotFitted } from "./fitted.js";
import { cases, number, significant } from "./format.js";
import { addScrollHint } from "./scroll-hint.js";

const MAX_ROWS = 400;

// A table of headings [text, classes] and rows of cells, in a box that scrolls.
export function plainTable(headings, rows) {
  const heads = headings.map(([text, look]) =>
    element("th", { scope: "col", class: look }, bdi(text)),
  );
  const body = element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells)));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  const box = element("div", { class: "wide", tabindex: "0" }, table);
  addScrollHint(table);
  return box;
}

// Mark a number of cases that is too small for reliable probabilities.
export function fewTag() {
  return element("span", { class: "tag", title: "too few cases for a reliable estimate" }, "few");
}

// The CPD of a variable in the network that was fitted to a model.
export function cpdTable(index, node) {
  const name = JSON.stringify(data.names[node]);
  const fitted = `optima[${data.optima[index].number}].fit(data)`;
  const network = fittedNetwork(index);
  if (!network) {
    const method = data.states[node].length ? "cpt" : "coefficients";
    const lines = [`${fitted}.${method}(${name})`];
    if (!data.tables)
      lines.push("", "# a report with probabilities", 'optima.report("report.html", data=data)');
    return [element("p", {}, `${whyNotFitted()} In Python:`), codeBlock(lines.join("\n"))];
  }
  const { kind } = network.cpds[node];
  if (kind === "large") {
    const text = "The table is too large for this page. In Python:";
    return [element("p", {}, text), codeBlock(`${fitted}.cpt(${name})`)];
  }
  return kind === "cases" ? probabilityTable(network, node) : coefficientTable(network.cpds[node]);
}

function codeBlock(code) {
  return element("pre", { tabindex: "0" }, element("code", {}, code));
}

function describeParents(parents) {
  // The fit needs a DAG, so it takes one of the equivalence class.
  if (!parents.length) return "It has no parents in the fitted DAG.";
  return `Given its parents in the fitted DAG: ${parents.map((one) => data.names[one]).join(", ")}.`;
}

function saveButton(node, rows) {
  const save = () => saveCsv(fileName(data.labels[node], "csv"), rows);
  return button("CSV", save, { class: "save-table" });
}

function probabilityTable(network, node) {
  const { parents } = network.cpds[node];
  const states = data.states[node];
  const shares = network.table(node);
  const counts = network.parentCases(node);
  const parentStates = parents.map((parent) => data.states[parent]);
  const headings = [
    ...parents.map((parent) => [data.names[parent], "text"]),
    ...states.map((state) => [state, ""]),
    ["cases", ""],
  ];
  const values = counts.map((count, row) => [
    ...configuration(parentStates, row),
    ...shares.slice(row * states.length, (row + 1) * states.length),
    count,
  ]);
  const cell = (value, i) => {
    if (i < parents.length) return element("td", { class: "text parent" }, bdi(value));
    return i < headings.length - 1 ? probabilityCell(value) : casesCell(value);
  };
  const few = counts.some((count) => count < data.few)
    ? ` Rows with fewer than ${data.few} cases are marked: they are not reliable.`
    : "";
  const note = `${describeParents(parents)} Probabilities are smoothed relative frequencies.${few} `;
  const save = saveButton(node, [headings.map(([text]) => text), ...values]);
  const rows = values.slice(0, MAX_ROWS).map((row) => row.map(cell));
  const parts = [element("p", {}, note, save), plainTable(headings, rows)];
  if (values.length > MAX_ROWS) {
    const text = `The first ${MAX_ROWS} of ${number(values.length, 0)} rows; the CSV file has all.`;
    parts.push(element("p", {}, text));
  }
  return parts;
}

function probabilityCell(share) {
  const cell = element("td", { class: "share" }, share.toFixed(4));
  cell.style.setProperty("--share", share);
  return cell;
}

function casesCell(count) {
  const cell = element("td", { class: "cases" }, cases(count));
  if (count < data.few) cell.append(fewTag());
  return cell;
}

function coefficientTable(cpd) {
  const { node, parents, kind } = cpd;
  const isLogistic = kind === "logistic";
  const texts = isLogistic ? ["state", "term"] : ["term"];
  const headings = [...texts, "coefficient", "95 % interval from", "to"];
  const values = terms(cpd).map((term) => {
    const [low, high] = interval(term) ?? [null, null];
    return [...(isLogistic ? [term.state] : []), term.text, term.value, low, high];
  });
  const isText = (i) => i < texts.length;
  const cell = (value, i) => {
    if (isText(i)) return element("td", { class: "text" }, bdi(value));
    return element("td", {}, value === null ? "" : significant(value));
  };
  const note = `${describeParents(parents)} ${describeModel(cpd)} Estimated from ${cases(data.cases)} cases. `;
  const save = saveButton(node, [headings, ...values]);
  const heads = headings.map((text, i) => [text, isText(i) ? "text" : ""]);
  const rows = values.map((row) => row.map(cell));
  return [element("p", {}, note, save), plainTable(heads, rows)];
}

function describeModel({ node, parents, kind, numbers }) {
  if (kind === "logistic") {
    const reference = data.states[node][0];
    const shape = numbers.degree > 1 ? "sums of curves of" : "linear in";
    return `The log-odds of each state against “${reference}” are ${shape} the parents.${scale(numbers)}`;
  }
  const deviation = significant(numbers.deviation);
  if (numbers.degree > 1) {
    return `The mean is a sum of curves of the parents; the residual standard deviation is ${deviation}.${scale(numbers)}`;
  }
  return parents.length
    ? `The mean is linear in the parents; the residual standard deviation is ${deviation}.`
    : `The distribution is normal: the intercept is its mean, ${deviation} its standard deviation.`;
}

// The meaning of coefficients in a network with curves.
function scale({ degree }) {
  return degree > 1 ? " Numbers are normal scores of ranks, and P1, P2, … their polynomials." : "";
}
