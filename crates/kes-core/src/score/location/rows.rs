//! The rows of a mixed table: codes of the discrete columns, whole numbers of the continuous ones.

use crate::Error;
use crate::score::discrete::dataset::{Codes, Dataset};
use crate::score::gaussian::{Column, DoubleDouble, Scale, Sums, Weights, check_shape, hash_rows};
use crate::score::rows::{fingerprint, to_units};
use crate::stop::Stop;

/// A variable by its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Among the discrete variables.
    Discrete(usize),
    /// Among the continuous columns that vary.
    Continuous(usize),
    /// A continuous variable with one value.
    Constant,
}

/// What all cells of a table are computed from.
pub struct Rows {
    /// Where each variable is.
    pub places: Vec<Place>,
    /// The number of states of each discrete variable.
    pub arity: Vec<usize>,
    /// The codes of each discrete variable, row by row.
    pub codes: Vec<Vec<u16>>,
    /// The continuous columns in the order of the variables' names, times the weights.
    pub numbers: Vec<Vec<i64>>,
    /// The weights of the rows in units.
    pub units: Vec<u64>,
    /// What a unit is in the weights of `numbers`.
    pub weight: f64,
    /// The sums of products of all pairs of columns.
    pub sums: Sums,
    /// `Σ w (z − mean)²` of each column.
    pub variation: Vec<i128>,
    /// The logarithm of the variance of each column, by maximum likelihood.
    pub ln_variance: Vec<f64>,
    /// `N`, the sum of the weights.
    pub total: f64,
    /// A number that tells whether two tables are the same, whatever the order of their rows.
    pub fingerprint: u128,
}

impl Rows {
    /// Takes over a table with `arity[v]` states of each discrete variable `v`; its discrete variables come as a
    /// table of their own, too. The order of the variables decides the bits of what is made of them: it
    /// should not depend on how the table is laid out.
    ///
    /// # Errors
    /// If the shapes disagree, a value or weight cannot be used, or `stop` is raised meanwhile.
    pub fn new(
        table: &[Column<'_>],
        arity: &[usize],
        order: &[usize],
        weights: Option<&[f64]>,
        threads: usize,
        stop: &Stop,
    ) -> Result<(Self, Dataset), Error> {
        let rows = check_shape(table, order, weights)?;
        let (units, unit) = to_units(weights, rows)?;
        let fingerprint = fingerprint(&hash_rows(table, rows), units.iter().copied(), unit);
        let mut places = vec![Place::Constant; table.len()];
        let (mut coded, mut states) = (Vec::new(), Vec::new());
        let (mut scaled, mut scales) = (Vec::new(), Vec::new());
        let kept: Vec<usize> = (0..rows).filter(|&row| units[row] > 0).collect();
        let kept_units: Vec<u64> = kept.iter().map(|&row| units[row]).collect();
        for &v in order {
            table[v].check(v)?;
            match table[v] {
                Column::Codes(codes) => {
                    places[v] = Place::Discrete(coded.len());
                    coded.push(codes);
                    states.push(arity[v]);
                }
                Column::Numbers(numbers) => {
                    let values: Vec<f64> = kept.iter().map(|&row| numbers[row]).collect();
                    if let Some(scale) = Scale::of(&values, &kept_units) {
                        places[v] = Place::Continuous(scaled.len());
                        scaled.push(values.into_iter().map(|x| scale.whole(x)).collect::<Vec<f64>>());
                        scales.push(scale);
                    }
                }
            }
        }
        let columns: Vec<Codes<'_>> = coded.iter().map(|&codes| Codes::Integers(codes)).collect();
        let discrete = Dataset::of(&columns, &states, weights, stop)?;
        let total_units: u64 = kept_units.iter().sum();
        let weighted = kept_units.iter().any(|&units| units != 1);
        let weights = weighted.then(|| Weights::new(&kept_units, total_units));
        let fill = |column: usize, first: usize, numbers: &mut [f64]| {
            numbers.copy_from_slice(&scaled[column][first..][..numbers.len()]);
        };
        let sums = Sums::new(scaled.len(), kept.len(), weights.as_ref(), fill, threads, stop)?;
        let weight = weights.as_ref().map_or(1.0, Weights::unit);
        let cases = total_units as f64 / weight;
        let variation: Vec<i128> = (0..scaled.len())
            .map(|i| (sums.pair(i, i) - quotient(sums.single(i), sums.single(i), cases)).max(1))
            .collect();
        let ln_variance =
            |(i, scale): (usize, &Scale)| libm::log(variation[i] as f64 / cases) + 2.0 * scale.ln_step();
        let ln_variance = scales.iter().enumerate().map(ln_variance).collect();
        let times = |row: usize, z: f64| weights.as_ref().map_or(z as i64, |weights| weights.times(row, z));
        let numbers = scaled
            .iter()
            .map(|column| column.iter().enumerate().map(|(row, &z)| times(row, z)).collect())
            .collect();
        let codes = coded.iter().map(|codes| kept.iter().map(|&row| codes[row] as u16).collect()).collect();
        let rows = Self {
            places,
            arity: states,
            codes,
            numbers,
            weight,
            sums,
            variation,
            ln_variance,
            total: total_units as f64 * unit,
            fingerprint: u128::from(fingerprint[0]) << 64 | u128::from(fingerprint[1]),
            units: kept_units,
        };
        Ok((rows, discrete))
    }
}

/// `a b / n`, to the nearest whole number or next to it: always the same one.
#[inline]
pub fn quotient(a: i128, b: i128, n: f64) -> i128 {
    let exact = DoubleDouble::from(a) * DoubleDouble::from(b) / DoubleDouble::from(n);
    let high = libm::rint(exact.high);
    high as i128 + libm::rint((exact.high - high) + exact.low) as i128
}
