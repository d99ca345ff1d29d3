//! Sums that do not depend on the order of their terms.

/// Numbers as 64-bit integers, so that sums are exact whatever their order.
#[derive(Clone, Copy, Debug)]
pub struct FixedPoint {
    scale: f64,
}

impl FixedPoint {
    /// A scale for sums whose absolute value stays below `bound`.
    pub fn new(bound: f64) -> Self {
        Self { scale: libm::exp2(61.0 - libm::ceil(libm::log2(bound))) }
    }

    /// The number as an integer.
    #[inline]
    pub fn encode(&self, value: f64) -> i64 {
        libm::rint(value * self.scale) as i64
    }

    /// The integer as a number.
    #[inline]
    pub fn decode(&self, sum: i64) -> f64 {
        sum as f64 / self.scale
    }
}
