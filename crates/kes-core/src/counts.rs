//! Cell counts of sets of variables, in the way that suits their size.
//!
//! Counting always asks for one *base* and many single variables to join to it, because that is
//! how the boundary asks. The base divides the cases into its occupied cells once; then each
//! variable divides those cells further:
//!
//! * **bitmaps**: a cell of the base is the bitmap of its cases, without the empty words when they
//!   are many; the count for a state of `x` is the number of ones it shares with that state's bitmap;
//! * **dense**: every distinct row knows the number of its base cell; a table is incremented;
//! * **sparse**: the same with a hash table, for sets with more cells than a table should have.

use hashbrown::HashMap;
use pulp::Arch;
use rustc_hash::FxBuildHasher;

use crate::dataset::{Bitmaps, Dataset};

/// A dense table may have this many cells whatever the data, or [`TABLE_PER_ROW`] per row.
const TABLE: usize = 1 << 16;
const TABLE_PER_ROW: usize = 4;
/// Cost of a word of a bitmap relative to a row of a dense count (measured, see `docs/performance.md`).
const WORD_COST: f64 = 0.6;

/// Counts cells; holds the buffers that counting needs.
pub struct Counter {
    arch: Arch,
    cells: CellBitmaps,
    spare: CellBitmaps,
    rows: RowCells,
    counts: Vec<u64>,
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            arch: Arch::new(),
            cells: CellBitmaps::default(),
            spare: CellBitmaps::default(),
            rows: RowCells::default(),
            counts: Vec::new(),
        }
    }
}

impl Counter {
    /// Calls `found(x, counts)` for every `x` of `joined`, with the counts of the cells of
    /// `base ∪ {x}`: all occupied ones, in no particular order, and possibly some zeros.
    pub fn count_each(
        &mut self,
        data: &Dataset,
        base: &[usize],
        joined: &[usize],
        mut found: impl FnMut(usize, &[u64]),
    ) {
        match data.bitmaps().filter(|bitmaps| prefers_bitmaps(data, bitmaps, base, joined)) {
            Some(bitmaps) => {
                let Self { arch, cells, spare, counts, .. } = self;
                arch.dispatch(
                    #[inline(always)]
                    || {
                        cells.divide_all(spare, data, bitmaps, base);
                        for &x in joined {
                            cells.count(bitmaps, x, data.arity()[x], counts);
                            found(x, counts);
                        }
                    },
                );
            }
            None => {
                self.rows.divide(data, base);
                for &x in joined {
                    self.rows.count(data, x, &mut self.counts);
                    found(x, &self.counts);
                }
            }
        }
    }
}

/// Bitmaps pay while the words to look at are fewer than the rows.
fn prefers_bitmaps(data: &Dataset, bitmaps: &Bitmaps, base: &[usize], joined: &[usize]) -> bool {
    if !base.iter().chain(joined).all(|&v| bitmaps.has(v)) {
        return false;
    }
    let states: usize = joined.iter().map(|&x| data.arity()[x] - 1).sum();
    let mut cells = 1.0;
    let mut dividing = 0.0;
    for &v in base {
        cells *= data.arity()[v] as f64;
        dividing += (cells * bitmaps.words as f64).min(data.total_units() as f64);
    }
    let words = (cells * bitmaps.words as f64).min(data.total_units() as f64);
    let by_bitmaps = WORD_COST * (dividing + words * states as f64);
    by_bitmaps < (data.units().len() * (base.len() + joined.len())) as f64
}

/// One occupied cell: where its words are, and how many cases it has.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    /// Are all words of the bitmap kept (so that their places need not be looked up)?
    whole: bool,
    size: u64,
}

/// The occupied cells of a base as bitmaps.
#[derive(Default)]
struct CellBitmaps {
    cells: Vec<Cell>,
    bits: Vec<u64>,
    places: Vec<u32>,
}

impl CellBitmaps {
    #[inline(always)]
    fn divide_all(&mut self, spare: &mut Self, data: &Dataset, bitmaps: &Bitmaps, base: &[usize]) {
        self.clear();
        self.push_whole(bitmaps.words, |_| u64::MAX, data.total_units());
        if let Some(last) = self.bits.last_mut() {
            *last = u64::MAX >> ((64 - data.total_units() % 64) % 64);
        }
        for &v in base {
            spare.divide(self, bitmaps, v, data.arity()[v]);
            std::mem::swap(self, spare);
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.bits.clear();
        self.places.clear();
    }

    #[inline(always)]
    fn push_whole(&mut self, words: usize, word: impl Fn(usize) -> u64, size: u64) {
        let start = self.bits.len();
        self.bits.extend((0..words).map(word));
        self.places.resize(start + words, 0); // unused, but keeps both lists in step
        self.cells.push(Cell { start, end: start + words, whole: true, size });
    }

    /// Becomes the cells of `coarse`, each divided by the states of `v`.
    #[inline(always)]
    fn divide(&mut self, coarse: &Self, bitmaps: &Bitmaps, v: usize, arity: usize) {
        self.clear();
        for cell in &coarse.cells {
            let bits = &coarse.bits[cell.start..cell.end];
            let places = &coarse.places[cell.start..cell.end];
            for s in 0..arity {
                let state = bitmaps.state(v, s);
                if cell.whole {
                    let (size, occupied) = overlap(bits, state);
                    if 2 * occupied > bitmaps.words {
                        self.push_whole(bitmaps.words, |w| bits[w] & state[w], size);
                    } else {
                        self.push_occupied(
                            bits.iter().zip(state).enumerate().map(|(w, (a, b))| (w as u32, a & b)),
                            size,
                        );
                    }
                } else {
                    let words =
                        bits.iter().zip(places).map(|(bits, &place)| (place, bits & state[place as usize]));
                    let size = words.clone().map(|(_, bits)| u64::from(bits.count_ones())).sum();
                    self.push_occupied(words, size);
                }
            }
        }
    }

    #[inline(always)]
    fn push_occupied(&mut self, words: impl Iterator<Item = (u32, u64)>, size: u64) {
        if size == 0 {
            return;
        }
        let start = self.bits.len();
        for (place, bits) in words {
            if bits != 0 {
                self.bits.push(bits);
                self.places.push(place);
            }
        }
        self.cells.push(Cell { start, end: self.bits.len(), whole: false, size });
    }

    /// The counts of all cells divided by the states of `x`. The last state has what is left.
    #[inline(always)]
    fn count(&self, bitmaps: &Bitmaps, x: usize, arity: usize, counts: &mut Vec<u64>) {
        counts.clear();
        for cell in &self.cells {
            let bits = &self.bits[cell.start..cell.end];
            let places = &self.places[cell.start..cell.end];
            let mut left = cell.size;
            for s in 0..arity - 1 {
                let state = bitmaps.state(x, s);
                let size: u64 = if cell.whole {
                    bits.iter().zip(state).map(|(a, b)| u64::from((a & b).count_ones())).sum()
                } else {
                    bits.iter()
                        .zip(places)
                        .map(|(a, &w)| u64::from((a & state[w as usize]).count_ones()))
                        .sum()
                };
                counts.push(size);
                left -= size;
            }
            counts.push(left);
        }
    }
}

/// The number of ones two bitmaps share, and of words in which they share any.
#[inline(always)]
fn overlap(a: &[u64], b: &[u64]) -> (u64, usize) {
    let size = a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum();
    let occupied = a.iter().zip(b).map(|(a, b)| usize::from(a & b != 0)).sum();
    (size, occupied)
}

/// The cell of the base that each distinct row is in, as a number below `cells`.
#[derive(Default)]
struct RowCells {
    cell: Vec<u32>,
    cells: usize,
}

impl RowCells {
    fn divide(&mut self, data: &Dataset, base: &[usize]) {
        self.cell.clear();
        self.cell.resize(data.units().len(), 0);
        self.cells = 1;
        for &v in base {
            let arity = data.arity()[v];
            if self.cells * arity <= table_limit(data) {
                for (cell, &code) in self.cell.iter_mut().zip(data.codes(v)) {
                    *cell = *cell * arity as u32 + u32::from(code);
                }
                self.cells *= arity;
            } else {
                self.renumber(data, v);
            }
        }
    }

    /// Divides by `v` and numbers the occupied cells only, in order of appearance.
    fn renumber(&mut self, data: &Dataset, v: usize) {
        let arity = data.arity()[v] as u64;
        let mut numbers: HashMap<u64, u32, FxBuildHasher> = HashMap::default();
        for (cell, &code) in self.cell.iter_mut().zip(data.codes(v)) {
            let next = numbers.len() as u32;
            *cell = *numbers.entry(u64::from(*cell) * arity + u64::from(code)).or_insert(next);
        }
        self.cells = numbers.len();
    }

    fn count(&self, data: &Dataset, x: usize, counts: &mut Vec<u64>) {
        let arity = data.arity()[x];
        let keys = self
            .cell
            .iter()
            .zip(data.codes(x))
            .map(|(&cell, &code)| cell as usize * arity + usize::from(code));
        counts.clear();
        if self.cells * arity <= table_limit(data) {
            counts.resize(self.cells * arity, 0);
            keys.zip(data.units()).for_each(|(key, units)| counts[key] += units);
        } else {
            let mut table: HashMap<usize, u64, FxBuildHasher> = HashMap::default();
            keys.zip(data.units()).for_each(|(key, units)| *table.entry(key).or_default() += units);
            counts.extend(table.into_values());
        }
    }
}

fn table_limit(data: &Dataset) -> usize {
    TABLE.max(TABLE_PER_ROW * data.units().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The occupied cells' counts, sorted, straight from the rows.
    fn direct(columns: &[Vec<i32>], set: &[usize], weights: &[f64]) -> Vec<u64> {
        let mut table: BTreeMap<Vec<i32>, u64> = BTreeMap::new();
        for (row, weight) in weights.iter().enumerate() {
            *table.entry(set.iter().map(|&v| columns[v][row]).collect()).or_default() += *weight as u64;
        }
        let mut counts: Vec<u64> = table.into_values().filter(|&n| n > 0).collect();
        counts.sort_unstable();
        counts
    }

    fn compare(columns: &[Vec<i32>], arity: &[usize], weights: &[f64], base: &[usize], joined: &[usize]) {
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, arity, Some(weights)).unwrap();
        let mut seen = Vec::new();
        Counter::default().count_each(&data, base, joined, |x, counts| {
            let mut counts: Vec<u64> = counts.iter().copied().filter(|&n| n > 0).collect();
            counts.sort_unstable();
            assert_eq!(counts, direct(columns, &[base, &[x]].concat(), weights));
            seen.push(x);
        });
        assert_eq!(seen, joined);
    }

    proptest! {
        /// Small arities and weights: bitmaps with whole and with thinned cells, and dense tables.
        #[test]
        fn counts_are_those_of_the_rows(
            rows in prop::collection::vec((0..2i32, 0..3i32, 0..5i32, 0..4i32, 0..3u32), 1..400),
            base in prop::sample::subsequence(vec![0usize, 1, 2], 0..=3),
        ) {
            let column = |f: fn(&(i32, i32, i32, i32, u32)) -> i32| rows.iter().map(f).collect::<Vec<_>>();
            let columns = [column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3)];
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.4) + 1.0).collect();
            compare(&columns, &[2, 3, 5, 4], &weights, &base, &[3]);
            let heavy: Vec<f64> = weights.iter().map(|w| w * 1000.0).collect(); // too many cases for bitmaps
            compare(&columns, &[2, 3, 5, 4], &heavy, &base, &[3]);
        }
    }

    /// Thousands of states in each of several columns: the cells outnumber any table.
    #[test]
    fn huge_sets_are_counted_sparsely() {
        let rows = 3000;
        let columns: Vec<Vec<i32>> = (0..14)
            .map(|v| {
                (0..rows)
                    .map(|i| (i * (2 * v + 7) + i / 3) % 5000 % (10 + 4990 * i32::from(v == 0)))
                    .collect()
            })
            .collect();
        let arity: Vec<usize> = (0..14).map(|v| if v == 0 { 5000 } else { 10 }).collect();
        let weights = vec![1.0; rows as usize];
        compare(&columns, &arity, &weights, &[0, 1, 2, 3], &[4, 5]);
        compare(&columns, &arity, &weights, &(1..13).collect::<Vec<_>>(), &[13, 0]);
    }
}
