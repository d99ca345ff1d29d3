// The share of a distribution in each column of a histogram: of a normal distribution, of a mixture
// of normal ones, or of weighted samples.

// The shares of `count` columns of equal width between `low` and `high`. What lies beyond counts to
// the columns at the ends.
export function binShares(distribution, [low, high], count) {
  const { samples, components } = distribution;
  if (samples) return sampleShares(samples, low, high, count);
  const parts = components ?? [{ share: 1, mean: distribution.mean }];
  const deviation = components ? distribution.within : distribution.deviation;
  const edges = Array.from({ length: count - 1 }, (_, i) => low + ((high - low) * (i + 1)) / count);
  const below = edges.map((edge) =>
    parts.reduce((sum, { share, mean }) => sum + share * cumulative(edge - mean, deviation), 0),
  );
  return [...below, 1].map((share, i) => share - (i ? below[i - 1] : 0));
}

function sampleShares({ values, weights }, low, high, count) {
  const shares = new Array(count).fill(0);
  const width = (high - low) / count || 1;
  values.forEach((value, i) => {
    const bin = Math.floor((value - low) / width);
    shares[Math.min(count - 1, Math.max(0, bin))] += weights[i];
  });
  return shares;
}

// The normal distribution function, with an error below 1e-6 [Abramowitz & Stegun 1964, 7.1.26].
function cumulative(distance, deviation) {
  if (deviation === 0) return distance >= 0 ? 1 : 0;
  const z = Math.abs(distance) / (deviation * Math.SQRT2);
  const t = 1 / (1 + 0.3275911 * z);
  const series = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const tail = (series.reduce((sum, factor) => (sum + factor) * t, 0) * Math.exp(-z * z)) / 2;
  return distance >= 0 ? 1 - tail : tail;
}
