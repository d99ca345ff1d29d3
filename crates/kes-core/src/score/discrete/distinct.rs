//! Distinct rows: which rows of a table are alike.
//!
//! Rows are grouped by their hashes first; then each group is verified column by column. Every column is read
//! from one end to the other, while comparing whole rows would touch every column of the table for each row.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::dataset::{Codes, Column};
use crate::stop::{Stop, Stopped};

/// Rows between two checks of the flag.
const BLOCK: usize = 1 << 16;
/// The place of a row that is left out.
const NONE: u32 = u32::MAX;

/// The distinct rows of a table, in order of appearance. Rows of weight 0 are left out.
pub struct Distinct {
    /// The weight of each, with that of all rows like it.
    pub units: Vec<u64>,
    /// Their codes, column by column.
    pub codes: Vec<Column>,
}

impl Distinct {
    /// Finds the distinct rows of a table of at most 2³² rows whose hashes are known. Without `units`,
    /// every row has the weight 1.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(
        columns: &[Codes<'_>],
        hashes: &[u64],
        units: Option<&[u64]>,
        stop: &Stop,
    ) -> Result<Self, Stopped> {
        let by_hash = Groups::new(hashes, units, |_, _| true, stop)?;
        if let Some(codes) = by_hash.codes(columns, stop)? {
            return Ok(Self { units: by_hash.units, codes });
        }
        // Different rows share a hash: by design, or by a chance of one in billions.
        let same = |a: usize, b: usize| columns.iter().all(|column| column.at(a) == column.at(b));
        let by_content = Groups::new(hashes, units, same, stop)?;
        let codes = columns.iter().map(|column| column.of_rows(&by_content.first)).collect();
        Ok(Self { units: by_content.units, codes })
    }
}

/// Groups of rows that are taken to be equal.
struct Groups {
    /// The first row of each.
    first: Vec<u32>,
    /// The weight of each.
    units: Vec<u64>,
    /// The group of each row, or [`NONE`].
    place: Vec<u32>,
}

impl Groups {
    /// Puts rows of one hash together, if they are the `same`.
    fn new(
        hashes: &[u64],
        units: Option<&[u64]>,
        same: impl Fn(usize, usize) -> bool,
        stop: &Stop,
    ) -> Result<Self, Stopped> {
        let mut groups = Self { first: Vec::new(), units: Vec::new(), place: vec![NONE; hashes.len()] };
        let mut found: HashTable<u32> = HashTable::new();
        for (row, &hash) in hashes.iter().enumerate() {
            if row % BLOCK == 0 {
                stop.check()?;
            }
            let weight = units.map_or(1, |units| units[row]);
            if weight == 0 {
                continue;
            }
            let first = |&group: &u32| groups.first[group as usize] as usize;
            let alike = |group: &u32| hashes[first(group)] == hash && same(first(group), row);
            let group = match found.entry(hash, alike, |group| hashes[first(group)]) {
                Entry::Occupied(group) => *group.get(),
                Entry::Vacant(place) => {
                    let new = groups.first.len() as u32;
                    place.insert(new);
                    groups.first.push(row as u32);
                    groups.units.push(0);
                    new
                }
            };
            groups.units[group as usize] += weight;
            groups.place[row] = group;
        }
        Ok(groups)
    }

    /// The codes of the first row of each group; nothing if another row of the group has others.
    fn codes(&self, columns: &[Codes<'_>], stop: &Stop) -> Result<Option<Vec<Column>>, Stopped> {
        let mut all = Vec::with_capacity(columns.len());
        for column in columns {
            stop.check()?;
            if self.first.len() == self.place.len() {
                all.push(column.all());
                continue;
            }
            let codes = column.of_rows(&self.first);
            if !column.agrees(&self.place, &codes, NONE) {
                return Ok(None);
            }
            all.push(codes);
        }
        Ok(Some(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows, and what they weigh, as a table is read back.
    fn rows(distinct: &Distinct) -> Vec<(Vec<u16>, u64)> {
        let row = |i: usize| distinct.codes.iter().map(|codes| codes.at(i)).collect();
        distinct.units.iter().enumerate().map(|(i, &units)| (row(i), units)).collect()
    }

    #[test]
    fn rows_of_one_hash_are_told_apart_all_the_same() {
        let (a, b) = ([0u8, 1, 0, 1, 0], [300u16, 2, 300, 300, 1]);
        let columns = [Codes::Bytes(&a), Codes::Words(&b)];
        let expected = vec![(vec![0, 300], 6), (vec![1, 2], 1), (vec![1, 300], 3)];
        let units = [1, 1, 5, 3, 0];
        for hashes in [[7; 5], [1, 2, 1, 3, 4], [1, 2, 1, 2, 2]] {
            let distinct = Distinct::new(&columns, &hashes, Some(&units), &Stop::default()).unwrap();
            assert_eq!(rows(&distinct), expected);
        }
    }

    #[test]
    fn a_raised_flag_is_seen() {
        let stop = Stop::default();
        stop.raise();
        assert!(Distinct::new(&[Codes::Bytes(&[0, 1])], &[1, 2], None, &stop).is_err());
    }
}
