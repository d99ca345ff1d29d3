// The coefficients of linear and logistic CPDs, with 95 % intervals.

import { interactions } from "./cpds.js";
import { data, isContinuous } from "./data.js";
import { fittedNetwork } from "./fitted.js";
import { significant } from "./format.js";

const Z = 1.96; // standard errors on either side of an estimate
const MAX_DESCRIBED = 4; // terms that are described in words

// The 95 % interval of an estimate; null if it has no standard error, or no case that it rests on.
export function interval({ value, error }) {
  return error === null || (error === 0 && value === 0)
    ? null
    : [value - Z * error, value + Z * error];
}

export function withInterval(term) {
  const ends = interval(term);
  const range = ends ? ` (${significant(ends[0])} to ${significant(ends[1])})` : "";
  return significant(term.value) + range;
}

// The terms of the coefficients of a CPD: a continuous parent (or a polynomial of its normal score),
// or a state of a discrete one; then combinations of states, if there are coefficients for them.
function regressors(parents, number, degree) {
  const single = parents.flatMap((parent) => {
    const name = data.names[parent];
    if (isContinuous(parent)) {
      const polynomial = (_, k) => ({ parent, text: `P${k + 1}(${name})` });
      return degree > 1 ? Array.from({ length: degree }, polynomial) : [{ parent, text: name }];
    }
    return data.states[parent].slice(1).map((state) => ({ parent, text: `${name} = ${state}` }));
  });
  if (number === single.length) return single;
  const discrete = parents.filter((parent) => !isContinuous(parent));
  const combined = interactions(discrete.map((parent) => data.states[parent].length));
  const state = (code, i) => `${data.names[discrete[i]]} = ${data.states[discrete[i]][code]}`;
  return [
    ...single,
    ...combined.map((cell) => ({ parent: null, text: cell.map(state).join(", ") })),
  ];
}

// The terms of a linear or logistic CPD, the intercept first: { parent, text, value, error }. Those
// of a logistic CPD also have the `state` whose log-odds they change.
export function terms({ node, parents, kind, numbers }) {
  const number =
    kind === "linear" ? numbers.coefficients.length : numbers.coefficients[0].length - 1;
  const degree = numbers.degree ?? 1;
  const labels = [{ parent: null, text: "(intercept)" }, ...regressors(parents, number, degree)];
  const estimated = (values, errors) =>
    values.map((value, i) => ({ ...labels[i], value, error: errors?.[i] ?? null }));
  if (kind === "linear") {
    return estimated([numbers.intercept, ...numbers.coefficients], numbers.errors);
  }
  return numbers.coefficients.flatMap((row, i) => {
    const state = data.states[node][i + 1];
    return estimated(row, numbers.errors?.[i]).map((term) => ({ ...term, state }));
  });
}

// The terms of an edge in the fitted network: { parent, child, terms }; null for a table, and in a
// network with curves, whose coefficients mean nothing one by one.
export function edgeTerms(index, pair) {
  const network = fittedNetwork(index);
  if (!network || network.scores) return null;
  const [x, y] = data.pairs[pair];
  const [parent, child] = network.cpds[y].parents.includes(x) ? [x, y] : [y, x];
  const cpd = network.cpds[child];
  if (!cpd.parents.includes(parent) || !["linear", "logistic"].includes(cpd.kind)) return null;
  return { parent, child, terms: terms(cpd).filter((term) => term.parent === parent) };
}

export function describeTerms({ parent, child, terms: all }) {
  const sentences = all.slice(0, MAX_DESCRIBED).map((term) => describeTerm(parent, child, term));
  if (all.length > MAX_DESCRIBED) {
    sentences.push(`The table below has the other ${all.length - MAX_DESCRIBED} coefficients.`);
  }
  return sentences.join(" ");
}

function describeTerm(parent, child, term) {
  const cause = isContinuous(parent)
    ? `One unit more of ${data.names[parent]}`
    : `${term.text} instead of ${data.states[parent][0]}`;
  const name = data.names[child];
  const effect = term.state === undefined ? name : `the log-odds of ${name} = ${term.state}`;
  const ends = interval(term);
  const range = ends ? ` (95 % interval ${significant(ends[0])} to ${significant(ends[1])})` : "";
  return `${cause} changes ${effect} by ${significant(term.value)}${range}, other parents held fixed.`;
}
