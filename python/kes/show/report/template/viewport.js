// Zoom and pan the network: by pointer, wheel, buttons and keyboard.

import { distance } from "./curves.js";

const LEGIBLE = 0.82; // pixels per unit at which names can be read
const MAX_FIT = 1.6; // pixels per unit of a picture that fits easily
const CLICK = 4; // pixels: a shorter movement of the pointer is a click

export class Viewport {
  constructor(stage) {
    this.stage = stage;
    this.picture = null;
    this.size = [1, 1];
    this.place = { x: 0, y: 0, scale: 1 }; // the upper left corner, and pixels per unit
    this.pointers = new Map();
    this.moved = false;
    this.fitted = [0, 0];
    stage.addEventListener("pointerdown", (event) => this.press(event));
    stage.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) {
      stage.addEventListener(name, (event) => this.release(event));
    }
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(stage);
  }

  // Show a picture: all of it, or with `keepsPlace` as it was zoomed and moved.
  show(picture, size, keepsPlace) {
    this.picture = picture;
    this.size = size;
    this.stage.replaceChildren(picture);
    this.setHeight();
    if (keepsPlace) this.apply();
    else this.fit();
  }

  // Make the stage as high as the picture is where it fits the width.
  setHeight() {
    const scale = Math.min(MAX_FIT, this.stage.clientWidth / this.size[0] || MAX_FIT);
    this.stage.style.setProperty("--tall", `${Math.ceil(scale * this.size[1])}px`);
  }

  // Start again when the stage gets another size; a stage that is hidden has none.
  resized() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!this.picture || !width) return;
    if (width !== this.fitted[0]) this.setHeight();
    if (width !== this.fitted[0] || height !== this.fitted[1]) this.fit();
  }

  // Show everything.
  fit() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width) return;
    this.fitted = [width, height];
    const scale = Math.min(width / this.size[0], height / this.size[1], MAX_FIT);
    const y = Math.min(0, (this.size[1] - height / scale) / 2);
    this.place = { x: (this.size[0] - width / scale) / 2, y, scale };
    this.apply();
  }

  apply() {
    const { x, y, scale } = this.place;
    const { clientWidth: width, clientHeight: height } = this.stage;
    this.picture.setAttribute("viewBox", `${x} ${y} ${width / scale} ${height / scale}`);
  }

  // Zoom by a factor around a point of the stage, by default its centre.
  zoom(factor, at = [this.stage.clientWidth / 2, this.stage.clientHeight / 2]) {
    const { x, y, scale } = this.place;
    const next = Math.min(8, Math.max(0.02, scale * factor));
    this.place = {
      x: x + at[0] / scale - at[0] / next,
      y: y + at[1] / scale - at[1] / next,
      scale: next,
    };
    this.apply();
  }

  move(dx, dy) {
    this.place.x -= dx / this.place.scale;
    this.place.y -= dy / this.place.scale;
    this.apply();
  }

  // Bring a point of the picture into view at a legible size.
  reveal([x, y]) {
    const { clientWidth: width, clientHeight: height } = this.stage;
    const scale = Math.max(this.place.scale, LEGIBLE);
    const inside =
      x > this.place.x &&
      x < this.place.x + width / scale &&
      y > this.place.y &&
      y < this.place.y + height / scale;
    if (inside && scale === this.place.scale) return;
    this.place = { x: x - width / scale / 2, y: y - height / scale / 2, scale };
    this.apply();
  }

  press(event) {
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.moved = this.pointers.size > 1;
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (!this.moved && distance(before, now) < CLICK) return;
    this.moved = true;
    this.stage.classList.add("dragging");
    this.stage.setPointerCapture(event.pointerId);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const [, fixed] = others[0];
      const corner = this.stage.getBoundingClientRect();
      const factor = distance(fixed, now) / Math.max(distance(fixed, before), 1);
      this.zoom(factor, [fixed[0] - corner.left, fixed[1] - corner.top]);
    } else {
      this.move(now[0] - before[0], now[1] - before[1]);
    }
    this.pointers.set(event.pointerId, now);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.stage.classList.remove("dragging");
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return; // leave it to the page to scroll
    event.preventDefault();
    const corner = this.stage.getBoundingClientRect();
    const at = [event.clientX - corner.left, event.clientY - corner.top];
    this.zoom(Math.exp(-event.deltaY / 300), at);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = {
      ArrowLeft: [60, 0],
      ArrowRight: [-60, 0],
      ArrowUp: [0, 60],
      ArrowDown: [0, -60],
    };
    if (steps[event.key]) this.move(...steps[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}
