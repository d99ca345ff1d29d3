//! The maximised log-likelihood as a set function, `Σ n ln n` over the cells, with or without a penalty.

use super::fixed_point::FixedPoint;
use super::{Cells, Function, Memo, Rules, tolerance};
use crate::score::bounds::Measure;
use crate::score::discrete::dataset::Dataset;

/// Counts below this are looked up.
const TABLE: u64 = 1 << 16;

/// `Σ n ln n`. The constant terms of the log-likelihood cancel in differences.
pub struct Likelihood {
    unit: f64,
    fixed: FixedPoint,
    table: Vec<i64>,
    /// `τ` of a criterion whose terms are of the order of `N ln N`.
    pub tolerance: f64,
}

impl Likelihood {
    /// For counts of the given data.
    pub fn new(data: &Dataset) -> Self {
        // Σ n ln n <= N ln N, and >= -1/e for each of the cells, which are at most the rows.
        let total = data.total();
        let ln_total = libm::log(total);
        let fixed = FixedPoint::new(total * ln_total.max(1.0) + data.units().len() as f64);
        let tolerance = tolerance(total, ln_total);
        let mut likelihood = Self { unit: data.unit(), fixed, table: Vec::new(), tolerance };
        let looked_up = if data.unit() == 1.0 { (data.total_units() + 1).min(TABLE) } else { 1 };
        likelihood.table = (0..looked_up).map(|n| likelihood.cell(n)).collect();
        likelihood
    }

    /// `n ln n` of one cell.
    fn cell(&self, units: u64) -> i64 {
        let n = units as f64 * self.unit;
        if units == 0 { 0 } else { self.fixed.encode(n * libm::log(n)) }
    }

    /// The sum over the cells.
    #[inline]
    pub fn value(&self, counts: &[u64]) -> f64 {
        let term = |&n: &u64| self.table.get(n as usize).copied().unwrap_or_else(|| self.cell(n));
        self.fixed.decode(counts.iter().map(term).sum())
    }
}

/// The likelihood less a penalty for every cell: in the difference `F(P ∪ y) − F(P)`, for every free
/// parameter.
pub struct Penalised {
    likelihood: Likelihood,
    penalty: f64,
}

impl Penalised {
    /// With the given penalty.
    pub fn new(data: &Dataset, penalty: f64) -> Self {
        Self { likelihood: Likelihood::new(data), penalty }
    }

    /// A set with more cells than a float can represent has a penalty beyond every gain.
    #[inline]
    fn less_penalty(&self, likelihood: f64, cells: Cells) -> f64 {
        if cells.number.is_finite() { likelihood - self.penalty * cells.number } else { f64::NEG_INFINITY }
    }
}

impl Function for Penalised {
    fn value(&self, cells: Cells, counts: &[u64]) -> f64 {
        self.less_penalty(self.likelihood.value(counts), cells)
    }

    fn measure(&self, cells: Cells, counts: &[u64], _memo: &mut Memo) -> Measure {
        let detail = self.likelihood.value(counts);
        Measure { term: self.less_penalty(detail, cells), detail }
    }

    fn rules(&self) -> Rules {
        Rules::Penalised { penalty: self.penalty }
    }

    fn tolerance(&self) -> f64 {
        self.likelihood.tolerance
    }
}
