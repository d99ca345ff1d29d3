import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cases,
  counted,
  foundText,
  number,
  percent,
  printable,
  significant,
} from "../../python/kes/show/report/template/format.js";
import { ticks } from "../../python/kes/show/report/template/line-chart.js";

const THIN = "\u202f";

test("numbers have fixed decimals, a minus sign, and thin spaces", () => {
  assert.equal(number(-1234567.891, 2), `−1${THIN}234${THIN}567.89`);
  assert.equal(number(3, 0), "3");
  assert.equal(number(0.05, 1), "0.1");
});

test("significant digits do not depend on the size of a number", () => {
  assert.equal(significant(0), "0");
  assert.equal(significant(12.3456), "12.35");
  assert.equal(significant(-0.00123456), "−0.001235");
  assert.equal(significant(12.5), "12.5");
  assert.equal(significant(12345), `12${THIN}345`);
  assert.equal(significant(1959), "1959"); // it may be a year
  assert.equal(significant(2), "2");
  assert.equal(significant(1.5e-9), "1.500e−9");
  assert.equal(significant(-2.5e12, 2), "−2.5e+12");
});

test("small shares are not shown as zero", () => {
  assert.equal(percent(0), "0.0 %");
  assert.equal(percent(0.0004), "<0.1 %");
  assert.equal(percent(0.4567), "45.7 %");
});

test("counts have a plural, and weighted cases a decimal", () => {
  assert.equal(counted(1, "edge"), "1 edge");
  assert.equal(counted(2000, "edge"), "2000 edges");
  assert.equal(counted(20000, "edge"), `20${THIN}000 edges`);
  assert.equal(cases(12), "12");
  assert.equal(cases(12.25), "12.3");
});

test("a list says how many of those that a filter finds it shows", () => {
  assert.equal(foundText(3, 3, "edge", 1000), "3 edges");
  assert.equal(foundText(0, 3, "edge", 1000), "0 of 3 edges");
  assert.equal(foundText(1000, 20000, "edge", 1000), `1000 of 20${THIN}000 edges`);
  const shown = ", the first 1000 shown";
  assert.equal(foundText(1500, 20000, "edge", 1000), `1500 of 20${THIN}000 edges${shown}`);
  assert.equal(foundText(20000, 20000, "edge", 1000), `20${THIN}000 edges${shown}`);
});

test("what XML does not allow is replaced", () => {
  assert.equal(printable("a\u0007b\ud800c\uffff\n"), "a\ufffdb\ufffdc\ufffd\n");
});

test("ticks are round, within the range, and about as many as wanted", () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(ticks(-0.3, 0.45, 4), [-0.2, 0, 0.2, 0.4]);
  assert.deepEqual(ticks(7, 7, 5), [7]);
  assert.ok(ticks(-5, 5, 2).every((value) => !Object.is(value, -0)));
});
