//! Bayesian Dirichlet criterion, equivalent and uniform [Heckerman 1995]: the logarithm of the marginal
//! likelihood of a saturated model over a set,
//! `F(S) = Σ [ln Γ(a + n) − ln Γ(a)]` over the occupied cells, `a = α / Π r`, `α` the equivalent sample size.

use super::fixed_point::FixedPoint;
use super::{Cells, Description, Memo, Parameters, Rules, SetFunction, tolerance};
use crate::score::bounds::Measure;
use crate::score::discrete::dataset::Dataset;

pub const DESCRIPTION: Description = Description {
    name: "bdeu",
    title: "Bayesian Dirichlet criterion, equivalent and uniform",
    parameters: &["ess"],
    penalty: None,
    has_rules: true,
    on: |data, Parameters { ess }| Ok(Box::new(Bdeu::new(data, ess))),
};

/// The set function.
struct Bdeu {
    unit: f64,
    ln_ess: f64,
    fixed: FixedPoint,
    tolerance: f64,
}

impl Bdeu {
    /// For counts of the given data and an equivalent sample size `ess`.
    fn new(data: &Dataset, ess: f64) -> Self {
        // The sum of ln Γ(a + n) - ln Γ(1 + a) is at most about M ln M; a cell of weight below 1, which
        // is at least a unit of 2^-60 N, adds less than 64.
        let m = data.total() + ess;
        let ln_m = libm::log(m);
        let bound = 2.0 * m * ln_m.max(1.0) + 64.0 * data.units().len() as f64;
        Self {
            unit: data.unit(),
            ln_ess: libm::log(ess),
            fixed: FixedPoint::new(bound),
            tolerance: tolerance(m, ln_m),
        }
    }

    /// The sum over the occupied cells, whose number comes with it.
    #[inline]
    fn sum(&self, cells: Cells, counts: &[u64], mut term: impl FnMut(u64, &Cell) -> i64) -> (f64, u64) {
        let cell = Cell::new(self, cells);
        let mut occupied = 0u64;
        let mut sum = 0i64;
        for &units in counts.iter().filter(|&&units| units > 0) {
            occupied += 1;
            sum += term(units, &cell);
        }
        (self.fixed.decode(sum) + occupied as f64 * cell.rest(), occupied)
    }

    fn encode(&self, cell: &Cell, units: u64) -> i64 {
        self.fixed.encode(cell.term(units as f64 * self.unit))
    }
}

/// `ln Γ(a + n) − ln Γ(a)`, taken as `ln Γ(a + n) − ln Γ(1 + a) + ln a`: with many cells `a` may be too small
/// for a floating-point number, its logarithm never is.
struct Cell {
    a: f64,
    ln_a: f64,
    ln_gamma: f64,
}

impl Cell {
    fn new(bdeu: &Bdeu, cells: Cells) -> Self {
        let ln_a = bdeu.ln_ess - cells.ln;
        let a = libm::exp(ln_a);
        Self { a, ln_a, ln_gamma: libm::lgamma(1.0 + a) }
    }

    #[inline]
    fn term(&self, n: f64) -> f64 {
        libm::lgamma(self.a + n) - self.ln_gamma
    }

    /// What is left to add for every occupied cell.
    fn rest(&self) -> f64 {
        self.ln_a
    }
}

impl SetFunction for Bdeu {
    fn value(&self, cells: Cells, counts: &[u64]) -> f64 {
        self.sum(cells, counts, |units, cell| self.encode(cell, units)).0
    }

    fn measure(&self, cells: Cells, counts: &[u64], memo: &mut Memo) -> Measure {
        let memo = memo.for_cells(cells.number);
        let (term, occupied) =
            self.sum(cells, counts, |units, cell| memo.term(units, |units| self.encode(cell, units)));
        Measure { term, detail: occupied as f64 }
    }

    /// They are proven for whole counts only.
    fn rules(&self) -> Rules {
        if self.unit == 1.0 { Rules::Occupied } else { Rules::None }
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }
}
