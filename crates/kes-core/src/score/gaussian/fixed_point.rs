//! The numbers of a column as whole numbers of 41 bits around their mean.
//!
//! Sums of whole numbers are exact, so they do not depend on the order of the rows. What rounding to
//! whole numbers costs is known and small: a value of a column with standard deviation `σ` and largest
//! deviation `κσ` is off by at most `2⁻⁴¹κσ`, and independently of other rows, so a correlation of `N`
//! rows is off by about `2⁻⁴²κ/√N` and a score, `N/2` times the logarithm of a determinant, by about
//! `10⁻¹³ κ√N` for every unit of the inverse correlations. That is 10⁻⁹ for a million well-behaved rows.
//!
//! The centre is subtracted before rounding. It is next to the mean, where the subtraction is exact
//! (Sterbenz's lemma) as soon as offset outweighs spread: `10⁹ ± 1` loses nothing.

/// Whole numbers are at most `2^BITS` in absolute value.
pub const BITS: i32 = 41;

/// Adding and subtracting it rounds a number below 2⁵¹ to a whole one, halves to even.
const ROUNDING: f64 = 1.5 * (1u64 << 52) as f64;

/// The nearest whole number, for absolute values below 2⁵¹.
#[inline(always)]
pub fn rounded(value: f64) -> f64 {
    (value + ROUNDING) - ROUNDING
}

/// From the numbers of a column to whole numbers and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// A power of two that keeps small numbers within the range of floating-point numbers.
    range: f64,
    /// Near the mean, times `range`.
    centre: f64,
    /// A power of two.
    factor: f64,
    /// `log₂(range · factor)`: whole numbers are values times `2^exponent`, less an offset.
    exponent: i32,
}

impl Scale {
    /// The scale for finite values with weights in units, whatever their order; nothing if they are all
    /// the same.
    pub fn of(values: &[f64], units: &[u64]) -> Option<Self> {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low >= high {
            return None;
        }
        let range_exponent = if low.abs().max(high.abs()) < 1e-150 { 600 } else { 0 };
        let range = libm::ldexp(1.0, range_exponent);
        let (low, high) = (low * range, high * range);
        let middle = 0.5 * low + 0.5 * high;
        // The mean, by whole numbers of 50 bits around the middle of the range.
        let exponent = 50 - exponent_of((high - middle).max(middle - low));
        let factor = libm::ldexp(1.0, exponent);
        let whole = |x: &f64| rounded((x * range - middle) * factor) as i128;
        let sum: i128 = values.iter().zip(units).map(|(x, &units)| whole(x) * i128::from(units)).sum();
        let total: u64 = units.iter().sum();
        let centre = middle + libm::ldexp(sum as f64 / total as f64, -exponent);
        let exponent = BITS - exponent_of((high - centre).max(centre - low));
        let factor = libm::ldexp(1.0, exponent);
        Some(Self { range, centre, factor, exponent: exponent + range_exponent })
    }

    /// The whole number for a value, as a floating-point number.
    #[inline(always)]
    pub fn whole(&self, value: f64) -> f64 {
        rounded((value * self.range - self.centre) * self.factor)
    }

    /// The logarithm of what a difference of 1 between whole numbers means in values.
    pub fn ln_step(&self) -> f64 {
        -f64::from(self.exponent) * std::f64::consts::LN_2
    }
}

/// The smallest `e` with `value < 2^e`.
fn exponent_of(value: f64) -> i32 {
    libm::frexp(value).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scale(values: &[f64]) -> Option<Scale> {
        Scale::of(values, &vec![1; values.len()])
    }

    proptest! {
        /// Whole numbers are differences to one centre, to the last of 41 bits, at every magnitude.
        #[test]
        fn whole_numbers_keep_differences(
            deviations in prop::collection::vec(-1.0..1.0f64, 3..30),
            offset in -1.0..1.0f64,
            magnitude in -300..300i32,
        ) {
            let unit = 10f64.powi(magnitude);
            let values: Vec<f64> = deviations.iter().map(|d| (d + offset) * unit).collect();
            let spread = values.iter().fold(0.0f64, |most, x| most.max((x - values[0]).abs()));
            prop_assume!(spread > 0.01 * unit);
            let scale = scale(&values).unwrap();
            let step = scale.ln_step().exp();
            for &x in &values {
                prop_assert!(scale.whole(x).abs() <= (1u64 << BITS) as f64);
                let found = (scale.whole(x) - scale.whole(values[0])) * step;
                prop_assert!((found - (x - values[0])).abs() <= 1e-11 * spread);
            }
        }
    }

    #[test]
    fn a_small_spread_at_a_large_offset_is_kept_exactly() {
        let values: Vec<f64> = (0..9).map(|i| 1e9 + f64::from(i) * 0.125).collect();
        let scale = scale(&values).unwrap();
        let step = scale.ln_step().exp();
        for (i, &x) in values.iter().enumerate() {
            let found = (scale.whole(x) - scale.whole(values[0])) * step;
            assert!((found - i as f64 * 0.125).abs() < 1e-14, "{found}");
        }
    }

    #[test]
    fn extremes_have_scales_and_what_does_not_vary_has_none() {
        for values in [[f64::MAX, f64::MIN, 1.0], [5e-324, 0.0, 1e-323], [1e300, -1e-300, 0.0]] {
            let scale = scale(&values).unwrap();
            assert!(values.iter().all(|&x| scale.whole(x).abs() <= (1u64 << BITS) as f64), "{values:?}");
            assert!(values.iter().any(|&x| scale.whole(x).abs() >= (1u64 << (BITS - 2)) as f64));
            assert!(scale.ln_step().is_finite());
        }
        assert_eq!(scale(&[2.5; 4]), None);
    }
}
