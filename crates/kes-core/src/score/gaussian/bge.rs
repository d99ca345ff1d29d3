//! BGe, the Bayesian Gaussian equivalent score [Geiger & Heckerman 2002] in its corrected form
//! [Kuipers 2014].
//!
//! `F(S)` is the logarithm of the marginal likelihood of the columns of `S`, with a normal-Wishart prior
//! on their joint distribution. The columns are standardised (mean 0, variance 1 by maximum
//! likelihood), the prior mean is theirs, `α_μ = 1`, `α_w = n + 2` for `n` columns, and the prior matrix
//! `T₀ = t·I` with `t = α_μ(α_w − n − 1)/(α_μ + 1) = ½`. With `l` columns in `S` and their correlations `C`,
//!
//! ```text
//! F(S) = l/2 · ln(α_μ / (N + α_μ)) − l N/2 · ln π + ln Γ_l((N + l + 2)/2) − ln Γ_l((l + 2)/2)
//!        + (l + 2)/2 · l ln t − (N + l + 2)/2 · ln det(t·I + N·C)
//! ```
//!
//! since `α_w − n + l = l + 2`. The ratio of multivariate Gamma functions is the product of
//! `Γ((N + k)/2) / Γ(k/2)` for `k = 3, ..., l + 2`; and `t·I + N·C = N·(C + t/N·I)`, so that the criterion
//! is one of correlations with slightly enlarged diagonal. It is always defined.

use super::criterion::{Description, Function, Price};

/// The Bayesian Gaussian equivalent score.
pub const BGE: Description = Description {
    name: "bge",
    title: "BGe",
    parameters: &[],
    kinds: &["continuous"],
    on: |spread, _| Box::new(Bge::new(spread.total, spread.ln_variance.len())),
};

/// `α_μ`.
const MEAN_WEIGHT: f64 = 1.0;
/// `t`.
const PRIOR_VARIATION: f64 = 0.5;

/// The marginal likelihood on given moments.
struct Bge {
    total: f64,
    /// All of `F` but for the determinant, by the number of columns.
    constant: Vec<f64>,
}

impl Bge {
    /// For `N` cases and this number of columns.
    fn new(total: f64, columns: usize) -> Self {
        let of_mean = 0.5 * libm::log(MEAN_WEIGHT / (total + MEAN_WEIGHT));
        let of_density = -0.5 * total * libm::log(std::f64::consts::PI);
        let mut gammas = 0.0;
        let mut constant = vec![0.0];
        for l in 1..=columns {
            let (size, k) = (l as f64, (l + 2) as f64);
            gammas += libm::lgamma(0.5 * (total + k)) - libm::lgamma(0.5 * k);
            // ln det(t·I + N·C) is l ln N more than the logarithm of the determinant that `value` is given.
            let of_scale =
                0.5 * k * size * libm::log(PRIOR_VARIATION) - 0.5 * (total + k) * size * libm::log(total);
            constant.push(size * (of_mean + of_density) + gammas + of_scale);
        }
        Self { total, constant }
    }
}

impl Function for Bge {
    fn value(&self, columns: &[usize], ln_determinant: f64) -> f64 {
        let l = columns.len();
        self.constant[l] - 0.5 * (self.total + (l + 2) as f64) * ln_determinant
    }

    /// The four determinants of a gain are products of the pivots of `y` after `C`, of `x` after `C`, which is `v`,
    /// and of `x` after `C` and `y`, which is `v (1 − ρ²)`.
    fn price(&self, given: usize, ln_pivot: f64) -> Price {
        let constant = self.constant[given + 2] + self.constant[given] - 2.0 * self.constant[given + 1];
        let cases = self.total + (given + 4) as f64;
        Price { cost: 0.5 * ln_pivot - constant, cases, of_variance: 0.5 }
    }

    /// `t/N`.
    fn enlargement(&self) -> f64 {
        PRIOR_VARIATION / self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One column: the marginal likelihood is the product of the predictive densities of the cases, each
    /// a Student t [Geiger & Heckerman 2002, Sec. 4], with none of the multivariate machinery.
    #[test]
    fn one_column_is_predicted_case_by_case() {
        let x = [-1.3, 0.2, 0.9, 1.1, -0.9];
        let n = x.len() as f64;
        let variance = x.iter().map(|x| x * x).sum::<f64>() / n;
        let x = x.map(|x| x / variance.sqrt());
        assert!(x.iter().sum::<f64>().abs() < 1e-12);
        let (mut weight, mut freedom, mut mean, mut variation) = (1.0, 3.0, 0.0, 0.5);
        let mut direct = 0.0;
        for x in x {
            // A t with `freedom` degrees, location `mean` and this squared scale.
            let scale2 = variation * (weight + 1.0) / (weight * freedom);
            let squared = (x - mean) * (x - mean) / (freedom * scale2);
            direct += libm::lgamma(0.5 * (freedom + 1.0))
                - libm::lgamma(0.5 * freedom)
                - 0.5 * libm::log(freedom * std::f64::consts::PI * scale2)
                - 0.5 * (freedom + 1.0) * libm::log1p(squared);
            variation += weight / (weight + 1.0) * (x - mean) * (x - mean);
            mean = (weight * mean + x) / (weight + 1.0);
            weight += 1.0;
            freedom += 1.0;
        }
        let bge = Bge::new(n, 1);
        let found = bge.value(&[0], libm::log(1.0 + bge.enlargement()));
        assert!((found - direct).abs() < 1e-12, "{found} {direct}");
    }
}
