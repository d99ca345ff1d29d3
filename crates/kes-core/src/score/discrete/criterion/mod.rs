//! Scoring criteria as functions of variable sets.
//!
//! For a score-equivalent criterion the score of a family is a difference of two values of one set
//! function, `s(y | P) = F(P ∪ y) − F(P)`, where `F(S)` needs the cell counts of `S` only. The gain of
//! inserting an edge between `x` and `y` given `C` is `F(Cxy) − F(Cx) − F(Cy) + F(C)`.
//!
//! Sums over cells are taken in [`FixedPoint`], as integers, so that they do not depend on the order
//! of the cells, and logarithms come from `libm`, so that they do not depend on the platform.

mod aic;
mod bdeu;
mod bic;
mod likelihood;

use crate::score::discrete::dataset::Dataset;
use bdeu::Bdeu;
pub use bdeu::CellTable;
use likelihood::Likelihood;

/// Which criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Criterion {
    /// Bayesian information criterion.
    Bic,
    /// Akaike information criterion.
    Aic,
    /// Bayesian Dirichlet, equivalent and uniform, with its equivalent sample size.
    Bdeu {
        /// Equivalent sample size.
        ess: f64,
    },
}

/// The number of cells of a set of variables, occupied or not: the product of their arities.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// The product itself, infinite if it overflows.
    pub number: f64,
    /// Its logarithm, always finite.
    pub ln: f64,
}

impl Cells {
    /// The cells of variables with the given arities.
    pub fn of(arities: impl Iterator<Item = usize>) -> Self {
        let unit = Self { number: 1.0, ln: 0.0 };
        arities.fold(unit, |cells, r| Self {
            number: cells.number * r as f64,
            ln: cells.ln + libm::log(r as f64),
        })
    }
}

/// `F`: from the counts of the cells of a set to its value.
pub enum SetFunction {
    /// Σ n ln n less a penalty per cell (BIC, AIC).
    Penalised {
        /// The sum over the cells.
        likelihood: Likelihood,
        /// What every cell costs.
        penalty: f64,
    },
    /// The Bayesian marginal likelihood.
    Bdeu(Bdeu),
}

impl SetFunction {
    /// The set function of a criterion on given data.
    pub fn new(criterion: Criterion, data: &Dataset) -> Self {
        let penalised = |penalty| Self::Penalised { likelihood: Likelihood::new(data), penalty };
        match criterion {
            Criterion::Bic => penalised(bic::penalty(data.total())),
            Criterion::Aic => penalised(aic::penalty()),
            Criterion::Bdeu { ess } => Self::Bdeu(Bdeu::new(data, ess)),
        }
    }

    /// [`SetFunction::value`], to the bit, with a table for what many sets share.
    #[inline]
    pub fn value_by_table(&self, cells: Cells, counts: &[u64], table: &mut CellTable) -> f64 {
        match self {
            Self::Penalised { .. } => self.value(cells, counts),
            Self::Bdeu(bdeu) => bdeu.value_by_table(cells, counts, table),
        }
    }

    /// `F(S)` from the number of cells of `S` and the counts (in units) of at least all occupied ones.
    #[inline]
    pub fn value(&self, cells: Cells, counts: &[u64]) -> f64 {
        match self {
            Self::Penalised { likelihood, penalty } => likelihood.value(counts) - penalty * cells.number,
            Self::Bdeu(bdeu) => bdeu.value(cells, counts),
        }
    }
}

/// What rounding cannot tell from zero: `τ = 2⁻⁴⁶ M ln M`, with `M = N` (BDeu: `N + ess`), and `ln M` at
/// least 1 (weights may sum to little more than 1).
///
/// Gains up to `τ` are no improvement, and gains or scores tie if they round to the same multiple of
/// it. Every move then raises the score by more than rounding, so that no search can loop.
pub fn tolerance(criterion: Criterion, total: f64) -> f64 {
    let m = match criterion {
        Criterion::Bdeu { ess } => total + ess,
        Criterion::Bic | Criterion::Aic => total,
    };
    libm::exp2(-46.0) * m * libm::log(m).max(1.0)
}

/// Numbers as 64-bit integers, so that sums are exact whatever their order.
#[derive(Clone, Copy, Debug)]
pub struct FixedPoint {
    scale: f64,
}

impl FixedPoint {
    /// A scale for sums whose absolute value stays below `bound`.
    pub fn new(bound: f64) -> Self {
        Self { scale: libm::exp2(61.0 - libm::ceil(libm::log2(bound))) }
    }

    /// The number as an integer.
    #[inline]
    pub fn encode(&self, value: f64) -> i64 {
        libm::rint(value * self.scale) as i64
    }

    /// The integer as a number.
    #[inline]
    pub fn decode(&self, sum: i64) -> f64 {
        sum as f64 / self.scale
    }
}
