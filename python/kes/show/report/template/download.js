// Saving what is on the page. Files are made here, and go nowhere but to the reader's disk.

import { element } from "./dom.js";

export function save(name, parts, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Six digits after the point, or as many that mean something: more is noise to who reads the file.
function rounded(value) {
  return Math.abs(value) < 0.001 ? Number(value.toPrecision(6)) : Number(value.toFixed(6));
}

// Rows of texts and numbers as CSV [RFC 4180]; a mark at the start tells spreadsheets that it is UTF-8.
export function saveCsv(name, rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(typeof value === "number" ? rounded(value) : value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => row.map(field).join(","));
  save(name, ["\ufeff", lines.join("\r\n"), "\r\n"], "text/csv");
}

const LOOKS = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor",
];

// A copy of a drawn network, all of it, that looks the same without the page around it.
function standalone(picture, [width, height]) {
  const copy = picture.cloneNode(true);
  const [from, to] = [picture, copy].map((one) => [...one.querySelectorAll("*")]);
  from.forEach((source, i) => {
    const style = getComputedStyle(source);
    for (const look of LOOKS) to[i].setAttribute(look, style.getPropertyValue(look));
    for (const name of ["class", "tabindex", "role"]) to[i].removeAttribute(name);
  });
  copy.querySelectorAll('[stroke="rgba(0, 0, 0, 0)"]').forEach((one) => one.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  const paper = getComputedStyle(picture.closest(".panel")).backgroundColor;
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width, height, fill: paper })) back.setAttribute(name, value);
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(picture, size, name) {
  save(`${name}.svg`, [standalone(picture, size)], "image/svg+xml");
}

const LARGEST = 8192; // pixels of a side, which all browsers can draw

export function savePng(picture, [width, height], name) {
  const scale = Math.min(2, LARGEST / Math.max(width, height));
  const address = URL.createObjectURL(new Blob([standalone(picture, [width, height])], { type: "image/svg+xml" }));
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = element("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    canvas.toBlob((blob) => save(`${name}.png`, [blob], "image/png"));
  });
  image.src = address;
}
