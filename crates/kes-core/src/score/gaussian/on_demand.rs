//! Correlations of columns computed one by one, when they are asked for.
//!
//! All pairs of twenty thousand columns would take five gigabytes, and a search needs one in a thousand. The sums of
//! products are exact, as those of [`products`](super::products), so the bits are the same.

use pulp::Arch;

use super::cholesky::Matrix;
use super::double_double::DoubleDouble;
use super::embedding::Embedding;
use super::fixed_point::rounded;
use super::moments::{correlation, covariation, ln_variance};
use super::products::{Sums, Weights};
use crate::stop::{Stop, Stopped};

/// Bits per limb; see [`super::products`].
const LIMB: i32 = 21;
/// Products of limbs whose sum is exact in a floating-point number.
const EXACT: usize = 512;

/// The whole numbers of all columns, one after the other, with what all correlations of a column share.
pub struct OnDemand {
    rows: usize,
    /// The limbs `h` and `l` of `z = h·2²¹ + l`: both fit into 24 bits.
    high: Vec<f32>,
    low: Vec<f32>,
    /// The weights in units, and `w z`, if the rows have any.
    units: Vec<u64>,
    weighted: Option<Vec<i64>>,
    /// The sum of every column.
    excess: Vec<f64>,
    variation: Vec<i128>,
    /// The sum of the weights, in units of the weights in the sums.
    cases: f64,
}

impl OnDemand {
    /// The columns of an embedding, and the logarithms of their variances.
    pub fn new(embedding: &Embedding<'_>) -> (Self, Vec<f64>) {
        let (columns, rows) = (embedding.columns(), embedding.units().len());
        let units = embedding.units();
        let total: u64 = units.iter().sum();
        let weights = units.iter().any(|&units| units != 1).then(|| Weights::new(units, total));
        let cases = total as f64 / weights.as_ref().map_or(1.0, Weights::unit);
        let mut numbers = vec![0.0; rows];
        let mut all = Self {
            rows,
            high: Vec::with_capacity(columns * rows),
            low: Vec::with_capacity(columns * rows),
            units: if weights.is_some() { units.to_vec() } else { Vec::new() },
            weighted: weights.as_ref().map(|_| Vec::with_capacity(columns * rows)),
            excess: Vec::with_capacity(columns),
            variation: Vec::with_capacity(columns),
            cases,
        };
        let step = f64::from(1 << LIMB);
        let mut ln_variances = Vec::with_capacity(columns);
        for column in 0..columns {
            embedding.fill(column, 0, &mut numbers);
            let high = numbers.iter().map(|&z| rounded(z / step));
            all.high.extend(high.clone().map(|high| high as f32));
            all.low.extend(numbers.iter().zip(high).map(|(&z, high)| (z - high * step) as f32));
            let sum = match (&weights, &mut all.weighted) {
                (Some(weights), Some(weighted)) => {
                    weighted.extend(numbers.iter().enumerate().map(|(row, &z)| weights.times(row, z)));
                    weighted[column * rows..].iter().map(|&wz| i128::from(wz)).sum::<i128>()
                }
                _ => numbers.iter().map(|&z| z as i128).sum(),
            };
            all.excess.push(sum as f64);
            let variation = covariation(all.products(column, column), sum as f64, sum as f64, cases).max(1);
            all.variation.push(variation);
            ln_variances.push(ln_variance(variation, cases, embedding.scale(column)));
        }
        (all, ln_variances)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.excess.len()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The correlation of two columns, the first before the second.
    pub fn correlation(&self, first: usize, second: usize) -> DoubleDouble {
        let (a, b) = (self.excess[first], self.excess[second]);
        let covariation = covariation(self.products(first, second), a, b, self.cases);
        correlation(covariation, self.variation[first], self.variation[second])
    }

    /// All correlations, on some threads: together they take a fraction of the time that they take one by one.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn all(&self, threads: usize, stop: &Stop) -> Result<Matrix, Stopped> {
        let weights = self.is_weighted().then(|| Weights::new(&self.units, self.units.iter().sum()));
        let fill = |column: usize, first: usize, numbers: &mut [f64]| {
            let at = column * self.rows + first..column * self.rows + first + numbers.len();
            let limbs = self.high[at.clone()].iter().zip(&self.low[at]);
            numbers.iter_mut().zip(limbs).for_each(|(z, (&high, &low))| *z = whole(high, low) as f64);
        };
        let sums = Sums::new(self.columns(), self.rows, weights.as_ref(), fill, threads, stop)?;
        Ok(Matrix::new(self.columns(), |i, j| {
            let covariation = covariation(sums.pair(i, j), self.excess[i], self.excess[j], self.cases);
            correlation(covariation, self.variation[i], self.variation[j])
        }))
    }

    /// `Σ w z z'`, exactly.
    fn products(&self, first: usize, second: usize) -> i128 {
        let (a, b) =
            (first * self.rows..(first + 1) * self.rows, second * self.rows..(second + 1) * self.rows);
        if let Some(weighted) = &self.weighted {
            let (high, low) = (&self.high[b.clone()], &self.low[b]);
            let whole = high.iter().zip(low).map(|(&high, &low)| whole(high, low));
            return weighted[a].iter().zip(whole).map(|(&wz, z)| i128::from(wz) * i128::from(z)).sum();
        }
        let columns = [&self.high[a.clone()], &self.low[a], &self.high[b.clone()], &self.low[b]];
        Arch::new().dispatch(
            #[inline(always)]
            || dot(columns),
        )
    }

    /// Writes a column in standard form for sums of products, with its weights or without, and returns what has to
    /// be taken off as the product of this of both columns.
    pub fn standardise(&self, column: usize, with_weights: bool, values: &mut [f64]) -> f64 {
        let at = column * self.rows..(column + 1) * self.rows;
        let deviation = libm::sqrt(self.variation[column] as f64);
        match &self.weighted {
            Some(weighted) if with_weights => {
                values.iter_mut().zip(&weighted[at]).for_each(|(value, &wz)| *value = wz as f64 / deviation);
            }
            _ => {
                let limbs = self.high[at.clone()].iter().zip(&self.low[at]);
                values.iter_mut().zip(limbs).for_each(|(value, (&high, &low))| {
                    *value = whole(high, low) as f64 / deviation;
                });
            }
        }
        self.excess[column] / (deviation * libm::sqrt(self.cases))
    }

    /// Whether the rows have weights.
    pub fn is_weighted(&self) -> bool {
        self.weighted.is_some()
    }
}

#[inline]
fn whole(high: f32, low: f32) -> i64 {
    ((high as i64) << LIMB) + low as i64
}

/// The sum of products of two columns by their limbs.
#[inline(always)]
fn dot([a_high, a_low, b_high, b_low]: [&[f32]; 4]) -> i128 {
    let mut all = 0;
    let chunks = a_high.chunks(EXACT).zip(a_low.chunks(EXACT));
    for ((ah, al), (bh, bl)) in chunks.zip(b_high.chunks(EXACT).zip(b_low.chunks(EXACT))) {
        const LANES: usize = 8;
        let (mut hh, mut hl, mut ll) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let full = ah.len() / LANES * LANES;
        let mut add = |lane: usize, at: usize| {
            let [ah, al, bh, bl] = [ah[at], al[at], bh[at], bl[at]].map(f64::from);
            hh[lane] += ah * bh;
            hl[lane] += ah * bl + al * bh;
            ll[lane] += al * bl;
        };
        for start in (0..full).step_by(LANES) {
            (0..LANES).for_each(|lane| add(lane, start + lane));
        }
        (full..ah.len()).for_each(|at| add(0, at));
        let sum = |lanes: [f64; LANES]| i128::from(lanes.iter().sum::<f64>() as i64); // exact
        all += (sum(hh) << (2 * LIMB)) + (sum(hl) << LIMB) + sum(ll);
    }
    all
}
