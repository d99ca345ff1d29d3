//! Counts of very many sets, one after the other.
//!
//! The sets come sorted, so that neighbours in the list share most of their variables. The cases are
//! divided by one variable after the other, and what the next set shares is kept: a set costs little
//! more than one division. A row that is alone in its cell stays alone, so only its weight is kept;
//! in large sets most rows are (the *stripped partitions* of [Huhtala 1999]).

use std::cmp::Reverse;

use super::criterion::Memo;
use super::dataset::{Dataset, with_column};
use super::table::Table;
use crate::score::bounds::Measure;
use crate::score::set_function::Survey;
use crate::varset::VarSet;

/// Variables with more states than this are divided and counted by sorting.
const FEW: usize = 8;

/// The distinct rows, grouped by the cells of a set.
#[derive(Default)]
struct Partition {
    /// The rows of all cells with more than one, cell after cell.
    rows: Vec<u32>,
    /// The end of each of these cells.
    ends: Vec<u32>,
    /// The weights of the rows that are alone.
    alone: Vec<u64>,
}

impl Partition {
    fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.alone.clear();
    }

    fn cells(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let cell = &self.rows[start as usize..end as usize];
            start = end;
            cell
        })
    }

    /// Adds a cell.
    #[inline]
    fn push(&mut self, cell: &[u32], units: &[u64]) {
        match *cell {
            [] => {}
            [row] => self.alone.push(units[row as usize]),
            _ => {
                self.rows.extend_from_slice(cell);
                self.ends.push(self.rows.len() as u32);
            }
        }
    }

    /// Becomes `coarse` with every cell divided by the states of `v`.
    fn divide(&mut self, coarse: &Self, data: &Dataset, v: usize, scratch: &mut Scratch) {
        self.clear();
        self.alone.extend_from_slice(&coarse.alone);
        with_column!(data.codes(v), codes => {
            self.divide_by(coarse, codes, data.arity()[v], data.units(), scratch);
        });
    }

    fn divide_by(
        &mut self,
        coarse: &Self,
        codes: &[impl Copy + Into<u32>],
        arity: usize,
        units: &[u64],
        scratch: &mut Scratch,
    ) {
        for cell in coarse.cells() {
            if arity > FEW {
                scratch.order.clear();
                scratch.order.extend(cell.iter().map(|&row| (codes[row as usize].into(), row)));
                scratch.order.sort_unstable();
                for part in scratch.order.chunk_by(|a, b| a.0 == b.0) {
                    scratch.parts.clear();
                    scratch.parts.extend(part.iter().map(|&(_, row)| row));
                    self.push(&scratch.parts, units);
                }
                continue;
            }
            // Every state has room for the whole cell: no row's way depends on a branch.
            scratch.parts.resize(arity * cell.len(), 0);
            let mut sizes = [0; FEW];
            for &row in cell {
                let code = codes[row as usize].into() as usize;
                scratch.parts[code * cell.len() + sizes[code]] = row;
                sizes[code] += 1;
            }
            for (part, &size) in scratch.parts.chunks_exact(cell.len()).zip(&sizes[..arity]) {
                self.push(&part[..size], units);
            }
        }
    }

    /// The counts of the cells when divided by `v`; some may be zero.
    fn count(&self, data: &Dataset, packed: &Packed, v: usize, counts: &mut Vec<u64>) {
        counts.clear();
        counts.extend_from_slice(&self.alone);
        let arity = data.arity()[v];
        if let Some(packed_units) = packed.of(v) {
            for cell in self.cells() {
                let sums = cell.iter().map(|&row| packed_units[row as usize]).fold(0, u64::wrapping_add);
                packed.unpack(sums, arity, counts);
            }
            return;
        }
        let (codes, units) = (data.codes(v), data.units());
        for cell in self.cells() {
            let mut seen: Vec<(u16, u64)> =
                cell.iter().map(|&row| (codes.at(row as usize), units[row as usize])).collect();
            seen.sort_unstable();
            let sum = |part: &[(u16, u64)]| part.iter().map(|&(_, units)| units).sum::<u64>();
            counts.extend(seen.chunk_by(|a, b| a.0 == b.0).map(sum));
        }
    }
}

/// Buffers for dividing.
#[derive(Default)]
struct Scratch {
    parts: Vec<u32>,
    order: Vec<(u32, u32)>,
}

/// The weight of every row, shifted to a place of its own for each state: one addition per row then
/// counts all states of a variable, if they are few.
struct Packed {
    bits: u32,
    units: Vec<Vec<u64>>,
}

impl Packed {
    fn new(data: &Dataset) -> Self {
        let bits = u64::BITS - data.total_units().leading_zeros();
        let pack = |v: usize| {
            if data.arity()[v] as u32 > u64::BITS / bits {
                return Vec::new();
            }
            let pack = |code: u32, units: u64| units << (bits * code);
            with_column!(data.codes(v), codes => {
                codes.iter().zip(data.units()).map(|(&code, &units)| pack(code.into(), units)).collect()
            })
        };
        Self { bits, units: (0..data.variables()).map(pack).collect() }
    }

    fn of(&self, v: usize) -> Option<&[u64]> {
        Some(self.units[v].as_slice()).filter(|units| !units.is_empty())
    }

    #[inline]
    fn unpack(&self, sums: u64, arity: usize, counts: &mut Vec<u64>) {
        let place = u64::MAX >> (u64::BITS - self.bits);
        counts.extend((0..arity as u32).map(|state| sums >> (self.bits * state) & place));
    }
}

/// Measures sets, best in ascending order.
pub struct Surveyor<'t> {
    table: &'t Table,
    /// The variables divided by, and the partitions by none, one, two, ... of them.
    path: Vec<usize>,
    partitions: Vec<Partition>,
    packed: Packed,
    members: Vec<usize>,
    counts: Vec<u64>,
    scratch: Scratch,
    memo: Memo,
}

impl<'t> Surveyor<'t> {
    /// For the terms of a table.
    pub fn new(table: &'t Table) -> Self {
        let data = table.data();
        let mut whole = Partition::default();
        whole.push(&(0..data.units().len() as u32).collect::<Vec<_>>(), data.units());
        Self {
            table,
            path: Vec::new(),
            partitions: vec![whole],
            packed: Packed::new(data),
            members: Vec::new(),
            counts: Vec::new(),
            scratch: Scratch::default(),
            memo: Memo::default(),
        }
    }
}

impl<const W: usize> Survey<W> for Surveyor<'_> {
    fn measure(&mut self, set: VarSet<W>) -> Measure {
        let data = self.table.data();
        self.members.clear();
        self.members.extend(set.iter());
        // Sets that follow each other in their order differ in what comes last here.
        self.members.sort_unstable_by_key(|&v| (v / 64, Reverse(v)));
        match self.members.split_last() {
            None => {
                self.counts.clear();
                self.counts.push(data.total_units());
            }
            Some((&last, base)) => {
                let shared = base.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
                self.path.truncate(shared);
                for &v in &base[shared..] {
                    self.path.push(v);
                    if self.partitions.len() == self.path.len() {
                        self.partitions.push(Partition::default());
                    }
                    if let [.., coarse, fine] = &mut self.partitions[..=self.path.len()] {
                        fine.divide(coarse, data, v, &mut self.scratch);
                    }
                }
                let base = &self.partitions[self.path.len()];
                base.count(data, &self.packed, last, &mut self.counts);
            }
        }
        self.table.function().measure(self.table.cells(set), &self.counts, &mut self.memo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::discrete::criterion::Criterion;
    use crate::score::set_function::SetFunction;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the order of the sets, each has the term that counting it alone gives, to the bit.
        #[test]
        fn terms_are_those_of_single_counts(
            rows in prop::collection::vec((0..2i32, 0..3i32, 0..40i32, 0..4i32, 1..3u32), 1..120),
            sets in prop::collection::vec(0u32..16, 1..40),
            name in prop::sample::select(vec!["bic", "bdeu", "qnml"]),
        ) {
            let column = |f: fn(&(i32, i32, i32, i32, u32)) -> i32| rows.iter().map(f).collect::<Vec<_>>();
            let columns = [column(|r| r.0), column(|r| r.1), column(|r| r.2), column(|r| r.3)];
            let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
            let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.4)).collect();
            let data = Dataset::new(&slices, &[2, 3, 40, 4], Some(&weights)).unwrap();
            let table = Table::new(data, Criterion::named(name, 2.0).unwrap()).unwrap();
            let mut surveyor = Surveyor::new(&table);
            let mut worker = SetFunction::<1>::worker(&table);
            for bits in sets {
                let set: VarSet<1> = (0..4).filter(|v| bits >> v & 1 == 1).collect();
                prop_assert_eq!(surveyor.measure(set).term, worker.term(set));
            }
        }
    }
}
