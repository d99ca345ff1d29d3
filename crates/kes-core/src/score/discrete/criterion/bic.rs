//! Bayesian information criterion: `F(S) = Σ n ln n − ½ ln N · Π r`.
//!
//! In the difference `F(P ∪ y) − F(P)` the penalty becomes `½ ln N` per free parameter
//! [Schwarz 1978].

use super::Description;
use super::likelihood::Penalised;

pub const DESCRIPTION: Description = Description {
    name: "bic",
    title: "Bayesian information criterion",
    parameters: &[],
    penalty: Some(penalty),
    on: |data, _| Ok(Box::new(Penalised::new(data, penalty(data.total())))),
};

/// `½ ln N`.
fn penalty(cases: f64) -> f64 {
    0.5 * libm::log(cases)
}
