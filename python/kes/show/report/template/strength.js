// The strength of an edge: its evidence in nats, or a kind of support.

import { data } from "./data.js";
import { number } from "./format.js";

// The strength of a pair: nats of evidence, or a share.
export function strengthOf(kind, pair) {
  return data.supports[kind][pair][0];
}

// The share of the full width that an edge gets. The root keeps weak edges apart.
export function widthShare(kind, pair) {
  const strength = strengthOf(kind, pair);
  return kind === "evidence" ? Math.sqrt(Math.min(1, strength / data.full_width)) : strength;
}

// A strength in words, such as "12.3 nats" or "95.0 %".
export function strengthText(kind, strength, decimals = 1) {
  return kind === "evidence"
    ? `${number(strength, decimals)} nats`
    : `${number(100 * strength, decimals)} %`;
}
