// A question in the words of `kes query`.

import { questionWord } from "../../show/report/template/format.js";

// The distribution of a variable, given at most one other. A name with both quotation marks cannot be
// written; the question is left to the user then.
export function questionText({ states }, about, given, value) {
  const words = [about, ...(given && value !== "" ? [given, value] : [])].map(questionWord);
  if (words.includes(null)) return "";
  const condition = words.length > 1 ? ` | ${words[1]}=${words[2]}` : "";
  const question = `${words[0]}${condition}`;
  return states[about].length ? `P(${question})` : question;
}

// The same for Python: the target, what is known, and whether the answer is a distribution of states.
export function questionParts({ states }, about, given, value) {
  const own = given && (states[given].length ? value : Number(value));
  const known = given ? { [given]: own } : {};
  return { target: about, known, discrete: states[about].length > 0 };
}
