// A table that sorts by any column, whose rows are selected by click, or by arrow keys and Enter.
//
// A column is { label, title, value, cell, look, down }: value(row) is what to sort by and to save,
// cell(row) the table cell, `look` the classes of the heading, `down` whether large values are first.

import { element } from "./dom.js";
import { saveCsv } from "./download.js";
import { addScrollHint } from "./scroll-hint.js";

export const MOST_ROWS = 1000; // a page with more opens slowly; a filter finds the others

export class SortableTable {
  // `select` is called with the key of a row.
  constructor(table, columns, { select, keyOf, sortBy }) {
    this.table = table;
    this.columns = columns;
    this.onSelect = select;
    this.keyOf = keyOf;
    this.order = sortBy;
    this.selected = null;
    this.rows = [];
    this.made = new Map();
    this.body = table.tBodies[0];
    this.heads = columns.map((column) => this.makeHead(column));
    table.tHead.rows[0].replaceChildren(...this.heads);
    addScrollHint(table);
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.key(event));
  }

  makeHead(column) {
    const made = element("button", { type: "button", title: column.title }, column.label);
    made.addEventListener("click", () => {
      const isCurrent = this.order.column === column;
      this.sort({ column, down: isCurrent ? !this.order.down : Boolean(column.down) });
    });
    return element("th", { scope: "col", class: column.look ?? "" }, made);
  }

  // Show some of all rows. Rows with a known key are not created again.
  show(rows, all) {
    this.rows = rows;
    this.all = all;
    this.sort(this.order);
  }

  // Forget the rows that were created, because their contents changed.
  forget() {
    this.made.clear();
  }

  sort(order) {
    this.order = order;
    const first = this.sorted(this.rows).slice(0, MOST_ROWS);
    this.body.replaceChildren(...first.map((row) => this.row(row)));
    this.columns.forEach((column, i) => {
      const isCurrent = column === order.column;
      const [direction, mark] = order.down ? ["descending", " ▼"] : ["ascending", " ▲"];
      this.heads[i].setAttribute("aria-sort", isCurrent ? direction : "none");
      this.heads[i].firstChild.textContent = column.label + (isCurrent ? mark : "");
    });
    this.select(this.selected);
  }

  // Unknown values come last in both directions.
  sorted(rows) {
    const { value } = this.order.column;
    const sign = this.order.down ? -1 : 1;
    const isUnknown = (row) => value(row) === null;
    return rows.toSorted((a, b) => {
      if (isUnknown(a) || isUnknown(b)) return isUnknown(a) - isUnknown(b);
      return sign * compare(value(a), value(b));
    });
  }

  row(entry) {
    const key = this.keyOf(entry);
    if (!this.made.has(key)) {
      const cells = this.columns.map((column) => column.cell(entry));
      const attributes = { tabindex: "-1", "data-key": key, "aria-selected": "false" };
      this.made.set(key, element("tr", attributes, ...cells));
    }
    return this.made.get(key);
  }

  select(key) {
    this.made.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = key;
    const row = this.made.get(key);
    row?.setAttribute("aria-selected", "true");
    this.makeTabStop(row?.isConnected ? row : this.body.firstElementChild);
  }

  // Only one row is in the tab order; the arrow keys reach the others.
  makeTabStop(row) {
    this.body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    row?.setAttribute("tabindex", "0");
  }

  // Scroll the table, but not the page, to the selected row.
  reveal() {
    const row = this.made.get(this.selected);
    if (!row?.isConnected) return;
    const box = this.table.parentElement;
    const [top, height] = [row.offsetTop, box.clientHeight];
    const isVisible = top >= box.scrollTop + 40 && top <= box.scrollTop + height - 40;
    if (!isVisible) box.scrollTop = top - height / 2;
  }

  click(event) {
    const row = event.target.closest("tr");
    if (row) this.onSelect(Number(row.dataset.key));
  }

  key(event) {
    const row = event.target.closest("tr");
    if (!row) return;
    const targets = {
      ArrowDown: row.nextElementSibling,
      ArrowUp: row.previousElementSibling,
      Home: this.body.firstElementChild,
      End: this.body.lastElementChild,
    };
    if (event.key === "Enter" || event.key === " ") this.onSelect(Number(row.dataset.key));
    else if (event.key in targets) this.focus(targets[event.key]);
    else return;
    event.preventDefault();
  }

  focus(row) {
    if (!row) return;
    this.makeTabStop(row);
    row.focus();
  }

  // Save all rows, including those that a filter hides, in the order of the table.
  save(name) {
    const heads = this.columns.map(({ label }) => label);
    const rows = this.sorted(this.all).map((row) => this.columns.map(({ value }) => value(row)));
    saveCsv(name, [heads, ...rows]);
  }
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}
