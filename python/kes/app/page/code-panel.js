// The way back to code: the command and the Python lines that do what the page shows.

import { byId, on } from "../../show/report/template/dom.js";

let shown = null;

export function showCode(code, hint) {
  shown = code;
  byId("code").hidden = !code;
  byId("code-hint").textContent = hint;
  update();
}

function update() {
  if (!shown) return;
  const language = document.querySelector('input[name="language"]:checked').value;
  byId("code-text").textContent = shown[language] ?? "";
  byId("code-copied").textContent = "";
}

export function listenCode() {
  for (const radio of document.querySelectorAll('input[name="language"]')) {
    radio.addEventListener("change", update);
  }
  on("code-copy", "click", async () => {
    try {
      await navigator.clipboard.writeText(byId("code-text").textContent);
      byId("code-copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(byId("code-text"));
      byId("code-copied").textContent = "Selected: copy it by Ctrl-C.";
    }
  });
}
