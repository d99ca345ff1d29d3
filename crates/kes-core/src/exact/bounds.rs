//! Which parent sets cannot be part of any best network, from less than their counts.
//!
//! A family `y | P` is *hopeless* if for every superset `Q ⊇ P` some proper subset of `Q` scores at least
//! as much as a parent set of `y`: then neither `P` nor any superset need be looked at, because a
//! subset of the parents keeps a network acyclic. All rules below are of that kind. With
//! `H(y|C) = Σ n ln n (C) − Σ n ln n (Cy) ≥ 0`, the conditional entropy times `N`, `q(C)` the cells of `C`,
//! and `p` the penalty of a parameter:
//!
//! 1. **BIC, AIC** ([de Campos 2018], sharpened by what is lost in any case). For `Q ⊇ C ∪ x`, dropping
//!    `x` from `Q` loses `N·I(x; y | Q∖x) = H(y | Q∖x) − H(y | Q) ≤ H(y|C) − H(y | V∖y)` of likelihood, and
//!    likewise at most `H(x|C) − H(x | V∖x)`; it saves a penalty of
//!    `p (r_x−1)(r_y−1) q(Q∖x) ≥ p (r_x−1)(r_y−1) q(C)`. If that is at least the loss, `y | C ∪ x` is
//!    hopeless, and by symmetry so is `x | C ∪ y`.
//! 2. **BIC, AIC** [de Campos & Ji 2011]. The score of `y | Q` is at most `−H(y | V∖y) − p (r_y−1) q(P)`.
//!    If a proper subset of `P` reaches that, `y | P` is hopeless.
//! 3. **BDeu**, whole counts. The score is the sum over the cases, taken one by one in any order, of
//!    `ln (a + m)/(r a + i)`, where `a = α/(r q)`, `i` counts the earlier cases with the same parents and `m`
//!    those of them with the same `y`. No term is above 0, and where `m = 0` it is at most `−ln r`. So the
//!    score of `y | Q` is at most `−ln r` times the occupied cells of `Q ∪ y`, which are at least those of
//!    `P ∪ y` (sharper than [de Campos & Ji 2011], which counts the cells of `P`; see also [Correia 2020]).
//! 4. **BDeu**, whole counts. Take one case from each occupied cell of `Q` first: it costs `ln r`. Given
//!    these, the others have the probability `E Π θ ≤ max Π θ`, the likelihood of what is left with the best
//!    parameters. That is at most what all other variables together leave unexplained, `−H(y | V∖y)`, but for
//!    the cases taken. Within a cell of `V∖y` with counts `n_k`, taking one case of the most frequent
//!    state saves no more than `δ = n H(n) − (n−1) H(n − e_k)`, which is 0 if there is one state only; of each cell of
//!    `Q`, take the case from any cell of `V∖y` in it, so that all together save at most the sum `D` of all `δ`.
//!    So the score is at most `−ln r` times the occupied cells of `P`, less `H(y | V∖y) − D`.

use super::partition::Measure;
use crate::rng::scramble;
use crate::score::discrete::criterion::SetFunction;
use crate::score::discrete::dataset::Dataset;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// The rules for one criterion on given data.
pub enum Bounds {
    /// Rules 1 and 2.
    Penalised {
        /// `p`.
        penalty: f64,
        /// `H(y | V∖y)` of every `y`.
        least_loss: Vec<f64>,
    },
    /// Rules 3 and 4.
    Bdeu {
        /// `H(y | V∖y) − D` of every `y`.
        least_loss: Vec<f64>,
    },
    /// BDeu with weights that are no whole numbers: no rule is known to hold.
    None,
}

impl Bounds {
    /// The rules for `function` on `data`.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(data: &Dataset, function: &SetFunction, threads: usize, stop: &Stop) -> Result<Self, Stopped> {
        let least_losses = |taken| least_losses(data, taken, threads, stop);
        Ok(match function {
            SetFunction::Penalised { penalty, .. } => {
                Self::Penalised { penalty: *penalty, least_loss: least_losses(0)? }
            }
            SetFunction::Bdeu(_) if data.unit() == 1.0 => Self::Bdeu { least_loss: least_losses(1)? },
            SetFunction::Bdeu(_) => Self::None,
        })
    }

    /// `H(y|P) − H(y | V∖y)`, what more parents can gain at most, from the measures of `P` and of
    /// `P ∪ y`; infinite where no rule uses it.
    #[inline]
    pub fn promise(&self, y: usize, parents: Measure, family: Measure) -> f64 {
        match self {
            Self::Penalised { least_loss, .. } => parents.detail - family.detail - least_loss[y],
            Self::Bdeu { .. } | Self::None => f64::INFINITY,
        }
    }

    /// Rule 1, from the smaller of the promises of `x` and of `y` given `C`, of which one suffices.
    #[inline]
    pub fn pair_is_hopeless(&self, promise: f64, arity_x: usize, arity_y: usize, cells: f64) -> bool {
        match self {
            Self::Penalised { penalty, .. } => {
                promise <= penalty * (arity_x - 1) as f64 * (arity_y - 1) as f64 * cells
            }
            Self::Bdeu { .. } | Self::None => false,
        }
    }

    /// Rules 2 to 4: what `y` can score at most with all parents in `P` and possibly others, where `P`
    /// has `cells` cells, measures at least as `parents` does, and `P ∪ y` at least as `family`.
    #[inline]
    pub fn ceiling(&self, y: usize, arity: usize, cells: f64, parents: f64, family: f64) -> f64 {
        match self {
            Self::Penalised { penalty, least_loss } => -least_loss[y] - penalty * (arity - 1) as f64 * cells,
            Self::Bdeu { least_loss } => {
                let cost = libm::log(arity as f64);
                (-cost * family).min(-cost * parents - least_loss[y])
            }
            Self::None => 0.0,
        }
    }
}

/// `H(y | V∖y)` of every `y`, with `taken` cases of the most frequent state of `y` left out of each cell.
/// Never more than it is, whatever the rounding: otherwise the bounds would be too sharp.
fn least_losses(data: &Dataset, taken: u64, threads: usize, stop: &Stop) -> Result<Vec<f64>, Stopped> {
    // A row is told by the sum of a number for each of its states; without y, by what is left of it.
    let number = |v: usize, row: usize| scramble((v as u64) << 16 | u64::from(data.codes(v)[row]));
    let mut sums = vec![0u64; data.units().len()];
    for v in 0..data.variables() {
        stop.check()?;
        sums.iter_mut().enumerate().for_each(|(row, sum)| *sum = sum.wrapping_add(number(v, row)));
    }
    let loss = |cell: &[usize], y: usize| {
        let mut counts = vec![0; data.arity()[y]];
        cell.iter().for_each(|&row| counts[usize::from(data.codes(y)[row])] += data.units()[row]);
        if let Some(most) = counts.iter_mut().max() {
            *most -= taken;
        }
        let sizes: Vec<f64> = counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * data.unit()).collect();
        let all: f64 = sizes.iter().sum();
        sizes.iter().map(|n| n * libm::log(all / n)).sum::<f64>()
    };
    map(&mut vec![Vec::new(); threads], data.variables(), stop, |rows: &mut Vec<(u64, usize)>, y| {
        rows.clear();
        rows.extend(sums.iter().enumerate().map(|(row, sum)| (sum.wrapping_sub(number(y, row)), row)));
        rows.sort_unstable();
        let mut sum = 0.0;
        for alike in rows.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let mut left: Vec<usize> = alike.iter().map(|&(_, row)| row).collect();
            while let Some(&first) = left.first() {
                // Rows with one sum are in one cell, but for an accident.
                let same = |v: usize, row: usize| v == y || data.codes(v)[row] == data.codes(v)[first];
                let (cell, others): (Vec<usize>, Vec<usize>) =
                    left.iter().partition(|&&row| (0..data.variables()).all(|v| same(v, row)));
                sum += loss(&cell, y);
                left = others;
            }
        }
        Ok(sum * (1.0 - 1e-9))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::discrete::criterion::Criterion;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// `H(y | V∖y)` by its definition, over the cells of the other variables.
        #[test]
        fn losses_are_conditional_entropies(rows in prop::collection::vec((0..3i32, 0..2i32, 0..4i32), 1..60)) {
            let columns = [0, 1, 2].map(|v| rows.iter().map(|&(a, b, c)| [a, b, c][v]).collect::<Vec<i32>>());
            let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
            let data = Dataset::new(&slices, &[3, 2, 4], None).unwrap();
            let found = least_losses(&data, 0, 2, &Stop::default()).unwrap();
            for (y, found) in found.into_iter().enumerate() {
                let (mut cells, mut joint) = (BTreeMap::<_, f64>::new(), BTreeMap::<_, f64>::new());
                for row in rows.iter().map(|&(a, b, c)| [a, b, c]) {
                    let others: Vec<i32> = (0..3).filter(|&v| v != y).map(|v| row[v]).collect();
                    *cells.entry(others.clone()).or_default() += 1.0;
                    *joint.entry((others, row[y])).or_default() += 1.0;
                }
                let expected: f64 = joint.iter().map(|((others, _), n)| n * (cells[others] / n).ln()).sum();
                prop_assert!((found - expected).abs() < 1e-6 && found <= expected);
            }
        }
    }

    #[test]
    fn what_no_parents_can_explain_is_left() {
        // Given b, a is 3:1 where b = 0 and known where b = 1; given a, b is 3:2 where a = 0.
        let (a, b) = ([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]);
        let data = Dataset::new(&[&a, &b], &[2, 2], None).unwrap();
        let of = |criterion| {
            let function = SetFunction::new(criterion, &data);
            Bounds::new(&data, &function, 2, &Stop::default()).unwrap()
        };
        let entropy = |m: f64, n: f64| m * ((m + n) / m).ln() + n * ((m + n) / n).ln();
        let close = |found: &[f64], expected: [f64; 2]| {
            found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6)
        };
        let Bounds::Penalised { least_loss, .. } = of(Criterion::Bic) else { panic!() };
        assert!(close(&least_loss, [entropy(3.0, 1.0), entropy(3.0, 2.0)]));
        let Bounds::Bdeu { least_loss } = of(Criterion::Bdeu { ess: 1.0 }) else { panic!() };
        assert!(close(&least_loss, [entropy(2.0, 1.0), entropy(2.0, 2.0)]));
    }
}
