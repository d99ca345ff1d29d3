// Tables and lines of code that are wider than the screen say so.

import { element } from "./dom.js";

// Show a hint above a table or code, in a box that scrolls, as long as there is more of it at the side.
export function hintSideways(content) {
  const box = content.parentElement;
  const hint = element("p", { class: "sideways", "aria-hidden": "true" }, "scroll sideways for more →");
  hint.hidden = true;
  if (box.tagName === "PRE") box.before(hint); // not into what is copied
  else box.prepend(hint);
  const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; };
  const watcher = new ResizeObserver(look);
  watcher.observe(box);
  watcher.observe(content);
}
