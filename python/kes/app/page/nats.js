// Differences of scores, in nats, in words.

const amount = (nats) => `${Math.abs(nats).toFixed(2)} nats`;
const place = (on) => (on ? ` on ${on}` : "");

// How much another model scores than the best of a result; nothing if that is not known.
export function differenceText({ nats, on }, name) {
  if (nats === null) return "";
  if (nats === 0) return `Its score is that of the best network of ${name}.`;
  const side = nats < 0 ? "below" : "above";
  return `Its score is ${amount(nats)} ${side} that of the best network of ${name}${place(on)}.`;
}

// What knowledge costs, by the difference of the best scores with and without it.
export function costText({ nats, on, text }, before) {
  if (nats === null) return `Compared with ${before}: ${text}.`;
  const difference =
    nats < 0 ? `${amount(nats)} lower: that is what it costs` : `${amount(nats)} higher`;
  return `With this knowledge the best score is ${difference}${place(on)}. ${verdict(nats)}`;
}

// The strength of evidence in words, by the loss in nats.
function verdict(nats) {
  if (nats > -1) return "The data do not speak against it.";
  if (nats > -3) return "The data hardly speak against it.";
  if (nats > -10) return "The data speak against it.";
  return "The data speak strongly against it.";
}
