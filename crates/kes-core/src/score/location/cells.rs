//! The cells into which discrete variables divide the rows, with what is left of continuous columns in them.

use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rows::Rows;
use crate::score::gaussian::DoubleDouble;

/// Number of values allocated together.
const BLOCK: usize = 32;
/// For [`Cells::bytes`]: columns with which the correlations of a column are asked for.
const ASKED: usize = 256;
/// A table from old to new numbers of cells may have this many places, or a few for each row.
const TABLE: usize = 1 << 16;
const TABLE_PER_ROW: usize = 4;
const NONE: u32 = u32::MAX;

/// The occupied cells of a set of discrete variables.
pub struct Cells {
    /// The cell of each row.
    numbers: Vec<u32>,
    /// The weight of each cell in units.
    pub units: Vec<u64>,
    /// `1/√n` of each cell.
    inverse_roots: OnceLock<Box<[DoubleDouble]>>,
    /// The continuous columns that were asked for.
    columns: Slots<Column>,
    /// The value of the discrete part, once it has been asked for.
    pub value: OnceLock<f64>,
}

/// A continuous column within cells.
struct Column {
    /// The sum over each cell by the root of its weight: sums of their products are what the means of
    /// cells explain.
    explained: Box<[i64]>,
    /// The column's covariation with itself, less the part that the means explain.
    left: i128,
    /// The share that is left of its variance, and the logarithm of the share.
    share: (f64, f64),
    /// The correlations with columns before it that were asked for.
    correlations: Slots<DoubleDouble>,
}

/// Values by index, allocated and computed on first use: of a thousand columns, most are never needed within
/// given cells.
struct Slots<T> {
    len: usize,
    blocks: OnceLock<Box<[Block<T>]>>,
}

type Block<T> = OnceLock<Box<[OnceLock<T>]>>;

impl<T> Slots<T> {
    fn new(len: usize) -> Self {
        Self { len, blocks: OnceLock::new() }
    }

    #[inline]
    fn get_or_init(&self, at: usize, make: impl FnOnce() -> T) -> &T {
        let blocks =
            self.blocks.get_or_init(|| (0..self.len.div_ceil(BLOCK)).map(|_| OnceLock::new()).collect());
        let block = blocks[at / BLOCK].get_or_init(|| (0..BLOCK).map(|_| OnceLock::new()).collect());
        block[at % BLOCK].get_or_init(make)
    }
}

impl Cells {
    /// The single cell of all rows.
    pub fn one(rows: &Rows) -> Self {
        Self::of(rows, vec![0; rows.units.len()], vec![rows.units.iter().sum()])
    }

    fn of(rows: &Rows, numbers: Vec<u32>, units: Vec<u64>) -> Self {
        let columns = Slots::new(rows.numbers.len());
        Self { numbers, units, inverse_roots: OnceLock::new(), columns, value: OnceLock::new() }
    }

    /// Every cell divided by the states of one more variable.
    pub fn divided(&self, rows: &Rows, variable: usize) -> Self {
        let arity = rows.arity[variable];
        let codes = &rows.codes[variable];
        let keys =
            self.numbers.iter().zip(codes).map(|(&cell, &code)| cell as usize * arity + usize::from(code));
        let possible = self.units.len().saturating_mul(arity);
        let mut units: Vec<u64> = Vec::new();
        let mut number = |known: &mut u32, weight: u64| {
            if *known == NONE {
                *known = units.len() as u32;
                units.push(0);
            }
            units[*known as usize] += weight;
            *known
        };
        let numbers = if possible <= TABLE.max(TABLE_PER_ROW * codes.len()) {
            let mut table = vec![NONE; possible];
            keys.zip(&rows.units).map(|(key, &weight)| number(&mut table[key], weight)).collect()
        } else {
            let mut table: HashMap<usize, u32, FxBuildHasher> = HashMap::default();
            let known = keys.zip(&rows.units);
            known.map(|(key, &weight)| number(table.entry(key).or_insert(NONE), weight)).collect()
        };
        Self::of(rows, numbers, units)
    }

    /// The first row of each cell.
    pub fn first_rows(&self) -> Vec<usize> {
        let mut first = Vec::with_capacity(self.units.len());
        for (row, &cell) in self.numbers.iter().enumerate() {
            if cell as usize == first.len() {
                first.push(row);
            }
        }
        first
    }

    /// The sums of a continuous column over the cells.
    pub fn sums(&self, rows: &Rows, column: usize) -> Vec<i128> {
        let mut sums = vec![0i128; self.units.len()];
        for (&cell, &number) in self.numbers.iter().zip(&rows.numbers[column]) {
            sums[cell as usize] += i128::from(number);
        }
        sums
    }

    fn inverse_roots(&self, rows: &Rows) -> &[DoubleDouble] {
        let inverse_root =
            |&units: &u64| DoubleDouble::from(1.0) / DoubleDouble::from(units as f64 / rows.weight).sqrt();
        self.inverse_roots.get_or_init(|| self.units.iter().map(inverse_root).collect())
    }

    fn column(&self, rows: &Rows, i: usize) -> &Column {
        self.columns.get_or_init(i, || {
            let sums = self.sums(rows, i);
            let explained: Box<[i64]> = sums
                .into_iter()
                .zip(self.inverse_roots(rows))
                .map(|(sum, &inverse_root)| rows.scaled(i, DoubleDouble::from(sum) * inverse_root))
                .collect();
            let left = (rows.covariation(i, i) - products(&explained, &explained)).max(1);
            let share = left as f64 / rows.variation(i) as f64;
            Column { explained, left, share: (share, libm::log(share)), correlations: Slots::new(i) }
        })
    }

    /// The share that the cells leave of the variance of a column, and its logarithm.
    pub fn share(&self, rows: &Rows, i: usize) -> (f64, f64) {
        self.column(rows, i).share
    }

    /// The correlation of two columns within the cells, for `i < j`.
    pub fn correlation(&self, rows: &Rows, i: usize, j: usize) -> DoubleDouble {
        *self.column(rows, j).correlations.get_or_init(i, || self.correlation_anew(rows, i, j))
    }

    /// The same, without taking note of it.
    pub fn correlation_anew(&self, rows: &Rows, i: usize, j: usize) -> DoubleDouble {
        let (first, second) = (self.column(rows, i), self.column(rows, j));
        let left = rows.covariation(i, j) - products(&first.explained, &second.explained);
        let scale = DoubleDouble::from(first.left) * second.left.into();
        DoubleDouble::from(left) / scale.sqrt()
    }

    /// About as many bytes as it will take.
    pub fn bytes(&self) -> usize {
        let columns = self.columns.len;
        let correlations = 12 * columns.min(ASKED);
        4 * self.numbers.len() + self.units.len() * (24 + 8 * columns) + columns * (80 + correlations)
    }
}

/// `Σ a b`, exactly.
fn products(a: &[i64], b: &[i64]) -> i128 {
    a.iter().zip(b).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum()
}
