// The panel to ask about a variable: its distribution given evidence that the reader sets, what would
// change it most, and how it depends on its parents.

import { averageTable } from "./average-table.js";
import { histogram, stateBars } from "./bars.js";
import { queryCommand } from "./commands.js";
import { cpdTable, plainTable } from "./cpd-table.js";
import { data, isContinuous } from "./data.js";
import { bdi, button, byId, element, on } from "./dom.js";
import { engineFor } from "./engines.js";
import { counted, significant } from "./format.js";
import { Gaussian } from "./gaussian.js";
import { modelEdges, surroundings } from "./graphs.js";
import { influenceTable } from "./influence-table.js";
import { Mixed } from "./mixed.js";
import { chooseName, offerNames } from "./name-list.js";
import { showAnswer } from "./query-answer.js";
import { addScrollHint } from "./scroll-hint.js";

const MAX_BARS = 10; // of a variable at first

export class QueryPanel {
  // `selectTarget` is called with another variable to ask about.
  constructor(selectTarget) {
    this.selectTarget = selectTarget;
    this.evidence = new Map();
    this.added = new Set(); // variables to set that are not in the Markov blanket
    this.expanded = new Set(); // variables whose states are all shown
    byId("add-evidence").append(element("option", { value: "" }, "…"));
    for (const id of ["target-choice", "add-evidence"]) offerNames(byId(id));
    on("target-choice", "change", ({ target }) => selectTarget(Number(target.value)));
    on("add-evidence", "change", ({ target }) => {
      if (target.value !== "") this.added.add(Number(target.value));
      target.value = "";
      this.refresh();
    });
    on("clear-evidence", "click", () => {
      this.evidence.clear();
      this.refresh();
    });
  }

  // Ask about a node in a model.
  show(index, node) {
    this.index = index;
    this.node = node;
    chooseName(byId("target-choice"), node);
    this.refresh();
  }

  // Set the value of a variable; null, or the same value again, clears it.
  set(node, value) {
    if (value === null || this.evidence.get(node) === value) this.evidence.delete(node);
    else this.evidence.set(node, value);
    this.refresh();
  }

  refresh() {
    const near = surroundings(modelEdges(this.index), this.node);
    const { engine, note } = engineFor(this.index, this.node);
    const usable = [...this.evidence].filter(
      ([node]) => engine?.nodes.has(node) && node !== this.node,
    );
    const evidence = new Map(usable);
    const answer = engine?.answer(evidence, this.node);
    const focus = focusKey();
    const sides = element(
      "div",
      { class: "sides" },
      element("div", {}, ...this.target(answer, evidence, engine), ...this.blanket(near)),
      element("div", {}, ...this.settings(near, answer, evidence, engine, note)),
    );
    byId("answers").replaceChildren(
      sides,
      ...(answer?.distributions ? this.influences(engine, evidence) : []),
      ...this.command(evidence),
      element("h3", {}, "How it depends on its parents"),
      ...cpdTable(this.index, this.node),
      ...this.effects(),
    );
    restoreFocus(focus);
  }

  target(answer, evidence, engine) {
    const heading = element("h3", { id: "target-name" }, bdi(data.names[this.node]));
    if (!answer) return [heading, ...this.observed()];
    const limits = this.barLimit(this.node);
    const shown = showAnswer(this.node, answer, evidence, engine, limits);
    return [heading, ...shown, ...averageTable(this.node, answer, evidence)];
  }

  barLimit(node) {
    if (this.expanded.has(node)) return {};
    return { limit: MAX_BARS, expanded: () => this.expanded.add(node) };
  }

  // The distribution in the data, if the page cannot compute answers.
  observed() {
    const own = data.variables?.[this.node];
    if (!own) return [];
    if (isContinuous(this.node)) return [histogram(this.node)];
    const { counts } = own;
    const total = counts.reduce((sum, count) => sum + count, 0);
    const shares = counts.map((count) => count / total);
    return [stateBars(this.node, shares, { counts, ...this.barLimit(this.node) })];
  }

  blanket(near) {
    const chips = (label, nodes) => {
      if (!nodes.length) return [];
      const buttons = nodes.map((node) =>
        button(bdi(data.names[node]), () => this.selectTarget(node)),
      );
      return [element("p", {}, label), element("div", { class: "chips" }, ...buttons)];
    };
    const meaning = near.blanket.length
      ? "Given these variables, no other one tells more about it."
      : "It has no connections: no other variable tells anything about it.";
    return [
      element("h3", {}, `Markov blanket: ${counted(near.blanket.length, "variable")}`),
      element("p", {}, meaning),
      ...chips("Parents", near.parents),
      ...chips("Children", near.children),
      ...chips("Connected, direction open", near.undirected),
      ...chips("Other parents of its children", near.spouses),
    ];
  }

  // --- evidence ---

  settings(near, answer, evidence, engine, note) {
    const heading = element("h3", {}, "Set what you know");
    if (!engine) return [heading, element("p", { id: "answer-note" }, note)];
    const exact = engine instanceof Mixed ? "" : " Answers are exact for this network.";
    const hint = `Click a state or enter a value to see what follows.${exact} ${note}`;
    const shown = new Set([...near.blanket, ...this.added, ...evidence.keys()]);
    const cards = [...shown]
      .filter((node) => node !== this.node && engine.nodes.has(node))
      .map((node) => this.card(node, answer, engine));
    const parts = [heading, element("p", { id: "answer-note" }, hint)];
    if (!cards.length) parts.push(element("p", {}, "Select a variable to set above."));
    return [...parts, element("div", { class: "variables" }, ...cards)];
  }

  // A card to set the value of a variable, with its distribution.
  card(node, answer, engine) {
    const distribution = answer.distributions?.get(node) ?? null;
    const selected = this.evidence.get(node) ?? null;
    const heading = element("h4", {}, bdi(data.names[node]));
    if (selected !== null) {
      const attributes = { class: "clear", "aria-label": `Clear ${data.names[node]}` };
      heading.append(button("clear", () => this.set(node, null), attributes));
    }
    const body = isContinuous(node)
      ? this.valueInput(node, distribution, selected, engine)
      : [this.stateButtons(node, distribution, selected)];
    const classes = `variable${selected !== null ? " set" : ""}`;
    return element("div", { class: classes, "data-node": node }, heading, ...body);
  }

  stateButtons(node, distribution, selected) {
    const select = (state) => this.set(node, state);
    return stateBars(node, distribution, { selected, select, ...this.barLimit(node) });
  }

  valueInput(node, distribution, selected, engine) {
    const input = element("input", {
      type: "number",
      step: "any",
      "aria-label": `Value of ${data.names[node]}`,
      placeholder: distribution ? significant(distribution.mean) : "",
    });
    if (selected !== null) input.value = String(selected);
    input.addEventListener("change", () => {
      const value = input.value === "" ? null : Number(input.value);
      if (value === null || Number.isFinite(value)) this.set(node, value);
    });
    const select = (value) => this.set(node, Number(value.toPrecision(4)));
    const isGiven = this.evidence.size > 0 && selected === null && distribution;
    // Only a Gaussian network has normal distributions.
    const normal = !isGiven && engine instanceof Gaussian ? distribution : null;
    const given = isGiven ? distribution : null;
    return [histogram(node, { normal, given, value: selected, select }), input];
  }

  // --- below ---

  influences(engine, evidence) {
    const add = (node) => {
      this.added.add(node);
      this.refresh();
    };
    return influenceTable(engine, this.node, evidence, add);
  }

  // The same question as a shell command.
  command(evidence) {
    const line = queryCommand(this.index, this.node, evidence);
    if (!line) return [];
    const code = element("code", {}, line);
    const box = element("div", {}, element("pre", { tabindex: "0", id: "query" }, code));
    addScrollHint(code);
    return [element("h3", {}, "The same question in a shell"), box];
  }

  effects() {
    const own = data.effects.filter(({ y }) => y === this.node);
    if (!own.length) return [];
    return [element("h3", {}, "Effects on it"), ...own.flatMap(effectTable)];
  }
}

function effectTable({ change, rows, note }) {
  const headings = [
    ["range", "text"],
    ["from", ""],
    ["to", ""],
    ["over", "text"],
  ];
  const bound = (value) => element("td", {}, value === null ? "" : significant(value));
  const text = (content) => element("td", { class: "text" }, content);
  const cells = rows.map(([range, low, high, over]) => [
    text(range),
    bound(low),
    bound(high),
    text(over),
  ]);
  return [
    element("p", {}, `Change of ${change}:`),
    plainTable(headings, cells),
    element("p", { class: "hint" }, note),
  ];
}

// --- focus ---

// The panel is rebuilt when evidence changes. Remember what had the focus,
function focusKey() {
  const active = document.activeElement;
  const card = active?.closest?.("#answers .variable");
  return card ? [card.dataset.node, active.dataset.state ?? null, active.tagName] : null;
}

// and give it back.
function restoreFocus(key) {
  if (!key) return;
  const [node, state, tag] = key;
  const card = byId("answers").querySelector(`.variable[data-node="${node}"]`);
  const selector = state === null ? tag : `[data-state="${state}"]`;
  const same = card?.querySelector(selector) ?? card?.querySelector("button, input");
  same?.focus({ preventScroll: true });
}
