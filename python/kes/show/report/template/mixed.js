// Inference in networks of discrete and continuous variables: exact for the target where its
// distribution is a mixture of normal ones, by likelihood weighting for everything else.

import { drawSamples, MIN_EFFECTIVE, sampleDistribution } from "./likelihood-weighting.js";
import { mixture } from "./mixture.js";

export class Mixed {
  constructor(network) {
    this.network = network;
    this.nodes = new Set(
      network.cpds.filter(({ kind }) => kind !== "large").map(({ node }) => node),
    );
    this.answers = new Map();
  }

  // The distributions of all nodes given evidence. `exact` tells whether the one of the target is.
  // Distributions that would need samples are left out if too few samples agree with the evidence.
  answer(evidence, target) {
    const key = JSON.stringify([target, [...evidence]]);
    if (!this.answers.has(key)) this.answers.set(key, this.compute(evidence, target));
    return this.answers.get(key);
  }

  compute(evidence, target) {
    const { network } = this;
    const samples = drawSamples(network, evidence);
    const distributions = new Map();
    if (samples.effective >= MIN_EFFECTIVE) {
      for (const node of this.nodes) {
        distributions.set(node, sampleDistribution(network, node, samples));
      }
    }
    const exact = mixture(network, target, evidence);
    if (exact?.found) distributions.set(target, exact.found);
    const isPossible = exact === null || exact.found !== null;
    // With continuous evidence the likelihood is a density, not the probability of anything.
    const isDensity = [...evidence.keys()].some((node) => network.isContinuous(node));
    const { logarithm } = exact ?? samples;
    return {
      distributions: isPossible ? distributions : null,
      exact: Boolean(exact),
      logarithm: isDensity ? null : logarithm,
      samples,
    };
  }
}
