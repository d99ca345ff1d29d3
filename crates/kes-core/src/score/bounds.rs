//! Rules that exclude parent sets from all best networks without counting their cells.
//!
//! A family `y | P` is *hopeless* if for every superset `Q ⊇ P` some proper subset of `Q` scores at least
//! as much as a parent set of `y`: then neither `P` nor any superset needs to be examined, because a
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

use super::prior::Prior;
use crate::varset::VarSet;

/// The properties of a set that the rules use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// `F(S)`.
    pub term: f64,
    /// With rules 1 and 2: `Σ n ln n`. With rules 3 and 4: the number of occupied cells. Else of no meaning.
    pub detail: f64,
}

/// The rules that hold for one criterion on given data.
pub enum Bounds {
    /// Rules 1 and 2.
    Penalised {
        /// `p`.
        penalty: f64,
        /// `r_v` of every variable.
        arity: Vec<usize>,
        /// `H(y | V∖y)` of every `y`.
        residual: Vec<f64>,
    },
    /// Rules 3 and 4.
    Occupied {
        /// `r_v` of every variable.
        arity: Vec<usize>,
        /// `H(y | V∖y) − D` of every `y`.
        residual: Vec<f64>,
    },
    /// The rules of a set function to which a prior is added. Dropping `x` from the parents of `y` also loses
    /// the weight of the pair, and a family can gain the positive weights of its pairs.
    Weighted {
        /// Without the prior.
        rules: Box<Bounds>,
        /// The weights.
        prior: Prior,
    },
    /// No rule is known to hold: all families are evaluated.
    None,
}

impl Bounds {
    /// `q(S)`, the number of cells of a set, where a rule uses it.
    pub fn cells<const W: usize>(&self, set: VarSet<W>) -> f64 {
        match self {
            Self::Penalised { arity, .. } => set.iter().map(|v| arity[v] as f64).product(),
            Self::Weighted { rules, .. } => rules.cells(set),
            Self::Occupied { .. } | Self::None => 1.0,
        }
    }

    /// `H(y|P) − H(y | V∖y)`, what more parents can gain at most, from the measures of `P` and of
    /// `P ∪ y`; infinite where no rule uses it.
    #[inline]
    pub fn gain_bound(&self, y: usize, parents: Measure, family: Measure) -> f64 {
        match self {
            Self::Penalised { residual, .. } => parents.detail - family.detail - residual[y],
            Self::Weighted { rules, .. } => rules.gain_bound(y, parents, family),
            Self::Occupied { .. } | Self::None => f64::INFINITY,
        }
    }

    /// Rule 1, from the smaller of the gain bounds of `x` and of `y` given `C` (one of them suffices), and the
    /// cells of `C ∪ {x, y}`.
    #[inline]
    pub fn pair_is_hopeless(&self, gain_bound: f64, x: usize, y: usize, cells: f64) -> bool {
        match self {
            Self::Penalised { penalty, arity, .. } => {
                let common = cells / (arity[x] * arity[y]) as f64;
                gain_bound <= penalty * (arity[x] - 1) as f64 * (arity[y] - 1) as f64 * common
            }
            Self::Weighted { rules, prior } => {
                rules.pair_is_hopeless(gain_bound + prior.pair(x, y), x, y, cells)
            }
            Self::Occupied { .. } | Self::None => false,
        }
    }

    /// Rules 2 to 4: what `y` can score at most with all parents in `P` and possibly others, where `P ∪ y`
    /// has `cells` cells, `P` measures at least as `parents` does, and `P ∪ y` at least as `family`.
    #[inline]
    pub fn ceiling(&self, y: usize, cells: f64, parents: f64, family: f64) -> f64 {
        match self {
            Self::Penalised { penalty, arity, residual } => {
                let cells = cells / arity[y] as f64;
                -residual[y] - penalty * (arity[y] - 1) as f64 * cells
            }
            Self::Occupied { arity, residual } => {
                let cost = libm::log(arity[y] as f64);
                (-cost * family).min(-cost * parents - residual[y])
            }
            Self::Weighted { rules, prior } => rules.ceiling(y, cells, parents, family) + prior.bonus(y),
            Self::None => f64::INFINITY,
        }
    }
}
