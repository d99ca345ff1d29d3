// The table of optima: sorted by any column, filtered by edges, chosen by click or Enter.

const COLUMNS = [
  { key: "index", label: "no.", title: "Number of the optimum", value: (o) => o.index },
  { key: "score", label: "score", title: "Score, natural logarithm", value: (o) => o.score, down: true },
  { key: "hits", label: "hits", title: "Runs that ended here", value: (o) => o.hits, down: true },
  { key: "first", label: "first", title: "First run that ended here", value: (o) => o.first ?? Infinity },
  { key: "edges", label: "edges", title: "Number of edges", value: (o) => o.edges.length },
  { key: "shd", label: "differs", title: "Pairs of variables that differ from the best (SHD)", value: (o) => o.shd },
];

class OptimaTable {
  constructor(choose) {
    this.choose = choose;
    this.body = document.querySelector("#optima tbody");
    this.subset = document.getElementById("subset");
    this.filter = document.getElementById("edge-filter");
    this.order = { column: COLUMNS[1], down: true };
    this.selected = data.best;
    this.entries = data.optima.map((optimum, index) => ({ ...optimum, index }));
    this.rows = this.entries.map((entry) => this.makeRow(entry));
    document.querySelector("#optima thead tr").append(...COLUMNS.map((column) => this.makeHead(column)));
    this.subset.addEventListener("input", () => this.refresh());
    this.filter.addEventListener("input", () => this.refresh());
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.refresh();
  }

  makeHead(column) {
    const button = element("button", { type: "button", title: column.title }, column.label);
    button.addEventListener("click", () => {
      const again = this.order.column === column;
      this.order = { column, down: again ? !this.order.down : Boolean(column.down) };
      this.refresh();
    });
    column.button = button;
    column.head = element("th", { scope: "col" }, button);
    return column.head;
  }

  makeRow(entry) {
    const name = element("td", {}, String(entry.number));
    if (entry.hits === 0 && entry.origin !== "GES") {
      name.append(element("span", { class: "tag", title: entry.origin }, entry.origin.split(" ")[0]));
    }
    if (entry.index === data.ges) name.append(element("span", { class: "tag" }, "GES"));
    if (!entry.local) {
      const text = "A neighbour scores higher: no local optimum";
      name.append(element("span", { class: "tag", title: text }, "not local"));
    }
    return element(
      "tr",
      { tabindex: "-1", "data-index": entry.index, "aria-selected": "false" },
      name,
      element("td", {}, number(entry.score, 2)),
      element("td", {}, String(entry.hits)),
      element("td", {}, entry.first === null ? "–" : String(entry.first)),
      element("td", {}, String(entry.edges.length)),
      element("td", {}, String(entry.shd)),
    );
  }

  refresh() {
    const { column, down } = this.order;
    const shown = this.passing().sort(
      (a, b) => (column.value(a) - column.value(b)) * (down ? -1 : 1) || a.index - b.index,
    );
    this.body.replaceChildren(...shown.map((entry) => this.rows[entry.index]));
    for (const each of COLUMNS) {
      const current = each === column;
      each.head.setAttribute("aria-sort", current ? (down ? "descending" : "ascending") : "none");
      each.button.textContent = each.label + (current ? (down ? " ▼" : " ▲") : "");
    }
    const all = this.entries.length;
    document.getElementById("count").textContent =
      shown.length === all ? `${all} models` : `${shown.length} of ${all} models`;
    this.select(this.selected);
  }

  passing() {
    const ges = data.optima[data.ges].score;
    const wanted = this.wantedEdges();
    return this.entries.filter((entry) => {
      if (this.subset.value === "better" && entry.score <= ges) return false;
      if (this.subset.value === "repeated" && entry.hits < 2) return false;
      return wanted === null || entry.edges.some((code) => wanted.has(code));
    });
  }

  // Edges whose text has what was typed: "HR", "HR → BP", "HR -> BP", "HR - BP" or "HR BP".
  wantedEdges() {
    const typed = this.filter.value.trim().toLowerCase();
    if (!typed) return null;
    const text = typed.replaceAll("->", "→").replaceAll(/\s+-\s+/g, " – ").replaceAll(/\s*([→–])\s*/g, " $1 ");
    const words = text.split(/\s+/);
    const wanted = new Set();
    for (let code = 0; code < 3 * data.pairs.length; code += 1) {
      const edge = { pair: Math.floor(code / 3), status: code % 3 };
      const own = ` ${edgeText(edge).toLowerCase()} `;
      const turned = edge.status === 0 ? own.trim().split(" – ").reverse().join(" – ") : own;
      const isIn = (candidate) =>
        /[→–]/.test(text) ? candidate.includes(text.trim()) : words.every((word) => candidate.includes(word));
      if (isIn(own) || isIn(turned)) wanted.add(code);
    }
    return wanted;
  }

  select(index) {
    this.rows[this.selected].setAttribute("aria-selected", "false");
    this.selected = index;
    this.rows[index].setAttribute("aria-selected", "true");
    // One row takes part in tabbing; the arrow keys reach the others.
    const way = this.rows[index].isConnected ? this.rows[index] : this.body.firstElementChild;
    this.body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    way?.setAttribute("tabindex", "0");
  }

  // Scroll the table, but not the page, to the chosen row.
  reveal() {
    const row = this.rows[this.selected];
    const box = this.body.closest(".scroll");
    if (!row.isConnected) return;
    const [top, height] = [row.offsetTop, box.clientHeight];
    if (top < box.scrollTop + 40 || top > box.scrollTop + height - 40) box.scrollTop = top - height / 2;
  }

  click(event) {
    const row = event.target.closest("tr");
    if (row) this.choose(Number(row.dataset.index));
  }

  key(event) {
    const row = event.target.closest("tr");
    if (!row) return;
    const to = {
      ArrowDown: row.nextElementSibling,
      ArrowUp: row.previousElementSibling,
      Home: this.body.firstElementChild,
      End: this.body.lastElementChild,
    };
    if (event.key === "Enter" || event.key === " ") this.choose(Number(row.dataset.index));
    else if (event.key in to) this.focusRow(to[event.key]);
    else return;
    event.preventDefault();
  }

  focusRow(row) {
    if (!row) return;
    this.body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
    row.focus();
  }
}
