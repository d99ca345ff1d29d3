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
use crate::score::discrete::criterion::SetFunction;
use crate::score::discrete::dataset::Dataset;

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
    pub fn new(data: &Dataset, function: &SetFunction) -> Self {
        match function {
            SetFunction::Penalised { penalty, .. } => {
                Self::Penalised { penalty: *penalty, least_loss: least_losses(data, 0) }
            }
            SetFunction::Bdeu(_) if data.unit() == 1.0 => Self::Bdeu { least_loss: least_losses(data, 1) },
            SetFunction::Bdeu(_) => Self::None,
        }
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
fn least_losses(data: &Dataset, taken: u64) -> Vec<f64> {
    let rows: Vec<usize> = (0..data.units().len()).collect();
    let loss = |y: usize| {
        let key =
            |row: usize| (0..data.variables()).filter(move |&v| v != y).map(move |v| data.codes(v)[row]);
        let mut rows = rows.clone();
        rows.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let cells = rows.chunk_by(|&a, &b| key(a).eq(key(b))).filter(|cell| cell.len() > 1);
        let loss = |cell: &[usize]| {
            let mut counts = vec![0; data.arity()[y]];
            cell.iter().for_each(|&row| counts[usize::from(data.codes(y)[row])] += data.units()[row]);
            if let Some(most) = counts.iter_mut().max() {
                *most -= taken;
            }
            let sizes: Vec<f64> =
                counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * data.unit()).collect();
            let all: f64 = sizes.iter().sum();
            sizes.iter().map(|n| n * libm::log(all / n)).sum::<f64>()
        };
        cells.map(loss).sum::<f64>() * (1.0 - 1e-9)
    };
    (0..data.variables()).map(loss).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::discrete::criterion::Criterion;

    #[test]
    fn what_no_parents_can_explain_is_left() {
        // Given b, a is 3:1 where b = 0 and known where b = 1; given a, b is 3:2 where a = 0.
        let (a, b) = ([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]);
        let data = Dataset::new(&[&a, &b], &[2, 2], None).unwrap();
        let of = |criterion| Bounds::new(&data, &SetFunction::new(criterion, &data));
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
