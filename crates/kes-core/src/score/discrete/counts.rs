//! Cell counts of sets of variables, in the way that suits their size.
//!
//! Counting always asks for one *base* and many single variables to join to it, because that is
//! how the boundary asks: for a target `y` and a conditioning set `C`, all sources `x`. The base `C ∪ y`
//! divides the cases into its occupied cells once; then each `x` divides those cells further. The
//! counts of `C ∪ x` are sums of those of `C ∪ y ∪ x`, so they come for free.
//!
//! * **bitmaps**: a cell of the base is the bitmap of its cases, without the empty words when they
//!   are many; the count for a state of `x` is the number of ones it shares with that state's bitmap,
//!   or, if the state is rare, its cases are looked up one by one; the commonest has what is left;
//! * **dense**: every distinct row knows the number of its base cell; a table is incremented;
//! * **sparse**: the same with a hash table, for sets with more cells than a table should have.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::bitmaps::Bitmaps;
use super::cells::{CellBitmaps, Places};
use super::dataset::{Dataset, with_column};
use super::simd::Simd;
use crate::score::set_function::Source;

/// A dense table may have this many cells whatever the data, or [`TABLE_PER_ROW`] per row.
const TABLE: usize = 1 << 16;
const TABLE_PER_ROW: usize = 4;
/// Cost of a word of a bitmap, taken by itself, relative to a row of a dense count (measured, see
/// `docs/performance.md`).
const WORD_COST: f64 = 0.8;

/// The counts of the cells of `C ∪ y ∪ x` and of `C ∪ x`: of all occupied cells, in no particular
/// order, and possibly some zeros.
#[derive(Default)]
pub struct Counts {
    /// Of `C ∪ y ∪ x`.
    pub joint: Vec<u64>,
    /// Of `C ∪ x`.
    pub margin: Vec<u64>,
}

/// Counts cells; holds the buffers that counting needs.
#[derive(Default)]
pub struct Counter {
    simd: Simd,
    cells: CellBitmaps,
    spare: CellBitmaps,
    places: Places,
    rows: RowCells,
    counts: Counts,
}

impl Counter {
    /// The counts of the cells of one set.
    pub fn count(&mut self, data: &Dataset, set: &[usize]) -> &[u64] {
        match set {
            [] => self.counts.joint = vec![data.total_units()],
            &[x] => {
                // No base: the variable divides the single cell of all cases, counted as its margin.
                self.count_each(data, &[], x, &mut [Source::new(x, None)], &mut |_, _| ());
                std::mem::swap(&mut self.counts.joint, &mut self.counts.margin);
            }
            &[ref given @ .., y, x] => {
                self.count_each(data, given, y, &mut [Source::new(x, None)], &mut |_, _| ());
            }
        }
        &self.counts.joint
    }

    /// Calls `found(source, counts)` for every source `x`, given `C` and `y`.
    pub fn count_each(
        &mut self,
        data: &Dataset,
        given: &[usize],
        y: usize,
        sources: &mut [Source],
        found: &mut dyn FnMut(&mut Source, &Counts),
    ) {
        match data.bitmaps().filter(|bitmaps| self.prefers_bitmaps(data, bitmaps, given, y, sources)) {
            Some(bitmaps) => {
                let Self { simd, cells, spare, places, counts, .. } = self;
                let thin = 2 * simd.lanes();
                simd.dispatch(
                    #[inline(always)]
                    || {
                        cells.divide_all(spare, data, bitmaps, given.iter().chain([&y]), thin);
                        let few = cells.worth_looking_up(simd.lanes(), data.total_units(), sources.len());
                        let mut places = few.map(|few| places.of(cells, few));
                        for source in sources {
                            cells.count(
                                bitmaps,
                                source.x,
                                data.arity()[source.x],
                                places.as_deref_mut(),
                                counts,
                            );
                            found(source, counts);
                        }
                    },
                );
            }
            None => {
                self.rows.divide(data, given, y);
                for source in sources {
                    self.rows.count(data, source.x, &mut self.counts);
                    found(source, &self.counts);
                }
            }
        }
    }

    /// Bitmaps pay while the words to look at are fewer than the rows.
    fn prefers_bitmaps(
        &self,
        data: &Dataset,
        bitmaps: &Bitmaps,
        given: &[usize],
        y: usize,
        sources: &[Source],
    ) -> bool {
        let of_sources = sources.iter().map(|source| &source.x);
        if !given.iter().chain([&y]).chain(of_sources.clone()).all(|&v| bitmaps.has(v)) {
            return false;
        }
        let states: usize = of_sources.map(|&x| data.arity()[x] - 1).sum();
        let cost = bitmaps.words as f64 / self.simd.lanes() as f64;
        let (mut words, mut dividing, mut cells) = (cost, 0.0, 1.0);
        for &v in given.iter().chain([&y]) {
            cells *= data.arity()[v] as f64;
            words = (cells * cost).min(data.total_units() as f64);
            dividing += words;
        }
        let by_bitmaps = WORD_COST * (dividing + words * states as f64);
        by_bitmaps < (data.units().len() * (given.len() + 1 + sources.len())) as f64
    }
}

/// The cell of the base that each distinct row is in.
#[derive(Default)]
struct RowCells {
    cell: Vec<u32>,
    /// For each cell of the base, the cell one division before that it is part of.
    origin: Vec<u32>,
    origins: usize,
}

impl RowCells {
    fn divide(&mut self, data: &Dataset, given: &[usize], y: usize) {
        self.cell.clear();
        self.cell.resize(data.units().len(), 0);
        self.origin.clear();
        self.origin.push(0);
        for &v in given.iter().chain([&y]) {
            let arity = data.arity()[v];
            self.origins = self.origin.len();
            self.origin.clear();
            if self.origins * arity <= table_limit(data) {
                let finer = |cell: &mut u32, code: u32| *cell = *cell * arity as u32 + code;
                with_column!(data.codes(v), codes => {
                    self.cell.iter_mut().zip(codes).for_each(|(cell, &code)| finer(cell, code.into()));
                });
                self.origin
                    .extend((0..self.origins as u32).flat_map(|cell| std::iter::repeat_n(cell, arity)));
            } else {
                self.renumber(data, v);
            }
        }
    }

    /// Divides by `v` and numbers the occupied cells only, in order of appearance.
    fn renumber(&mut self, data: &Dataset, v: usize) {
        let Self { cell, origin, .. } = self;
        let mut numbers: HashMap<(u32, u32), u32, FxBuildHasher> = HashMap::default();
        let mut renumber = |cell: &mut u32, code: u32| {
            *cell = *numbers.entry((*cell, code)).or_insert_with(|| {
                origin.push(*cell);
                origin.len() as u32 - 1
            });
        };
        with_column!(data.codes(v), codes => {
            cell.iter_mut().zip(codes).for_each(|(cell, &code)| renumber(cell, code.into()));
        });
    }

    fn count(&self, data: &Dataset, x: usize, counts: &mut Counts) {
        with_column!(data.codes(x), codes => self.count_codes(data, codes, data.arity()[x], counts));
    }

    fn count_codes(
        &self,
        data: &Dataset,
        codes: &[impl Copy + Into<usize>],
        arity: usize,
        counts: &mut Counts,
    ) {
        let Counts { joint, margin } = counts;
        joint.clear();
        margin.clear();
        let key = |cell: u32, code: usize| cell as usize * arity + code;
        let rows = self.cell.iter().zip(codes).map(|(&cell, &code)| (cell, code.into()));
        if self.origin.len() * arity <= table_limit(data) {
            joint.resize(self.origin.len() * arity, 0);
            margin.resize(self.origins * arity, 0);
            if data.is_unweighted() {
                rows.for_each(|(cell, code)| joint[key(cell, code)] += 1);
            } else {
                rows.zip(data.units()).for_each(|((cell, code), units)| joint[key(cell, code)] += units);
            }
            for (part, &origin) in joint.chunks_exact(arity).zip(&self.origin) {
                let whole = &mut margin[key(origin, 0)..][..arity];
                whole.iter_mut().zip(part).for_each(|(whole, part)| *whole += part);
            }
        } else {
            let mut table: HashMap<(u32, usize), u64, FxBuildHasher> = HashMap::default();
            rows.zip(data.units()).for_each(|(key, units)| *table.entry(key).or_default() += units);
            let mut whole: HashMap<(u32, usize), u64, FxBuildHasher> = HashMap::default();
            for ((cell, code), units) in table {
                joint.push(units);
                *whole.entry((self.origin[cell as usize], code)).or_default() += units;
            }
            margin.extend(whole.into_values());
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
        occupied(&table.into_values().collect::<Vec<_>>())
    }

    fn occupied(counts: &[u64]) -> Vec<u64> {
        let mut counts: Vec<u64> = counts.iter().copied().filter(|&n| n > 0).collect();
        counts.sort_unstable();
        counts
    }

    fn compare(
        columns: &[Vec<i32>],
        arity: &[usize],
        weights: &[f64],
        given: &[usize],
        y: usize,
        sources: &[usize],
    ) {
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, arity, Some(weights)).unwrap();
        let mut seen = Vec::new();
        let mut asked: Vec<Source> = sources.iter().map(|&x| Source::new(x, None)).collect();
        Counter::default().count_each(&data, given, y, &mut asked, &mut |&mut Source { x, .. }, counts| {
            assert_eq!(occupied(&counts.joint), direct(columns, &[given, &[y, x]].concat(), weights));
            assert_eq!(occupied(&counts.margin), direct(columns, &[given, &[x]].concat(), weights));
            seen.push(x);
        });
        assert_eq!(seen, sources);
    }

    proptest! {
        /// Small arities and weights: bitmaps with whole and with thinned cells, and dense tables.
        #[test]
        fn counts_are_those_of_the_rows(
            rows in prop::collection::vec((0..2i32, 0..3i32, 0..5i32, 0..4i32, 0..3u32), 1..400),
            given in prop::sample::subsequence(vec![0usize, 1], 0..=2),
        ) {
            let column = |f: fn(&(i32, i32, i32, i32, u32)) -> i32| rows.iter().map(f).collect::<Vec<_>>();
            let columns = [column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3)];
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.4) + 1.0).collect();
            compare(&columns, &[2, 3, 5, 4], &weights, &given, 2, &[3]);
            let heavy: Vec<f64> = weights.iter().map(|w| w * 1000.0).collect(); // too many cases for bitmaps
            compare(&columns, &[2, 3, 5, 4], &heavy, &given, 2, &[3]);
            compare(&columns, &[2, 3, 5, 4], &vec![1.0; rows.len()], &given, 3, &[2]);
        }
    }

    /// States with 3 and 40 cases, and one with none; so many sources that noting the cells of all cases pays.
    #[test]
    fn cases_of_rare_states_are_looked_up() {
        let column = |f: fn(i32) -> i32| (0..2000).map(f).collect::<Vec<_>>();
        let rare = |i: i32| if i % 50 == 7 { 1 } else { 3 * i32::from(i % 700 == 5) };
        let columns =
            [column(|i| i % 4), column(|i| i / 9 % 5), column(rare), column(|i| i % 3), column(|i| i)];
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, &[4, 5, 4, 3, 2000], Some(&[1.0; 2000])).unwrap();
        let mut counter = Counter::default();
        for given in [&[0usize][..], &[]] {
            let mut sources: Vec<_> = [2, 3].repeat(2000).into_iter().map(|x| Source::new(x, None)).collect();
            counter.count_each(&data, given, 1, &mut sources, &mut |&mut Source { x, .. }, counts| {
                let whole = [given, &[1, x]].concat();
                assert_eq!(occupied(&counts.joint), direct(&columns, &whole, &[1.0; 2000]));
                assert_eq!(occupied(&counts.margin), direct(&columns, &[given, &[x]].concat(), &[1.0; 2000]));
            });
            assert!(counter.places.few >= 3, "{} {given:?}", counter.places.few);
        }
        assert_eq!(data.bitmaps().unwrap().few(2, 3).map(<[u16]>::len), Some(3));
        assert_eq!(data.bitmaps().unwrap().few(2, 2).map(<[u16]>::len), Some(0));
    }

    /// Thousands of states, a dozen variables: the cells outnumber any table.
    #[test]
    fn huge_sets_are_counted_sparsely() {
        let rows = 3000;
        let state = |v: i32, i: i32| (i * (2 * v + 7) + i / 3) % if v == 0 { 5000 } else { 10 };
        let columns: Vec<Vec<i32>> = (0..14).map(|v| (0..rows).map(|i| state(v, i)).collect()).collect();
        let arity: Vec<usize> = (0..14).map(|v| if v == 0 { 5000 } else { 10 }).collect();
        let weights = vec![1.0; rows as usize];
        compare(&columns, &arity, &weights, &[0, 1, 2], 3, &[4, 5]);
        compare(&columns, &arity, &weights, &(1..12).collect::<Vec<_>>(), 12, &[13, 0]);
    }
}
