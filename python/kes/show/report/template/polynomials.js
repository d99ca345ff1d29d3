// Curves: continuous variables as polynomials of their normal scores, as kes.data.curves has them.

const CLIP = 2; // scores beyond are clipped

// The Legendre polynomials of a score, from degree 1 on.
export function polynomials(score, degree) {
  const u = Math.min(Math.max(score, -CLIP), CLIP) / CLIP;
  const values = [];
  let [before, value] = [1, u];
  for (let k = 1; k <= degree; k += 1) {
    values.push(value);
    [before, value] = [value, ((2 * k + 1) * u * value - k * before) / (k + 1)];
  }
  return values;
}

// The value at x of the line through points, given by their ascending coordinates xs and ys; beyond
// the ends it is constant.
export function interpolate(x, xs, ys) {
  if (x <= xs[0]) return ys[0];
  if (x >= xs.at(-1)) return ys.at(-1);
  let [low, high] = [0, xs.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return ys[low] + ((x - xs[low]) / (xs[high] - xs[low])) * (ys[high] - ys[low]);
}
