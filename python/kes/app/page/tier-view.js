// Tiers on the page: chips that are dragged, or moved by the arrow keys.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { moved, tierOf, withoutEmpty } from "./tier-board.js";

export class TierView {
  // `changed` is called with the tiers, or null if there are none.
  constructor(names, changed) {
    this.names = names;
    this.changed = changed;
    this.tiers = [];
    this.held = null; // the chip that the keyboard moves
    this.view = element("div", { class: "tiers" });
  }

  show(tiers) {
    this.tiers = tiers;
    const focus = this.view.contains(document.activeElement)
      ? document.activeElement.dataset.name
      : null;
    const none = this.names.filter((name) => tierOf(tiers, name) < 0);
    const boxes = [this.box(-1, "Not ordered", none)];
    for (let i = 0; i <= tiers.length; i += 1) {
      const place = i === 0 ? "1, the earliest" : `${i + 1}, after ${i}`;
      boxes.push(this.box(i, place, tiers[i] ?? []));
    }
    this.view.replaceChildren(...boxes);
    if (focus) this.focus(focus);
  }

  box(tier, title, names) {
    const chips = element("div", { class: "chips" }, ...names.map((name) => this.chip(name)));
    const box = element(
      "div",
      { class: "tier", "data-tier": tier },
      element("h3", {}, title),
      chips,
    );
    if (this.held !== null && !names.includes(this.held)) box.append(this.mover(tier));
    else if (!names.length) box.append(element("p", { class: "hint" }, "Put variables here."));
    box.addEventListener("dragover", (event) => {
      event.preventDefault();
      box.classList.add("over");
    });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("over");
      this.move(event.dataTransfer.getData("text/plain"), tier);
    });
    return box;
  }

  // For fingers, and for who does not drag: the variable that is chosen goes here.
  mover(tier) {
    const { held } = this;
    return button(element("span", {}, "Put ", bdi(held), " here"), () => {
      this.held = null;
      this.move(held, tier);
      this.focus(held);
    });
  }

  focus(name) {
    this.view.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus();
  }

  chip(name) {
    const made = element(
      "button",
      {
        type: "button",
        class: "chip",
        draggable: "true",
        "data-name": name,
        "aria-pressed": String(this.held === name),
        "aria-keyshortcuts": "Enter ArrowLeft ArrowRight",
      },
      bdi(name),
    );
    made.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", name);
    });
    made.addEventListener("click", () => {
      this.held = this.held === name ? null : name;
      this.show(this.tiers);
    });
    made.addEventListener("keydown", (event) => this.key(event, name));
    return made;
  }

  key(event, name) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined || this.held !== name) return;
    event.preventDefault();
    const to = tierOf(this.tiers, name) + step;
    if (to >= -1 && to <= this.tiers.length) this.move(name, to);
  }

  move(name, to) {
    if (this.names.includes(name)) this.changed(withoutEmpty(moved(this.tiers, name, to)));
  }
}
