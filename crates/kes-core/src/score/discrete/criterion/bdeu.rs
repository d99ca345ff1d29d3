//! Bayesian Dirichlet criterion, equivalent and uniform [Heckerman 1995]:
//! `F(S) = Σ [ln Γ(a + n) − ln Γ(a)]` over the occupied cells, `a = α / Π r`.

use super::{Cells, FixedPoint};
use crate::score::discrete::dataset::Dataset;

/// The logarithm of the marginal likelihood of a saturated model over a set.
pub struct Bdeu {
    unit: f64,
    ln_ess: f64,
    fixed: FixedPoint,
}

impl Bdeu {
    /// For counts of the given data and an equivalent sample size `ess`.
    pub fn new(data: &Dataset, ess: f64) -> Self {
        // The sum of ln Γ(a + n) - ln Γ(1 + a) is at most about M ln M; a cell of weight below 1, which
        // is at least a unit of 2^-60 N, adds less than 64.
        let m = data.total() + ess;
        let fixed = FixedPoint::new(2.0 * m * libm::log(m).max(1.0) + 64.0 * data.units().len() as f64);
        Self { unit: data.unit(), ln_ess: libm::log(ess), fixed }
    }

    /// The sum over the occupied cells. `ln Γ(a)` is taken as `ln Γ(1 + a) − ln a`: with many cells
    /// `a` may be too small for a floating-point number, its logarithm never is.
    #[inline]
    pub fn value(&self, cells: Cells, counts: &[u64]) -> f64 {
        let cell = self.cell(cells);
        self.sum(cells, counts, cell)
    }

    /// The same, with the terms of small counts looked up in a table, which serves as long as sets with
    /// the same number of cells follow each other.
    #[inline]
    pub fn value_by_table(&self, cells: Cells, counts: &[u64], table: &mut CellTable) -> f64 {
        let cell = self.cell(cells);
        if table.cells != cells.number {
            table.cells = cells.number;
            table.terms.clear();
            table.terms.resize(TABLE, UNKNOWN);
        }
        self.sum(cells, counts, |units| match table.terms.get_mut(units as usize) {
            Some(term) if *term != UNKNOWN => *term,
            Some(term) => {
                *term = cell(units);
                *term
            }
            None => cell(units),
        })
    }

    /// `ln Γ(a + n) − ln Γ(1 + a)` of a cell.
    fn cell(&self, cells: Cells) -> impl Fn(u64) -> i64 {
        let a = libm::exp(self.ln_ess - cells.ln);
        let base = libm::lgamma(1.0 + a);
        move |units| self.fixed.encode(libm::lgamma(a + units as f64 * self.unit) - base)
    }

    #[inline]
    fn sum(&self, cells: Cells, counts: &[u64], mut cell: impl FnMut(u64) -> i64) -> f64 {
        let mut occupied = 0u64;
        let mut sum = 0i64;
        for &units in counts.iter().filter(|&&units| units > 0) {
            occupied += 1;
            sum += cell(units);
        }
        self.fixed.decode(sum) + occupied as f64 * (self.ln_ess - cells.ln)
    }
}

/// Counts below this are looked up.
const TABLE: usize = 1 << 12;
/// Stands for a term that was not needed yet; no term is as small.
const UNKNOWN: i64 = i64::MIN;

/// Terms of cells with small counts, for one number of cells.
#[derive(Default)]
pub struct CellTable {
    cells: f64,
    terms: Vec<i64>,
}
