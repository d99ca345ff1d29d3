// Shell commands to copy: for what the page cannot do, and for the question that it answers.
// Python wrote the parts that name files, quoted for the shell.

import { data, isContinuous } from "./data.js";
import { questionWord } from "./format.js";

function optimumOption(index) {
  const { number } = data.optima[index];
  return number ? ` --optimum ${number}` : "";
}

// The command that writes a fitted network into a file.
export function fitCommand(index, format) {
  return `${data.commands.fit}${optimumOption(index)} --out ${data.commands.out[format]}`;
}

// The command that asks for the distribution of a node given evidence; null if a name cannot be
// written in a question.
export function queryCommand(index, node, evidence) {
  const valueText = (other, value) =>
    isContinuous(other) ? String(value) : questionWord(data.states[other][value]);
  const given = [...evidence].map(([other, value]) => [
    questionWord(data.names[other]),
    valueText(other, value),
  ]);
  const target = questionWord(data.names[node]);
  if (target === null || given.flat().includes(null)) return null;
  const condition = given.length ? ` | ${given.map((pair) => pair.join("=")).join(", ")}` : "";
  const question = isContinuous(node) ? target + condition : `P(${target}${condition})`;
  return `${data.commands.query} ${shellQuoted(question)}${optimumOption(index)}`;
}

function shellQuoted(text) {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
