// The panel below the network: a variable with its blanket and table, or the edges that are drawn.

const details = document.getElementById("details");

function showDetails(state, edges, choose) {
  if (state.node !== null) details.replaceChildren(...nodeDetails(state, edges, choose));
  else if (state.view === "difference") details.replaceChildren(...differenceDetails(state, edges));
  else details.replaceChildren(...edgeDetails(state, edges));
}

function cell(text, kind = "td", look = "") {
  return element(kind, look ? { class: look } : {}, text);
}

function table(headings, rows) {
  const head = element("tr", {}, ...headings.map(([text, look]) => {
    const made = cell(text, "th", look);
    made.setAttribute("scope", "col");
    return made;
  }));
  const body = element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells)));
  const made = element("table", {}, element("thead", {}, head), body);
  return element("div", { class: "wide", tabindex: "0" }, made);
}

function shareCell(share, text = percent(share)) {
  const made = cell(text, "td", "share");
  made.style.setProperty("--share", share);
  return made;
}

// --- edges ---

function edgeDetails(state, edges) {
  const main = data.supports[state.kind];
  const sorted = [...edges].sort((a, b) => main[b.pair][0] - main[a.pair][0]);
  const consensus = state.view === "consensus";
  const direction = (edge) => {
    if (edge.status === 0) return consensus ? "not supported" : "reversible";
    if (consensus) return percent(main[edge.pair][edge.status]);
    return edge.known ? "by knowledge" : "compelled";
  };
  const evidence = data.evidence ? [["evidence (nats)", ""]] : [];
  const nats = (edge) => number(data.evidence[edge.pair] ?? NaN, 1).replace("NaN", "");
  const headings = [
    ["edge", "text"],
    ["direction", "text aside"],
    ...kinds.map((kind) => [KINDS[kind], ""]),
    ...evidence,
  ];
  const rows = sorted.map((edge) => [
    cell(edgeText(edge), "td", "text"),
    cell(direction(edge), "td", "text aside"),
    ...kinds.map((kind) => shareCell(data.supports[kind][edge.pair][0])),
    ...evidence.map(() => cell(nats(edge))),
  ]);
  return [element("h2", {}, counted(edges.length, "edge")), table(headings, rows)];
}

function statusText(edge, status) {
  return edgeText({ pair: edge.pair, status });
}

const CHANGES = {
  removed: "only in the first",
  added: "only in the second",
  turned: "direction differs",
};

function differenceDetails(state, edges) {
  const changed = edges.filter((edge) => edge.change !== "same");
  const [first, second] = [data.optima[state.first], data.optima[state.second]];
  const count = (change) => changed.filter((edge) => edge.change === change).length;
  const summary =
    `${nameOf(state.second)} against ${nameOf(state.first)}: ${counted(changed.length, "difference")} (SHD). ` +
    `${counted(count("removed"), "edge")} only in the first, ${count("added")} only in the second, ` +
    `${count("turned")} with another direction. ` +
    `The score changes by ${number(second.score - first.score, 4)}.`;
  const rows = changed.map((edge) => [
    cell(CHANGES[edge.change], "td", "text"),
    cell(edge.change === "added" ? "" : statusText(edge, edge.was ?? edge.status), "td", "text"),
    cell(edge.change === "removed" ? "" : statusText(edge, edge.status), "td", "text"),
    ...kinds.map((kind) => shareCell(data.supports[kind][edge.pair][0])),
  ]);
  const headings = [
    ["change", "text"],
    [nameOf(state.first), "text"],
    [nameOf(state.second), "text"],
    ...kinds.map((kind) => [KINDS[kind], ""]),
  ];
  return [element("h2", {}, "Differences"), element("p", {}, summary), table(headings, rows)];
}

// --- a node ---

function chips(label, nodes, choose) {
  if (!nodes.length) return [];
  const buttons = nodes.map((node) => {
    const button = element("button", { type: "button" }, data.names[node]);
    button.addEventListener("click", () => choose(node));
    return button;
  });
  return [element("p", {}, label), element("div", { class: "chips" }, ...buttons)];
}

function nodeDetails(state, edges, choose) {
  const node = state.node;
  const near = surroundings(edges, node);
  const close = element("button", { type: "button", id: "close-node" }, "Show all edges");
  close.addEventListener("click", () => choose(null));
  // Only of a model, not of a summary or of two models, can one tell what a blanket means.
  const [what, remark] = state.view === "optimum"
    ? ["Markov blanket", "Once these are known, no other variable tells more about this one."]
    : ["Neighbours in this picture", ""];
  const heading = element("div", { class: "heading" }, element("h2", {}, data.names[node]), close);
  const left = element(
    "div",
    {},
    element("h3", {}, `${what}: ${counted(near.blanket.length, "variable")}`),
    element("p", {}, remark),
    ...chips("Parents", near.parents, choose),
    ...chips("Children", near.children, choose),
    ...chips("Joined, direction open", near.open, choose),
    ...chips("Other parents of its children", near.spouses, choose),
    element("h3", {}, "States"),
    element("p", {}, data.states[node].join(", ")),
  );
  const right = element("div", {}, element("h3", {}, "Probabilities"), ...probabilities(state));
  return [heading, element("div", { class: "sides" }, left, right)];
}

function probabilities(state) {
  const name = JSON.stringify(data.names[state.node]);
  const python = (code) => element("pre", { tabindex: "0" }, element("code", {}, code));
  if (state.view !== "optimum") {
    return [element("p", {}, "A single optimum has probability tables: choose Optimum above.")];
  }
  const how = python(`optima[${data.optima[state.first].number}].fit(data).cpt(${name})`);
  if (!data.tables) {
    return [
      element("p", {}, "This report was made without the data. To have the tables in it:"),
      python('optima.report("report.html", data=data)'),
      element("p", {}, "Or ask for this one:"),
      how,
    ];
  }
  const own = data.tables.of[state.first];
  if (!own) return [element("p", {}, "Only the best optima have their tables here. In Python:"), how];
  const [node, parents, rows] = data.tables.families[own[state.node]];
  const given = parents.map((parent) => data.names[parent]).join(", ");
  const note = parents.length
    ? `Given ${given}, in one network of the class; relative frequencies.`
    : "No parents in the network chosen from the class; relative frequencies.";
  if (!rows) return [element("p", {}, `${note} The table is too large to be shown. In Python:`), how];
  return [element("p", {}, note), probabilityTable(node, parents, rows)];
}

function probabilityTable(node, parents, rows) {
  const headings = [
    ...parents.map((parent) => [data.names[parent], "text"]),
    ...data.states[node].map((state) => [state, ""]),
  ];
  const body = rows.map((shares, row) => {
    const cells = [];
    let rest = row;
    for (let i = parents.length - 1; i >= 0; i -= 1) { // the last parent changes fastest
      const states = data.states[parents[i]];
      cells.unshift(cell(states[rest % states.length], "td", "text parent"));
      rest = Math.floor(rest / states.length);
    }
    return [...cells, ...shares.map((share) => shareCell(share, share.toFixed(4)))];
  });
  return table(headings, body);
}
