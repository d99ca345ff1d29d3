//! Bayesian information criterion: `F(S) = Σ n ln n − ½ ln N · Π r`.
//!
//! In the difference `F(P ∪ y) − F(P)` the penalty becomes `½ ln N` per free parameter
//! [Schwarz 1978].

/// The penalty of a cell.
pub fn penalty(total: f64) -> f64 {
    0.5 * libm::log(total)
}
