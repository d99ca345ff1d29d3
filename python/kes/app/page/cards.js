// The columns of the table of the draft, as the server reads them.

import { post } from "./api.js";
import { store } from "./store.js";

// What the table and its reading are known by.
export function tableKey() {
  const { knowledge, options, ...table } = store.draft;
  return JSON.stringify([table, options?.discretize]);
}

// Read all columns, unless they are known already.
export async function readCards(anew = false) {
  const key = tableKey();
  if (!anew && store.cards?.key === key) return;
  const cards = await post("cards", { draft: readingDraft() });
  if (tableKey() === key) store.cards = { ...cards, key }; // else a later question is under way
}

// Read some columns again.
export async function readSome(names) {
  const { cards } = store;
  const { columns } = await post("cards", { draft: readingDraft(), columns: names });
  const found = new Map(columns.map((column) => [column.name, column]));
  cards.columns = cards.columns.map((column) => found.get(column.name) ?? column);
  cards.key = tableKey();
}

// The draft without what does not matter for reading, and may be wrong.
export function readingDraft() {
  const { knowledge, options, ...table } = store.draft;
  return options?.discretize ? { ...table, options: { discretize: options.discretize } } : table;
}

// Names of the columns that take part, as far as the cards tell.
export function variables() {
  const { weights, series, interventions } = store.draft;
  const keys = [weights, series?.time, ...(series?.by ?? []), ...Object.keys(interventions ?? {})];
  const isUsed = ({ used, name }) => used && !keys.includes(name);
  return (store.cards?.columns ?? []).filter(isUsed).map(({ name }) => name);
}

// Names of the columns that are used as numbers.
export function numbers() {
  const names = new Set(variables());
  const isNumber = ({ used, name }) => used === "continuous" && names.has(name);
  return store.cards.columns.filter(isNumber).map(({ name }) => name);
}
