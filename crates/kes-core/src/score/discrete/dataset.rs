//! The coded table: distinct rows with weights, and bitmaps of the states.

use super::bitmaps::{Bitmaps, LINE, States, words_to_line};
use super::distinct::Distinct;
use crate::Error;
use crate::score::rows::{fingerprint, mix, to_units};
use crate::stop::{Stop, Stopped};

/// The largest number of states of a variable: they are coded in 16 bits.
pub const MAX_STATES: usize = u16::MAX as usize;

/// Variables with more states get no bitmaps; they would be mostly empty.
const BITMAP_STATES: usize = 32;
/// Bitmaps hold every case; with fewer distinct rows than one in this many cases, rows are cheaper.
const BITMAP_REPEATS: u64 = 16;

/// The codes of a column as they come, in the bytes that its states need, or as any integers.
#[derive(Clone, Copy)]
pub enum Codes<'a> {
    /// Of at most 256 states.
    Bytes(&'a [u8]),
    /// Of at most 65 536 states.
    Words(&'a [u16]),
    /// Of any, to be checked.
    Integers(&'a [i32]),
}

/// The codes of a column, whatever their width, as `$codes`.
macro_rules! with_codes {
    ($column:expr, $codes:ident => $body:expr) => {
        match $column {
            Codes::Bytes($codes) => $body,
            Codes::Words($codes) => $body,
            Codes::Integers($codes) => $body,
        }
    };
}

impl Codes<'_> {
    fn len(&self) -> usize {
        with_codes!(self, codes => codes.len())
    }

    /// The code of a row, after all codes have been checked.
    #[expect(clippy::unnecessary_cast, reason = "it is one for two of the three widths")]
    #[inline]
    pub fn at(&self, row: usize) -> u16 {
        with_codes!(self, codes => codes[row] as u16)
    }

    /// All codes, after they have been checked.
    pub fn all(&self) -> Column {
        match *self {
            Codes::Bytes(codes) => Column::Bytes(codes.to_vec()),
            Codes::Words(codes) => Column::Words(codes.to_vec()),
            Codes::Integers(codes) => Column::narrow(codes.iter().map(|&code| code as u16).collect()),
        }
    }

    /// The codes of some rows, after they have been checked.
    pub fn of_rows(&self, rows: &[u32]) -> Column {
        let rows = rows.iter().map(|&row| row as usize);
        match *self {
            Codes::Bytes(codes) => Column::Bytes(rows.map(|row| codes[row]).collect()),
            Codes::Words(codes) => Column::Words(rows.map(|row| codes[row]).collect()),
            Codes::Integers(codes) => Column::narrow(rows.map(|row| codes[row] as u16).collect()),
        }
    }

    /// A code that is not below the number of states.
    fn impossible(&self, states: usize) -> Option<i64> {
        let range = with_codes!(self, codes => {
            let codes = codes.iter().copied();
            [codes.clone().fold(0, Ord::min), codes.fold(0, Ord::max)].map(i64::from)
        });
        range.into_iter().find(|code| !(0..states as i64).contains(code))
    }

    fn mix_into(&self, hashes: &mut [u64]) {
        with_codes!(self, codes => mix(hashes, codes.iter().map(|&code| code as u64 + 1)));
    }

    /// Whether every row that has a group has the code of its group.
    #[expect(clippy::unnecessary_cast, reason = "it is one for two of the three widths")]
    pub fn agrees(&self, groups: &[u32], of_group: &Column, none: u32) -> bool {
        with_column!(of_group, of_group => with_codes!(self, codes => codes
            .iter()
            .zip(groups)
            .all(|(&code, &group)| group == none || code as u16 == of_group[group as usize] as u16)))
    }
}

/// The codes of a column as they are kept, in one byte or two.
#[derive(Debug, PartialEq)]
pub enum Column {
    /// Of at most 256 states.
    Bytes(Vec<u8>),
    /// Of at most 65 536 states.
    Words(Vec<u16>),
}

/// The codes of a column that is kept, whatever their width, as `$codes`.
macro_rules! with_column {
    ($column:expr, $codes:ident => $body:expr) => {
        match $column {
            $crate::score::discrete::dataset::Column::Bytes($codes) => $body,
            $crate::score::discrete::dataset::Column::Words($codes) => $body,
        }
    };
}
pub(crate) use with_column;

impl Column {
    /// Codes in the bytes that they need.
    fn narrow(codes: Vec<u16>) -> Self {
        let bytes: Option<Vec<u8>> = codes.iter().map(|&code| code.try_into().ok()).collect();
        bytes.map_or(Self::Words(codes), Self::Bytes)
    }

    /// The code of a row.
    #[inline]
    pub fn at(&self, row: usize) -> u16 {
        match self {
            Self::Bytes(codes) => codes[row].into(),
            Self::Words(codes) => codes[row],
        }
    }
}

/// A complete table of coded states.
///
/// Weights are whole multiples of one `unit`, so that cell counts are integers: their sums are
/// exact and do not depend on the order of the rows.
pub struct Dataset {
    arity: Vec<usize>,
    codes: Vec<Column>,
    units: Vec<u64>,
    unit: f64,
    total: u64,
    bitmaps: Option<Bitmaps>,
    fingerprint: [u64; 2],
}

impl Dataset {
    /// Takes over a table of codes, as [`Dataset::of`] does.
    ///
    /// # Errors
    /// As there.
    pub fn new(columns: &[&[i32]], arity: &[usize], weights: Option<&[f64]>) -> Result<Self, Error> {
        let columns: Vec<Codes<'_>> = columns.iter().map(|&codes| Codes::Integers(codes)).collect();
        Self::of(&columns, arity, weights, &Stop::default())
    }

    /// Takes over a table of codes, column by column, with `arity[v]` states of variable `v`, and
    /// optional weights of the rows.
    ///
    /// # Errors
    /// If the shapes disagree, a code is not below its arity, a weight is negative or not finite, or
    /// `stop` is raised meanwhile.
    pub fn of(
        columns: &[Codes<'_>],
        arity: &[usize],
        weights: Option<&[f64]>,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let rows = columns.first().map_or(0, Codes::len);
        check_shape(columns, arity, weights, rows)?;
        let (row_units, unit) = match weights {
            None => (None, 1.0), // of long tables, a list of ones would be as large as a dozen columns
            Some(_) => to_units(weights, rows).map(|(units, unit)| (Some(units), unit))?,
        };
        let mut hashes = vec![0u64; rows];
        for column in columns {
            stop.check()?;
            column.mix_into(&mut hashes);
        }
        let distinct = Distinct::new(columns, &hashes, row_units.as_deref(), stop)?;
        let fingerprint = match &row_units {
            None => fingerprint(&hashes, std::iter::repeat(1), unit),
            Some(units) => fingerprint(&hashes, units.iter().copied(), unit),
        };
        drop((hashes, row_units));
        let (codes, units) = (distinct.codes, distinct.units);
        let total = units.iter().sum();
        let mut data = Self { arity: arity.to_vec(), codes, units, unit, total, bitmaps: None, fingerprint };
        if total <= BITMAP_REPEATS * data.units.len() as u64 {
            data.bitmaps = Some(data.draw_bitmaps(stop)?);
        }
        Ok(data)
    }

    fn draw_bitmaps(&self, stop: &Stop) -> Result<Bitmaps, Stopped> {
        let words = (self.total as usize).div_ceil(64).next_multiple_of(LINE);
        let column = |(codes, &arity): (&Column, &usize)| {
            stop.check()?;
            if arity > BITMAP_STATES {
                return Ok(States::default());
            }
            let mut bits = vec![0u64; arity * words + LINE - 1];
            let start = words_to_line(bits.as_ptr());
            let states = &mut bits[start..];
            with_column!(codes, codes => {
                if self.is_unweighted() {
                    for (word, codes) in codes.chunks(64).enumerate() {
                        let places = codes.iter().map(|&code| usize::from(code) * words + word);
                        places.enumerate().for_each(|(bit, place)| states[place] |= 1 << bit);
                    }
                } else {
                    let mut case = 0;
                    for (&code, &units) in codes.iter().zip(&self.units) {
                        for _ in 0..units {
                            states[usize::from(code) * words + case / 64] |= 1 << (case % 64);
                            case += 1;
                        }
                    }
                }
            });
            Ok(States::new(bits, start, words, arity))
        };
        let states = self.codes.iter().zip(&self.arity).map(column).collect::<Result<_, _>>()?;
        Ok(Bitmaps { words, states })
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.arity.len()
    }

    /// Number of states of each variable.
    pub fn arity(&self) -> &[usize] {
        &self.arity
    }

    /// The coded distinct rows of variable `v`.
    pub fn codes(&self, v: usize) -> &Column {
        &self.codes[v]
    }

    /// The weights of the distinct rows, in units.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Whether every distinct row has the weight of one unit.
    pub fn is_unweighted(&self) -> bool {
        self.total == self.units.len() as u64
    }

    /// The weight of one unit.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The sum of the weights, in units.
    pub fn total_units(&self) -> u64 {
        self.total
    }

    /// `N`, the sum of the weights.
    pub fn total(&self) -> f64 {
        self.total as f64 * self.unit
    }

    /// The bitmaps, if the table is suited to them.
    pub fn bitmaps(&self) -> Option<&Bitmaps> {
        self.bitmaps.as_ref()
    }

    /// A fingerprint: equal for coded tables with the same rows, in any order.
    pub fn fingerprint(&self) -> u128 {
        u128::from(self.fingerprint[0]) << 64 | u128::from(self.fingerprint[1])
    }
}

fn check_shape(
    columns: &[Codes<'_>],
    arity: &[usize],
    weights: Option<&[f64]>,
    rows: usize,
) -> Result<(), Error> {
    let problem = |text: String| Err(Error::Data(text));
    if columns.is_empty() || rows == 0 {
        return problem("the table is empty".into());
    }
    if rows >= u32::MAX as usize {
        return problem(format!("the table has {rows} rows; fewer than {} are possible", u32::MAX));
    }
    if arity.len() != columns.len() || columns.iter().any(|c| c.len() != rows) {
        return problem("the columns differ in length, or in number from the cardinalities".into());
    }
    if weights.is_some_and(|w| w.len() != rows) {
        return problem(format!("there are {rows} rows and {} weights", weights.map_or(0, <[f64]>::len)));
    }
    for (v, (column, &r)) in columns.iter().zip(arity).enumerate() {
        if r == 0 || r > MAX_STATES {
            let problem = format!("has {r} states; 1 to {MAX_STATES} are possible");
            return Err(Error::Column(v, problem));
        }
        if let Some(code) = column.impossible(r) {
            return Err(Error::Column(v, format!("has the code {code}, but {r} states")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_rows_are_merged_and_rows_of_no_weight_dropped() {
        let (a, b) = ([0, 1, 0, 1, 0], [1, 1, 1, 0, 1]);
        let data = Dataset::new(&[&a, &b], &[2, 2], Some(&[1.0, 2.0, 3.0, 0.0, 1.0])).unwrap();
        assert_eq!(data.units(), [5, 2]);
        assert_eq!((data.codes(0), data.codes(1)), (&Column::Bytes(vec![0, 1]), &Column::Bytes(vec![1, 1])));
        assert_eq!(data.total(), 7.0);
    }

    #[test]
    fn the_fingerprint_ignores_row_order_and_merging_but_nothing_else() {
        let of = |a: &[i32], b: &[i32], w: Option<&[f64]>| {
            Dataset::new(&[a, b], &[2, 3], w).unwrap().fingerprint()
        };
        let base = of(&[0, 1, 1], &[2, 0, 0], None);
        assert_eq!(base, of(&[1, 0, 1], &[0, 2, 0], None));
        assert_eq!(base, of(&[1, 0], &[0, 2], Some(&[2.0, 1.0])));
        assert_ne!(base, of(&[1, 0], &[0, 2], Some(&[1.0, 2.0])));
        assert_ne!(base, of(&[0, 1, 1], &[2, 0, 1], None));
    }

    proptest! {
        /// Weights whose sum is about a power of two, where the choice of the unit could flip.
        #[test]
        fn real_weights_may_come_in_any_order(weights in prop::collection::vec(0.01..1.0f64, 2..60)) {
            let sum: f64 = weights.iter().sum();
            let scaled: Vec<f64> = weights.iter().map(|w| w / sum * 64.0).collect();
            let backwards: Vec<f64> = scaled.iter().rev().copied().collect();
            let column: Vec<i32> = (0..scaled.len() as i32).collect();
            let reversed: Vec<i32> = column.iter().rev().copied().collect();
            let a = Dataset::new(&[&column], &[60], Some(&scaled)).unwrap();
            let b = Dataset::new(&[&reversed], &[60], Some(&backwards)).unwrap();
            prop_assert_eq!(a.fingerprint(), b.fingerprint());
            prop_assert_eq!(a.total().to_bits(), b.total().to_bits());
        }
    }

    #[test]
    fn bad_input_is_named() {
        let error = |columns: &[&[i32]], arity: &[usize], w: Option<&[f64]>| {
            Dataset::new(columns, arity, w).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(error(&[], &[], None).contains("empty"));
        assert!(error(&[&[0, 3]], &[2], None).contains("code 3"));
        assert!(error(&[&[0, 1]], &[2], Some(&[1.0, -1.0])).contains("row 1 is -1"));
        assert!(error(&[&[0, 1]], &[2], Some(&[0.0, 0.0])).contains("sum to 0"));
    }
}
