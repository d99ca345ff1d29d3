import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellCount,
  divideBy,
  fromTable,
  marginal,
  multiplyBy,
  normalise,
  ones,
} from "../../python/kes/show/report/template/factor.js";
import { combinations, generator, integer } from "./brute-force.js";
import { close } from "./close.js";

const SIZES = [2, 3, 1, 4, 2];

// The value of a factor in a combination of states, by its definition.
function at({ scope, values }, states) {
  return values[scope.reduce((cell, variable) => cell * SIZES[variable] + states[variable], 0)];
}

function subset(random, variables) {
  return variables.filter(() => random() < 0.6);
}

function randomFactor(random, scope) {
  const made = ones(scope, SIZES);
  for (let i = 0; i < made.values.length; i += 1) made.values[i] = integer(random, 4);
  return made;
}

function repeat(check) {
  const random = generator(3);
  for (let round = 0; round < 60; round += 1) {
    const scope = subset(random, [0, 1, 2, 3, 4]);
    check(random, scope, subset(random, scope));
  }
}

test("a factor has a cell for each combination of states", () => {
  repeat((_, scope) => {
    assert.equal(cellCount(scope, SIZES), [...combinations(scope, SIZES)].length);
    assert.ok(ones(scope, SIZES).values.every((value) => value === 1));
  });
});

test("tables in any order of variables become factors", () => {
  repeat((random, scope) => {
    const order = [...scope].sort(() => random() - 0.5);
    const states = [...combinations(order, SIZES)]; // the last variable of `order` changes fastest
    const values = states.map(() => random());
    const made = fromTable(order, values, SIZES);
    assert.deepEqual(made.scope, scope);
    states.forEach((one, cell) => {
      assert.equal(at(made, one), values[cell]);
    });
  });
});

test("products and quotients are those of the cells", () => {
  repeat((random, scope, smaller) => {
    const [left, right] = [randomFactor(random, scope), randomFactor(random, smaller)];
    const copy = () => ({ scope, values: left.values.slice() });
    const [multiplied, divided] = [copy(), copy()];
    multiplyBy(multiplied, right, SIZES);
    divideBy(divided, right, SIZES);
    for (const states of combinations(scope, SIZES)) {
      assert.equal(at(multiplied, states), at(left, states) * at(right, states));
      const divisor = at(right, states);
      assert.equal(at(divided, states), divisor === 0 ? 0 : at(left, states) / divisor);
    }
  });
});

test("marginals are sums over the other variables", () => {
  repeat((random, scope, smaller) => {
    const factor = randomFactor(random, scope);
    const expected = ones(smaller, SIZES);
    expected.values.fill(0);
    for (const states of combinations(scope, SIZES)) {
      const cell = smaller.reduce((index, one) => index * SIZES[one] + states[one], 0);
      expected.values[cell] += at(factor, states);
    }
    assert.deepEqual(marginal(factor, smaller, SIZES), expected);
  });
});

test("normalising returns the logarithm of the sum", () => {
  const factor = { scope: [1], values: Float64Array.of(1, 2, 5) };
  close(normalise(factor), Math.log(8));
  assert.deepEqual([...factor.values], [0.125, 0.25, 0.625]);
  const zero = { scope: [1], values: new Float64Array(3) };
  assert.equal(normalise(zero), -Infinity);
  assert.deepEqual([...zero.values], [0, 0, 0]);
});
