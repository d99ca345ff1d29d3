//! Exact sums of products of whole numbers, all pairs of columns at once.
//!
//! A whole number of 41 bits is split into *limbs* of 21 bits (with a sign), `z = h·2²¹ + l`. Products
//! of limbs are below 2⁴², so that a sum of 512 of them is exact in a floating-point number, where the
//! processor multiplies fastest; sums of blocks go on as integers of 128 bits. With Karatsuba's trick
//!
//! ```text
//! z z' = h h'·2⁴² + [(h + l)(h' + l') − h h' − l l']·2²¹ + l l'
//! ```
//!
//! three products suffice. With weights, `w z` is split into three limbs against two of `z'`.

use std::ops::AddAssign;

use pulp::{Arch, Simd, WithSimd};

use super::fixed_point::rounded;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// Columns per panel.
const WIDTH: usize = 8;
/// Rows of a tile of sums: half a panel against a whole one stays in registers.
const HALF: usize = WIDTH / 2;
/// Rows per block: few enough for exact sums and for the cache.
const ROWS: usize = 512;
/// Bits per limb.
const LIMB: i32 = 21;
/// `w z` has at most this many bits, and the weights of all rows together at most [`TOTAL_BITS`].
const WEIGHT_BITS: u32 = 21;
const TOTAL_BITS: u32 = 44;

/// The weights of rows for the sums: units, cut to what the limbs can hold.
#[derive(Clone, Debug)]
pub struct Weights<'a> {
    units: &'a [u64],
    shift: u32,
}

impl<'a> Weights<'a> {
    /// The weights in units. Whole weights below 2²¹ with a sum below 2⁴⁴ are kept as they are.
    pub fn new(units: &'a [u64], total: u64) -> Self {
        let bits = |value: u64| 64 - value.leading_zeros();
        let most = bits(units.iter().copied().max().unwrap_or(0));
        let shift = most.saturating_sub(WEIGHT_BITS).max(bits(total).saturating_sub(TOTAL_BITS));
        Self { units, shift }
    }

    /// The number of units that weigh 1 in the sums.
    pub fn unit(&self) -> f64 {
        libm::ldexp(1.0, self.shift as i32)
    }

    /// `w z`, to the nearest whole number.
    #[inline]
    pub fn times(&self, row: usize, whole: f64) -> i64 {
        let product = i128::from(self.units[row]) * whole as i128;
        let half = (1i128 << self.shift) >> 1;
        ((product + half) >> self.shift) as i64
    }
}

/// Sums of columns and of products of all pairs of them.
pub struct Sums {
    /// Of every column alone.
    single: Vec<i128>,
    /// Panel after panel of the second column, the first column up to the end of the panel.
    pairs: Vec<i128>,
}

/// The offset of the sums of a panel.
fn panel_start(panel: usize) -> usize {
    WIDTH * WIDTH * panel * (panel + 1) / 2
}

impl Sums {
    fn zero(columns: usize) -> Self {
        Self { single: vec![0; columns], pairs: vec![0; panel_start(columns.div_ceil(WIDTH))] }
    }

    /// `Σ w z_i`.
    pub fn single(&self, i: usize) -> i128 {
        self.single[i]
    }

    /// `Σ w z_i z_j` for `i ≤ j`.
    pub fn pair(&self, i: usize, j: usize) -> i128 {
        let panel = j / WIDTH;
        self.pairs[panel_start(panel) + i * WIDTH + j % WIDTH]
    }

    /// The sums over all rows, which `fill(column, first row, numbers)` delivers, on some threads. How the
    /// rows are shared out does not matter: the sums are exact.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(
        columns: usize,
        rows: usize,
        weights: Option<&Weights<'_>>,
        fill: impl Fn(usize, usize, &mut [f64]) + Sync,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Stopped> {
        let blocks = rows.div_ceil(ROWS);
        let mut parts: Vec<_> = (0..threads.clamp(1, blocks.max(1)))
            .map(|_| (Self::zero(columns), Limbs::new(columns, weights.is_some())))
            .collect();
        map(&mut parts, blocks, stop, |(sums, limbs), block| {
            let first = block * ROWS;
            let count = ROWS.min(rows - first);
            limbs.load(first, count, weights, &fill, &mut sums.single);
            Arch::new().dispatch(AddProducts { sums, limbs, rows: count });
            Ok::<_, Stopped>(())
        })?;
        let mut all = Self::zero(columns);
        parts.into_iter().for_each(|(part, _)| all += part);
        Ok(all)
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        self.single.iter_mut().zip(other.single).for_each(|(a, b)| *a += b);
        self.pairs.iter_mut().zip(other.pairs).for_each(|(a, b)| *a += b);
    }
}

/// The limbs that are multiplied, and the value of a unit of the product.
type Product = (usize, usize, i128);

/// `h h'`, `l l'` and `(h + l)(h' + l')`.
const PLAIN: [Product; 3] =
    [(0, 0, (1 << (2 * LIMB)) - (1 << LIMB)), (1, 1, 1 - (1 << LIMB)), (2, 2, 1 << LIMB)];

/// Limbs 3, 4, 5 of `w z`, from the largest, by limbs 0 and 1 of `z'`.
const WEIGHTED: [Product; 6] = [
    (3, 0, 1 << (3 * LIMB)),
    (3, 1, 1 << (2 * LIMB)),
    (4, 0, 1 << (2 * LIMB)),
    (4, 1, 1 << LIMB),
    (5, 0, 1 << LIMB),
    (5, 1, 1),
];

/// The limbs of a block of rows: panel after panel, row after row within it.
struct Limbs {
    columns: usize,
    weighted: bool,
    /// `h`, `l`, `h + l`, and with weights the three of `w z`.
    of: Vec<Vec<f64>>,
    numbers: Vec<f64>,
}

impl Limbs {
    fn new(columns: usize, weighted: bool) -> Self {
        let size = columns.div_ceil(WIDTH) * WIDTH * ROWS;
        let of = vec![vec![0.0; size]; if weighted { 6 } else { 3 }];
        Self { columns, weighted, of, numbers: vec![0.0; ROWS] }
    }

    fn products(&self) -> &'static [Product] {
        if self.weighted { &WEIGHTED } else { &PLAIN }
    }

    /// The limb of a panel.
    fn panel(&self, limb: usize, panel: usize, rows: usize) -> &[f64] {
        &self.of[limb][panel * WIDTH * ROWS..][..WIDTH * rows]
    }

    fn load(
        &mut self,
        first: usize,
        count: usize,
        weights: Option<&Weights<'_>>,
        fill: &impl Fn(usize, usize, &mut [f64]),
        single: &mut [i128],
    ) {
        let step = f64::from(1 << LIMB);
        for (column, single) in single.iter_mut().enumerate() {
            let numbers = &mut self.numbers[..count];
            fill(column, first, numbers);
            let place = column / WIDTH * WIDTH * ROWS + column % WIDTH;
            let mut sum = 0.0; // exact: 512 numbers of 41 bits
            for (row, &z) in numbers.iter().enumerate() {
                sum += z;
                let high = rounded(z / step);
                let low = z - high * step;
                let at = place + row * WIDTH;
                self.of[0][at] = high;
                self.of[1][at] = low;
                self.of[2][at] = high + low;
            }
            let Some(weights) = weights else {
                *single += sum as i128;
                continue;
            };
            for (row, &z) in numbers.iter().enumerate() {
                let product = weights.times(first + row, z);
                *single += i128::from(product);
                let (rest, low) = split(product);
                let (high, middle) = split(rest);
                let at = place + row * WIDTH;
                self.of[3][at] = high as f64;
                self.of[4][at] = middle as f64;
                self.of[5][at] = low as f64;
            }
        }
    }
}

/// A number without its lowest limb, and that limb.
#[inline]
fn split(value: i64) -> (i64, i64) {
    let half = 1 << (LIMB - 1);
    let rest = (value + half) >> LIMB;
    (rest, value - (rest << LIMB))
}

/// Adds the products of a block to the sums.
struct AddProducts<'b> {
    sums: &'b mut Sums,
    limbs: &'b Limbs,
    rows: usize,
}

impl WithSimd for AddProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.add::<S, 1>(simd),
            4 => self.add::<S, 2>(simd),
            2 => self.add::<S, 4>(simd),
            _ => self.add::<S, 8>(simd),
        }
    }
}

impl AddProducts<'_> {
    #[inline(always)]
    fn add<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { sums, limbs, rows } = self;
        for second in 0..limbs.columns.div_ceil(WIDTH) {
            let sums = &mut sums.pairs[panel_start(second)..panel_start(second + 1)];
            for (first, sums) in sums.chunks_exact_mut(WIDTH * WIDTH).enumerate() {
                let (upper, lower) = sums.split_at_mut(HALF * WIDTH);
                for &(a, b, unit) in limbs.products() {
                    let (a, b) = (limbs.panel(a, first, rows), limbs.panel(b, second, rows));
                    add_tile(upper, tile::<S, VECTORS, 0>(simd, a, b), unit);
                    add_tile(lower, tile::<S, VECTORS, HALF>(simd, a, b), unit);
                }
            }
        }
    }
}

fn add_tile(sums: &mut [i128], tile: [f64; HALF * WIDTH], unit: i128) {
    sums.iter_mut().zip(tile).for_each(|(sum, product)| *sum += unit * i128::from(product as i64));
}

/// The products of half a panel, from column `FROM` on, and a whole one. Fused or not: nothing is rounded.
#[inline(always)]
fn tile<S: Simd, const VECTORS: usize, const FROM: usize>(
    simd: S,
    a: &[f64],
    b: &[f64],
) -> [f64; HALF * WIDTH] {
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; HALF];
    let (b, _) = S::as_simd_f64s(b);
    for (a, b) in a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<VECTORS>().0) {
        let b = *b;
        // Counted loops over arrays: the compiler unrolls them and keeps the sums in registers.
        for i in 0..HALF {
            let a = simd.splat_f64s(a[FROM + i]);
            for v in 0..VECTORS {
                sums[i][v] = simd.mul_add_e_f64s(a, b[v], sums[i][v]);
            }
        }
    }
    let mut tile = [0.0; HALF * WIDTH];
    let (places, _) = S::as_mut_simd_f64s(&mut tile);
    places.iter_mut().zip(sums.as_flattened()).for_each(|(place, &sum)| *place = sum);
    tile
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any whole numbers up to the largest, extremes among them.
    fn number() -> impl Strategy<Value = i64> {
        let most = 1i64 << 41;
        prop_oneof![4 => -most..=most, 1 => Just(most), 1 => Just(-most)]
    }

    fn sums(columns: &[Vec<i64>], weights: Option<&Weights<'_>>, threads: usize) -> Sums {
        let fill = |column: usize, first: usize, numbers: &mut [f64]| {
            let values = &columns[column][first..];
            numbers.iter_mut().zip(values).for_each(|(number, &value)| *number = value as f64);
        };
        Sums::new(columns.len(), columns[0].len(), weights, fill, threads, &Stop::default()).unwrap()
    }

    /// The definition, in integers.
    fn direct(columns: &[Vec<i64>], weights: &[u64], i: usize, j: usize) -> i128 {
        let rows = columns[i].iter().zip(&columns[j]).zip(weights);
        rows.map(|((&a, &b), &w)| i128::from(w) * i128::from(a) * i128::from(b)).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        /// More than one block, a last one that is not full, one column more than a panel.
        #[test]
        fn sums_are_exact(
            seeds in prop::collection::vec(prop::collection::vec(number(), 9), 1..60),
            units in prop::collection::vec(0..1u64 << 21, 60),
            repeats in 1..20usize,
            threads in 1..4usize,
        ) {
            let rows = seeds.len() * repeats;
            let columns: Vec<Vec<i64>> =
                (0..9).map(|c| (0..rows).map(|r| seeds[r % seeds.len()][c]).collect()).collect();
            let units: Vec<u64> = (0..rows).map(|r| units[r % 60]).collect();
            let weights = Weights::new(&units, units.iter().sum());
            prop_assert_eq!(weights.unit(), 1.0);
            let (plain, weighted) = (sums(&columns, None, threads), sums(&columns, Some(&weights), threads));
            for j in 0..9 {
                let single = |w: &dyn Fn(usize) -> u64| -> i128 {
                    columns[j].iter().enumerate().map(|(r, &z)| i128::from(w(r)) * i128::from(z)).sum()
                };
                prop_assert_eq!(plain.single(j), single(&|_| 1));
                prop_assert_eq!(weighted.single(j), single(&|r| units[r]));
                for i in 0..=j {
                    prop_assert_eq!(plain.pair(i, j), direct(&columns, &vec![1; rows], i, j));
                    prop_assert_eq!(weighted.pair(i, j), direct(&columns, &units, i, j));
                }
            }
        }
    }

    /// Real weights have up to 2⁶⁰ units in all; what is cut off is beyond the digits of a result.
    #[test]
    fn weights_of_many_units_keep_their_digits() {
        let columns: Vec<Vec<i64>> =
            (1..3).map(|c| (0..700).map(|r| (r * c * 7919) % (1 << 41)).collect()).collect();
        let units: Vec<u64> = (0..700).map(|r| (1 << 50) / (r + 1) + 12345).collect();
        let weights = Weights::new(&units, units.iter().sum());
        let found = sums(&columns, Some(&weights), 2).pair(0, 1) as f64 * weights.unit();
        let exact = direct(&columns, &units, 0, 1) as f64;
        assert!((found / exact - 1.0).abs() < 1e-12, "{found} {exact}");
    }
}
