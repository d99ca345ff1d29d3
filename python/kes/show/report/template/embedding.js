// Tells a page of the same server that shows the report in a frame what the reader has selected.

import { data } from "./data.js";

export function tellFrame({ pair, node }) {
  if (window.parent === window || !location.protocol.startsWith("http")) return;
  const edge = pair === null ? null : data.pairs[pair].map((index) => data.names[index]);
  const variable = node === null ? null : data.names[node];
  window.parent.postMessage({ kes: { edge, variable } }, location.origin);
}
