// The answer to a question: the distribution of the target, and how far it can be trusted.

import { histogram, moments, stateBars } from "./bars.js";
import { fewTag } from "./cpd-table.js";
import { data, isContinuous } from "./data.js";
import { element } from "./dom.js";
import { cases, number, significant } from "./format.js";
import { Gaussian } from "./gaussian.js";
import { MIN_EFFECTIVE, SAMPLES } from "./likelihood-weighting.js";
import { Mixed } from "./mixed.js";

export function showAnswer(node, answer, evidence, engine, barLimit) {
  if (!answer.distributions) {
    return [element("p", {}, "This combination is impossible in the network. Clear some of it.")];
  }
  const now = answer.distributions.get(node);
  if (!now) return [tooFewSamples(answer)];
  const before = evidence.size ? engine.answer(new Map(), node).distributions.get(node) : null;
  if (isContinuous(node)) {
    const isNormal = engine instanceof Gaussian;
    return [...showMoments(node, now, before, isNormal), ...describeMethod(answer, engine)];
  }
  // Cases are shown beside the bars where the answer is about all of them.
  const own = data.variables?.[node];
  const counts = evidence.size || !own || own.missing ? null : own.counts;
  const bars = stateBars(node, now, { before, counts, errors: now.errors, ...barLimit });
  return [bars, describeCases(answer, evidence), ...describeMethod(answer, engine)];
}

function tooFewSamples({ samples }) {
  const effective = significant(samples.effective, 2);
  const text =
    `Only ${effective} of ${number(SAMPLES, 0)} samples from the network agree with what is set: ` +
    "too few for an answer. Clear some of it, or use the shell command below.";
  return element("p", { id: "too-few" }, text);
}

function showMoments(node, now, before, isNormal) {
  const prior = before ? ` (without evidence: ${moments(before)})` : "";
  const attributes = {
    id: "target-moments",
    "data-mean": now.mean,
    "data-deviation": now.deviation,
  };
  return [
    histogram(node, before ? { given: now } : isNormal ? { normal: now } : { value: now.mean }),
    element("p", attributes, moments(now) + prior),
    ...(before ? [element("p", { class: "hint" }, "The outline shows all cases.")] : []),
  ];
}

// The number of cases that an answer is about, as the network expects it.
function describeCases({ logarithm }, evidence) {
  const total = cases(data.cases);
  if (!evidence.size) return element("p", { class: "hint" }, `For all ${total} cases.`);
  const marks = "Orange marks show the distribution without evidence.";
  if (logarithm === null) return element("p", { class: "hint" }, marks);
  const expected = Math.exp(logarithm) * data.cases;
  const text = `${marks} The network expects about ${significant(expected, 2)} such cases among ${total}.`;
  const attributes = { id: "given-cases", "data-logarithm": logarithm, class: "hint" };
  const made = element("p", attributes, text);
  if (expected < data.few) made.append(fewTag());
  return made;
}

// Whether the answer is exact, or an estimate from samples.
function describeMethod({ exact, samples }, engine) {
  if (!(engine instanceof Mixed)) return [];
  const count = number(SAMPLES, 0);
  const others =
    samples.effective < MIN_EFFECTIVE
      ? ""
      : ` Other variables are estimated from ${count} samples.`;
  const text = exact
    ? `Exact for this network: a mixture of normal distributions.${others}`
    : `Estimated from ${count} weighted samples (effective: ${significant(samples.effective, 3)}); ` +
      "± is the standard error of the simulation.";
  return [element("p", { class: "hint", id: "how-found", "data-exact": String(exact) }, text)];
}
