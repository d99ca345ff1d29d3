// Commands for what the page does not do, or does in the same way, to be copied.

import { data } from "./model.js";

// A word of a question, and of a shell, in quotes if need be; null if no quotes can hold it.
function word(text) {
  if (/^[\p{L}\p{N}_.+-]+( [\p{L}\p{N}_.+-]+)*$/u.test(text)) return text;
  const quote = ['"', "'"].find((mark) => !text.includes(mark));
  return quote && !/[\p{C}]/u.test(text) ? quote + text + quote : null;
}

function quoted(text) {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

const shellWord = (text) => (/^[\w.+-]+$/.test(text) ? text : quoted(text));

function optimumOption(index) {
  const { number } = data.optima[index];
  return number ? ` --optimum ${number}` : "";
}

export const resultFile = () => shellWord(data.file ?? "RESULT.kes.json.gz");

// The command that writes a network into a file; where that holds no numbers, it cuts them into intervals.
export function fitCommand(index, suffix) {
  const table = data.tables ? "" : ` --data ${shellWord(data.source ?? "DATA.csv")}`;
  return `kes fit ${resultFile()}${table}${optimumOption(index)} --out ${shellWord(`${data.stem}.${suffix}`)}`;
}

// The command that asks about a node given values of others; null if there is none.
export function queryCommand(index, node, known) {
  const value = (other, given) => (data.states[other].length ? word(data.states[other][given]) : String(given));
  const given = [...known].map(([other, own]) => [word(data.names[other]), value(other, own)]);
  const target = word(data.names[node]);
  if (target === null || given.flat().includes(null)) return null;
  const bar = given.length ? ` | ${given.map((pair) => pair.join("=")).join(", ")}` : "";
  const question = data.states[node].length ? `P(${target}${bar})` : target + bar;
  return `kes query ${resultFile()} ${quoted(question)}${optimumOption(index)}`;
}
