//! A mixed table under one criterion, as a set function.

use std::ops::Range;

use super::criterion::Criterion;
use super::kept::Kept;
use super::rows::{Place, Rows};
use super::worker::{Evaluating, ln_determinant};
use crate::Error;
use crate::score::bounds::Bounds;
use crate::score::discrete;
use crate::score::excluded::{Dependent, Excluded, Why};
use crate::score::gaussian::{Column, TOLERANCE, quantum};
use crate::score::set_function::{SetFunction, Survey, Worker};
use crate::stop::{Stop, Stopped};

/// Rows per portion: scanning them takes longer than handing them to a thread that is awake.
const PORTION: usize = 1 << 16;

/// The rows of a mixed table with a criterion on them.
pub struct Table {
    pub(super) rows: Rows,
    /// The discrete variables alone.
    pub(super) discrete: discrete::Table,
    /// `λ u`.
    pub(super) penalty: f64,
    /// The unit of `F`, which is a multiple of it.
    pub(super) quantum: f64,
    pub(super) kept: Kept,
    pub(super) dependent: Dependent,
}

impl Table {
    /// The table under a criterion, with `arity[v]` states of each discrete variable `v`.
    ///
    /// # Errors
    /// If the table or the criterion cannot be used, or `stop` is raised meanwhile.
    pub fn new(
        table: &[Column<'_>],
        arity: &[usize],
        order: &[usize],
        weights: Option<&[f64]>,
        criterion: Criterion,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let (rows, discrete) = Rows::new(table, arity, order, weights, threads, stop)?;
        Ok(Self {
            penalty: criterion.penalty(rows.total),
            quantum: quantum(rows.total),
            discrete: discrete::Table::new(discrete, criterion.discrete)?,
            kept: Kept::default(),
            dependent: Dependent::default(),
            rows,
        })
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.rows.places.len()
    }

    /// `N`, the sum of the weights.
    pub fn total(&self) -> f64 {
        self.rows.total
    }

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    pub fn fingerprint(&self) -> u128 {
        self.rows.fingerprint
    }

    /// The pairs that no model joins: numbers that are one variable written twice, a number with a variable
    /// that determines it, and one with a discrete variable that has a state for nearly every case.
    pub fn excluded(&self) -> Vec<Excluded> {
        let mut excluded = Vec::new();
        for (x, place) in self.rows.places.iter().enumerate() {
            for (y, own) in self.rows.places.iter().enumerate().filter_map(continuous) {
                excluded.extend(match place {
                    Place::Discrete(d) => self
                        .why_apart(&[*d as u32], &own.collect::<Vec<_>>(), Why::Determined)
                        .map(|why| Excluded { x, y, why }),
                    Place::Continuous(others) if x < y && !others.is_empty() => {
                        self.numbers_apart((x, others), (y, &own))
                    }
                    Place::Continuous(_) => None,
                });
            }
        }
        excluded
    }

    fn why_apart(&self, coded: &[u32], columns: &[usize], dependent: Why) -> Option<Why> {
        let cells = self.kept.of(&self.rows, coded);
        if self.rows.too_small(cells.units.len(), columns.len()) {
            return Some(Why::TooLarge);
        }
        ln_determinant(&self.rows, &cells, columns).is_none().then_some(dependent)
    }

    /// Whether and why two numbers are not joined.
    fn numbers_apart(&self, x: (usize, &Range<usize>), y: (usize, &Range<usize>)) -> Option<Excluded> {
        let mut both: Vec<usize> = x.1.clone().chain(y.1.clone()).collect();
        both.sort_unstable();
        match self.why_apart(&[], &both, Why::Collinear)? {
            Why::Collinear => Some(match (self.tells(x.1, y.1), self.tells(y.1, x.1)) {
                (true, true) => Excluded { x: x.0, y: y.0, why: Why::Twins },
                (true, false) => Excluded { x: x.0, y: y.0, why: Why::Determined },
                (false, true) => Excluded { x: y.0, y: x.0, why: Why::Determined },
                (false, false) => Excluded { x: x.0, y: y.0, why: Why::Collinear },
            }),
            why => Some(Excluded { x: x.0, y: y.0, why }),
        }
    }

    /// Is every one of some columns a combination of others?
    fn tells(&self, known: &Range<usize>, columns: &Range<usize>) -> bool {
        let cells = self.kept.of(&self.rows, &[]);
        columns.clone().all(|column| {
            let mut all: Vec<usize> = known.clone().chain([column]).collect();
            all.sort_unstable();
            ln_determinant(&self.rows, &cells, &all).is_none()
        })
    }
}

/// The variable and its columns, if it is continuous and varies.
fn continuous((v, place): (usize, &Place)) -> Option<(usize, Range<usize>)> {
    match place {
        Place::Continuous(columns) if !columns.is_empty() => Some((v, columns.clone())),
        _ => None,
    }
}

impl<const W: usize> SetFunction<W> for Table {
    fn variables(&self) -> usize {
        Table::variables(self)
    }

    fn varies(&self, v: usize) -> bool {
        match &self.rows.places[v] {
            Place::Discrete(d) => self.rows.arity[*d] > 1,
            Place::Continuous(columns) => !columns.is_empty(),
        }
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.quantum
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        Box::new(Evaluating::new(self))
    }

    fn survey(&self) -> Box<dyn Survey<W> + '_> {
        Box::new(Evaluating::new(self))
    }

    fn portion(&self) -> usize {
        (PORTION / self.rows.units.len()).max(1)
    }

    fn perfect(&self) -> f64 {
        f64::INFINITY
    }

    fn bounds(&self, _threads: usize, _stop: &Stop) -> Result<Bounds, Stopped> {
        Ok(Bounds::None)
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.dependent.set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::score::gaussian::{self, LN_2PI_E, Moments};
    use crate::score::terms::Terms;
    use crate::varset::VarSet;
    use proptest::prelude::*;

    /// Five variables: three of codes, two of numbers that depend on the first.
    struct Sample {
        codes: Vec<Vec<i32>>,
        numbers: Vec<Vec<f64>>,
    }

    const ARITY: [usize; 5] = [2, 3, 0, 4, 0];

    impl Sample {
        fn new(seed: u64, rows: usize) -> Self {
            let mut stream = Stream::new(seed, 0);
            let mut noise = || stream.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0;
            let mut sample = Self { codes: vec![Vec::new(); 3], numbers: vec![Vec::new(); 2] };
            for _ in 0..rows {
                let a = i32::from(noise() > 0.2);
                let b = (i32::from(noise() > 0.0) + a).min(2);
                let c = ((noise() + 1.0) * 1.99) as i32;
                let u = noise() + 0.7 * f64::from(a);
                let v = 0.5 * u - 0.3 * f64::from(b) + noise();
                sample.codes[0].push(a);
                sample.codes[1].push(b);
                sample.codes[2].push(c);
                sample.numbers[0].push(100.0 + u);
                sample.numbers[1].push(1e-3 * v);
            }
            sample
        }

        fn columns(&self) -> [Column<'_>; 5] {
            let [a, b, c] = [0, 1, 2].map(|i| Column::Codes(&self.codes[i]));
            let [u, v] = [0, 1].map(|i| Column::Numbers(&self.numbers[i]));
            [a, b, u, c, v]
        }

        fn rows(&self, rows: &[usize]) -> Self {
            Self {
                codes: self.codes.iter().map(|c| rows.iter().map(|&row| c[row]).collect()).collect(),
                numbers: self.numbers.iter().map(|c| rows.iter().map(|&row| c[row]).collect()).collect(),
            }
        }
    }

    fn table(columns: &[Column<'_>], arity: &[usize], order: &[usize], weights: Option<&[f64]>) -> Table {
        let criterion = Criterion::named("bic", 1.0).unwrap();
        Table::new(columns, arity, order, weights, criterion, 1, &Stop::default()).unwrap()
    }

    fn all_terms(table: &impl SetFunction<1>) -> Vec<f64> {
        let n = table.variables();
        let mut worker = table.worker();
        (0..1usize << n).map(|set| worker.term((0..n).filter(|v| set >> v & 1 == 1).collect())).collect()
    }

    /// The formula of the module, from the rows.
    fn direct(sample: &Sample, members: usize, weights: &[f64]) -> f64 {
        let discrete: Vec<usize> = [(0, 0), (1, 1), (3, 2)]
            .into_iter()
            .filter(|(v, _)| members >> v & 1 == 1)
            .map(|(_, code)| code)
            .collect();
        let continuous: Vec<usize> =
            [(2, 0), (4, 1)].into_iter().filter(|(v, _)| members >> v & 1 == 1).map(|(_, c)| c).collect();
        let total: f64 = weights.iter().sum();
        let mut cells: std::collections::BTreeMap<Vec<i32>, Vec<usize>> = Default::default();
        for row in 0..weights.len() {
            let key = discrete.iter().map(|&d| sample.codes[d][row]).collect();
            cells.entry(key).or_default().push(row);
        }
        let weight = |rows: &[usize]| rows.iter().map(|&row| weights[row]).sum::<f64>();
        let likelihood: f64 = cells.values().map(|rows| weight(rows) * weight(rows).ln()).sum();
        let r: f64 = discrete.iter().map(|&d| ARITY[[0, 1, 3][d]] as f64).product();
        let mut w = vec![vec![0.0; continuous.len()]; continuous.len()];
        for rows in cells.values() {
            let mean = |i: usize| {
                rows.iter().map(|&row| weights[row] * sample.numbers[i][row]).sum::<f64>() / weight(rows)
            };
            let means: Vec<f64> = continuous.iter().map(|&i| mean(i)).collect();
            for &row in rows {
                for (a, &i) in continuous.iter().enumerate() {
                    for (b, &j) in continuous.iter().enumerate() {
                        w[a][b] += weights[row] / total
                            * (sample.numbers[i][row] - means[a])
                            * (sample.numbers[j][row] - means[b]);
                    }
                }
            }
        }
        let determinant = match continuous.len() {
            0 => 1.0,
            1 => w[0][0],
            _ => w[0][0] * w[1][1] - w[0][1] * w[1][0],
        };
        let p = continuous.len() as f64;
        let u = 0.5 * total.ln();
        likelihood
            - u * r
            - 0.5 * total * (determinant.ln() + p * LN_2PI_E)
            - u * (r * p + 0.5 * p * (p + 1.0))
    }

    #[test]
    fn terms_are_those_of_the_formula() {
        for seed in 0..5 {
            let sample = Sample::new(seed, 150);
            let weights: Vec<f64> = (0..150).map(|row| f64::from(row % 4) * 0.37).collect();
            for weights in [None, Some(&weights[..])] {
                let table = table(&sample.columns(), &ARITY, &[4, 2, 0, 1, 3], weights);
                let plain = vec![1.0; 150];
                for (members, term) in all_terms(&table).into_iter().enumerate() {
                    let expected = direct(&sample, members, weights.unwrap_or(&plain));
                    assert!((term - expected).abs() < 1e-7, "{members:b}: {term} {expected}");
                }
            }
        }
    }

    #[test]
    fn neither_the_order_of_rows_nor_of_columns_changes_a_bit() {
        let sample = Sample::new(3, 120);
        let terms = all_terms(&table(&sample.columns(), &ARITY, &[0, 1, 2, 3, 4], None));
        let shuffled: Vec<usize> = (0..120).map(|row| row * 77 % 120).collect();
        let other = sample.rows(&shuffled);
        assert_eq!(terms, all_terms(&table(&other.columns(), &ARITY, &[0, 1, 2, 3, 4], None)));
        // Variables in another order, named in the same order.
        let columns = sample.columns();
        let places = [3, 0, 4, 1, 2];
        let moved = places.map(|v| columns[v]);
        let order: Vec<usize> = (0..5).map(|v| places.iter().position(|&p| p == v).unwrap()).collect();
        let moved = all_terms(&table(&moved, &places.map(|v| ARITY[v]), &order, None));
        for (members, term) in moved.into_iter().enumerate() {
            let there: usize = (0..5).filter(|at| members >> at & 1 == 1).map(|at| 1 << places[at]).sum();
            assert_eq!(term.to_bits(), terms[there].to_bits());
        }
    }

    #[test]
    fn a_row_that_counts_twice_is_two_rows() {
        let sample = Sample::new(4, 90);
        let twice: Vec<usize> = (0..90).chain(0..30).collect();
        let weights: Vec<f64> = (0..90).map(|row| if row < 30 { 2.0 } else { 1.0 }).collect();
        let order = [0, 1, 2, 3, 4];
        let merged = all_terms(&table(&sample.columns(), &ARITY, &order, Some(&weights)));
        let repeated = all_terms(&table(&sample.rows(&twice).columns(), &ARITY, &order, None));
        for (a, b) in merged.into_iter().zip(repeated) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    /// Sets of one kind have the gains of the criteria for tables of that kind.
    #[test]
    fn discrete_and_continuous_sets_are_special_cases() {
        let sample = Sample::new(8, 200);
        let terms = all_terms(&table(&sample.columns(), &ARITY, &[0, 1, 2, 3, 4], None));
        let codes: Vec<&[i32]> = sample.codes.iter().map(Vec::as_slice).collect();
        let data = discrete::dataset::Dataset::new(&codes, &[2, 3, 4], None).unwrap();
        let discrete =
            discrete::Table::new(data, discrete::criterion::Criterion::named("bic", 1.0).unwrap()).unwrap();
        for (members, term) in all_terms(&discrete).into_iter().enumerate() {
            let there = [0, 1, 3].iter().enumerate().map(|(at, v)| (members >> at & 1) << v).sum::<usize>();
            assert!((terms[there] - term).abs() < 1e-10);
        }
        let numbers = [0, 1].map(|i| Column::Numbers(&sample.numbers[i]));
        let moments = Moments::new(&numbers, &[0, 1], None, 1, &Stop::default()).unwrap();
        let criterion = gaussian::criterion::Criterion::named("bic", 1.0).unwrap();
        let continuous = all_terms(&gaussian::Table::new(moments, criterion));
        for (members, there) in [(0b01, 0b00100), (0b10, 0b10000), (0b11, 0b10100)] {
            let gain = |terms: &[f64], set: usize| terms[set] - terms[0];
            assert!((gain(&terms, there) - gain(&continuous, members)).abs() < 1e-8);
        }
    }

    /// Two independent columns, two rare rows each, one of them shared: next to no evidence.
    #[test]
    fn one_row_does_not_decide() {
        let rows = 3000;
        let rare = |at: [usize; 2]| (0..rows).map(|row| i32::from(at.contains(&row))).collect::<Vec<i32>>();
        let (a, b) = (rare([10, 500]), rare([10, 900]));
        let free = Sample::new(1, rows).numbers.swap_remove(0);
        let columns = [Column::Codes(&a), Column::Codes(&b), Column::Numbers(&free)];
        let terms = Terms::<1>::new(table(&columns, &[2, 2, 0], &[0, 1, 2], None), 1 << 20);
        let gain = terms.gain(&mut *terms.worker(), 0, 1, VarSet::EMPTY);
        assert!(gain < 8.0, "{gain}");
    }

    /// Variables that a discrete variable determines are never joined to it, and neither are supersets.
    #[test]
    fn what_is_determined_is_inadmissible() {
        let sample = Sample::new(2, 100);
        let determined: Vec<f64> = sample.codes[1].iter().map(|&b| f64::from(b * b) + 0.25).collect();
        let mut columns = sample.columns().to_vec();
        columns.push(Column::Numbers(&determined));
        let arity = [2, 3, 0, 4, 0, 0];
        let table = table(&columns, &arity, &[0, 1, 2, 3, 4, 5], None);
        for (members, term) in all_terms(&table).into_iter().enumerate() {
            assert_eq!(term == f64::NEG_INFINITY, members & 0b100010 == 0b100010, "{members:b}");
        }
        assert_eq!(SetFunction::<1>::dependent(&table), Some(vec![1, 5]));
        assert_eq!(table.excluded(), [Excluded { x: 1, y: 5, why: Why::Determined }]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn supersets_of_inadmissible_sets_are_inadmissible(seed in 0..1000u64, rows in 4..40usize) {
            let terms = all_terms(&table(&Sample::new(seed, rows).columns(), &ARITY, &[0, 1, 2, 3, 4], None));
            for (members, term) in terms.iter().enumerate() {
                prop_assert!(!term.is_nan() && *term < f64::INFINITY);
                for v in (0..5).filter(|v| members >> v & 1 == 0) {
                    prop_assert!(*term > f64::NEG_INFINITY || terms[members | 1 << v] == f64::NEG_INFINITY);
                }
            }
        }
    }
}
