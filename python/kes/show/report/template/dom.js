// Making elements and writing numbers. Text is never read as HTML.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text, act, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

// A name among other words: the direction in which it is written stays its own affair.
export function bdi(text) {
  return element("bdi", {}, text);
}

// Characters that no XML document may hold, and halves of characters, are shown as "�".
export function printable(text) {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

const formats = new Map();

export function number(value, digits) {
  if (!formats.has(digits)) {
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    formats.set(digits, new Intl.NumberFormat("en", options));
  }
  return formats.get(digits).format(value).replace("-", "−").replaceAll(",", "\u202f");
}

// A number with about so many digits that mean something, whatever its size.
export function short(value, digits = 4) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  if (size < -4 || size > 8) return value.toExponential(digits - 1).replaceAll("-", "−");
  const text = number(value, Math.max(0, digits - 1 - size));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

export function percent(share) {
  return share > 0 && share < 0.001 ? "<0.1 %" : `${number(100 * share, 1)} %`;
}

export function counted(count, noun) {
  return `${number(count, 0)} ${noun}${count === 1 ? "" : "s"}`;
}

// Numbers of cases may be fractions, where rows have weights.
export function cases(count) {
  return number(count, Math.abs(count - Math.round(count)) < 1e-6 ? 0 : 1);
}
