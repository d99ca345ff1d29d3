// The second step: background knowledge about the variables.

import { bdi, button, element } from "../../show/report/template/dom.js";
import { counted } from "../../show/report/template/format.js";
import { get, part, post } from "./api.js";
import { readCards, variables } from "./cards.js";
import { experiments } from "./experiments.js";
import { attempt, busyButton, message, showMessage } from "./messages.js";
import { change, loadFiles, store } from "./store.js";
import { choice } from "./table-settings.js";
import { toggled, withoutItem, withPair } from "./tier-board.js";
import { TierView } from "./tier-view.js";

const SIGNS = { required: "→", forbidden: "↛", apart: "∤" };
const PAIRS = {
  required: (a, b) => `${a} → ${b} must be there`,
  forbidden: (a, b) => `${a} → ${b} must not be there`,
  apart: (a, b) => `No edge between ${a} and ${b}`,
};

export async function showKnowledge(place) {
  if (!store.draft.file && !store.draft.example) {
    place.append(element("p", { class: "panel" }, "Choose a table first."));
    return;
  }
  await readCards();
  new KnowledgeStep(place).show();
}

class KnowledgeStep {
  constructor(place) {
    this.place = place;
    this.names = variables();
    this.chosen = []; // the variables of a pair, one or two
    this.problem = element("div", { role: "status" });
    this.tiers = new TierView(this.names, (tiers) => this.set({ ...this.known, tiers }));
    this.pairs = element("div");
    this.list = element("div");
    this.again = () => {
      this.place.replaceChildren();
      new KnowledgeStep(this.place).show();
    };
  }

  get known() {
    return store.draft.knowledge ?? {};
  }

  show() {
    const hint =
      "All of this is optional. What is certain, such as the order in time, makes the arrows more " +
      "reliable. What is wrong misleads the search.";
    const head = element("section", { class: "panel" });
    head.append(
      element("h1", {}, "What do you know?"),
      element("p", { class: "hint" }, hint),
      this.problem,
      this.list,
      this.files(),
      element("div", { class: "next" }, element("a", { href: "#learn" }, "Go on to learning")),
    );
    const order = element("section", { class: "panel" });
    order.append(
      element("h2", {}, "What comes first?"),
      element(
        "p",
        { class: "hint" },
        "Nothing in a later place can cause anything in an earlier one. Drag the variables, or " +
          "choose one and then its place; with the keyboard, Enter and the arrow keys.",
      ),
      this.tiers.view,
    );
    const pairs = element("section", { class: "panel", id: "single" });
    pairs.append(element("h2", {}, "Single statements"), this.pairs);
    if (!store.draft.example) pairs.append(experiments(this.names, this.again));
    this.place.append(head, order, pairs);
    this.refresh();
  }

  async set(knowledge) {
    await attempt(() => change({ knowledge }));
    this.refresh();
  }

  refresh() {
    this.tiers.show(this.known.tiers ?? []);
    this.showPairs();
    this.showList();
    this.check();
  }

  // Contradictions at once, with the arcs.
  async check() {
    try {
      const { counts } = await post("knowledge", { knowledge: this.known });
      const unknown = this.unknown();
      if (unknown.length) {
        const text = `The table has no variable ${unknown.join(", ")}, which is mentioned here.`;
        const action = () => this.set(this.without(unknown));
        const fixes = [{ label: "Forget what mentions it", action }];
        this.problem.replaceChildren(message(text, { fixes }));
        return;
      }
      const text = counts ? `No contradiction: ${counts}.` : "Nothing stated yet.";
      this.problem.replaceChildren(element("p", { class: "hint" }, text));
    } catch (error) {
      this.problem.replaceChildren(message(error.message));
    }
  }

  unknown() {
    const mentioned = new Set(Object.values(this.known).flat(3));
    const known = new Set(this.names);
    return [...mentioned].filter((name) => typeof name === "string" && !known.has(name));
  }

  without(names) {
    const isGone = (item) => [item].flat().some((name) => names.includes(name));
    const entries = Object.entries(this.known).map(([name, items]) => [
      name,
      name === "tiers"
        ? items.map((tier) => tier.filter((one) => !isGone(one)))
        : items.filter((item) => !isGone(item)),
    ]);
    return Object.fromEntries(entries);
  }

  // --- pairs, roots and leaves ---

  showPairs() {
    const select = (name) => {
      this.chosen = this.chosen.includes(name)
        ? this.chosen.filter((one) => one !== name)
        : [...this.chosen, name].slice(-2);
      this.showPairs();
      this.pairs.querySelector(`[data-name="${CSS.escape(name)}"]`)?.focus();
    };
    const chips = this.names.map((name) => {
      const at = this.chosen.indexOf(name);
      const label = at < 0 ? bdi(name) : element("span", {}, `${at + 1} `, bdi(name));
      const pressed = { "aria-pressed": String(at >= 0), "data-name": name, class: "chip" };
      return button(label, () => select(name), pressed);
    });
    const [a, b] = this.chosen;
    const buttons = [];
    if (b !== undefined) {
      for (const [name, words] of Object.entries(PAIRS)) {
        buttons.push(button(words(a, b), () => this.statePair(name, [a, b])));
      }
    } else if (a !== undefined) {
      buttons.push(
        button(`Nothing here causes ${a} (root)`, () => this.set(toggled(this.known, "roots", a))),
        button(`${a} causes nothing here (leaf)`, () => this.set(toggled(this.known, "leaves", a))),
        button(`${a} only says where a row is from (context)`, () =>
          this.set(toggled(this.known, "exogenous", a)),
        ),
      );
    }
    const hint = ["Choose a variable, or two in order: cause, then effect."];
    if (b !== undefined) hint[0] = "What holds for these two?";
    this.pairs.replaceChildren(
      element("div", { class: "chips" }, ...chips),
      element("p", { class: "hint" }, ...hint),
      element("div", { class: "chips" }, ...buttons),
    );
  }

  async statePair(name, pair) {
    this.chosen = [];
    await this.set(withPair(this.known, name, pair));
  }

  showList() {
    const items = [];
    for (const [name, sign] of Object.entries(SIGNS)) {
      (this.known[name] ?? []).forEach(([a, b], i) => {
        items.push(this.item(`${a} ${sign} ${b}`, name, i));
      });
    }
    for (const [name, word] of [
      ["roots", "is a root"],
      ["leaves", "is a leaf"],
      ["exogenous", "says where a row is from"],
    ]) {
      (this.known[name] ?? []).forEach((one, i) => {
        items.push(this.item(`${one} ${word}`, name, i));
      });
    }
    (this.known.targets ?? []).forEach(([one, own], i) => {
      items.push(this.item(`${one} acts on ${own.join(", ")} only`, "targets", i));
    });
    (this.known.likely ?? []).forEach(([a, b, odds], i) => {
      items.push(this.item(`${a}, ${b}: log odds of an edge ${odds}`, "likely", i));
    });
    this.list.replaceChildren(element("ul", { class: "facts-list" }, ...items));
  }

  item(text, name, index) {
    const remove = button("✕", () => this.set(withoutItem(this.known, name, index)), {
      "aria-label": `Remove: ${text}`,
    });
    return element("li", {}, bdi(text), remove);
  }

  // --- knowledge files ---

  files() {
    const name = element("input", { type: "text", value: "knowledge", "aria-label": "File name" });
    const save = busyButton("Save as a knowledge file", async () => {
      const found = await post("knowledge", { knowledge: this.known, name: name.value });
      showMessage(`Saved to ${found.name}: kes learn --knowledge reads it.`, { good: true });
      await loadFiles();
    });
    const known = store.server.files.knowledge.map((file) => file.name);
    const load = choice("Load ", ["", ...known], "", "…");
    load.select.addEventListener("change", () =>
      attempt(async () => {
        const found = await get(`knowledge/${part(load.select.value)}`);
        await this.set(found.knowledge);
        showMessage(`Loaded ${counted(Object.keys(found.knowledge).length, "part")}.`, {
          good: true,
        });
      }),
    );
    const clear = button("Clear", () => this.set({}));
    const box = element("details", {}, element("summary", {}, "Knowledge files"));
    box.append(element("div", { class: "controls" }, name, save, load.label, clear));
    return box;
  }
}
