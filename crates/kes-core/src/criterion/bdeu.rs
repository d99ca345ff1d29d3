//! Bayesian Dirichlet criterion, equivalent and uniform [Heckerman 1995]:
//! `F(S) = Σ [ln Γ(a + n) − ln Γ(a)]` over the occupied cells, `a = α / Π r`.

use super::{Cells, FixedPoint};
use crate::dataset::Dataset;

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
        let ln_a = self.ln_ess - cells.ln;
        let a = libm::exp(ln_a);
        let base = libm::lgamma(1.0 + a);
        let mut occupied = 0u64;
        let mut sum = 0i64;
        for &units in counts.iter().filter(|&&units| units > 0) {
            occupied += 1;
            sum += self.fixed.encode(libm::lgamma(a + units as f64 * self.unit) - base);
        }
        self.fixed.decode(sum) + occupied as f64 * ln_a
    }
}
