//! The maximised log-likelihood as a set function, `Σ n ln n` over the cells.

use super::FixedPoint;
use crate::score::discrete::dataset::Dataset;

/// Counts below this are looked up.
const TABLE: u64 = 1 << 16;

/// `Σ n ln n`. The constant terms of the log-likelihood cancel in differences.
pub struct Likelihood {
    unit: f64,
    fixed: FixedPoint,
    table: Vec<i64>,
}

impl Likelihood {
    /// For counts of the given data.
    pub fn new(data: &Dataset) -> Self {
        // Σ n ln n <= N ln N, and >= -1/e for each of the cells, which are at most the rows.
        let total = data.total();
        let fixed = FixedPoint::new(total * libm::log(total).max(1.0) + data.units().len() as f64);
        let mut likelihood = Self { unit: data.unit(), fixed, table: Vec::new() };
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
