//! Variables as columns of numbers.
//!
//! A continuous variable is its own column, or several polynomials of it (see [`legendre`](super::legendre)).
//! A discrete one becomes indicators of the states that occur, all but one of them, because they sum to 1;
//! which one is left out does not change the space they span, nor a determinant of covariances
//! [Andrews 2019]. It is the most frequent state: then no indicator is nearly a combination of the others.
//! Constant variables have no column.

use std::collections::BTreeMap;
use std::ops::Range;

use super::fixed_point::Scale;
use super::legendre::legendre;
use crate::Error;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// A continuous variable.
    Numbers(&'a [f64]),
    /// A continuous variable by polynomials of its normal scores, up to a degree.
    Curve(&'a [f64], usize),
    /// A discrete variable by the codes of its states, from 0.
    Codes(&'a [i32]),
}

impl<'a> Column<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) | Self::Curve(numbers, _) => numbers.len(),
            Self::Codes(codes) => codes.len(),
        }
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a single column of numbers, not states or a curve.
    pub fn is_single(&self) -> bool {
        matches!(self, Self::Numbers(_))
    }

    /// # Errors
    /// If a number is not finite or a code is negative.
    pub(in crate::score) fn check(&self, v: usize) -> Result<(), Error> {
        let bad = match self {
            Self::Numbers(numbers) | Self::Curve(numbers, _) => numbers
                .iter()
                .position(|x| !x.is_finite())
                .map(|row| format!("is {} in row {row}", numbers[row])),
            Self::Codes(codes) => codes
                .iter()
                .position(|&code| code < 0)
                .map(|row| format!("has the code {} in row {row}", codes[row])),
        };
        bad.map_or(Ok(()), |text| Err(Error::Column(v, text)))
    }

    /// The columns of numbers in which a continuous variable is embedded; none if it is discrete.
    pub(in crate::score) fn numbers(&self) -> Vec<Content<'a>> {
        match *self {
            Self::Numbers(numbers) => vec![Content::Numbers(numbers)],
            Self::Curve(scores, degree) => (1..=degree).map(|k| Content::Polynomial(scores, k)).collect(),
            Self::Codes(_) => Vec::new(),
        }
    }
}

/// The content of an embedded column.
#[derive(Clone, Copy, Debug)]
pub(in crate::score) enum Content<'a> {
    Numbers(&'a [f64]),
    /// The Legendre polynomial of a degree.
    Polynomial(&'a [f64], usize),
    /// 1 in one state, else 0.
    Indicator(&'a [i32], i32),
}

impl Content<'_> {
    /// Writes the values of the given rows; of all rows from the first on, if none are given.
    pub fn fill(&self, rows: Option<&[usize]>, first: usize, values: &mut [f64]) {
        let indicate = |code: i32, state: i32| f64::from(u8::from(code == state));
        match *self {
            Self::Numbers(numbers) => taken(numbers, rows, first, values, |number| number),
            Self::Polynomial(scores, k) => taken(scores, rows, first, values, |score| legendre(score, k)),
            Self::Indicator(codes, state) => taken(codes, rows, first, values, |code| indicate(code, state)),
        }
    }
}

/// Writes a function of the given rows of a column; of all rows from the first on, if none are given.
fn taken<T: Copy>(
    column: &[T],
    rows: Option<&[usize]>,
    first: usize,
    values: &mut [f64],
    function: impl Fn(T) -> f64,
) {
    match rows {
        None => values.iter_mut().zip(&column[first..]).for_each(|(value, &one)| *value = function(one)),
        Some(rows) => {
            values.iter_mut().zip(&rows[first..]).for_each(|(value, &row)| *value = function(column[row]));
        }
    }
}

/// A table embedded in columns of whole numbers, rows of weight 0 left out.
pub struct Embedding<'a> {
    columns: Vec<(Content<'a>, Scale)>,
    /// The columns of each variable.
    blocks: Vec<Range<usize>>,
    /// The rows with a weight, if not all have one.
    rows: Option<Vec<usize>>,
    units: Vec<u64>,
}

impl<'a> Embedding<'a> {
    /// Embeds a table in at most `most` columns, with the weights of its rows in units. The columns are laid out
    /// from the last variable of `order` to the first: an exact search asks for sets in ascending order, in which
    /// consecutive sets share their last members.
    ///
    /// # Errors
    /// If a value cannot be used, there are too many columns, or `stop` is raised meanwhile.
    pub fn new(
        table: &[Column<'a>],
        order: &[usize],
        units: Vec<u64>,
        most: usize,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let mut embedding = Self { columns: Vec::new(), blocks: vec![0..0; table.len()], rows: None, units };
        if embedding.units.contains(&0) {
            let weighty = (0..embedding.units.len()).filter(|&row| embedding.units[row] > 0);
            embedding.rows = Some(weighty.collect());
            embedding.units.retain(|&units| units > 0);
        }
        let mut contents = Vec::new();
        for &v in order.iter().rev() {
            table[v].check(v)?;
            let own = match table[v] {
                Column::Codes(codes) => {
                    let states = embedding.indicated_states(codes);
                    states.into_iter().map(|state| Content::Indicator(codes, state)).collect()
                }
                _ => table[v].numbers(),
            };
            if contents.len() + own.len() > most {
                let what = match table[v] {
                    Column::Codes(_) => format!("has {} states that occur: with them", own.len() + 1),
                    Column::Curve(..) => format!("has {} polynomials: with them", own.len()),
                    Column::Numbers(_) => "is one column too many: with it".to_owned(),
                };
                let problem = format!("{what} the table has more than {most} numeric columns");
                return Err(Error::Column(v, problem));
            }
            contents.extend(own.into_iter().map(|content| (v, content)));
        }
        let mut buffers = vec![vec![0.0; embedding.units.len()]; threads.clamp(1, contents.len().max(1))];
        let scales = map(&mut buffers, contents.len(), stop, |values, at| {
            contents[at].1.fill(embedding.rows.as_deref(), 0, values);
            Ok::<_, Stopped>(Scale::of(values, &embedding.units))
        })?;
        for (&(v, content), scale) in contents.iter().zip(scales) {
            let Some(scale) = scale else { continue };
            let at = embedding.columns.len();
            let block = &mut embedding.blocks[v];
            *block = if block.start == block.end { at..at + 1 } else { block.start..at + 1 };
            embedding.columns.push((content, scale));
        }
        Ok(embedding)
    }

    /// The states that occur, but for the most frequent, and of several such the first.
    fn indicated_states(&self, codes: &[i32]) -> Vec<i32> {
        let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
        for (at, units) in self.units.iter().enumerate() {
            let row = self.rows.as_ref().map_or(at, |rows| rows[at]);
            *counts.entry(codes[row]).or_default() += units;
        }
        let counts: Vec<(i32, u64)> = counts.into_iter().collect();
        let most = counts.iter().map(|&(_, units)| units).max();
        let left_out = counts.iter().position(|&(_, units)| Some(units) == most);
        let others = counts.iter().enumerate().filter(|&(at, _)| Some(at) != left_out);
        others.map(|(_, &(state, _))| state).collect()
    }

    /// The columns of each variable.
    pub fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The weights of the rows, in units.
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// The scale of a column.
    pub fn scale(&self, column: usize) -> &Scale {
        &self.columns[column].1
    }

    /// Writes the whole numbers of a column, from a row on.
    pub fn fill(&self, column: usize, first: usize, numbers: &mut [f64]) {
        let (content, scale) = &self.columns[column];
        content.fill(self.rows.as_deref(), first, numbers);
        numbers.iter_mut().for_each(|number| *number = scale.whole(*number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_the_order_and_hold_what_occurs() {
        let (numbers, codes) = ([1.5, 2.5, 4.0, 9.0, 0.0], [3, 0, 3, 5, 1]);
        let table = [Column::Codes(&codes), Column::Numbers(&numbers), Column::Numbers(&[7.0; 5])];
        let embedding =
            Embedding::new(&table, &[0, 1, 2], vec![1, 1, 1, 1, 0], 9, 2, &Stop::default()).unwrap();
        // Constant; one column; states 0, 3, 5 occur with a weight, and 3 is the most frequent.
        assert_eq!(embedding.blocks(), [1..3, 0..1, 0..0]);
        assert_eq!((embedding.columns(), embedding.units()), (3, &[1; 4][..]));
        let mut block = [0.0; 4];
        embedding.fill(1, 0, &mut block);
        assert!(block[1] > 0.0 && block[0] == block[2] && block[0] == block[3] && block[0] < 0.0);
        embedding.fill(2, 3, &mut block[..1]);
        assert!(block[0] > 0.0);
    }

    #[test]
    fn a_curve_has_a_column_for_each_polynomial_that_varies() {
        let scores = [-1.5, 0.0, 0.5, 1.5];
        let table = [Column::Curve(&scores, 3), Column::Curve(&[1.0, -1.0, -1.0, 1.0], 3)];
        let embedding = Embedding::new(&table, &[0, 1], vec![1, 1, 0, 1], 9, 1, &Stop::default()).unwrap();
        // The second polynomial of two opposite scores is constant.
        assert_eq!(embedding.blocks(), [2..5, 0..2]);
        let contents = table[0].numbers();
        let mut values = [0.0; 2];
        contents[1].fill(Some(&[3, 1]), 0, &mut values);
        assert_eq!(values, [legendre(1.5, 2), legendre(0.0, 2)]);
    }

    #[test]
    fn bad_values_are_named() {
        let errors = |columns: &[Column<'_>], most: usize| {
            let order: Vec<usize> = (0..columns.len()).collect();
            Embedding::new(columns, &order, vec![1; columns[0].len()], most, 1, &Stop::default())
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default()
        };
        let error = |column: Column<'_>| errors(&[column], 4096);
        assert_eq!(error(Column::Numbers(&[1.0, f64::NAN])), "variable 0 is NaN in row 1");
        assert_eq!(error(Column::Numbers(&[f64::INFINITY, 1.0])), "variable 0 is inf in row 0");
        assert_eq!(error(Column::Codes(&[0, -1])), "variable 0 has the code -1 in row 1");
        let many: Vec<i32> = (0..5000).collect();
        assert!(error(Column::Codes(&many)).contains("variable 0 has 5000 states that occur"));
        let numbers = [Column::Numbers(&[1.0, 2.0]); 3];
        let limit = "the table has more than 2 numeric columns";
        assert_eq!(errors(&numbers, 2), format!("variable 0 is one column too many: with it {limit}"));
        assert_eq!(errors(&numbers, 3), "");
        let curve = Column::Curve(&[1.0, 2.0], 3);
        assert_eq!(errors(&[curve], 2), format!("variable 0 has 3 polynomials: with them {limit}"));
    }
}
