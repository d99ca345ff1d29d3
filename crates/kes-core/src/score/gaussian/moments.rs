//! Means, variances and correlations of the embedded columns, in one pass over the rows.
//!
//! All sums are exact (see [`products`](super::products)) and rounded once, so the order of the rows does
//! not change a bit, nor whether a row comes twice or once with twice the weight.

use std::ops::Range;

use super::cholesky::Matrix;
use super::double_double::DoubleDouble;
use super::embedding::{Column, Embedding};
use super::fixed_point::Scale;
use super::products::{Sums, Weights};
use crate::Error;
use crate::score::rows::{fingerprint, mix, to_units};
use crate::stop::Stop;
use crate::varset::MAX_VARIABLES;

/// All that the criteria need of a table.
pub struct Moments {
    /// The correlations of all embedded columns.
    pub correlations: Matrix,
    /// The columns of each variable; a constant variable has none.
    pub blocks: Vec<Range<usize>>,
    /// The logarithm of the variance of each column, by maximum likelihood.
    pub ln_variance: Vec<f64>,
    /// `N`, the sum of the weights.
    pub total: f64,
    /// A fingerprint: equal for tables with the same rows, in any order.
    pub fingerprint: u128,
}

/// The properties of single columns that criteria use.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a> {
    /// The logarithm of the variance of each column.
    pub ln_variance: &'a [f64],
    /// `N`, the sum of the weights.
    pub total: f64,
}

/// The sum of products of deviations of two columns from their means, given the sum of products of whole numbers and
/// the sums of each. The centres are next to the means, so hardly anything is taken off.
pub(super) fn covariation(products: i128, first: f64, second: f64, cases: f64) -> i128 {
    products - libm::rint(first * second / cases) as i128
}

/// The correlation of two columns from their covariation and their variations, in the order of the columns.
pub(super) fn correlation(covariation: i128, first: i128, second: i128) -> DoubleDouble {
    let scale = DoubleDouble::from(first) * second.into();
    DoubleDouble::from(covariation) / scale.sqrt()
}

/// The logarithm of the variance of a column from its variation.
pub(super) fn ln_variance(variation: i128, cases: f64, scale: &Scale) -> f64 {
    libm::log(variation as f64 / cases) + 2.0 * scale.ln_step()
}

impl Moments {
    /// The properties of single columns that criteria use.
    pub(super) fn spread(&self) -> Spread<'_> {
        Spread { ln_variance: &self.ln_variance, total: self.total }
    }

    /// The moments of a table with optional weights of its rows. The order of the variables decides the bits
    /// of what is made of the moments: it should not depend on how the table happens to be laid out.
    ///
    /// # Errors
    /// If the shapes disagree, a value or weight cannot be used, or `stop` is raised meanwhile.
    pub fn new(
        table: &[Column<'_>],
        order: &[usize],
        weights: Option<&[f64]>,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let rows = check_shape(table, order, weights)?;
        let (units, unit) = to_units(weights, rows)?;
        let fingerprint = fingerprint(&hash_rows(table, rows), units.iter().copied(), unit);
        let embedding = Embedding::new(table, order, units, MAX_VARIABLES, threads, stop)?;
        let units = embedding.units();
        let total_units: u64 = units.iter().sum();
        let weights = units.iter().any(|&units| units != 1).then(|| Weights::new(units, total_units));
        let fill = |column: usize, first: usize, numbers: &mut [f64]| embedding.fill(column, first, numbers);
        let size = embedding.columns();
        let sums = Sums::new(size, units.len(), weights.as_ref(), fill, threads, stop)?;
        // The number of cases, in units of the weights in the sums.
        let cases = total_units as f64 / weights.as_ref().map_or(1.0, Weights::unit);
        let excess: Vec<f64> = (0..size).map(|column| sums.single(column) as f64).collect();
        let covariation = |i: usize, j: usize| covariation(sums.pair(i, j), excess[i], excess[j], cases);
        let variation: Vec<i128> = (0..size).map(|column| covariation(column, column).max(1)).collect();
        let correlation = |i: usize, j: usize| correlation(covariation(i, j), variation[i], variation[j]);
        let ln_variance = |column: usize| ln_variance(variation[column], cases, embedding.scale(column));
        Ok(Self {
            correlations: Matrix::new(size, correlation),
            blocks: embedding.blocks().to_vec(),
            ln_variance: (0..size).map(ln_variance).collect(),
            total: total_units as f64 * unit,
            fingerprint: u128::from(fingerprint[0]) << 64 | u128::from(fingerprint[1]),
        })
    }
}

/// The number of rows, if all columns have as many.
pub fn check_shape(table: &[Column<'_>], order: &[usize], weights: Option<&[f64]>) -> Result<usize, Error> {
    let problem = |text: String| Err(Error::Data(text));
    let rows = table.first().map_or(0, Column::len);
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if rows == 0 {
        problem("the table is empty".into())
    } else if table.iter().any(|column| column.len() != rows) {
        problem("the columns differ in length".into())
    } else if !sorted.into_iter().eq(0..table.len()) {
        problem("the order does not name every variable once".into())
    } else if let Some(weights) = weights.filter(|weights| weights.len() != rows) {
        problem(format!("there are {rows} rows and {} weights", weights.len()))
    } else {
        Ok(rows)
    }
}

pub fn hash_rows(table: &[Column<'_>], rows: usize) -> Vec<u64> {
    let mut hashes = vec![0; rows];
    for column in table {
        match column {
            // Adding 0 makes −0 the same as 0.
            Column::Numbers(numbers) | Column::Curve(numbers, _) => {
                mix(&mut hashes, numbers.iter().map(|x| (x + 0.0).to_bits()))
            }
            Column::Codes(codes) => mix(&mut hashes, codes.iter().map(|&code| code as u64 + 1)),
        }
    }
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pearson's correlation and the logarithm of the variance, straight from deviations.
    fn direct(a: &[f64], b: &[f64], weights: &[u64]) -> (f64, f64) {
        let total: u64 = weights.iter().sum();
        let mean = |x: &[f64]| x.iter().zip(weights).map(|(x, &w)| x * w as f64).sum::<f64>() / total as f64;
        let (ma, mb) = (mean(a), mean(b));
        let product = |x: &[f64], mx: f64, y: &[f64], my: f64| {
            x.iter().zip(y).zip(weights).map(|((x, y), &w)| w as f64 * (x - mx) * (y - my)).sum::<f64>()
        };
        let (aa, bb) = (product(a, ma, a, ma), product(b, mb, b, mb));
        (product(a, ma, b, mb) / (aa * bb).sqrt(), (aa / total as f64).ln())
    }

    fn same_bits(a: &Moments, b: &Moments) -> bool {
        let bits = |m: &Moments| {
            let n = m.correlations.size();
            let elements = (0..n * n).map(|at| m.correlations.get(at / n, at % n));
            elements.chain(m.ln_variance.iter().copied()).map(f64::to_bits).collect::<Vec<_>>()
        };
        bits(a) == bits(b) && a.total == b.total && a.blocks == b.blocks && a.fingerprint == b.fingerprint
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn moments_are_those_of_the_rows_in_any_order(
            rows in prop::collection::vec((-5.0..5.0f64, 0.9..1.1f64, 0..3i32, 1..4u64), 6..80),
            magnitude in -12..12i32,
            by in 0..80usize,
        ) {
            let a: Vec<f64> = rows.iter().map(|r| r.0 * 10f64.powi(magnitude)).collect();
            let b: Vec<f64> = rows.iter().map(|r| r.0 * 0.3 + r.1).collect();
            let c: Vec<i32> = rows.iter().map(|r| r.2).collect();
            let w: Vec<u64> = rows.iter().map(|r| r.3).collect();
            prop_assume!(c.contains(&0) && c.contains(&1) && c.contains(&2));
            let moments = |a: &[f64], b: &[f64], c: &[i32], w: &[u64], threads| {
                let w: Vec<f64> = w.iter().map(|&w| w as f64).collect();
                let table = [Column::Numbers(a), Column::Numbers(b), Column::Codes(c)];
                Moments::new(&table, &[0, 1, 2], Some(&w), threads, &Stop::default()).unwrap()
            };
            let found = moments(&a, &b, &c, &w, 1);
            prop_assert_eq!(found.total, w.iter().sum::<u64>() as f64);
            let (correlation, ln_variance) = direct(&a, &b, &w);
            prop_assert!((found.correlations.get(2, 3) - correlation).abs() < 1e-11);
            prop_assert!((found.ln_variance[3] - ln_variance).abs() < 1e-11);

            // Rotated, and every row written as often as it weighs.
            let order: Vec<usize> = (0..a.len()).map(|r| (r + by) % a.len()).collect();
            fn pick<T: Copy>(order: &[usize], from: &[T]) -> Vec<T> {
                order.iter().map(|&r| from[r]).collect()
            }
            let rotated =
                moments(&pick(&order, &a), &pick(&order, &b), &pick(&order, &c), &pick(&order, &w), 2);
            prop_assert!(same_bits(&found, &rotated));
            let repeated: Vec<usize> =
                order.iter().flat_map(|&r| std::iter::repeat_n(r, w[r] as usize)).collect();
            let ones = vec![1; repeated.len()];
            let written =
                moments(&pick(&repeated, &a), &pick(&repeated, &b), &pick(&repeated, &c), &ones, 3);
            prop_assert!(same_bits(&found, &written));
        }
    }

    #[test]
    fn the_fingerprint_tells_tables_apart() {
        let of = |a: &[f64], b: &[f64]| {
            Moments::new(&[Column::Numbers(a), Column::Numbers(b)], &[0, 1], None, 1, &Stop::default())
                .unwrap()
                .fingerprint
        };
        let base = of(&[1.0, 2.0, 0.0], &[3.0, 4.0, 5.0]);
        assert_eq!(base, of(&[2.0, -0.0, 1.0], &[4.0, 5.0, 3.0]));
        assert_ne!(base, of(&[2.0, 1.0, 0.0], &[3.0, 4.0, 5.0]));
        assert_ne!(base, of(&[1.0, 2.0, 1e-300], &[3.0, 4.0, 5.0]));
    }

    #[test]
    fn shapes_must_agree() {
        let error = |table: &[Column<'_>], order: &[usize], weights: Option<&[f64]>| {
            Moments::new(table, order, weights, 1, &Stop::default())
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        };
        let (one, two) = (Column::Numbers(&[1.0]), Column::Codes(&[1, 2]));
        assert_eq!(error(&[], &[], None), "the table is empty");
        assert_eq!(error(&[one, two], &[0, 1], None), "the columns differ in length");
        assert_eq!(error(&[one, one], &[1, 1], None), "the order does not name every variable once");
        assert_eq!(error(&[two], &[0], Some(&[1.0])), "there are 2 rows and 1 weights");
        assert_eq!(error(&[one], &[0], Some(&[-1.0])), "the weight of row 0 is -1");
    }
}
