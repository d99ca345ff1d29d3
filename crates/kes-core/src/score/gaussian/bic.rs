//! BIC and AIC of Gaussian models, for mixed tables of *degenerate* Gaussian ones [Andrews 2019].
//!
//! With `p` embedded columns of a set `S`, `Σ` their maximum-likelihood covariance, and
//! a penalty `u` per free parameter (BIC: `λ ½ ln N` [Schwarz 1978], AIC: `λ` [Akaike 1974]),
//!
//! ```text
//! F(S) = −N/2 · [ln det Σ(S) + p ln 2πe] − u · p(p + 3)/2:
//! ```
//!
//! the maximised log-likelihood of a saturated model, less what its means and covariances cost. An
//! edge between `x` and `y` costs `u · e(x) e(y)` in every gain, where `e` counts embedded columns.
//! `ln det Σ(S)` is that of the correlations plus the logarithms of the variances.

use super::criterion::{Description, Function, Parameters, Price};
use super::moments::Spread;

/// The Bayesian information criterion.
pub const BIC: Description = Description {
    name: "bic",
    title: "Gaussian BIC",
    parameters: &["penalty"],
    kinds: &["continuous"],
    on: bic,
};

/// The Akaike information criterion.
pub const AIC: Description = Description {
    name: "aic",
    title: "Gaussian AIC",
    parameters: &["penalty"],
    kinds: &["continuous"],
    on: aic,
};

/// BIC of the degenerate Gaussian.
pub const DEGENERATE_BIC: Description =
    Description { name: "degenerate-bic", title: "degenerate Gaussian BIC", kinds: &["mixed"], ..BIC };

/// AIC of the degenerate Gaussian.
pub const DEGENERATE_AIC: Description =
    Description { name: "degenerate-aic", title: "degenerate Gaussian AIC", kinds: &["mixed"], ..AIC };

fn bic(spread: Spread<'_>, parameters: Parameters) -> Box<dyn Function> {
    Box::new(Penalised::new(spread, parameters.penalty * 0.5 * libm::log(spread.total)))
}

fn aic(spread: Spread<'_>, parameters: Parameters) -> Box<dyn Function> {
    Box::new(Penalised::new(spread, parameters.penalty))
}

/// `ln 2πe`.
pub const LN_2PI_E: f64 = 2.837_877_066_409_345_5;

/// The penalised likelihood on given moments.
struct Penalised {
    /// `N / 2`.
    half_total: f64,
    /// `u`.
    penalty: f64,
    /// `−N/2 · (ln σ² + ln 2πe)` of each column.
    alone: Vec<f64>,
}

impl Penalised {
    fn new(spread: Spread<'_>, penalty: f64) -> Self {
        let half_total = 0.5 * spread.total;
        let alone = spread.ln_variance.iter().map(|ln| -half_total * (ln + LN_2PI_E)).collect();
        Self { half_total, penalty, alone }
    }
}

impl Function for Penalised {
    #[inline]
    fn value(&self, columns: &[usize], ln_determinant: f64) -> f64 {
        let p = columns.len() as f64;
        let alone: f64 = columns.iter().map(|&column| self.alone[column]).sum();
        alone - self.half_total * ln_determinant - self.penalty * (0.5 * p * (p + 3.0))
    }

    fn price(&self, _given: usize, _ln_pivot: f64) -> Price {
        Price { cost: self.penalty, cases: 2.0 * self.half_total, of_variance: 0.0 }
    }
}
