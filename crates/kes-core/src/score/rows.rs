//! Weights and fingerprints of the rows of tables.

use crate::Error;

/// The weights as multiples of a unit. Whole numbers keep the unit 1; other weights are rounded to
/// multiples of a power of two about 2⁻⁶⁰ of their sum.
///
/// # Errors
/// If a weight is negative or not finite, or all are 0.
pub fn to_units(weights: Option<&[f64]>, rows: usize) -> Result<(Vec<u64>, f64), Error> {
    let Some(weights) = weights else { return Ok((vec![1; rows], 1.0)) };
    if let Some(at) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(Error::Data(format!("the weight of row {at} is {}", weights[at])));
    }
    let mut ascending = weights.to_vec();
    ascending.sort_unstable_by(f64::total_cmp); // the sum must not depend on the order of the rows
    let sum: f64 = ascending.iter().sum();
    if sum <= 0.0 {
        return Err(Error::Data("the weights sum to 0".into()));
    }
    let whole = sum < (1u64 << 53) as f64 && weights.iter().all(|w| w.fract() == 0.0);
    let unit = if whole { 1.0 } else { libm::exp2(libm::ceil(libm::log2(sum)) - 60.0) };
    Ok((weights.iter().map(|w| libm::round(w / unit) as u64).collect(), unit))
}

/// Mixes the values of a column into the hashes of the rows.
pub fn mix(hashes: &mut [u64], values: impl Iterator<Item = u64>) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = (hash.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *hash ^= *hash >> 29;
    }
}

/// Sums over the rows, so that neither their order nor how they are merged matters.
pub fn fingerprint(hashes: &[u64], units: impl Iterator<Item = u64> + Clone, unit: f64) -> [u64; 2] {
    let lane = |salt: u64| {
        let spread = |&h: &u64| {
            let h = (h ^ salt).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (h ^ (h >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        let sum = hashes
            .iter()
            .zip(units.clone())
            .fold(unit.to_bits(), |sum, (h, w)| sum.wrapping_add(spread(h).wrapping_mul(w)));
        (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd)
    };
    [lane(0x6a09_e667_f3bc_c908), lane(0xbb67_ae85_84ca_a73b)]
}
