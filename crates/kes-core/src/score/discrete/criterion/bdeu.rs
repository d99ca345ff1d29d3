//! Bayesian Dirichlet criterion, equivalent and uniform [Heckerman 1995]: the logarithm of the marginal
//! likelihood of a saturated model over a set,
//! `F(S) = Σ [ln Γ(a + n) − ln Γ(a)]` over the occupied cells, `a = α / Π r`, `α` the equivalent sample size.
//!
//! # Any `α`
//! A value is of the order of `N ln(N + α)`, whatever `α`, but `ln Γ(a)` is not: its rounding would be that
//! of `α ln α`. So there are two ways to the difference of a cell.
//! * `a < 64`: `ln Γ(a + n) − ln Γ(1 + a) + ln a`. Here `ln Γ(1 + a)` is at most 206, so its rounding is
//!   that of a small number, and `ln a = ln α − ln Π r` never underflows, as `a` itself may with many cells.
//! * `a ≥ 64`: with Stirling's series `ln Γ(x) = (x − ½) ln x − x + ½ ln 2π + s(x)`,
//!   `s(x) = 1/12x − 1/360x³ + 1/1260x⁵ − …`, the difference is
//!   `n ln(a + n) + (a − ½) ln(1 + n/a) − n + s(a + n) − s(a)`. No term is larger than the result by more
//!   than a small factor, and three terms of the series are exact to 10⁻¹⁶.
//!
//! `τ` follows the terms: `M = N + min(N, α)` and `ln M` is `ln(N + α)`. For `α` up to `N` that is the usual
//! `M = N + α`; a larger `α` enlarges the terms only through the logarithm. As `α` grows all
//! models come to predict alike, and gains vanish like `N²/α`; where none is above `τ` any more (`α` beyond
//! about `10⁹ N`), every model ties with the one the search starts from. A small `α` makes `−ln a` large, which
//! every occupied cell has once; so `ln M` is at least `−ln α`, and `M` at least the number of distinct rows,
//! which real weights may leave below 1 each.

use super::fixed_point::FixedPoint;
use super::{Cells, Description, Function, Memo, Parameters, Rules, tolerance};
use crate::Error;
use crate::score::bounds::Measure;
use crate::score::discrete::dataset::Dataset;

pub const DESCRIPTION: Description = Description {
    name: "bdeu",
    title: "Bayesian Dirichlet criterion, equivalent and uniform",
    parameters: &["ess"],
    penalty: None,
    on: |data, Parameters { ess }| Ok(Box::new(Bdeu::new(data, ess)?)),
};

/// The largest equivalent sample size, far from overflow.
const MOST: f64 = 1e300;
/// From here on `ln Γ` is taken by differences.
const LARGE: f64 = 64.0;

/// The set function.
struct Bdeu {
    unit: f64,
    ess: f64,
    ln_ess: f64,
    fixed: FixedPoint,
    tolerance: f64,
}

impl Bdeu {
    /// For counts of the given data and an equivalent sample size `ess`.
    fn new(data: &Dataset, ess: f64) -> Result<Self, Error> {
        if !(ess > 0.0 && ess <= MOST) {
            let range = format!("ess must be greater than 0 and at most {MOST:e}, not {ess}");
            return Err(Error::Setting(range));
        }
        let (m, ln_m) = (data.total() + ess.min(data.total()), libm::log(data.total() + ess));
        // The sum of ln Γ(a + n) - ln Γ(1 + a) is at most about N ln(N + α); a cell of weight below 1, which
        // is at least a unit of 2^-60 N, adds less than 64, or than ln(1 + a) if that is more.
        let bound = 2.0 * m * ln_m.max(1.0) + ln_m.max(64.0) * data.units().len() as f64;
        Ok(Self {
            unit: data.unit(),
            ess,
            ln_ess: libm::log(ess),
            fixed: FixedPoint::new(bound),
            tolerance: tolerance(m.max(data.units().len() as f64), ln_m.max(-libm::log(ess))),
        })
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

/// Computation of `ln Γ(a + n) − ln Γ(a)` of the cells of a set.
enum Cell {
    /// `a < 64`: the same `ln a` belongs to every occupied cell and is left to the end.
    Small { a: f64, ln_a: f64, ln_gamma: f64 },
    /// `a ≥ 64`.
    Large { a: f64 },
}

impl Cell {
    fn new(bdeu: &Bdeu, cells: Cells) -> Self {
        let ln_a = bdeu.ln_ess - cells.ln;
        let a = libm::exp(ln_a);
        if a < LARGE {
            Self::Small { a, ln_a, ln_gamma: libm::lgamma(1.0 + a) }
        } else {
            Self::Large { a: bdeu.ess / cells.number } // not by the logarithm, whose rounding would grow
        }
    }

    #[inline]
    fn term(&self, n: f64) -> f64 {
        match *self {
            Self::Small { a, ln_gamma, .. } => libm::lgamma(a + n) - ln_gamma,
            Self::Large { a } => ln_rising(a, n),
        }
    }

    /// The remaining addend of every occupied cell.
    fn rest(&self) -> f64 {
        match *self {
            Self::Small { ln_a, .. } => ln_a,
            Self::Large { .. } => 0.0,
        }
    }
}

/// `ln Γ(a + n) − ln Γ(a)` for large `a`.
fn ln_rising(a: f64, n: f64) -> f64 {
    let series = |x: f64| (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * x * x)) / (x * x)) / x;
    n * libm::log(a + n) + ((a - 0.5) * libm::log1p(n / a) - n) + (series(a + n) - series(a))
}

impl Function for Bdeu {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `Γ(a + n)/Γ(a) = a (a + 1) ... (a + n − 1)`: a sum of logarithms, none of which cancels.
    #[test]
    fn the_rising_factorial_is_the_product_it_is() {
        for exponent in (2..=300).step_by(7) {
            let a = 10f64.powi(exponent);
            for n in [1u32, 2, 5, 100, 3000] {
                let direct: f64 = (0..n).map(|i| (a + f64::from(i)).ln()).sum();
                let found = ln_rising(a, f64::from(n));
                // The sum rounds n times.
                assert!((found / direct - 1.0).abs() < 1e-16 * f64::from(n + 10), "a = {a}, n = {n}");
            }
        }
    }

    /// Where one way ends and the other begins, both give the same.
    #[test]
    fn the_two_ways_meet() {
        for n in [1e-9, 0.3, 1.0, 17.0, 1e6] {
            let other = libm::lgamma(LARGE + n) - libm::lgamma(LARGE);
            assert!((ln_rising(LARGE, n) / other - 1.0).abs() < if n < 0.1 { 1e-4 } else { 1e-12 });
        }
    }

    /// As `α` grows every cell becomes as probable as any other: a case costs `ln Π r`, and no more.
    #[test]
    fn a_huge_sample_size_makes_all_alike() {
        let data = Dataset::new(&[&[0, 1, 1, 2], &[0, 1, 0, 1]], &[3, 2], None).unwrap();
        let cells = Cells { number: 6.0, ln: 6f64.ln() };
        for ess in [1e15, 1e30, MOST] {
            let bdeu = Bdeu::new(&data, ess).unwrap();
            let cost = bdeu.value(cells, &[1, 2, 0, 1, 0, 0]) - bdeu.value(Cells::ONE, &[4]);
            assert!((cost / (-4.0 * 6f64.ln()) - 1.0).abs() < 1e-12);
            assert!(bdeu.tolerance < 1e-9);
        }
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        let data = Dataset::new(&[&[0, 1]], &[2], None).unwrap();
        for ess in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e300] {
            let error = Bdeu::new(&data, ess).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.starts_with("ess must be greater than 0 and at most 1e300"), "{error}");
        }
    }
}
