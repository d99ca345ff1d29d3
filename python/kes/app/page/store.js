// The state of the page: that of the server, and the draft, which is sent there at every change.

import { get, put } from "./api.js";

export const store = {
  server: null, // the answer to GET state
  draft: {},
  version: 0,
  described: { code: null, problem: null },
  cards: null, // of the table of the draft: { key, rows, columns, note }
  check: null, // of the table of the draft: { key, notes, problem }
  result: null, // the name of the result that is shown
};

const listeners = new Set();
let saving = Promise.resolve();

export function subscribe(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener();
}

export async function loadState() {
  store.server = await get("state");
  take(store.server.draft, store.server.described);
}

function take({ draft, version }, described) {
  Object.assign(store, { draft, version, described });
  tell();
}

export async function loadFiles() {
  store.server.files = await get("files");
}

// Change parts of the draft; saves are sent one after the other. Returns when it is saved.
export function change(parts) {
  store.draft = withParts(store.draft, parts);
  const draft = store.draft;
  saving = saving.then(
    () => save(draft),
    () => save(draft),
  );
  return saving;
}

async function save(draft) {
  try {
    const answer = await put("draft", { version: store.version, draft });
    Object.assign(store, { version: answer.version, described: answer });
    tell();
  } catch (error) {
    if (error.status !== 409) throw error;
    await loadState(); // another tab was faster: show what it did
    throw new Error("Another tab has changed this. The page now shows its changes.");
  }
}

// A draft with other parts; null removes a part, and an entry of `kinds` or `options`.
export function withParts(draft, parts) {
  const changed = { ...draft };
  for (const [name, value] of Object.entries(parts)) {
    const isNested = ["kinds", "options"].includes(name) && value !== null;
    const merged = isNested ? { ...changed[name], ...value } : value;
    changed[name] = isNested ? withoutNull(merged) : merged;
  }
  return withoutNull(changed);
}

function withoutNull(object) {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  );
}

// Change the draft by a fix that the server offers; cuts are an option of the search.
export function applyFix({ discretize, ...parts }) {
  const options = discretize === undefined ? {} : { options: { discretize } };
  return change({ ...parts, ...options });
}
