// A variable to ask about: what it depends on, what it is likely to be given what is known of others, and
// what would change that most. Answers are computed here, exactly where they can be.

import { histogram, stateBars } from "./bars.js";
import { bdi, button, byId, cases, counted, element, number, percent, short } from "./dom.js";
import { DRAWS, LEAST } from "./draws.js";
import { Gaussian } from "./gaussian.js";
import { answering, influences } from "./inference.js";
import { isContinuous } from "./local.js";
import { Mixed } from "./mixed.js";
import { data, modelEdges, surroundings } from "./model.js";
import { nodeTable, plainTable } from "./nodetable.js";
import { queryCommand } from "./query.js";
import { hintSideways } from "./sideways.js";

const MOST_INFLUENCES = 10;
const MOST_STATES = 10; // bars of a variable at first
const LEAST_TOLD = 0.00005; // less would be written as 0
const SIMULATED = 0.002; // less may be the chance of the draws

export class TargetView {
  // `choose` is called with another variable to ask about.
  constructor(choose) {
    this.choose = choose;
    this.evidence = new Map();
    this.extra = new Set(); // variables to set that are not in the blanket
    this.opened = new Set(); // variables of which all states are shown
    const options = () => data.names.map((name, node) => element("option", { value: node }, name));
    byId("target-choice").append(...options());
    byId("add-evidence").append(element("option", { value: "" }, "…"), ...options());
    byId("target-choice").addEventListener("change", (event) => choose(Number(event.target.value)));
    byId("add-evidence").addEventListener("change", (event) => {
      if (event.target.value !== "") this.extra.add(Number(event.target.value));
      event.target.value = "";
      this.refresh();
    });
    byId("clear-evidence").addEventListener("click", () => {
      this.evidence.clear();
      this.refresh();
    });
  }

  show(index, node) {
    this.index = index;
    this.node = node;
    byId("target-choice").value = String(node);
    this.refresh();
  }

  set(node, value) {
    if (value === null || this.evidence.get(node) === value) this.evidence.delete(node);
    else this.evidence.set(node, value);
    this.refresh();
  }

  refresh() {
    const near = surroundings(modelEdges(this.index), this.node);
    const { engine, note } = answering(this.index, this.node);
    const known = new Map([...this.evidence].filter(([node]) => engine?.nodes.has(node) && node !== this.node));
    const answer = engine?.answer(known, this.node);
    const focus = focusKey();
    byId("answers").replaceChildren(
      element("div", { class: "sides" },
        element("div", {}, ...this.about(near, answer, known, engine), ...this.blanket(near)),
        element("div", {}, ...this.settings(near, answer, known, engine, note))),
      ...(answer?.distributions ? this.changes(engine, known) : []),
      ...this.command(known),
      element("h3", {}, "How it depends on its parents"), ...nodeTable(this.index, this.node),
      ...this.effects(),
    );
    restoreFocus(focus);
  }

  // --- the variable itself ---

  about(near, answer, known, engine) {
    const heading = element("h3", { id: "target-name" }, bdi(data.names[this.node]));
    if (!answer) return [heading, ...this.observed()];
    if (!answer.distributions) return [heading, element("p", {}, "What is set cannot be true together: forget some of it.")];
    const now = answer.distributions.get(this.node);
    if (!now) {
      return [heading, element("p", { id: "too-few" }, `Only ${short(answer.drawn.effective, 2)} of ${number(DRAWS, 0)} draws from the network ` +
        `are in effect where all that is set is true: too few for an answer. Forget some of it, or ask the shell, as below.`)];
    }
    const before = known.size ? engine.answer(new Map(), this.node).distributions.get(this.node) : null;
    if (isContinuous(this.node)) return [heading, ...numericAnswer(this.node, now, before, engine instanceof Gaussian), ...howFound(answer, engine)];
    const own = data.variables?.[this.node];
    const counts = known.size || !own || own.missing ? null : own.counts;
    return [heading, stateBars(this.node, now, { before, counts, errors: now.errors, ...this.most(this.node) }), givenWords(answer, known), ...howFound(answer, engine)];
  }

  // How many states to show of a variable.
  most(node) {
    return this.opened.has(node) ? {} : { most: MOST_STATES, open: () => this.opened.add(node) };
  }

  // The same question for the shell.
  command(known) {
    const line = queryCommand(this.index, this.node, known);
    if (!line) return [];
    const code = element("code", {}, line);
    const box = element("div", {}, element("pre", { tabindex: "0", id: "query" }, code));
    hintSideways(code);
    return [element("h3", {}, "The same in the shell"), box];
  }

  observed() {
    const own = data.variables?.[this.node];
    if (!own) return [];
    if (isContinuous(this.node)) return [histogram(this.node)];
    const all = own.counts.reduce((sum, count) => sum + count, 0);
    return [stateBars(this.node, own.counts.map((count) => count / all), { counts: own.counts, ...this.most(this.node) })];
  }

  blanket(near) {
    const chips = (label, nodes) => (nodes.length
      ? [element("p", {}, label), element("div", { class: "chips" }, ...nodes.map((node) => button(bdi(data.names[node]), () => this.choose(node))))]
      : []);
    return [
      element("h3", {}, `Markov blanket: ${counted(near.blanket.length, "variable")}`),
      element("p", {}, near.blanket.length
        ? "Once these are known, no other variable tells more about this one."
        : "It is joined to nothing: no other variable tells anything about it."),
      ...chips("Parents", near.parents),
      ...chips("Children", near.children),
      ...chips("Joined, direction open", near.open),
      ...chips("Other parents of its children", near.spouses),
    ];
  }

  // --- what is known of others ---

  settings(near, answer, known, engine, note) {
    const shown = [...new Set([...near.blanket, ...this.extra, ...known.keys()])].filter((node) => node !== this.node);
    const parts = [element("h3", {}, "Set what you know"), element("p", { id: "answer-note" }, engine
      ? `Click a state, or enter a value, to see what follows${engine instanceof Mixed ? "" : "; the answers are exact for this network"}. ${note}`
      : note)];
    if (!engine) return parts;
    const cards = shown.filter((node) => engine.nodes.has(node)).map((node) => this.card(node, answer, engine));
    if (!cards.length) parts.push(element("p", {}, "Choose a variable to set above."));
    return [...parts, element("div", { class: "variables settable" }, ...cards)];
  }

  card(node, answer, engine) {
    const now = answer.distributions?.get(node);
    const chosen = this.evidence.get(node) ?? null;
    const heading = element("h4", {}, bdi(data.names[node]));
    if (chosen !== null) heading.append(button("forget", () => this.set(node, null), { class: "forget", "aria-label": `Forget ${data.names[node]}` }));
    const body = isContinuous(node)
      ? this.numeric(node, now, chosen, engine)
      : [stateBars(node, now ?? null, { chosen, act: (state) => this.set(node, state), ...this.most(node) })];
    return element("div", { class: `variable${chosen !== null ? " set" : ""}`, "data-node": node }, heading, ...body);
  }

  numeric(node, now, chosen, engine) {
    const input = element("input", { type: "number", step: "any", "aria-label": `Value of ${data.names[node]}`, placeholder: now ? short(now.mean) : "" });
    if (chosen !== null) input.value = String(chosen);
    input.addEventListener("change", () => {
      const value = input.value === "" ? null : Number(input.value);
      if (value === null || Number.isFinite(value)) this.set(node, value);
    });
    const normal = engine instanceof Gaussian ? now : null; // others are mixtures, and no bell
    return [histogram(node, { normal, value: chosen, act: (value) => this.set(node, Number(value.toPrecision(4))) }), input];
  }

  // --- what would change it ---

  changes(engine, known) {
    const found = influences(engine, this.node, known).slice(0, MOST_INFLUENCES).filter(({ tells }) => tells > (engine instanceof Mixed ? SIMULATED : LEAST_TOLD));
    const heading = element("h3", {}, "What would change it most");
    if (!found.length) return [heading, element("p", {}, "Nothing else tells anything about it.")];
    const mixed = engine instanceof Mixed;
    const linear = isContinuous(this.node);
    const rows = found.map((one) => [
      element("td", { class: "text" }, button(bdi(data.names[one.node]), () => { this.extra.add(one.node); this.refresh(); }, { class: "plain", title: "Add it to what can be set" })),
      tellsCell(one.tells, linear),
      element("td", { class: "text" }, mixed ? mixedWords(this.node, one) : linear ? linearWords(this.node, one) : this.stateWords(engine, known, one)),
    ]);
    const headings = [["once this is known", "text"], [linear ? "variance explained" : "tells (nats)", ""], ["it changes most like this", "text"]];
    const note = linear
      ? "Share of its variance that is gone once the other is known, given what is set."
      : "Mutual information given what is set: how much, on average, the other tells about it.";
    const how = mixed ? ` Estimated from ${number(DRAWS, 0)} draws from the network; numbers are cut into eight parts.` : "";
    return [heading, element("p", {}, note + how), plainTable(headings, rows)];
  }

  stateWords(engine, known, { node, most }) {
    if (most.apart < 0) return "only by states that are hardly ever met";
    const own = engine.answer(known).distributions.get(this.node);
    let state = 0;
    most.then.forEach((p, t) => { if (Math.abs(p - own[t]) > Math.abs(most.then[state] - own[state])) state = t; });
    return `if ${data.names[node]} = ${data.states[node][most.state]}: P(${data.states[this.node][state]}) from ${percent(own[state])} to ${percent(most.then[state])}`;
  }

  effects() {
    const own = data.effects.filter(({ y }) => y === this.node);
    if (!own.length) return [];
    return [element("h3", {}, "Effects of others on it"), ...own.flatMap(({ change, rows, note }) => [
      element("p", {}, `Change of ${change}:`),
      plainTable([["range", "text"], ["from", ""], ["to", ""], ["over", "text"]], rows.map(([range, low, high, over]) => [
        element("td", { class: "text" }, range), element("td", {}, low === null ? "" : short(low)),
        element("td", {}, high === null ? "" : short(high)), element("td", { class: "text" }, over),
      ])),
      element("p", { class: "hint" }, note),
    ])];
  }
}

function tellsCell(tells, linear) {
  const cell = element("td", { class: "share", "data-tells": tells }, linear ? percent(tells) : number(tells, 4));
  cell.style.setProperty("--share", linear ? tells : Math.min(1, tells / Math.LN2));
  return cell;
}

function linearWords(target, { node, shift }) {
  return `a standard deviation more of ${data.names[node]}: ${data.names[target]} changes by ${short(shift)} on average`;
}

// What is met in the part, or with the state, of another variable that changes a variable most.
function mixedWords(target, { node, kind, most, mean, own }) {
  const rank = most && (kind === "part" ? `${data.names[node]} in the ${["lowest", "second", "third", "fourth", "fifth", "sixth", "seventh", "highest"][most.group]} of eight parts`
    : `${data.names[node]} = ${data.states[node][most.group]}`);
  if (!rank) return "";
  if (isContinuous(target)) return `if ${rank}: mean from ${short(mean)} to ${short(most.mean)}`;
  const state = own.reduce((best, p, t) => (Math.abs(most.then[t] - p) > Math.abs(most.then[best] - own[best]) ? t : best), 0);
  return `if ${rank}: P(${data.states[target][state]}) from ${percent(own[state])} to ${percent(most.then[state])}`;
}

// Whether the answer is exact, or what it rests on.
function howFound(answer, engine) {
  if (!(engine instanceof Mixed)) return [];
  const others = answer.drawn.effective < LEAST ? "" : ` Bars of the other variables rest on ${number(DRAWS, 0)} draws.`;
  const words = answer.exact
    ? `Exact for this network: a mixture of normal distributions.${others}`
    : `By ${number(DRAWS, 0)} draws from this network, of which ${short(answer.drawn.effective, 3)} are in effect here; ± is the standard error of the simulation.`;
  return [element("p", { class: "hint", id: "how-found", "data-exact": String(answer.exact) }, words)];
}

function numericAnswer(node, now, before, isNormal) {
  const error = now.error === undefined ? "" : ` ± ${short(now.error, 2)}`;
  const words = `mean ${short(now.mean)}${error}, deviation ${short(now.deviation)}`;
  const was = before ? ` (mean ${short(before.mean)}, deviation ${short(before.deviation)} if nothing is known)` : "";
  return [
    histogram(node, isNormal ? { normal: now } : { value: now.mean }),
    element("p", { id: "target-moments", "data-mean": now.mean, "data-deviation": now.deviation }, words + was),
  ];
}

// How many cases stand behind an answer, as far as the network can tell.
function givenWords(answer, known) {
  if (!known.size) return element("p", { class: "hint" }, `Of all ${cases(data.cases)} cases.`);
  if (answer.logarithm === null) return element("p", { class: "hint" }, "The orange marks are what it is if nothing is known.");
  const expected = Math.exp(answer.logarithm) * data.cases;
  const few = expected < data.few;
  const made = element("p", { id: "given-cases", "data-logarithm": answer.logarithm, class: "hint" },
    `The orange marks are what it is if nothing is known. About ${short(expected, 2)} of ${cases(data.cases)} cases are like this, by the network.`);
  if (few) made.append(element("span", { class: "tag few", title: "hardly more than a guess" }, "few"));
  return made;
}

// The parts are made anew when something is set; what had the focus keeps it.
function focusKey() {
  const active = document.activeElement;
  const card = active?.closest?.("#answers .variable");
  return card ? [card.dataset.node, active.dataset.state ?? null, active.tagName] : null;
}

function restoreFocus(key) {
  if (!key) return;
  const [node, state, tag] = key;
  const card = byId("answers").querySelector(`.variable[data-node="${node}"]`);
  const same = state === null ? card?.querySelector(tag) : card?.querySelector(`[data-state="${state}"]`);
  (same ?? card?.querySelector("button, input"))?.focus({ preventScroll: true });
}
