// The way back to code: the command and the Python lines that do what the page shows.

import { byId, element, on } from "../../show/report/template/dom.js";

let shown = null;

export function showCode(code, hint) {
  shown = code;
  byId("code").hidden = !code;
  byId("code-hint").textContent = hint;
  update();
}

function update() {
  if (!shown) return;
  byId("code-text").textContent = shown[language()] ?? "";
  byId("code-copied").textContent = "";
}

function language() {
  return document.querySelector('input[name="language"]:checked').value;
}

// The code of an answer, in the language that is chosen below.
export function codeBlock(code) {
  const text = element("code", {}, code[language()]);
  const write = () => {
    text.textContent = code[language()];
  };
  for (const radio of languages()) radio.addEventListener("change", write);
  return element("pre", { tabindex: "0", "aria-label": "Code" }, text);
}

function languages() {
  return document.querySelectorAll('input[name="language"]');
}

export function listenCode() {
  for (const radio of languages()) radio.addEventListener("change", update);
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
