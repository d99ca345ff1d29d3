// Networks as files of other programs, with the numbers that kes.fit has.

import { familiesOf, probabilities } from "./local.js";
import { data } from "./model.js";

function rowsOf(numbers, states) {
  const rows = [];
  for (let i = 0; i < numbers.length; i += states) rows.push(numbers.slice(i, i + states));
  return rows;
}

// Why a model cannot be saved as a network; "" if it can.
export function cannotSave(index, format) {
  if (!data.tables) return "This page was made without the data, so it has no probabilities.";
  const families = familiesOf(index);
  if (!families) return "Only the best optima have their numbers here.";
  if (families.some((family) => family.kind === "large")) return "A table is too large for this page.";
  if (format === "bif" && !data.files.bif) return "BIF holds states, so numbers are cut into intervals for it.";
  return "";
}

// The Bayesian interchange format; the declarations of the variables were written by Python.
export function bif(index) {
  const { head, words, states } = data.files.bif;
  const blocks = familiesOf(index).map((family) => {
    const { node, parents } = family;
    const rows = rowsOf(probabilities(family), states[node].length);
    if (!parents.length) return `probability ( ${words[node]} ) {\n  table ${rows[0].join(", ")};\n}\n`;
    const lines = rows.map((row, i) => `  (${spelled(parents, i, states)}) ${row.join(", ")};\n`);
    const given = parents.map((parent) => words[parent]).join(", ");
    return `probability ( ${words[node]} | ${given} ) {\n${lines.join("")}}\n`;
  });
  return head + blocks.join("");
}

function spelled(parents, row, states) {
  const found = [];
  let rest = row;
  for (const parent of [...parents].reverse()) {
    found.unshift(states[parent][rest % states[parent].length]);
    rest = Math.floor(rest / states[parent].length);
  }
  return found.join(", ");
}

function nested(numbers, sizes) {
  if (sizes.length <= 1) return numbers;
  const part = numbers.length / sizes[0];
  return Array.from({ length: sizes[0] }, (_, i) => nested(numbers.slice(i * part, (i + 1) * part), sizes.slice(1)));
}

// The format of kes; see kes.formats.json.
export function json(index) {
  const families = familiesOf(index);
  const hasCuts = Object.keys(data.files.cuts).length > 0;
  const version = hasCuts || families.some(({ kind }) => kind !== "cases") ? 2 : 1;
  const head = { format: "kes-network", version, ...(hasCuts ? { cuts: data.files.cuts } : {}) };
  const entries = families.map((family) => {
    const { node, parents, kind, numbers } = family;
    const literals = data.files.literals[node];
    const sizes = [...parents, node].map((one) => data.states[one].length);
    const [key, model] = kind === "cases" ? ["cpt", nested(probabilities(family), sizes)] : [kind, numbers];
    // States are texts of JSON already: large integers would not survive as numbers of this page.
    const states = literals.length ? `"states": [${literals.join(", ")}], ` : "";
    const names = JSON.stringify(parents.map((parent) => data.names[parent]));
    return `{"name": ${JSON.stringify(data.names[node])}, ${states}"parents": ${names}, "${key}": ${JSON.stringify(model)}}`;
  });
  return `${JSON.stringify(head).slice(0, -1)}, "nodes": [\n${entries.join(",\n")}\n]}\n`;
}
