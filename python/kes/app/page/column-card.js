// A column of the table: its kind, its distribution, its gaps, and what is done about it.

import { bdi, element, svg } from "../../show/report/template/dom.js";
import { counted, percent, significant } from "../../show/report/template/format.js";
import { numbers } from "./cards.js";
import { cutOf, withCut } from "./cuts.js";
import { attempt, sentence } from "./messages.js";
import { change, store } from "./store.js";
import { fixButtons } from "./table-check.js";

const KINDS = {
  "": "auto",
  discrete: "states",
  continuous: "number",
  omit: "left out",
};

// `repaint` is called with the names of the columns to be shown again.
export function columnCard(column, repaint) {
  const { name, used, verdict, advice, missing, values, picture, fixes } = column;
  const isRefused = verdict.startsWith("refused");
  const look = isRefused ? "column refused" : `column${used ? "" : " left-out"}`;
  const facts = [values === null ? "" : counted(values, "different value")];
  if (missing) facts.push(`${percent(missing / store.cards.rows)} missing`);
  const parts = [element("h3", {}, bdi(name))];
  if (store.draft.example) parts.push(element("p", {}, kindText(column)));
  else parts.push(kindChoice(column, repaint));
  parts.push(...drawn(picture, column), element("p", {}, facts.filter(Boolean).join(", ")));
  if (used === "continuous" && !store.draft.example) parts.push(cutField(name, repaint));
  if (name === store.draft.weights) parts.push(element("p", {}, "Says how often each row counts."));
  else if (verdict && !verdict.startsWith("taken as ") && verdict !== "left out: omitted") {
    parts.push(element("p", { class: isRefused ? "warning" : "" }, `${sentence(verdict)}.`));
  } else if (verdict.includes(":")) parts.push(element("p", {}, `${sentence(verdict)}.`));
  if (advice && isRefused && !fixes.length) parts.push(element("p", {}, advice));
  const buttons = fixButtons(column, ({ kinds }) => repaint(kinds ? [name] : null));
  if (buttons.length) parts.push(element("div", { class: "buttons" }, ...buttons));
  return element("article", { class: look, "data-column": name }, ...parts);
}

function kindText({ used, kind, verdict }) {
  if (verdict.startsWith("refused")) return "cannot be used";
  if (!used) return "left out";
  return KINDS[used] ?? kind;
}

function kindChoice(column, repaint) {
  const { name } = column;
  const select = element("select", { "aria-label": `Kind of ${name}` });
  const own = store.draft.kinds?.[name] ?? "";
  for (const [value, text] of Object.entries(KINDS)) {
    const shown = value === "" ? `${text}: ${own ? "…" : kindText(column)}` : text;
    select.append(element("option", { value, ...(value === own && { selected: "" }) }, shown));
  }
  select.addEventListener("change", () =>
    attempt(async () => {
      await change({ kinds: { [name]: select.value || null } });
      await repaint([name]);
      document.querySelector(`[aria-label="Kind of ${CSS.escape(name)}"]`)?.focus();
    }),
  );
  return element("label", {}, "Use as", select);
}

function cutField(name, repaint) {
  const cuts = store.draft.options?.discretize;
  const bins = cutOf(cuts, name);
  const attributes = {
    type: "number",
    class: "cut",
    min: "2",
    placeholder: "no",
    value: bins ?? "",
  };
  const input = element("input", { ...attributes, "aria-label": `Cut ${name} into states` });
  input.addEventListener("change", () =>
    attempt(async () => {
      const wanted = input.value ? Number(input.value) : null;
      await change({ options: { discretize: withCut(cuts, name, wanted, numbers()) } });
      await repaint([name]);
      document.querySelector(`[aria-label="Cut ${CSS.escape(name)} into states"]`)?.focus();
    }),
  );
  return element("label", {}, "Cut into states", input);
}

function drawn(picture, { name }) {
  if (!picture) return [];
  return picture.bins ? [histogram(picture, name)] : [bars(picture)];
}

function histogram({ bins, from, to }, name) {
  const most = Math.max(...bins);
  const label = `Histogram of ${name} from ${significant(from)} to ${significant(to)}`;
  const box = { class: "picture", viewBox: `0 0 ${bins.length} 40`, preserveAspectRatio: "none" };
  const rects = bins.map((count, i) => {
    const height = (38 * count) / most;
    return svg("rect", { x: i + 0.05, y: 40 - height, width: 0.9, height });
  });
  return element(
    "div",
    {},
    svg("svg", { ...box, role: "img", "aria-label": label }, ...rects),
    element("p", {}, `${significant(from)} to ${significant(to)}`),
  );
}

function bars({ bars: items, more, total }) {
  const lines = items.map(([state, count]) => {
    const share = total ? count / total : 0;
    const picture = svg(
      "svg",
      { viewBox: "0 0 90 9", "aria-hidden": "true" },
      svg("rect", { class: "rest", width: 90, height: 9 }),
      svg("rect", { width: 90 * share, height: 9 }),
    );
    const label = element("span", { title: state }, bdi(state));
    return element("li", {}, label, picture, element("span", {}, percent(share)));
  });
  if (more) lines.push(element("li", {}, element("span", {}, `and ${counted(more, "other")}`)));
  return element("ul", { class: "mini-bars" }, ...lines);
}
