//! A mixed table under one criterion, as a set function.

use std::sync::{Mutex, PoisonError};

use super::cells::{Cells, Kept};
use super::rows::{Place, Rows};
use crate::Error;
use crate::score::bounds::{Bounds, Measure};
use crate::score::discrete;
use crate::score::discrete::criterion::Criterion;
use crate::score::gaussian::{
    Column, DoubleDouble, Factors, LN_2PI_E, Matrix, TOLERANCE, dependence_threshold, quantum,
};
use crate::score::set_function::{SetFunction, Source, Survey, Worker};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// To look at so many rows takes longer than to hand them to a thread that is awake.
const PORTION: usize = 1 << 16;

/// What a parameter costs.
#[derive(Clone, Copy, Debug)]
pub struct Pricing {
    /// A criterion for discrete tables whose parameters all cost the same.
    criterion: Criterion,
    /// `u` with `N` cases.
    price: fn(f64) -> f64,
    /// `λ`: parameters of the continuous part cost this many times as much.
    factor: f64,
}

impl Pricing {
    /// As the criterion with a name has it, and the factor of the continuous part.
    ///
    /// # Errors
    /// If there is no such criterion, or the factor is not positive.
    pub fn named(name: &str, factor: f64) -> Result<Self, Error> {
        let discrete =
            CRITERIA.iter().find(|criterion| criterion.name == name).map(|criterion| criterion.discrete);
        let unknown = || Error::Setting(format!("unknown criterion {name:?} of the location model"));
        let criterion = Criterion::named(discrete.ok_or_else(unknown)?, 1.0)?;
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::Setting(format!("the penalty {factor} is not a positive number")));
        }
        let price = criterion.description.penalty.ok_or_else(unknown)?;
        Ok(Self { criterion, price, factor })
    }
}

/// A criterion of the location model, and that of its discrete part.
#[derive(Debug)]
pub struct Description {
    /// Its name in settings.
    pub name: &'static str,
    /// Its name in a line of text.
    pub title: &'static str,
    /// The criterion for discrete tables with the same price of a parameter.
    discrete: &'static str,
}

/// The criteria of the location model.
pub const CRITERIA: [Description; 2] = [
    Description { name: "location-bic", title: "location model BIC", discrete: "bic" },
    Description { name: "location-aic", title: "location model AIC", discrete: "aic" },
];

/// The rows of a mixed table with a criterion on them.
pub struct Table {
    rows: Rows,
    /// The discrete variables alone.
    discrete: discrete::Table,
    /// `λ u`.
    penalty: f64,
    /// What `F` is a multiple of.
    quantum: f64,
    kept: Kept,
    /// The smallest set met in which some variables determine another, by its variables.
    dependent: Mutex<Option<Vec<usize>>>,
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
        pricing: Pricing,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let Pricing { criterion, price, factor } = pricing;
        let (rows, discrete) = Rows::new(table, arity, order, weights, threads, stop)?;
        Ok(Self {
            penalty: factor * price(rows.total),
            quantum: quantum(rows.total),
            discrete: discrete::Table::new(discrete, criterion)?,
            kept: Kept::default(),
            dependent: Mutex::new(None),
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

    /// Pairs of continuous variables that determine each other linearly, so that they are one variable
    /// written twice.
    pub fn twins(&self) -> Vec<(usize, usize)> {
        let cells = self.kept.of(&self.rows, &[]);
        let continuous: Vec<(usize, usize)> =
            self.rows.places.iter().enumerate().filter_map(continuous).collect();
        let mut twins = Vec::new();
        for (at, &(x, i)) in continuous.iter().enumerate() {
            for &(y, j) in &continuous[at + 1..] {
                if self.ln_determinant(&cells, &[i.min(j), i.max(j)]).is_none() {
                    twins.push((x, y));
                }
            }
        }
        twins
    }

    /// The logarithm of the determinant of the covariances within cells, relative to the variances of the
    /// columns, unless a column is determined by the others and the cells.
    fn ln_determinant(&self, cells: &Cells, columns: &[usize]) -> Option<f64> {
        let rows = &self.rows;
        let threshold = dependence_threshold(columns.len());
        let within: Vec<i128> = columns.iter().map(|&i| cells.covariation(rows, i, i)).collect();
        let left = |k: usize| within[k] as f64 / rows.variation[columns[k]] as f64;
        if (0..columns.len()).any(|k| left(k) < threshold) {
            return None;
        }
        let correlation = |a: usize, b: usize| {
            let scale = DoubleDouble::from(within[a]) * within[b].into();
            DoubleDouble::from(cells.covariation(rows, columns[a], columns[b])) / scale.sqrt()
        };
        let matrix = Matrix::new(columns.len(), correlation);
        let mut factors = Factors::default();
        let mut own = 0.0;
        for k in 0..columns.len() {
            if factors.push(&matrix, k, 0.0) * left(k) < threshold {
                return None;
            }
            own += libm::log(left(k));
        }
        Some(own + factors.ln_determinant())
    }

    fn note_dependent(&self, set: impl Iterator<Item = usize>) {
        let set: Vec<usize> = set.collect();
        let mut known = self.dependent.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| (set.len(), &set) < (known.len(), known)) {
            *known = Some(set);
        }
    }
}

/// The variable and its column, if it is continuous and varies.
fn continuous((v, place): (usize, &Place)) -> Option<(usize, usize)> {
    match *place {
        Place::Continuous(column) => Some((v, column)),
        _ => None,
    }
}

impl<const W: usize> SetFunction<W> for Table {
    fn variables(&self) -> usize {
        Table::variables(self)
    }

    fn varies(&self, v: usize) -> bool {
        match self.rows.places[v] {
            Place::Discrete(d) => self.rows.arity[d] > 1,
            Place::Continuous(_) => true,
            Place::Constant => false,
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
        self.dependent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Computes terms, for one thread.
struct Evaluating<'t, const W: usize> {
    table: &'t Table,
    /// Counts the cells of discrete sets.
    discrete: Box<dyn Worker<W> + 't>,
    /// The discrete variables of a set by their places, in ascending order.
    coded: Vec<u16>,
    /// The columns of its continuous ones, in ascending order.
    columns: Vec<usize>,
}

impl<'t, const W: usize> Evaluating<'t, W> {
    fn new(table: &'t Table) -> Self {
        let discrete = table.discrete.worker();
        Self { table, discrete, coded: Vec::new(), columns: Vec::new() }
    }

    fn value(&mut self, set: VarSet<W>) -> f64 {
        let Self { table, discrete, coded, columns } = self;
        let Table { rows, quantum, .. } = *table;
        coded.clear();
        columns.clear();
        for v in set.iter() {
            match rows.places[v] {
                Place::Discrete(d) => coded.push(d as u16),
                Place::Continuous(column) => columns.push(column),
                Place::Constant => (),
            }
        }
        let alone: VarSet<W> = coded.iter().map(|&d| usize::from(d)).collect();
        if columns.is_empty() {
            return libm::rint(discrete.term(alone) / quantum) * quantum;
        }
        coded.sort_unstable();
        columns.sort_unstable();
        let cells = table.kept.of(rows, coded);
        let (p, joined) = (columns.len() as f64, coded.len() + columns.len() > 1);
        if joined && 2.0 * (p + cells.units.len() as f64 - 1.0) >= rows.total {
            return f64::NEG_INFINITY;
        }
        let Some(ln_determinant) = table.ln_determinant(&cells, columns) else {
            table.note_dependent(set.iter());
            return f64::NEG_INFINITY;
        };
        let all = table.discrete.cells(alone);
        let half = 0.5 * rows.total;
        let own: f64 = columns.iter().map(|&i| rows.ln_variance[i] + LN_2PI_E).sum();
        let parameters = all.number * p + 0.5 * p * (p + 1.0);
        let value = table.discrete.function().value(all, &cells.units)
            - half * (own + ln_determinant)
            - table.penalty * parameters;
        libm::rint(value / quantum) * quantum
    }
}

impl<const W: usize> Worker<W> for Evaluating<'_, W> {
    fn term(&mut self, set: VarSet<W>) -> f64 {
        self.value(set)
    }

    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]) {
        for source in sources {
            let with_x = given.with(source.x);
            source.joint = self.value(with_x.with(y));
            if source.known.is_none() {
                source.margin = self.value(with_x);
            }
        }
    }
}

impl<const W: usize> Survey<W> for Evaluating<'_, W> {
    fn measure(&mut self, set: VarSet<W>) -> Measure {
        Measure { term: self.value(set), detail: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::score::gaussian::{self, Moments};
    use crate::score::terms::Terms;
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

    fn pricing(criterion: &str) -> Pricing {
        Pricing::named(criterion, 1.0).unwrap()
    }

    fn table(columns: &[Column<'_>], arity: &[usize], order: &[usize], weights: Option<&[f64]>) -> Table {
        Table::new(columns, arity, order, weights, pricing("location-bic"), 1, &Stop::default()).unwrap()
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
        let discrete = discrete::Table::new(data, Criterion::named("bic", 1.0).unwrap()).unwrap();
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

    /// What a discrete variable determines is never joined to it, and neither are supersets.
    #[test]
    fn what_is_determined_is_inadmissible() {
        let sample = Sample::new(2, 100);
        let told: Vec<f64> = sample.codes[1].iter().map(|&b| f64::from(b * b) + 0.25).collect();
        let mut columns = sample.columns().to_vec();
        columns.push(Column::Numbers(&told));
        let arity = [2, 3, 0, 4, 0, 0];
        let table = table(&columns, &arity, &[0, 1, 2, 3, 4, 5], None);
        for (members, term) in all_terms(&table).into_iter().enumerate() {
            assert_eq!(term == f64::NEG_INFINITY, members & 0b100010 == 0b100010, "{members:b}");
        }
        assert_eq!(SetFunction::<1>::dependent(&table), Some(vec![1, 5]));
        assert!(table.twins().is_empty());
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
