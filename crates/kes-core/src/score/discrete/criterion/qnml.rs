//! Quotient normalised maximum likelihood [Silander 2018]: `F(S) = Σ n ln n − ln C(N, Π r)`.
//!
//! `C(N, K)`, the *regret* of the multinomial distribution with `K` cells, is the sum of the maximised
//! likelihoods of all tables of `N` cases, so that `Π (n/N)^n / C(N, K)` is a distribution: the one whose
//! code is, at worst, longer than the best in hindsight by as little as possible. A family is coded
//! by the quotient of two such distributions, over `P ∪ y` and over `P`. There is no parameter to choose.
//!
//! # The regret
//! `C(N, 1) = 1`; `C(N, 2) = Σ_k N!/((N−k)! N^k)`, where few terms matter; and
//! `C(N, K + 2) = C(N, K + 1) + N/K · C(N, K)` [Kontkanen & Myllymäki 2007]. All terms are positive, so
//! nothing cancels. Above [`EXACT`] cells it is the approximation of [Szpankowski & Weinberger 2012],
//! with `α = K/N` and `c = ½ + ½ √(1 + 4/α)`,
//!
//! `ln C ≈ N (ln α + (α + 2) ln c − 1/c) − ½ ln(c + 2/α)`,
//!
//! whose error falls with `1/K`: it is less than `4·10⁻⁶` from there on, whatever `N`, and the regret still
//! rises from each `K` to the next. `N` is rounded to a whole number, since tables are counted.

use super::likelihood::Likelihood;
use super::{Cells, Description, Function};
use crate::score::discrete::dataset::Dataset;

pub const DESCRIPTION: Description = Description {
    name: "qnml",
    title: "quotient normalised maximum likelihood",
    parameters: &[],
    penalty: None,
    on: |data, _| Ok(Box::new(Qnml::new(data))),
};

/// Regrets of up to this many cells are exact.
const EXACT: usize = 1 << 16;
/// Up to this many cases the sum for two cells is taken as it stands; then its expansion is exact.
const SUMMED: f64 = 1e6;

/// The set function.
struct Qnml {
    likelihood: Likelihood,
    regret: Regret,
}

impl Qnml {
    fn new(data: &Dataset) -> Self {
        // No set has more cells than all variables together.
        let cells: f64 = data.arity().iter().map(|&r| r as f64).product();
        let regret = Regret::new(data.total(), cells.min(EXACT as f64) as usize);
        Self { likelihood: Likelihood::new(data), regret }
    }
}

impl Function for Qnml {
    fn value(&self, cells: Cells, counts: &[u64]) -> f64 {
        self.likelihood.value(counts) - self.regret.ln(cells)
    }

    fn tolerance(&self) -> f64 {
        self.likelihood.tolerance
    }
}

/// `ln C(N, K)` for one `N`.
struct Regret {
    cases: f64,
    /// For `K` from 0 (which no set has) to as many as are exact and needed.
    table: Vec<f64>,
}

impl Regret {
    /// For a number of cases, exact up to this many cells.
    fn new(cases: f64, exact: usize) -> Self {
        let cases = libm::round(cases).max(1.0);
        // C(N, K) and C(N, K + 1), in units of 2^exponent.
        let (mut here, mut next, mut exponent) = (1.0, of_two_cells(cases), 0.0);
        let mut table = vec![0.0];
        for cells in 1..=exact {
            table.push(libm::log(here) + exponent * std::f64::consts::LN_2);
            (here, next) = (next, next + cases / cells as f64 * here);
            if next > libm::exp2(512.0) {
                (here, next) = (here * libm::exp2(-512.0), next * libm::exp2(-512.0));
                exponent += 512.0;
            }
        }
        Self { cases, table }
    }

    fn ln(&self, cells: Cells) -> f64 {
        // Numbers of cells beyond 2^53 are not whole, but far beyond any table.
        self.table.get(cells.number as usize).copied().unwrap_or_else(|| self.approximate(cells))
    }

    /// The approximation. With `α c² = 1 + α c`, which follows from the definition of `c`, it is
    /// `N (ln(1 + α c) + α ln c − 1/c) − ½ ln(c + 2/α)`, where nothing large cancels.
    fn approximate(&self, cells: Cells) -> f64 {
        let alpha = cells.number / self.cases;
        if alpha > libm::exp2(60.0) {
            return self.cases * (cells.ln - libm::log(self.cases)); // all that is left of it
        }
        let above_one = 2.0 / alpha / (1.0 + libm::sqrt(1.0 + 4.0 / alpha)); // c - 1
        let c = 1.0 + above_one;
        self.cases * (libm::log1p(alpha * c) + alpha * libm::log1p(above_one) - 1.0 / c)
            - 0.5 * libm::log(c + 2.0 / alpha)
    }
}

/// `C(N, 2) = 1 + Q(N)`, with Ramanujan's `Q(N) = 1 + (N−1)/N + (N−1)(N−2)/N² + …`, or its expansion
/// [Knuth 1997, section 1.2.11.3].
fn of_two_cells(n: f64) -> f64 {
    if n > SUMMED {
        let root = libm::sqrt(std::f64::consts::FRAC_PI_2 * n);
        return 2.0 / 3.0 + root * (1.0 + (1.0 / 12.0 + 1.0 / (288.0 * n)) / n) - 4.0 / (135.0 * n);
    }
    let (mut sum, mut term, mut k) = (1.0, 1.0, 0.0);
    while k < n && term > 1e-18 {
        sum += term;
        k += 1.0;
        term *= (n - k) / n;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(number: usize) -> Cells {
        Cells { number: number as f64, ln: (number as f64).ln() }
    }

    /// The sum over all tables of `n` cases in `k` cells, as the definition says: the logarithms of
    /// `n! Π (m/n)^m / m!`.
    fn by_definition(n: u32, k: u32) -> f64 {
        fn tables(left: u32, k: u32, n: u32) -> f64 {
            let weight = |m: u32| {
                let factorial: f64 = (1..=m).map(f64::from).product();
                (f64::from(m) / f64::from(n)).powi(m as i32) / factorial
            };
            match k {
                1 => weight(left),
                _ => (0..=left).map(|m| weight(m) * tables(left - m, k - 1, n)).sum(),
            }
        }
        let factorial: f64 = (1..=n).map(f64::from).product();
        (factorial * tables(n, k, n)).ln()
    }

    #[test]
    fn regrets_are_the_sums_over_all_tables() {
        for n in 1..=12 {
            let regret = Regret::new(f64::from(n), 6);
            for k in 1..=6 {
                let found = regret.ln(cells(k as usize));
                assert!((found - by_definition(n, k)).abs() < 1e-12, "C({n}, {k})");
            }
        }
    }

    /// Beyond the sum, its expansion; the sum is cheap enough to go on for the comparison.
    #[test]
    fn two_cells_have_one_regret_by_either_way() {
        let sum = |n: f64| {
            let terms = std::iter::successors(Some((1.0, 0.0)), |&(term, k)| {
                Some((term * (n - k - 1.0) / n, k + 1.0)).filter(|next| next.0 > 1e-18)
            });
            1.0 + terms.map(|(term, _)| term).sum::<f64>()
        };
        for n in [SUMMED, SUMMED + 1.0, 3e7] {
            assert!((of_two_cells(n) / sum(n) - 1.0).abs() < 1e-12);
        }
    }

    /// The regret rises with the number of cells, across the end of the table too, and there the
    /// approximation is as good as the documentation says.
    #[test]
    fn the_approximation_takes_over_smoothly() {
        for n in [1.0, 2.0, 30.0, 1e3, 2e4, 1e6, 1e9] {
            let regret = Regret::new(n, EXACT);
            let further = Regret::new(n, 2 * EXACT);
            let at = |k| regret.ln(cells(k));
            assert!((1..EXACT + 100).all(|k| at(k) < at(k + 1)), "not monotone for N = {n}");
            for k in [EXACT + 1, 3 * EXACT / 2, 2 * EXACT] {
                let error = at(k) - further.ln(cells(k));
                assert!(error.abs() < 4e-6, "{error} for N = {n}, K = {k}");
            }
        }
    }

    /// With far more cells than cases no two cases need share one: `C → (K/N)^N`, however large `K` is.
    #[test]
    fn huge_sets_have_finite_regrets() {
        let regret = Regret::new(500.0, EXACT);
        let huge = |ln: f64| regret.ln(Cells { number: libm::exp(ln), ln });
        for ln in [60.0, 690.0, 5000.0] {
            assert!((huge(ln) / (500.0 * (ln - 500f64.ln())) - 1.0).abs() < 1e-12);
        }
    }
}
