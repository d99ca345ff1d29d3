// Edges that a reader types: "HR", "HR -> BP", "HR – BP", "HR BP".

import { data } from "./data.js";

// The variables whose names match a text exactly, start with it, or contain it, ignoring case.
export function matchNames(typed) {
  const text = typed.trim().toLowerCase();
  const matches = (test) =>
    data.names.flatMap((name, node) => (text && test(name.toLowerCase()) ? [node] : []));
  return {
    exact: matches((name) => name === text),
    starting: matches((name) => name.startsWith(text)),
    containing: matches((name) => name.includes(text)),
  };
}

// The variable with exactly this name, or else all whose names contain it.
function variables(text) {
  const { exact, containing } = matchNames(text);
  return exact.length ? exact : containing;
}

const FORWARD = 1;
const BACKWARD = 2;
const EITHER = 0;
const MARKS = [
  [/\s*(?:->|→)\s*/, FORWARD],
  [/\s*(?:<-|←)\s*/, BACKWARD],
  [/\s+-\s+|\s*[–—]\s*/, EITHER],
];

// Parse a filter into { ends: [variables, variables or null], direction }, null if nothing was
// typed, or { unknown } with the part that matches no variable.
export function parseFilter(typed) {
  const text = typed.trim();
  if (!text) return null;
  const whole = variables(text);
  if (whole.length) return { ends: [whole, null], direction: EITHER };
  for (const [mark, direction] of MARKS) {
    const parts = text.split(mark);
    if (parts.length === 2) return pairFilter(parts, direction);
  }
  // Two names may also be separated by a dash without spaces, or by spaces alone.
  const splits = [...text.matchAll(/-|\s+/g)].map(({ 0: mark, index }) => [
    text.slice(0, index),
    text.slice(index + mark.length),
  ]);
  const matching = splits.find((parts) => parts.every((part) => variables(part).length));
  return matching ? pairFilter(matching, EITHER) : { unknown: text };
}

// One side may be empty, as in "HR ->".
function pairFilter(parts, direction) {
  const unknown = parts.find((part) => part.trim() && !variables(part).length);
  if (unknown !== undefined) return { unknown: unknown.trim() };
  const [from, to] = parts.map((part) => (part.trim() ? variables(part) : null));
  if (from) return { ends: [from, to], direction };
  const turned = { [FORWARD]: BACKWARD, [BACKWARD]: FORWARD, [EITHER]: EITHER }[direction];
  return { ends: [to, null], direction: turned };
}

// The codes (3 * pair + status) of all edges that match a filter.
export function matchingCodes({ ends: [from, to], direction }) {
  const matches = (a, b) => from?.includes(a) && (to === null || to.includes(b));
  const found = new Set();
  data.pairs.forEach(([x, y], pair) => {
    const [straight, crossed] = [matches(x, y), matches(y, x)];
    if (direction === EITHER) {
      if (straight || crossed) for (const status of [0, 1, 2]) found.add(3 * pair + status);
      return;
    }
    if (direction === FORWARD ? straight : crossed) found.add(3 * pair + 1);
    if (direction === FORWARD ? crossed : straight) found.add(3 * pair + 2);
  });
  return found;
}
