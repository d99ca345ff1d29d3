// Cuts of numbers into states: one number for all columns, or a number for each column that is cut.

// The cuts with another number for a column; null leaves it whole. `numbers` are the columns that
// a number for all stands for.
export function withCut(cuts, name, bins, numbers) {
  const all = typeof cuts === "number" ? numbers.map((one) => [one, cuts]) : [];
  const changed = typeof cuts === "number" ? Object.fromEntries(all) : { ...cuts };
  if (bins === null) delete changed[name];
  else changed[name] = bins;
  return Object.keys(changed).length ? changed : null;
}

// Into how many states a column is cut; null if it is not.
export function cutOf(cuts, name) {
  return typeof cuts === "number" ? cuts : (cuts?.[name] ?? null);
}
