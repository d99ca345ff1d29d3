//! The single step of all inference: multiply two tables and sum over some of their variables.
//!
//! `out[o] += a[i]·b[j]` for all configurations of the variables, where `i`, `j` and `o` advance by a stride for
//! each variable; a stride of 0 stands for a variable that a table does not mention. Probabilities are multiplied
//! as they are, which is fast; where their range exceeds that of floats, as logarithms.

/// A variable, or several in a row that all tables have side by side: its states, and the strides of the tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Number of states.
    pub size: usize,
    /// Stride in the first factor.
    pub a: usize,
    /// Stride in the second factor.
    pub b: usize,
    /// Stride in the result; 0 to sum over the variable.
    pub out: usize,
}

/// Appends an axis; one that continues the last in all tables is made one with it.
pub fn push(axes: &mut Vec<Axis>, axis: Axis) {
    if axis.size == 1 {
        return;
    }
    match axes.last_mut() {
        Some(last)
            if last.a == axis.a * axis.size
                && last.b == axis.b * axis.size
                && last.out == axis.out * axis.size =>
        {
            *last = Axis { size: last.size * axis.size, ..axis };
        }
        _ => axes.push(axis),
    }
}

/// The cells that a step looks at.
pub fn cells(axes: &[Axis]) -> f64 {
    axes.iter().map(|axis| axis.size as f64).product()
}

/// Adds the products of two tables to a third.
pub fn multiply_add(out: &mut [f64], a: &[f64], b: &[f64], axes: &[Axis]) {
    let Some((first, rest)) = axes.split_first() else {
        out[0] += a[0] * b[0];
        return;
    };
    if rest.is_empty() {
        return innermost(out, a, b, *first);
    }
    for state in 0..first.size {
        multiply_add(&mut out[state * first.out..], &a[state * first.a..], &b[state * first.b..], rest);
    }
}

#[inline]
fn innermost(out: &mut [f64], a: &[f64], b: &[f64], axis: Axis) {
    let n = axis.size;
    match (axis.a, axis.b, axis.out) {
        (1, 1, 1) => {
            for ((out, a), b) in out[..n].iter_mut().zip(&a[..n]).zip(&b[..n]) {
                *out += a * b;
            }
        }
        (1, 0, 1) => out[..n].iter_mut().zip(&a[..n]).for_each(|(out, a)| *out += a * b[0]),
        (0, 1, 1) => out[..n].iter_mut().zip(&b[..n]).for_each(|(out, b)| *out += a[0] * b),
        _ => {
            for state in 0..n {
                out[state * axis.out] += a[state * axis.a] * b[state * axis.b];
            }
        }
    }
}

/// Calls `visit(o, i, j)` with the places of the three tables, for all configurations.
fn each(axes: &[Axis], at: (usize, usize, usize), visit: &mut impl FnMut(usize, usize, usize)) {
    let Some((first, rest)) = axes.split_first() else {
        return visit(at.0, at.1, at.2);
    };
    for state in 0..first.size {
        each(rest, (at.0 + state * first.out, at.1 + state * first.a, at.2 + state * first.b), visit);
    }
}

/// The same with logarithms: `out[o] = ln Σ exp(a(i) + b(j))`.
pub fn log_sum(out: &mut [f64], a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64, axes: &[Axis]) {
    out.fill(f64::NEG_INFINITY);
    each(axes, (0, 0, 0), &mut |o, i, j| out[o] = out[o].max(a(i) + b(j)));
    let mut sums = vec![0.0; out.len()];
    each(axes, (0, 0, 0), &mut |o, i, j| {
        if out[o] > f64::NEG_INFINITY {
            sums[o] += (a(i) + b(j) - out[o]).exp();
        }
    });
    for (out, sum) in out.iter_mut().zip(sums) {
        if sum > 0.0 {
            *out += f64::ln(sum);
        }
    }
}
