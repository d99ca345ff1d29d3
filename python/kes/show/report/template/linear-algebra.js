// The few operations on vectors and matrices that inference with normal distributions needs.

export function dot(a, b) {
  return a.reduce((sum, value, i) => sum + value * b[i], 0);
}

// The lower triangular L with L Lᵀ = matrix.
export function cholesky(matrix) {
  const lower = matrix.map((row) => row.map(() => 0));
  for (let i = 0; i < matrix.length; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = matrix[i][j];
      for (let k = 0; k < j; k += 1) sum -= lower[i][k] * lower[j][k];
      // A node that others determine has no variance left, except for rounding errors.
      lower[i][j] = i === j ? Math.sqrt(Math.max(sum, 1e-12 * matrix[i][i])) : sum / lower[j][j];
    }
  }
  return lower;
}

// Solve lower · x = right by forward substitution.
export function solveLower(lower, right) {
  const found = [];
  right.forEach((value, i) => {
    let sum = value;
    for (let k = 0; k < i; k += 1) sum -= lower[i][k] * found[k];
    found.push(sum / lower[i][i]);
  });
  return found;
}
