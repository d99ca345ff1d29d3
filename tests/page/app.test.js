// The parts of the app that need no document: tiers, knowledge, drafts, progress, options.

import assert from "node:assert/strict";
import test from "node:test";
import { cutOf, withCut } from "../../python/kes/app/page/cuts.js";
import { clock, jobText, progressText, rises } from "../../python/kes/app/page/job-text.js";
import { costText, differenceText } from "../../python/kes/app/page/nats.js";
import { chosenValue, listed } from "../../python/kes/app/page/option-form.js";
import { questionParts, questionText } from "../../python/kes/app/page/question.js";
import { withParts } from "../../python/kes/app/page/store.js";
import {
  moved,
  tidy,
  tierOf,
  toggled,
  withoutEmpty,
  withoutItem,
  withPair,
  withTarget,
} from "../../python/kes/app/page/tier-board.js";

test("a variable is in one tier at most, wherever it goes", () => {
  const tiers = [["a", "b"], ["c"]];
  for (const to of [-1, 0, 1, 2]) {
    const found = moved(tiers, "a", to);
    assert.equal(tierOf(found, "a"), to);
    assert.equal(found.flat().filter((name) => name === "a").length, to < 0 ? 0 : 1);
    assert.deepEqual(new Set([...found.flat(), "a"]), new Set(["a", "b", "c"]));
  }
  assert.deepEqual(tiers, [["a", "b"], ["c"]]); // unchanged
  assert.deepEqual(withoutEmpty([[], ["a"], []]), [["a"]]);
  assert.equal(withoutEmpty([[], []]), null);
});

test("a pair has one statement, except arrows forbidden both ways", () => {
  let known = withPair({}, "required", ["a", "b"]);
  assert.deepEqual(known, { required: [["a", "b"]] });
  known = withPair(known, "required", ["b", "a"]);
  assert.deepEqual(known, { required: [["b", "a"]] });
  known = withPair(known, "apart", ["a", "b"]);
  assert.deepEqual(known, { apart: [["a", "b"]] });
  known = withPair(withPair({}, "forbidden", ["a", "b"]), "forbidden", ["b", "a"]);
  assert.equal(known.forbidden.length, 2);
});

test("statements can be taken back", () => {
  const known = { roots: ["a"], required: [["a", "b"]] };
  assert.deepEqual(withoutItem(known, "required", 0), { roots: ["a"] });
  assert.deepEqual(toggled(known, "roots", "a"), { required: [["a", "b"]] });
  assert.deepEqual(toggled({}, "leaves", "c"), { leaves: ["c"] });
  assert.deepEqual(tidy({ tiers: [], roots: null }), {});
});

test("a change of the draft keeps the rest, and null removes", () => {
  const draft = { file: "a.csv", kinds: { x: "omit" }, options: { k: 0.5, runs: 3 } };
  const changed = withParts(draft, { kinds: { x: null, y: "discrete" }, options: { k: null } });
  assert.deepEqual(changed, { file: "a.csv", kinds: { y: "discrete" }, options: { runs: 3 } });
  assert.deepEqual(withParts(draft, { kinds: null, options: null }), { file: "a.csv" });
  assert.deepEqual(draft.kinds, { x: "omit" });
});

test("the best score rises over one clock, though each part of a search has its own", () => {
  const line = (seconds, best) => ({ seconds, best });
  const lines = [
    line(0.1, null),
    line(1, -9),
    line(2, -9),
    line(3, -8),
    line(0.5, -7),
    line(2, -7),
  ];
  assert.deepEqual(rises(lines), [
    { best: -9, seconds: 1 },
    { best: -8, seconds: 3 },
    { best: -7, seconds: 3.5 },
    { best: -7, seconds: 5 },
  ]);
  assert.deepEqual(rises([]), []);
});

test("progress and jobs in words", () => {
  assert.equal(clock(0), "0:00");
  assert.equal(clock(59.6), "1:00");
  assert.equal(clock(3725), "1:02:05");
  const progress = { done: 3, wanted: 10, unit: "runs", left: 70 };
  assert.equal(progressText(progress), "3 of 10 runs, about 1:10 left");
  assert.equal(progressText({ ...progress, wanted: 0, left: null, unit: "new" }), "3 new");
  assert.equal(jobText({ title: "Learn", out: "a", state: "queued" }), "Learn: a, waiting");
});

test("values of options have the types of their inputs", () => {
  assert.equal(chosenValue({ input: "number" }, { value: "0.5" }), 0.5);
  assert.equal(chosenValue({ input: "text" }, { value: "30s" }), "30s");
  assert.equal(chosenValue({ input: "text" }, { value: "2" }), 2);
  assert.equal(chosenValue({ input: "text" }, { value: "" }), null);
  assert.equal(chosenValue({ input: "choice", choices: [true, false] }, { value: "false" }), false);
  assert.equal(chosenValue({ input: "switch" }, { type: "checkbox", checked: false }), null);
  assert.deepEqual(chosenValue({ input: "names" }, { value: "a, b,," }), ["a", "b"]);
  assert.equal(listed(" , "), null);
});

test("a cut of one column leaves the cuts of the others as they were", () => {
  assert.deepEqual(withCut(undefined, "a", 3, ["a", "b"]), { a: 3 });
  assert.deepEqual(withCut(4, "a", 3, ["a", "b"]), { a: 3, b: 4 });
  assert.deepEqual(withCut({ a: 3, b: 4 }, "a", null, ["a", "b"]), { b: 4 });
  assert.equal(withCut({ a: 3 }, "a", null, ["a"]), null);
  assert.equal(cutOf({ a: [1.5, 3] }, "a"), 3);
  assert.deepEqual(withCut({ a: [1.5, 3], b: [2] }, "b", 4, ["a", "b"]), { a: 3, b: 4 });
  assert.equal(cutOf(4, "a"), 4);
  assert.equal(cutOf({ b: 4 }, "a"), null);
  assert.equal(cutOf(undefined, "a"), null);
});

test("a value of an experiment acts on nothing, on some variables, or on what is not known", () => {
  const some = withTarget({ off: [] }, "on", "x");
  assert.deepEqual(some, { off: [], on: ["x"] });
  assert.deepEqual(withTarget(some, "on", "y"), { off: [], on: ["x", "y"] });
  assert.deepEqual(withTarget(some, "on", "x"), { off: [] }); // none left: not known
  assert.deepEqual(withTarget(some, "off", null), { on: ["x"] });
  assert.deepEqual(withTarget(some, "on", []), { off: [], on: [] });
});

test("questions quote what the syntax needs, and name numbers without P", () => {
  const states = { stage: ["I", "II"], "a, b": ["x=1"], age: [], "both\"'": ["u"] };
  const ask = (...words) => questionText({ states }, ...words);
  assert.equal(ask("stage", "", ""), "P(stage)");
  assert.equal(ask("stage", "a, b", "x=1"), 'P(stage | "a, b"="x=1")');
  assert.equal(ask("age", "stage", "II"), "age | stage=II");
  assert.equal(ask("stage", "age", ""), "P(stage)");
  assert.equal(ask("both\"'", "", ""), "");
});

test("differences of scores are told with their size, side and table", () => {
  assert.equal(differenceText({ nats: null }, "a"), "");
  const below = differenceText({ nats: -1720.914, on: "" }, "a");
  assert.match(below, /1720\.91 nats below .* of a\.$/);
  assert.match(differenceText({ nats: 2, on: "b" }, "a"), /2\.00 nats above .* on b\.$/);
  assert.match(costText({ nats: null, text: "SHD 7" }, "a"), /SHD 7/);
  // Bayes factors: e^1, e^3 and e^10 are the usual limits [Kass and Raftery 1995].
  const strengths = [-0.5, -2, -9, -11].map((nats) => costText({ nats, on: "" }, "a"));
  const words = ["do not speak", "hardly speak", "data speak against", "speak strongly"];
  words.forEach((word, i) => {
    assert.match(strengths[i], new RegExp(word));
    assert.match(strengths[i], /lower: that is what it costs/);
  });
});

test("a question has the same parts in words and in Python", () => {
  const states = { lung: ["no", "yes"], smoker: ["no", "yes"], age: [] };
  assert.deepEqual(questionParts({ states }, "lung", "smoker", "yes"), {
    target: "lung",
    known: { smoker: "yes" },
    discrete: true,
  });
  assert.deepEqual(questionParts({ states }, "age", "", ""), {
    target: "age",
    known: {},
    discrete: false,
  });
  assert.deepEqual(questionParts({ states }, "lung", "age", "61.5").known, { age: 61.5 });
});
