//! The rows of a mixed table: codes of the discrete columns, whole numbers of the continuous ones.

use std::ops::Range;

use super::cells::Cells;
use crate::Error;
use crate::score::discrete::dataset::{Codes, Dataset};
use crate::score::gaussian::{Column, DoubleDouble, Scale, Sums, Weights, check_shape, hash_rows};
use crate::score::rows::{fingerprint, to_units};
use crate::stop::Stop;

/// A variable by its place among those of its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Among the discrete variables.
    Discrete(usize),
    /// Among the continuous columns that vary; empty if the variable has one value.
    Continuous(Range<usize>),
}

/// Scaled sums have at most this many bits, so that sums of their products are exact.
const BITS: i32 = 59;

/// The rows from which all cells of a table are computed. Rows with the same codes are merged.
pub struct Rows {
    /// The position of each variable.
    pub places: Vec<Place>,
    /// The number of states of each discrete variable.
    pub arity: Vec<usize>,
    /// The codes of each discrete variable, row by row.
    pub codes: Vec<Vec<u16>>,
    /// The continuous columns in the order of the variables' names, times the weights.
    pub numbers: Vec<Vec<i64>>,
    /// The weights of the rows in units.
    pub units: Vec<u64>,
    /// The unit of the weights of `numbers`.
    pub weight: f64,
    /// The sums of products of all pairs of columns.
    sums: Sums,
    /// Covariations are in units of `2^−e` for each of their columns.
    exponents: Vec<i32>,
    /// `Σ w (z − mean)²` of each column.
    variation: Vec<i128>,
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
        let mut places = vec![Place::Continuous(0..0); table.len()];
        let (mut coded, mut states) = (Vec::new(), Vec::new());
        let (mut scaled, mut scales) = (Vec::new(), Vec::new());
        let kept: Vec<usize> = (0..rows).filter(|&row| units[row] > 0).collect();
        let kept_units: Vec<u64> = kept.iter().map(|&row| units[row]).collect();
        for &v in order {
            table[v].check(v)?;
            if let Column::Codes(codes) = table[v] {
                places[v] = Place::Discrete(coded.len());
                coded.push(codes);
                states.push(arity[v]);
                continue;
            }
            let first = scaled.len();
            for content in table[v].numbers() {
                let mut values = vec![0.0; kept.len()];
                content.fill(Some(&kept), 0, &mut values);
                if let Some(scale) = Scale::of(&values, &kept_units) {
                    values.iter_mut().for_each(|x| *x = scale.whole(*x));
                    scaled.push(values);
                    scales.push(scale);
                }
            }
            places[v] = Place::Continuous(first..scaled.len());
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
        let exponents = (0..scaled.len()).map(|i| exponent(sums.pair(i, i))).collect();
        let times = |row: usize, z: f64| weights.as_ref().map_or(z as i64, |weights| weights.times(row, z));
        let numbers = scaled
            .iter()
            .map(|column| column.iter().enumerate().map(|(row, &z)| times(row, z)).collect())
            .collect();
        let codes = coded.iter().map(|codes| kept.iter().map(|&row| codes[row] as u16).collect()).collect();
        let mut rows = Self {
            places,
            arity: states,
            codes,
            numbers,
            weight,
            sums,
            exponents,
            variation: Vec::new(),
            ln_variance: Vec::new(),
            total: total_units as f64 * unit,
            fingerprint: u128::from(fingerprint[0]) << 64 | u128::from(fingerprint[1]),
            units: kept_units,
        };
        let cases = total_units as f64 / weight;
        rows.variation = (0..scales.len()).map(|i| rows.about_mean(i, cases)).collect();
        rows.ln_variance = scales.iter().enumerate().map(|(i, scale)| rows.ln(i, cases, scale)).collect();
        Ok((rows.merged(), discrete))
    }

    /// Rows with the same codes as one, unless most are different. Sums over cells are the same.
    fn merged(mut self) -> Self {
        let cells = (0..self.codes.len()).fold(Cells::one(&self), |cells, v| cells.divided(&self, v));
        if 2 * cells.units.len() > self.units.len() {
            return self;
        }
        let sums = |column| cells.sums(&self, column).into_iter().map(i64::try_from).collect();
        let Ok(numbers) = (0..self.numbers.len()).map(sums).collect::<Result<Vec<Vec<i64>>, _>>() else {
            return self;
        };
        let first = cells.first_rows();
        for codes in &mut self.codes {
            *codes = first.iter().map(|&row| codes[row]).collect();
        }
        Self { numbers, units: cells.units, ..self }
    }

    /// Are there too few cases to estimate the means of this many columns in cells, and their covariances?
    pub fn too_small(&self, cells: usize, columns: usize) -> bool {
        2.0 * (cells + columns - 1) as f64 >= self.total
    }

    /// A sum over rows of a column in the units of its covariations, as a whole number.
    #[inline]
    pub fn scaled(&self, column: usize, sum: DoubleDouble) -> i64 {
        let factor = libm::ldexp(1.0, self.exponents[column]);
        let high = libm::rint(sum.high * factor);
        high as i64 + libm::rint((sum.high * factor - high) + sum.low * factor) as i64
    }

    /// `Σ w z_i z_j`, for `i ≤ j`.
    pub fn covariation(&self, i: usize, j: usize) -> i128 {
        let (pair, shift) = (self.sums.pair(i, j), self.exponents[i] + self.exponents[j]);
        if shift >= 0 { pair << shift } else { (pair + (1 << (-shift - 1))) >> -shift }
    }

    /// `Σ w (z − mean)²` of a column, at least 1.
    pub fn variation(&self, column: usize) -> i128 {
        self.variation[column]
    }

    fn about_mean(&self, i: usize, cases: f64) -> i128 {
        let mean = DoubleDouble::from(self.sums.single(i)) / DoubleDouble::from(cases).sqrt();
        let mean = i128::from(self.scaled(i, mean));
        (self.covariation(i, i) - mean * mean).max(1)
    }

    fn ln(&self, i: usize, cases: f64, scale: &Scale) -> f64 {
        let steps = 2.0 * (scale.ln_step() - f64::from(self.exponents[i]) * std::f64::consts::LN_2);
        libm::log(self.variation[i] as f64 / cases) + steps
    }
}

/// Scaled by `2^e`, the root of a sum of squares has [`BITS`] bits; so has, by the inequality of Cauchy and
/// Schwarz, the sum over a cell by the root of its weight.
fn exponent(squares: i128) -> i32 {
    BITS - (128 - squares.leading_zeros() as i32 + 1) / 2
}
