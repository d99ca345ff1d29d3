// Tables of numbers over the states of some variables: the pieces of exact inference.
// A factor is { scope, values }: variables in ascending order, the last one changing fastest.

export function sizeOf(scope, states) {
  return scope.reduce((cells, variable) => cells * states[variable], 1);
}

// How far apart in `values` two states of each variable of a scope are.
function strides(scope, states) {
  const found = new Map();
  let step = 1;
  for (const variable of [...scope].reverse()) {
    found.set(variable, step);
    step *= states[variable];
  }
  return found;
}

// Call act(cell, other) for all cells of a scope, with the cell of a smaller scope that it belongs to.
function along(scope, smaller, states, act) {
  const steps = strides(smaller, states);
  const sizes = scope.map((variable) => states[variable]);
  const moves = scope.map((variable) => steps.get(variable) ?? 0);
  const digits = new Array(scope.length).fill(0);
  const cells = sizeOf(scope, states);
  let other = 0;
  for (let cell = 0; cell < cells; cell += 1) {
    act(cell, other);
    for (let i = scope.length - 1; i >= 0; i -= 1) { // count one up
      digits[i] += 1;
      other += moves[i];
      if (digits[i] < sizes[i]) break;
      other -= sizes[i] * moves[i];
      digits[i] = 0;
    }
  }
}

export function ones(scope, states) {
  return { scope, values: new Float64Array(sizeOf(scope, states)).fill(1) };
}

// A factor from values whose variables come in another order.
export function arranged(order, values, states) {
  const scope = [...order].sort((a, b) => a - b);
  const made = ones(scope, states);
  // `order` names the same variables, so each cell of one is a cell of the other.
  along(order, scope, states, (from, to) => { made.values[to] = values[from]; });
  return made;
}

// Multiply a factor into another whose scope holds that of the first.
export function multiplyInto(into, factor, states) {
  along(into.scope, factor.scope, states, (cell, other) => { into.values[cell] *= factor.values[other]; });
}

// Divide by a factor; what is 0 / 0 was 0 before.
export function divideInto(into, factor, states) {
  along(into.scope, factor.scope, states, (cell, other) => {
    into.values[cell] = factor.values[other] === 0 ? 0 : into.values[cell] / factor.values[other];
  });
}

// Sum over all variables that are not in a smaller scope.
export function summedTo(factor, scope, states) {
  const made = { scope, values: new Float64Array(sizeOf(scope, states)) };
  along(factor.scope, scope, states, (cell, other) => { made.values[other] += factor.values[cell]; });
  return made;
}

// Scale to sum 1, and return the logarithm of what the sum was.
export function normalise(factor) {
  const sum = factor.values.reduce((total, value) => total + value, 0);
  if (sum > 0) factor.values.forEach((value, cell) => { factor.values[cell] = value / sum; });
  return Math.log(sum);
}
