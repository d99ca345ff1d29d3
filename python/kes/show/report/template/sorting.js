// A table that is sorted by any of its columns, whose rows are chosen by click, or by arrows and Enter.
// A column has a label, a title, a value of a row to sort by and to save, and a cell to show.

import { element } from "./dom.js";
import { saveCsv } from "./download.js";
import { hintSideways } from "./sideways.js";

export class SortableTable {
  constructor(table, columns, { choose, keyOf, sortBy = null }) {
    this.table = table;
    this.columns = columns;
    this.choose = choose;
    this.keyOf = keyOf;
    this.order = sortBy;
    this.selected = null;
    this.rows = [];
    this.made = new Map();
    this.body = table.tBodies[0];
    this.heads = columns.map((column) => this.makeHead(column));
    table.tHead.rows[0].replaceChildren(...this.heads);
    hintSideways(table);
    this.body.onclick = (event) => this.click(event);
    this.body.onkeydown = (event) => this.key(event);
  }

  makeHead(column) {
    const made = element("button", { type: "button", title: column.title }, column.label);
    made.addEventListener("click", () => {
      const again = this.order?.column === column;
      this.sort({ column, down: again ? !this.order.down : Boolean(column.down) });
    });
    return element("th", { scope: "col", class: column.look ?? "" }, made);
  }

  // Show some of all rows; those with a known key are not made again.
  show(rows, all = rows) {
    [this.rows, this.all] = [rows, all];
    this.sort(this.order);
  }

  forget() {
    this.made.clear();
  }

  sort(order) {
    this.order = order;
    this.body.replaceChildren(...this.sorted(this.rows).map((row) => this.row(row)));
    this.columns.forEach((column, i) => {
      const current = column === order?.column;
      this.heads[i].setAttribute("aria-sort", current ? (order.down ? "descending" : "ascending") : "none");
      this.heads[i].firstChild.textContent = column.label + (current ? (order.down ? " ▼" : " ▲") : "");
    });
    this.select(this.selected);
  }

  sorted(rows) {
    if (!this.order) return rows;
    const { column: { value }, down } = this.order;
    const last = (row) => value(row) === null; // what is not known comes last, either way
    return [...rows].sort((a, b) => last(a) - last(b) || (last(a) ? 0 : compare(value(a), value(b)) * (down ? -1 : 1)));
  }

  row(entry) {
    const key = this.keyOf(entry);
    if (!this.made.has(key)) {
      const cells = this.columns.map((column) => column.cell(entry));
      this.made.set(key, element("tr", { tabindex: "-1", "data-key": key, "aria-selected": "false" }, ...cells));
    }
    return this.made.get(key);
  }

  select(key) {
    this.made.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = key;
    const row = this.made.get(key);
    row?.setAttribute("aria-selected", "true");
    // One row takes part in tabbing; the arrow keys reach the others.
    this.body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    (row?.isConnected ? row : this.body.firstElementChild)?.setAttribute("tabindex", "0");
  }

  // Scroll the table, but not the page, to the chosen row.
  reveal() {
    const row = this.made.get(this.selected);
    const box = this.table.parentElement;
    if (!row?.isConnected) return;
    const [top, height] = [row.offsetTop, box.clientHeight];
    if (top < box.scrollTop + 40 || top > box.scrollTop + height - 40) box.scrollTop = top - height / 2;
  }

  click(event) {
    const row = event.target.closest("tr");
    if (row) this.choose(Number(row.dataset.key));
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
    if (event.key === "Enter" || event.key === " ") this.choose(Number(row.dataset.key));
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

  // All rows, also those that a filter hides, in the order that is shown.
  save(name) {
    const heads = this.columns.map(({ label }) => label);
    saveCsv(name, [heads, ...this.sorted(this.all).map((row) => this.columns.map(({ value, text }) => (text ?? value)(row)))]);
  }
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}
