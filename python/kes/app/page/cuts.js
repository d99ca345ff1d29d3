// Cuts of numbers into states: one number for all columns, or for each column that is cut a number or
// the points where.

// The cuts with another number for a column; null leaves it whole. `numbers` are the columns that
// a number for all stands for. Points of other columns become numbers, too: they do not mix.
export function withCut(cuts, name, bins, numbers) {
  const before = typeof cuts === "number" ? numbers : Object.keys(cuts ?? {});
  const changed = Object.fromEntries(before.map((one) => [one, cutOf(cuts, one)]));
  if (bins === null) delete changed[name];
  else changed[name] = bins;
  return Object.keys(changed).length ? changed : null;
}

// Into how many states a column is cut; null if it is not.
export function cutOf(cuts, name) {
  const own = typeof cuts === "number" ? cuts : (cuts?.[name] ?? null);
  return Array.isArray(own) ? own.length + 1 : own;
}
