//! The cells into which discrete variables divide the rows, with the sums of continuous columns.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rows::{Rows, quotient};

/// Bytes of cells that are kept; when there are more, all are forgotten.
const KEPT: usize = 256 << 20;
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
    /// The sums of each continuous column over the cells, as soon as one has asked for them.
    sums: Vec<OnceLock<Box<[i128]>>>,
}

impl Cells {
    /// The single cell of all rows.
    fn one(rows: &Rows) -> Self {
        let sums = rows.numbers.iter().map(|_| OnceLock::new()).collect();
        Self { numbers: vec![0; rows.units.len()], units: vec![rows.units.iter().sum()], sums }
    }

    /// Every cell divided by the states of one more variable.
    fn divided(&self, rows: &Rows, variable: usize) -> Self {
        let arity = rows.arity[variable];
        let codes = &rows.codes[variable];
        let keys =
            self.numbers.iter().zip(codes).map(|(&cell, &code)| cell as usize * arity + usize::from(code));
        let possible = self.units.len().saturating_mul(arity);
        let mut units: Vec<u64> = Vec::new();
        let mut numbers = Vec::with_capacity(codes.len());
        let mut join = |number: &mut u32, weight: u64| {
            if *number == NONE {
                *number = units.len() as u32;
                units.push(0);
            }
            units[*number as usize] += weight;
            numbers.push(*number);
        };
        if possible <= TABLE.max(TABLE_PER_ROW * codes.len()) {
            let mut table = vec![NONE; possible];
            keys.zip(&rows.units).for_each(|(key, &weight)| join(&mut table[key], weight));
        } else {
            let mut table: HashMap<usize, u32, FxBuildHasher> = HashMap::default();
            keys.zip(&rows.units).for_each(|(key, &weight)| join(table.entry(key).or_insert(NONE), weight));
        }
        Self { numbers, units, sums: rows.numbers.iter().map(|_| OnceLock::new()).collect() }
    }

    fn sums(&self, rows: &Rows, column: usize) -> &[i128] {
        self.sums[column].get_or_init(|| {
            let mut sums = vec![0i128; self.units.len()].into_boxed_slice();
            for (&cell, &number) in self.numbers.iter().zip(&rows.numbers[column]) {
                sums[cell as usize] += i128::from(number);
            }
            sums
        })
    }

    /// The pooled covariation of two columns within the cells, for `i ≤ j`.
    pub fn covariation(&self, rows: &Rows, i: usize, j: usize) -> i128 {
        let (a, b) = (self.sums(rows, i), self.sums(rows, j));
        let between = a.iter().zip(b).zip(&self.units);
        let between: i128 = between.map(|((&a, &b), &n)| quotient(a, b, n as f64 / rows.weight)).sum();
        rows.sums.pair(i, j) - between
    }

    /// Bytes that it takes at most.
    fn bytes(&self) -> usize {
        4 * self.numbers.len() + self.units.len() * (8 + 16 * self.sums.len())
    }
}

/// The cells met so far, by their discrete variables in ascending order.
#[derive(Default)]
pub struct Kept {
    store: Mutex<Store>,
}

#[derive(Default)]
struct Store {
    cells: HashMap<Box<[u16]>, Arc<Cells>, FxBuildHasher>,
    bytes: usize,
}

impl Kept {
    /// The cells of a set of discrete variables, in ascending order.
    pub fn of(&self, rows: &Rows, variables: &[u16]) -> Arc<Cells> {
        if let Some(known) = self.lock().cells.get(variables) {
            return Arc::clone(known);
        }
        let cells = Arc::new(match variables {
            [] => Cells::one(rows),
            [given @ .., last] => self.of(rows, given).divided(rows, usize::from(*last)),
        });
        let mut store = self.lock();
        if store.bytes + cells.bytes() > KEPT {
            *store = Store::default();
        }
        store.bytes += cells.bytes();
        store.cells.insert(variables.into(), Arc::clone(&cells));
        cells
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
