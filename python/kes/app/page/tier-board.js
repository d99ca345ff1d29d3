// Tiers as lists: where a variable is, and where it goes. Without the document, to be tested alone.

// The tiers with a variable in another one; -1 is none. A tier that is empty stays.
export function moved(tiers, name, to) {
  const rest = tiers.map((tier) => tier.filter((other) => other !== name));
  if (to < 0) return rest;
  while (rest.length <= to) rest.push([]);
  return rest.map((tier, i) => (i === to ? [...tier, name] : tier));
}

export function tierOf(tiers, name) {
  return tiers.findIndex((tier) => tier.includes(name));
}

// The tiers as the knowledge has them: without empty ones; null if none is left.
export function withoutEmpty(tiers) {
  const found = tiers.filter((tier) => tier.length);
  return found.length ? found : null;
}

// Knowledge with a pair of variables added to a part; one pair has one statement.
export function withPair(knowledge, part, [a, b]) {
  const changed = { ...knowledge };
  for (const other of ["required", "forbidden", "apart"]) {
    const isSame = (x, y) => x === a && y === b;
    const isOther = ([x, y]) => !(isSame(x, y) || (other !== "forbidden" && isSame(y, x)));
    changed[other] = (changed[other] ?? []).filter(isOther);
  }
  changed[part] = [...changed[part], [a, b]];
  return tidy(changed);
}

// Knowledge without an item of a part.
export function withoutItem(knowledge, part, index) {
  const items = knowledge[part].filter((_, i) => i !== index);
  return tidy({ ...knowledge, [part]: items });
}

// Knowledge with a variable added to roots or leaves, or taken out of them.
export function toggled(knowledge, part, name) {
  const items = knowledge[part] ?? [];
  const changed = items.includes(name) ? items.filter((one) => one !== name) : [...items, name];
  return tidy({ ...knowledge, [part]: changed });
}

// Knowledge without empty parts.
export function tidy(knowledge) {
  return Object.fromEntries(Object.entries(knowledge).filter(([, value]) => value?.length));
}

// The targets of the values of an experiment, after changing one: null is unknown, [] is nothing, and
// a name is added, or taken out if it is there.
export function withTarget(targets, value, changed) {
  const { [value]: own = [], ...rest } = targets;
  if (changed === null) return rest;
  if (Array.isArray(changed)) return { ...rest, [value]: changed };
  const names = own.includes(changed) ? own.filter((name) => name !== changed) : [...own, changed];
  return names.length ? { ...rest, [value]: names } : rest;
}
