//! The occupied cells of a base as bitmaps of their cases, divided by further variables.

use super::bitmaps::{Bitmaps, CASES_IN_LISTS as CASES, LINE, ones_of_word, words_to_line};
use super::counts::Counts;
use super::dataset::Dataset;

/// Time to look up a case in a list, relative to a step through bitmaps (measured on munin).
const CASE_COST: usize = 2;
/// Noting the cells of all cases takes as long as looking up so many times as many (measured on link).
const NOTING_COST: usize = 4;

/// One occupied cell: where its words are, and how many cases it has.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    /// Whether all words of the bitmap are kept, so that their places need not be looked up.
    whole: bool,
    size: u64,
    /// The number of the cell, one division before, that it is part of.
    origin: usize,
}

/// The occupied cells of a base as bitmaps. Those with less than one word in `thin` occupied are kept without
/// the empty ones.
#[derive(Default)]
pub struct CellBitmaps {
    cells: Vec<Cell>,
    bits: Vec<u64>,
    places: Vec<u32>,
}

/// The cells of the cases, by their numbers, to look up the cases of rare states one by one.
#[derive(Default)]
pub struct Places {
    /// The number of the cell of each case.
    cell_of: Option<Box<[u16; CASES]>>,
    /// How many cases of a state were found in each cell, those in odd places of a list and those in even ones.
    found: [Option<Box<[u32; CASES]>>; 2],
    /// States with more cases than this are not looked up.
    pub few: usize,
}

impl Places {
    /// Notes which cell each of the cases is in. Each cell has one at least.
    pub fn of(&mut self, cells: &CellBitmaps, few: usize) -> &mut Self {
        self.few = few;
        self.found.iter_mut().for_each(|found| _ = found.get_or_insert_with(zeros));
        let cell_of = self.cell_of.get_or_insert_with(zeros);
        for (number, cell) in (0..).zip(&cells.cells) {
            for (at, word) in (cell.start..cell.end).enumerate() {
                let place = if cell.whole { at } else { cells.places[word] as usize };
                ones_of_word(cells.bits[word]).for_each(|bit| cell_of[64 * place + bit] = number);
            }
        }
        self
    }

    /// Counts the cases of a state in each cell, in every so many places of `counts`.
    #[inline(always)]
    fn look_up(&mut self, cases: &[u16], counts: &mut [u64], every: usize) {
        let Self { cell_of: Some(cell_of), found: [Some(odd), Some(even)], .. } = self else { return };
        let (pairs, last) = cases.as_chunks::<2>();
        // Two tables: adding to a place that was just written takes several times as long.
        for &[a, b] in pairs {
            odd[cell_of[a as usize] as usize] += 1;
            even[cell_of[b as usize] as usize] += 1;
        }
        if let [case] = *last {
            odd[cell_of[case as usize] as usize] += 1;
        }
        for cell in 0..counts.len().div_ceil(every) {
            counts[cell * every] = u64::from(odd[cell] + even[cell]);
            (odd[cell], even[cell]) = (0, 0);
        }
    }
}

fn zeros<T: Clone + Default>() -> Box<[T; CASES]> {
    let zeros = vec![T::default(); CASES].into_boxed_slice();
    zeros.try_into().unwrap_or_else(|_| unreachable!("it has that length"))
}

impl CellBitmaps {
    #[inline(always)]
    pub fn divide_all<'b>(
        &mut self,
        spare: &mut Self,
        data: &Dataset,
        bitmaps: &Bitmaps,
        base: impl Iterator<Item = &'b usize>,
        thin: usize,
    ) {
        self.clear();
        let total = data.total_units();
        let cases = |word: usize| match total.saturating_sub(64 * word as u64) {
            0 => 0,
            left => u64::MAX >> (64 - left.min(64)),
        };
        self.push_whole(bitmaps.words, cases, total, 0);
        for &v in base {
            spare.divide(self, bitmaps, v, data.arity()[v], thin);
            std::mem::swap(self, spare);
        }
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.bits.clear();
        self.places.clear();
    }

    /// Becomes the cells of `coarse`, each divided by the states of `v`.
    #[inline(always)]
    fn divide(&mut self, coarse: &Self, bitmaps: &Bitmaps, v: usize, arity: usize, thin: usize) {
        self.clear();
        for (origin, cell) in coarse.cells.iter().enumerate() {
            let bits = &coarse.bits[cell.start..cell.end];
            let places = &coarse.places[cell.start..cell.end];
            for s in 0..arity {
                let state = bitmaps.state(v, s);
                if cell.whole {
                    let (size, occupied) = overlap(bits, state);
                    if thin * occupied > bitmaps.words {
                        self.push_whole(bitmaps.words, |w| bits[w] & state[w], size, origin);
                    } else {
                        let words = bits.iter().zip(state).enumerate().map(|(w, (a, b))| (w as u32, a & b));
                        self.push_occupied(words, size, origin);
                    }
                } else {
                    let words =
                        bits.iter().zip(places).map(|(bits, &place)| (place, bits & state[place as usize]));
                    let size = words.clone().map(|(_, bits)| u64::from(bits.count_ones())).sum();
                    self.push_occupied(words, size, origin);
                }
            }
        }
    }

    #[inline(always)]
    fn push_whole(&mut self, words: usize, word: impl Fn(usize) -> u64, size: u64, origin: usize) {
        self.bits.reserve(words + LINE); // so that they stay where they are put
        let start = self.bits.len() + words_to_line(self.bits.as_ptr_range().end);
        self.bits.resize(start, 0);
        self.bits.extend((0..words).map(word));
        self.places.resize(start + words, 0); // unused, but keeps both lists in step
        self.cells.push(Cell { start, end: start + words, whole: true, size, origin });
    }

    #[inline(always)]
    fn push_occupied(&mut self, words: impl Iterator<Item = (u32, u64)>, size: u64, origin: usize) {
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
        self.cells.push(Cell { start, end: self.bits.len(), whole: false, size, origin });
    }

    /// The most cases that a state may have for them to be looked up one by one, if that pays with so many sources.
    pub fn worth_looking_up(&self, lanes: usize, total: u64, sources: usize) -> Option<usize> {
        let steps = |cell: &Cell| (cell.end - cell.start) / if cell.whole { lanes } else { 1 };
        let few = self.cells.iter().map(steps).sum::<usize>() / CASE_COST;
        (sources * few > NOTING_COST * total as usize).then_some(few)
    }

    /// Divides all cells by the states of `x`, with the cases of rare states looked up one by one if their places are
    /// known. The commonest state has what the others leave.
    #[inline(always)]
    pub fn count(
        &self,
        bitmaps: &Bitmaps,
        x: usize,
        arity: usize,
        mut places: Option<&mut Places>,
        counts: &mut Counts,
    ) {
        let Counts { joint, margin } = counts;
        joint.clear();
        joint.resize(self.cells.len() * arity, 0);
        margin.clear();
        margin.resize(self.cells.last().map_or(0, |cell| cell.origin + 1) * arity, 0);
        let commonest = bitmaps.commonest(x);
        // Counted loops: iterators over two slices are not always inlined, and calls leave the vectors.
        for s in 0..arity {
            if s == commonest {
                continue;
            }
            if let Some(places) = &mut places
                && let Some(cases) = bitmaps.few(x, s)
                && cases.len() <= places.few
            {
                places.look_up(cases, &mut joint[s..], arity);
                continue;
            }
            let state = bitmaps.state(x, s);
            for (number, cell) in self.cells.iter().enumerate() {
                joint[number * arity + s] = self.shared(cell, state);
            }
        }
        for (number, cell) in self.cells.iter().enumerate() {
            let joint = &mut joint[number * arity..][..arity];
            let margin = &mut margin[cell.origin * arity..][..arity];
            joint[commonest] = cell.size;
            for s in 0..arity {
                if s != commonest {
                    joint[commonest] -= joint[s];
                    margin[s] += joint[s];
                }
            }
            margin[commonest] += joint[commonest];
        }
    }

    /// The number of cases of a cell in a state.
    #[inline(always)]
    fn shared(&self, cell: &Cell, state: &[u64]) -> u64 {
        let bits = &self.bits[cell.start..cell.end];
        let mut size = 0;
        if cell.whole {
            let state = &state[..bits.len()];
            for word in 0..bits.len() {
                size += u64::from((bits[word] & state[word]).count_ones());
            }
        } else {
            let places = &self.places[cell.start..cell.end];
            for word in 0..bits.len() {
                size += u64::from((bits[word] & state[places[word] as usize]).count_ones());
            }
        }
        size
    }
}

/// The number of ones two bitmaps share, and of words in which they share any.
#[inline(always)]
fn overlap(a: &[u64], b: &[u64]) -> (u64, usize) {
    let size = a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum();
    let occupied = a.iter().zip(b).map(|(a, b)| usize::from(a & b != 0)).sum();
    (size, occupied)
}
