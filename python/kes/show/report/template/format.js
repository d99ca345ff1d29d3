// Numbers and counts as text, in one style for the whole page.

const formats = new Map();

// A number with a fixed number of decimals.
export function number(value, decimals) {
  if (!formats.has(decimals)) {
    // Four digits stay together: they may be a year.
    const options = {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      useGrouping: "min2",
    };
    formats.set(decimals, new Intl.NumberFormat("en", options));
  }
  return formats.get(decimals).format(value).replace("-", "−").replaceAll(",", "\u202f");
}

// A number of any size with a number of significant digits.
export function significant(value, digits = 4) {
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

// The number of matches of a filter, in a list that shows only the first of many.
export function foundText(some, all, noun, most) {
  const text = some === all ? counted(all, noun) : `${number(some, 0)} of ${counted(all, noun)}`;
  return some > most ? `${text}, the first ${most} shown` : text;
}

// A number of cases; with weighted rows it may be a fraction.
export function cases(count) {
  return number(count, Math.abs(count - Math.round(count)) < 1e-6 ? 0 : 1);
}

// Replace characters that XML does not allow, and unpaired surrogates, by "�".
export function printable(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to replace
  const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
  return text.toWellFormed().replace(forbidden, "\ufffd");
}

// A name or state in a question, quoted where necessary; null if it contains both quotation marks or
// control characters.
export function questionWord(text) {
  if (/^[\p{L}\p{N}_.+-]+( [\p{L}\p{N}_.+-]+)*$/u.test(text)) return text;
  const mark = ['"', "'"].find((one) => !text.includes(one));
  return mark && !/\p{C}/u.test(text) ? mark + text + mark : null;
}
