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
//! 3. **BDeu**, whole counts (sharper than [de Campos & Ji 2011], in the spirit of
//!    [Correia 2020]). The score is the sum over the cases, taken one by one, of `ln (a + m)/(r a + i)`, where
//!    `a = α/(r q)`, `i` counts the earlier cases with the same parents and `m` those of them with the same
//!    `y`. No such term is above 0, and the first case of each occupied cell of `Q ∪ y` has `m = 0`,
//!    so that its term is at most `−ln r`. The cells of `Q ∪ y` are at least as many as those of `P ∪ y`.
//!    So the score is at most `−ln r_y` times the occupied cells of `P ∪ y`.

use super::partition::{Measure, Measuring};
use crate::criterion::SetFunction;
use crate::dataset::Dataset;
use crate::varset::VarSet;

/// The rules for one criterion on given data.
pub enum Bounds {
    /// Rules 1 and 2.
    Penalised {
        /// `p`.
        penalty: f64,
        /// `H(y | V∖y)` of every `y`.
        least_loss: Vec<f64>,
    },
    /// Rule 3, if the counts are whole numbers.
    Bdeu {
        /// Are they?
        whole: bool,
    },
}

impl Bounds {
    /// The rules for `function` on `data`.
    pub fn new<const W: usize>(data: &Dataset, function: &SetFunction) -> Self {
        let SetFunction::Penalised { penalty, .. } = function else {
            return Self::Bdeu { whole: data.unit() == 1.0 };
        };
        let all = VarSet::<W>::first_n(data.variables());
        let mut measuring = Measuring::new(data, function);
        let together = measuring.measure(all).detail;
        // Never below 0, whatever the rounding: the bound is only valid if it is not too sharp.
        let least = |y| (measuring.measure(all.without(y)).detail - together).max(0.0);
        Self::Penalised { penalty: *penalty, least_loss: (0..data.variables()).map(least).collect() }
    }

    /// `H(y|P) − H(y | V∖y)`, what more parents can gain at most, from the measures of `P` and of
    /// `P ∪ y`; infinite where no rule uses it.
    #[inline]
    pub fn promise(&self, y: usize, parents: Measure, family: Measure) -> f64 {
        match self {
            Self::Penalised { least_loss, .. } => parents.detail - family.detail - least_loss[y],
            Self::Bdeu { .. } => f64::INFINITY,
        }
    }

    /// Rule 1, from the smaller of the promises of `x` and of `y` given `C`, of which one suffices.
    #[inline]
    pub fn pair_is_hopeless(&self, promise: f64, arity_x: usize, arity_y: usize, cells: f64) -> bool {
        match self {
            Self::Penalised { penalty, .. } => {
                promise <= penalty * (arity_x - 1) as f64 * (arity_y - 1) as f64 * cells
            }
            Self::Bdeu { .. } => false,
        }
    }

    /// Rules 2 and 3: what `y` can score at most with all parents in `P` and possibly others, where `P`
    /// has `cells` cells, and `P ∪ y` measures at least as `family` does.
    #[inline]
    pub fn ceiling(&self, y: usize, arity: usize, cells: f64, family: Measure) -> f64 {
        match self {
            Self::Penalised { penalty, least_loss } => -least_loss[y] - penalty * (arity - 1) as f64 * cells,
            Self::Bdeu { whole: true } => -libm::log(arity as f64) * family.detail,
            Self::Bdeu { whole: false } => 0.0,
        }
    }
}
