// What a fitted network says of an edge in numbers: coefficients with intervals.

import { short } from "./dom.js";
import { familiesOf, isContinuous, regressors } from "./local.js";
import { data } from "./model.js";

const WIDTH = 1.96; // standard errors on either side of an estimate, for 95 %

export function interval(value, error) {
  if (error === null || error === undefined) return null;
  return [value - WIDTH * error, value + WIDTH * error];
}

export function withInterval(value, error) {
  const ends = interval(value, error);
  return ends ? `${short(value)} (${short(ends[0])} to ${short(ends[1])})` : short(value);
}

// The terms of a linear or logistic model: the intercept first; of a logistic one for each state but
// the first of its node.
export function terms({ node, parents, kind, numbers }) {
  const texts = [{ parent: null, text: "(intercept)" }, ...regressors(parents)];
  if (kind === "linear") {
    const values = [numbers.intercept, ...numbers.coefficients];
    return texts.map((term, i) => ({ ...term, value: values[i], error: numbers.errors?.[i] ?? null }));
  }
  return numbers.coefficients.flatMap((row, i) => texts.map((term, j) => ({
    ...term, state: data.states[node][i + 1], value: row[j], error: numbers.errors?.[i]?.[j] ?? null,
  })));
}

// The terms that a pair of variables has in the network that was fitted; null if it has a table.
export function pairTerms(index, pair) {
  const families = familiesOf(index);
  if (!families) return null;
  const [x, y] = data.pairs[pair];
  const [parent, child] = families[y].parents.includes(x) ? [x, y] : [y, x];
  const family = families[child];
  if (!family.parents.includes(parent) || !["linear", "logistic"].includes(family.kind)) return null;
  return { parent, child, terms: terms(family).filter((term) => term.parent === parent) };
}

// The same in words.
export function termWords({ parent, child, terms: own }) {
  const [cause, effect] = [data.names[parent], data.names[child]];
  return own.slice(0, 4).map(({ state, text, value, error }) => {
    const change = isContinuous(parent) ? `A unit more of ${cause} goes with` : `${text} instead of ${data.states[parent][0]} goes with`;
    const ends = interval(value, error);
    const range = ends ? ` (95 % interval ${short(ends[0])} to ${short(ends[1])})` : "";
    const what = state === undefined ? `in ${effect}` : `in the log-odds of ${effect} = ${state}`;
    return `${change} a change of ${short(value)}${range} ${what}, all else that it depends on held fixed.`;
  }).join(" ") + (own.length > 4 ? ` The other ${own.length - 4} coefficients are in its table below.` : "");
}
