// Edges that a reader types: "HR", "HR -> BP", "HR – BP", "HR BP".

import { data } from "./model.js";

// Variables meant by a word: the one that is called so, or those whose names have it.
function meant(word) {
  const text = word.trim().toLowerCase();
  const lower = data.names.map((name) => name.toLowerCase());
  const exact = lower.flatMap((name, node) => (name === text ? [node] : []));
  if (exact.length || !text) return exact;
  return lower.flatMap((name, node) => (name.includes(text) ? [node] : []));
}

const ARROWS = [[/\s*(?:->|→)\s*/, 1], [/\s*(?:<-|←)\s*/, 2], [/\s+-\s+|\s*[–—]\s*/, 0]];

// What was typed as { ends: [nodes, nodes or null], way }: the way is 1 from the first to the second, 2
// the other way round, and 0 for either; { unknown } names what no variable is called.
export function parsed(typed) {
  const text = typed.trim();
  if (!text) return null;
  const whole = meant(text);
  for (const [mark, way] of ARROWS) {
    const parts = text.split(mark);
    if (parts.length === 2 && !whole.length) return together(parts, way);
  }
  if (whole.length) return { ends: [whole, null], way: 0 };
  // A dash may also stand without spaces around it, and a space between two names.
  const cuts = [...text.matchAll(/-|\s+/g)].map(({ 0: mark, index }) => [text.slice(0, index), text.slice(index + mark.length)]);
  const fitting = cuts.find((parts) => parts.every((part) => part && meant(part).length));
  return together(fitting ?? [text], 0);
}

function together(parts, way) {
  const filled = parts.filter((part) => part.trim());
  const unknown = filled.find((part) => !meant(part).length);
  if (unknown !== undefined) return { unknown: unknown.trim() };
  const found = parts.map((part) => (part.trim() ? meant(part) : null));
  return found[0] ? { ends: [found[0], found[1] ?? null], way } : { ends: [found[1], null], way: way === 1 ? 2 : way && 1 };
}

// The codes (3 * pair + status) of all edges that are meant.
export function codes({ ends: [from, to], way }) {
  const found = new Set();
  data.pairs.forEach(([x, y], pair) => {
    const fits = (a, b) => from.includes(a) && (to === null || to.includes(b));
    if (way === 0 && (fits(x, y) || fits(y, x))) [0, 1, 2].forEach((status) => found.add(3 * pair + status));
    if ((way === 1 && fits(x, y)) || (way === 2 && fits(y, x))) found.add(3 * pair + 1);
    if ((way === 1 && fits(y, x)) || (way === 2 && fits(x, y))) found.add(3 * pair + 2);
  });
  return found;
}
