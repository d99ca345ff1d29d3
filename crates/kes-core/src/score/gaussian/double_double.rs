//! Numbers of 106 bits, as sums of two floating-point numbers [Dekker 1971].
//!
//! Only what pivots need. No fused operations: every machine rounds the same.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `low` is at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    pub high: f64,
    pub low: f64,
}

impl DoubleDouble {
    pub const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// `a + b`, exactly.
    #[inline]
    pub fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let part = high - a;
        Self { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a b`, exactly, unless it is near the ends of the range.
    #[inline]
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        let ((a, a_rest), (b, b_rest)) = (halves(a), halves(b));
        Self { high, low: ((a * b - high) + a * b_rest + a_rest * b) + a_rest * b_rest }
    }

    /// The square root of a positive number: one step of Newton's after that of the high part.
    pub fn sqrt(self) -> Self {
        let root = libm::sqrt(self.high);
        let rest = self - Self::product(root, root);
        Self::sum(root, rest.high / (2.0 * root))
    }
}

/// A number of 53 bits as two of at most 26, whose products are exact.
#[inline]
fn halves(value: f64) -> (f64, f64) {
    let spread = value * ((1u64 << 27) + 1) as f64;
    let high = spread - (spread - value);
    (high, value - high)
}

impl From<f64> for DoubleDouble {
    #[inline]
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl From<i128> for DoubleDouble {
    fn from(value: i128) -> Self {
        let high = value as f64;
        Self { high, low: (value - high as i128) as f64 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let sum = Self::sum(self.high, other.high);
        Self::sum(sum.high, sum.low + (self.low + other.low))
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let product = Self::product(self.high, other.high);
        Self::sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let rest = self - other * quotient.into();
        Self::sum(quotient, rest.high / other.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whole numbers, so that integers tell what is right.
    fn whole(value: DoubleDouble) -> i128 {
        value.high as i128 + value.low as i128
    }

    proptest! {
        #[test]
        fn sums_and_products_lose_nothing_below_106_bits(a in any::<i64>(), b in any::<i64>()) {
            let (a, b) = (i128::from(a >> 13), i128::from(b >> 13));
            let (x, y) = (DoubleDouble::from(a), DoubleDouble::from(b));
            prop_assert_eq!(whole(x + y), a + b);
            prop_assert_eq!(whole(x - y), a - b);
            prop_assert_eq!(whole(x * y), a * b);
            prop_assert_eq!(whole(DoubleDouble::from(a * b)), a * b);
        }

        #[test]
        fn quotients_and_roots_have_a_hundred_bits(a in 1..1i64 << 50, b in 1..1i64 << 50) {
            let (x, y) = (DoubleDouble::from(i128::from(a)), DoubleDouble::from(i128::from(b)));
            let quotient = x / y * y - x;
            prop_assert!(quotient.high.abs() <= libm::ldexp(x.high, -100));
            let square = (x * y).sqrt() * (x * y).sqrt() - x * y;
            prop_assert!(square.high.abs() <= libm::ldexp((x * y).high, -98));
        }
    }
}
