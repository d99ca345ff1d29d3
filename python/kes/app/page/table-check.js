// What stands in the way of learning: the table, read as the search will read it.

import { button } from "../../show/report/template/dom.js";
import { post } from "./api.js";
import { readingDraft, tableKey } from "./cards.js";
import { attempt, message } from "./messages.js";
import { applyFix, store } from "./store.js";

// Return the notes and the problem of the table; null if they could not be found out, or if the
// table has changed meanwhile.
export async function checkTable() {
  const key = tableKey();
  if (store.check?.key !== key) {
    const isLast = () => tableKey() === key;
    const found = await attempt(() => post("check", { draft: readingDraft() }), isLast);
    if (!found || !isLast()) return null;
    store.check = { ...found, key };
  }
  return store.check;
}

// The problem in words, with buttons that mend it; `mended` is called with what was changed.
export function problemMessage(problem, mended) {
  return message(problem.message, { fixes: fixesOf(problem, mended) });
}

export function fixButtons(owner, mended) {
  return fixesOf(owner, mended).map(({ label, action }) => button(label, action));
}

function fixesOf({ fixes }, mended) {
  return fixes.map(({ label, change }) => ({
    label,
    action: () =>
      attempt(async () => {
        await applyFix(change);
        await mended(change);
      }),
  }));
}
