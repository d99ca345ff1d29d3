// Create elements. Text is never parsed as HTML.

export const byId = (id) => document.getElementById(id);

export function on(id, event, handler) {
  byId(id).addEventListener(event, handler);
}

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text, action, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", action);
  return made;
}

// A name within a sentence, with a writing direction of its own.
export function bdi(text) {
  return element("bdi", {}, text);
}
