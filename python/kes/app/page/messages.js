// Messages above the step: errors, with buttons that fix them.

import { button, byId, element } from "../../show/report/template/dom.js";

export function clearMessages() {
  byId("messages").replaceChildren();
}

export function showMessage(text, { fixes = [], good = false } = {}) {
  const shown = message(text, { fixes, good });
  shown.append(button("✕", clearMessages, { class: "close", "aria-label": "Close the message" }));
  byId("messages").replaceChildren(shown);
}

// A message; each fix is { label, action }.
export function message(text, { fixes = [], good = false } = {}) {
  const buttons = fixes.map(({ label, action }) => button(label, action));
  const look = good ? "message good" : "message";
  return element("div", { class: look }, element("p", {}, sentence(text)), ...buttons);
}

// A text as a sentence of its own: messages of the shell begin with a small letter.
export function sentence(text) {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("");
}

// Do something; if it fails, say why, unless that does not matter any more.
export async function attempt(work, matters = () => true) {
  try {
    return await work();
  } catch (error) {
    if (!matters()) return undefined;
    showMessage(error.message);
    byId("messages").scrollIntoView({ block: "nearest" });
    return undefined;
  }
}

// A button that is disabled while its action is under way.
export function busyButton(text, action, attributes = {}) {
  const made = button(
    text,
    async () => {
      clearMessages();
      made.disabled = true;
      made.setAttribute("aria-busy", "true");
      await attempt(action);
      made.disabled = false;
      made.removeAttribute("aria-busy");
      // Disabling takes the focus from a button, and with it the place from who uses the keyboard.
      if (document.activeElement === document.body) made.focus({ preventScroll: true });
    },
    attributes,
  );
  return made;
}
