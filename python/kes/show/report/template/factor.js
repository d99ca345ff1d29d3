// Factors: tables of numbers over the states of some variables, the pieces of exact inference.
// A factor is { scope, values }: variables in ascending order, the last one changing fastest.

export function cellCount(scope, sizes) {
  return scope.reduce((cells, variable) => cells * sizes[variable], 1);
}

// Distance in `values` between two consecutive states of each variable of a scope.
function strides(scope, sizes) {
  const found = new Map();
  let step = 1;
  for (const variable of [...scope].reverse()) {
    found.set(variable, step);
    step *= sizes[variable];
  }
  return found;
}

// Call visit(cell, projected) for each cell of a scope, with its projection onto another scope.
function forEachCell(scope, onto, sizes, visit) {
  const steps = strides(onto, sizes);
  const limits = scope.map((variable) => sizes[variable]);
  const moves = scope.map((variable) => steps.get(variable) ?? 0);
  const digits = new Array(scope.length).fill(0);
  const cells = cellCount(scope, sizes);
  let projected = 0;
  for (let cell = 0; cell < cells; cell += 1) {
    visit(cell, projected);
    // Count up by one, like an odometer.
    for (let i = scope.length - 1; i >= 0; i -= 1) {
      digits[i] += 1;
      projected += moves[i];
      if (digits[i] < limits[i]) break;
      projected -= limits[i] * moves[i];
      digits[i] = 0;
    }
  }
}

export function ones(scope, sizes) {
  return { scope, values: new Float64Array(cellCount(scope, sizes)).fill(1) };
}

// Make a factor from values whose variables come in any order.
export function fromTable(order, values, sizes) {
  const scope = [...order].sort((a, b) => a - b);
  const made = ones(scope, sizes);
  forEachCell(order, scope, sizes, (from, to) => {
    made.values[to] = values[from];
  });
  return made;
}

// Multiply a factor by another whose scope it contains.
export function multiplyBy(product, factor, sizes) {
  forEachCell(product.scope, factor.scope, sizes, (cell, other) => {
    product.values[cell] *= factor.values[other];
  });
}

// Divide by a factor with the convention 0 / 0 = 0, as message passing needs it.
export function divideBy(quotient, factor, sizes) {
  forEachCell(quotient.scope, factor.scope, sizes, (cell, other) => {
    const divisor = factor.values[other];
    quotient.values[cell] = divisor === 0 ? 0 : quotient.values[cell] / divisor;
  });
}

// Sum out all variables that are not in a smaller scope.
export function marginal(factor, scope, sizes) {
  const made = { scope, values: new Float64Array(cellCount(scope, sizes)) };
  forEachCell(factor.scope, scope, sizes, (cell, other) => {
    made.values[other] += factor.values[cell];
  });
  return made;
}

// Scale to sum 1; return the logarithm of the previous sum.
export function normalise(factor) {
  const sum = factor.values.reduce((total, value) => total + value, 0);
  if (sum > 0) {
    factor.values.forEach((value, cell) => {
      factor.values[cell] = value / sum;
    });
  }
  return Math.log(sum);
}
