// Fitted networks in file formats, with the numbers of kes.fit.

import { data } from "./data.js";
import { fittedNetwork, whyNotFitted } from "./fitted.js";

// Why a model cannot be saved in a format; "" if it can.
export function whyNotSaved(index, format) {
  const network = fittedNetwork(index);
  if (!network) return whyNotFitted();
  if (network.has("large")) return "A table is too large for this page.";
  if (network.scores) return "This page has not all numbers of a network with curves: use kes fit.";
  if (format === "bif" && !data.files.bif) {
    return "BIF has no continuous variables, so they are discretized for it.";
  }
  return "";
}

// The Bayesian interchange format. Python wrote the declarations of the variables.
export function toBif(index) {
  const { head, words, states } = data.files.bif;
  const network = fittedNetwork(index);
  const blocks = network.cpds.map(({ node, parents }) => {
    const rows = chunks(network.table(node), states[node].length);
    if (!parents.length) {
      return `probability ( ${words[node]} ) {\n  table ${rows[0].join(", ")};\n}\n`;
    }
    const parentStates = parents.map((parent) => states[parent]);
    const lines = rows.map(
      (row, i) => `  (${configuration(parentStates, i).join(", ")}) ${row.join(", ")};\n`,
    );
    const given = parents.map((parent) => words[parent]).join(", ");
    return `probability ( ${words[node]} | ${given} ) {\n${lines.join("")}}\n`;
  });
  return head + blocks.join("");
}

function chunks(numbers, size) {
  const rows = [];
  for (let i = 0; i < numbers.length; i += size) rows.push(numbers.slice(i, i + size));
  return rows;
}

// The states of the parents in a row of a table; the last parent changes fastest.
export function configuration(parentStates, row) {
  const found = [];
  let rest = row;
  for (const states of [...parentStates].reverse()) {
    found.unshift(states[rest % states.length]);
    rest = Math.floor(rest / states.length);
  }
  return found;
}

// The JSON format of kes; see kes.formats.json.
export function toJson(index) {
  const network = fittedNetwork(index);
  const hasCuts = Object.keys(data.files.cuts).length > 0;
  const version = hasCuts || network.has("linear", "logistic") ? 2 : 1;
  const head = { format: "kes-network", version, ...(hasCuts ? { cuts: data.files.cuts } : {}) };
  const entries = network.cpds.map(({ node, parents, kind, numbers }) => {
    const sizes = [...parents, node].map((one) => network.sizes[one]);
    const [key, model] =
      kind === "cases" ? ["cpt", nested(network.table(node), sizes)] : [kind, numbers];
    // States are JSON text already: large integers would not survive as JavaScript numbers.
    const literals = data.files.literals[node];
    const states = literals.length ? `"states": [${literals.join(", ")}], ` : "";
    const name = JSON.stringify(data.names[node]);
    const parentNames = JSON.stringify(parents.map((parent) => data.names[parent]));
    return `{"name": ${name}, ${states}"parents": ${parentNames}, "${key}": ${JSON.stringify(model)}}`;
  });
  return `${JSON.stringify(head).slice(0, -1)}, "nodes": [\n${entries.join(",\n")}\n]}\n`;
}

function nested(numbers, sizes) {
  if (sizes.length <= 1) return numbers;
  return chunks(numbers, numbers.length / sizes[0]).map((part) => nested(part, sizes.slice(1)));
}
