//! Numbers with a wide exponent: likelihoods underflow, and sums of logarithms are slow.

use std::f64::consts::LOG2_E;

/// `ln 2` in two parts: products of the first with exponents are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// The exponent of zero, with room to add many of them.
const OF_ZERO: i32 = i32::MIN / 64;

/// `mantissa · 2^exponent`, where the mantissa of a new number is 0 or between 0.7 and 1.5.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    pub(super) mantissa: f64,
    pub(super) exponent: i32,
}

impl Scaled {
    /// `e^log`.
    pub(super) fn exp(log: f64) -> Self {
        if log == f64::NEG_INFINITY {
            return Self { mantissa: 0.0, exponent: OF_ZERO };
        }
        let exponent = libm::rint(log * LOG2_E);
        let rest = (log - exponent * LN_2_HIGH) - exponent * LN_2_LOW;
        Self { mantissa: libm::exp(rest), exponent: exponent as i32 }
    }
}

/// The exponent of `e^log`.
pub(super) fn exponent(log: f64) -> i32 {
    if log == f64::NEG_INFINITY { OF_ZERO } else { libm::rint(log * LOG2_E) as i32 }
}

/// `2^exponent`; far below the smallest number that matters, some such number.
#[inline(always)]
pub(super) fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent.clamp(-1000, 1000) + 1023) as u64) << 52)
}

/// `ln(e^a + e^b)`.
#[inline]
pub(super) fn log_add(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    let difference = small - large;
    // Also where both are −∞ and the difference is not a number.
    if difference > -40.0 { large + libm::log1p(libm::exp(difference)) } else { large }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::LN_2;

    #[test]
    fn a_scaled_number_is_the_exponential() {
        for log in [0.0, 1.0, -1.0, 100.0, -700.0, 699.0, 1e-9] {
            let Scaled { mantissa, exponent } = Scaled::exp(log);
            assert!((0.7..1.5).contains(&mantissa));
            let expected = libm::exp(log);
            // `power` is for exponents within ±1000; e^−700 has one of −1010.
            assert!((libm::ldexp(mantissa, exponent) - expected).abs() <= 1e-14 * expected, "{log}");
        }
        let huge = Scaled::exp(-123_456.789);
        let again = f64::from(huge.exponent) * LN_2 + huge.mantissa.ln();
        assert!((again + 123_456.789).abs() < 1e-9);
        assert_eq!(Scaled::exp(f64::NEG_INFINITY).mantissa, 0.0);
        assert_eq!(log_add(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(log_add(f64::NEG_INFINITY, 2.0), 2.0);
        assert!((log_add(0.0, 0.0) - LN_2).abs() < 1e-15);
    }
}
