// The geometry of edges: chains of cubic Bézier curves, shortened to make room for arrowheads.

// Points from a flat list of coordinates.
export function toPoints(numbers) {
  const points = [];
  for (let i = 0; i < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
  return points;
}

export function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

// The part of a cubic Bézier curve up to the parameter t, by de Casteljau's algorithm.
function firstPart(piece, t) {
  const result = [piece[0]];
  let row = piece;
  while (row.length > 1) {
    row = row
      .slice(1)
      .map((p, i) => [row[i][0] + t * (p[0] - row[i][0]), row[i][1] + t * (p[1] - row[i][1])]);
    result.push(row[0]);
  }
  return result;
}

// A curve without its last `length`, which the arrowhead covers. The end is found by bisection.
export function shortened(points, length) {
  const tip = points.at(-1);
  let start = points.length - 4;
  while (start > 0 && distance(points[start], tip) < length) start -= 3;
  const piece = points.slice(start, start + 4);
  let [low, high] = [0.01, 1];
  for (let i = 0; i < 16; i += 1) {
    const middle = (low + high) / 2;
    if (distance(firstPart(piece, middle)[3], tip) < length) high = middle;
    else low = middle;
  }
  return [...points.slice(0, start), ...firstPart(piece, low)];
}

export function pathData(points) {
  const texts = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${texts[0]}C${texts.slice(1).join(" ")}`;
}

// The corners of an arrowhead, as the attribute `points`.
export function trianglePoints(base, tip, width) {
  const along = [tip[0] - base[0], tip[1] - base[1]];
  const scale = width / 2 / Math.max(Math.hypot(...along), 1e-9);
  const [dx, dy] = [-along[1] * scale, along[0] * scale];
  const corners = [tip, [base[0] + dx, base[1] + dy], [base[0] - dx, base[1] - dy]];
  return corners.map((corner) => corner.map((c) => c.toFixed(1)).join(",")).join(" ");
}
