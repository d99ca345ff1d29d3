// Save files. They are made in the browser and go to the reader's disk only.

import { element, svg } from "./dom.js";

export function save(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Six decimals, or six significant digits of small numbers: more would be noise.
function rounded(value) {
  return Math.abs(value) < 0.001 ? Number(value.toPrecision(6)) : Number(value.toFixed(6));
}

// Save rows of texts and numbers as CSV [RFC 4180]. The byte order mark tells spreadsheets that the
// file is UTF-8.
export function saveCsv(name, rows) {
  const field = (value) => {
    const text = String((typeof value === "number" ? rounded(value) : value) ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(field).join(","));
  save(name, ["\ufeff", lines.join("\r\n"), "\r\n"], "text/csv");
}

const STYLES = [
  "fill",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
];

// The source of a copy of a picture that looks the same without the style sheet of the page.
function standalone(picture, [width, height]) {
  const copy = picture.cloneNode(true);
  const [originals, copies] = [picture, copy].map((one) => [...one.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const name of STYLES) copies[i].setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role"]) copies[i].removeAttribute(name);
  });
  // Invisible areas that only make thin lines easier to click.
  for (const one of copy.querySelectorAll('[stroke="rgba(0, 0, 0, 0)"]')) one.remove();
  const size = { viewBox: `0 0 ${width} ${height}`, width, height };
  for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const background = getComputedStyle(picture.closest(".panel")).backgroundColor;
  copy.prepend(svg("rect", { width, height, fill: background }));
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(picture, size, name) {
  save(`${name}.svg`, [standalone(picture, size)], "image/svg+xml");
}

const MAX_PIXELS = 8192; // width or height of a canvas that all browsers support

export function savePng(picture, [width, height], name) {
  const scale = Math.min(2, MAX_PIXELS / Math.max(width, height));
  const source = new Blob([standalone(picture, [width, height])], { type: "image/svg+xml" });
  const address = URL.createObjectURL(source);
  const image = new Image();
  image.addEventListener("load", () => {
    const size = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
    const canvas = element("canvas", size);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => save(`${name}.png`, [blob], "image/png"));
  });
  image.src = address;
}
