// A hint above tables and lines of code that are wider than the screen.

import { element } from "./dom.js";

// Show the hint while the content is wider than the box around it.
export function addScrollHint(content) {
  const box = content.parentElement;
  const hint = element("p", { class: "scroll-hint", "aria-hidden": "true" }, "scroll sideways →");
  hint.hidden = true;
  if (box.tagName === "PRE")
    box.before(hint); // outside of what readers copy
  else box.prepend(hint);
  const observer = new ResizeObserver(() => {
    hint.hidden = box.scrollWidth <= box.clientWidth + 1;
  });
  observer.observe(box);
  observer.observe(content);
}
