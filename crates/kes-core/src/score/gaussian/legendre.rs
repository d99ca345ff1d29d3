//! Polynomials of normal scores: the columns of a variable whose relations may be curved.
//!
//! A score is clipped to `[-CLIP, CLIP]`, scaled to `u` in `[-1, 1]`, and becomes the Legendre polynomials
//! `P₁(u), …, P_d(u)`. They span the same functions as the powers of `u`, but are far from linearly
//! dependent. Beyond the clip a polynomial is constant: the few cases there cannot bend it.

/// Scores are clipped here; 4.6 % of the cases of a normal variable are beyond.
pub const CLIP: f64 = 2.0;

/// The highest degree.
pub const MAX_DEGREE: usize = 6;

/// Calls `found` with the value of each polynomial of a score, from degree 1 on.
pub fn each(score: f64, degree: usize, mut found: impl FnMut(f64)) {
    let u = score.clamp(-CLIP, CLIP) / CLIP;
    let (mut before, mut value) = (1.0, u);
    for k in 1..=degree {
        found(value);
        // (k + 1) P_{k+1} = (2k + 1) u P_k − k P_{k−1}
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * u * value - k * before) / (k + 1.0));
    }
}

/// The polynomial of one degree, at least 1.
pub fn legendre(score: f64, degree: usize) -> f64 {
    let mut last = 0.0;
    each(score, degree, |value| last = value);
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_those_of_the_textbook() {
        for score in [-2.0, -1.0, 0.0, 0.3, 1.5] {
            let u: f64 = score / CLIP;
            let book = [
                u,
                (3.0 * u.powi(2) - 1.0) / 2.0,
                (5.0 * u.powi(3) - 3.0 * u) / 2.0,
                (35.0 * u.powi(4) - 30.0 * u.powi(2) + 3.0) / 8.0,
                (63.0 * u.powi(5) - 70.0 * u.powi(3) + 15.0 * u) / 8.0,
                (231.0 * u.powi(6) - 315.0 * u.powi(4) + 105.0 * u.powi(2) - 5.0) / 16.0,
            ];
            for (at, expected) in book.into_iter().enumerate() {
                assert!((legendre(score, at + 1) - expected).abs() < 1e-14, "P{} at {u}", at + 1);
            }
        }
        assert_eq!(legendre(9.0, 4), legendre(CLIP, 4));
        assert_eq!((legendre(-9.0, 3), legendre(-9.0, 2)), (-1.0, 1.0));
    }
}
