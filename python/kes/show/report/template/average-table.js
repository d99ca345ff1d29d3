// A table that compares the answer of the selected network with that of an average of networks.

import { averagedAnswer } from "./average.js";
import { plainTable } from "./cpd-table.js";
import { data, isContinuous } from "./data.js";
import { bdi, element } from "./dom.js";
import { averageMembers } from "./fitted.js";
import { percent, printable, significant } from "./format.js";

const MAX_STATES = 10; // the most probable ones

// `answer` is that of the selected network.
export function averageTable(node, answer, evidence) {
  const networks = averageMembers();
  if (!networks.length) return [];
  const found = averagedAnswer(networks, node, evidence);
  const name = `Average of ${networks.length} networks`;
  if (found === null) {
    const how = "kes fit --average and kes query answer by drawing.";
    return [element("p", { class: "hint" }, `${name}: no exact answer on this page; ${how}`)];
  }
  if (!found.spread) return [];
  const now = answer.distributions?.get(node) ?? null;
  const rows = isContinuous(node) ? momentRows(now, found) : stateRows(node, now, found);
  const table = plainTable(
    [
      ["", "text"],
      ["this network", ""],
      [name.toLowerCase(), ""],
    ],
    rows,
  );
  table.id = "average";
  const meaning =
    "Each network of the average was learned from random weights of the cases, and counts more if " +
    "it expects what is set. ± is the standard deviation between them: how far the answer depends " +
    "on the structure.";
  return [table, element("p", { class: "hint" }, meaning)];
}

function stateRows(node, now, { shares, spread }) {
  const order = shares.map((_, state) => state).sort((a, b) => shares[b] - shares[a] || a - b);
  return order
    .slice(0, MAX_STATES)
    .sort((a, b) => a - b)
    .map((state) => {
      const label = bdi(printable(data.states[node][state]) || "(blank)");
      const text = `${percent(shares[state])} ± ${percent(spread[state])}`;
      const own = now ? percent(now[state]) : "";
      return tableRow(label, own, text, { average: shares[state], spread: spread[state] });
    });
}

function momentRows(now, { mean, deviation, spread }) {
  const text = `${significant(mean)} ± ${significant(spread, 2)}`;
  const own = (key) => (now ? significant(now[key]) : "");
  return [
    tableRow("mean", own("mean"), text, { average: mean, spread }),
    tableRow("standard deviation", own("deviation"), significant(deviation), {
      average: deviation,
    }),
  ];
}

function tableRow(label, own, text, numbers) {
  const attributes = Object.entries(numbers).map(([key, value]) => [`data-${key}`, value]);
  return [
    element("td", { class: "text" }, label),
    element("td", {}, own),
    element("td", Object.fromEntries(attributes), text),
  ];
}
