//! Computes the terms of a mixed table, for one thread.

use std::sync::Arc;

use super::cells::Cells;
use super::rows::{Place, Rows};
use super::table::Table;
use crate::score::bounds::Measure;
use crate::score::discrete::counts::Counter;
use crate::score::gaussian::{Factors, LN_2PI_E, Matrix, dependence_threshold};
use crate::score::set_function::{Source, Survey, Worker};
use crate::varset::VarSet;

/// Computes terms, with the cells of the last set.
pub struct Evaluating<'t> {
    table: &'t Table,
    /// Counts the cells of discrete sets.
    counter: Counter,
    /// The discrete variables of a set by their places, in ascending order.
    coded: Vec<u32>,
    /// The columns of its continuous ones, in ascending order.
    columns: Vec<usize>,
    last: Option<(Vec<u32>, Arc<Cells>)>,
}

impl<'t> Evaluating<'t> {
    pub fn new(table: &'t Table) -> Self {
        Self { table, counter: Counter::default(), coded: Vec::new(), columns: Vec::new(), last: None }
    }

    /// The table.
    pub fn table(&self) -> &'t Table {
        self.table
    }

    /// `F` of a set, given by its members in ascending order.
    pub fn value(&mut self, set: impl Iterator<Item = usize> + Clone) -> f64 {
        let Table { rows, discrete, quantum, .. } = self.table;
        self.coded.clear();
        self.columns.clear();
        let mut embedded = 0;
        for v in set.clone() {
            match &rows.places[v] {
                Place::Discrete(d) => self.coded.push(*d as u32),
                Place::Continuous(columns) => {
                    embedded += usize::from(!columns.is_empty());
                    self.columns.extend(columns.clone());
                }
            }
        }
        self.coded.sort_unstable();
        self.columns.sort_unstable();
        let value = if self.columns.is_empty() {
            let alone: Vec<usize> = self.coded.iter().map(|&d| d as usize).collect();
            let cells = discrete.cells_of(alone.iter().copied());
            discrete.function().value(cells, self.counter.count(discrete.data(), &alone))
        } else {
            self.joint(set, self.coded.len() + embedded > 1)
        };
        libm::rint(value / quantum) * quantum
    }

    /// `F` of a set with continuous variables, before it is rounded; `joined` if with any other.
    fn joint(&mut self, set: impl Iterator<Item = usize>, joined: bool) -> f64 {
        let cells = self.cells();
        let Self { table, coded, columns, .. } = self;
        let Table { rows, discrete, .. } = *table;
        let p = columns.len() as f64;
        if joined && rows.too_small(cells.units.len(), columns.len()) {
            return f64::NEG_INFINITY;
        }
        let Some(ln_determinant) = ln_determinant(rows, &cells, columns) else {
            table.dependent.note(set);
            return f64::NEG_INFINITY;
        };
        let all = discrete.cells_of(coded.iter().map(|&d| d as usize));
        let own: f64 = columns.iter().map(|&i| rows.ln_variance[i] + LN_2PI_E).sum();
        let parameters = all.number * p + 0.5 * p * (p + 1.0);
        cells.value.get_or_init(|| discrete.function().value(all, &cells.units))
            - 0.5 * rows.total * (own + ln_determinant)
            - table.penalty * parameters
    }

    fn cells(&mut self) -> Arc<Cells> {
        let Self { table, coded, last, .. } = self;
        if let Some((variables, cells)) = last
            && variables == coded
        {
            return Arc::clone(cells);
        }
        let cells = table.kept.of(&table.rows, coded);
        *last = Some((coded.clone(), Arc::clone(&cells)));
        cells
    }
}

/// The logarithm of the determinant of the covariances within cells, relative to the variances of the
/// columns, unless a column is determined by the others and the cells.
pub fn ln_determinant(rows: &Rows, cells: &Cells, columns: &[usize]) -> Option<f64> {
    let threshold = dependence_threshold(columns.len());
    if columns.iter().any(|&i| cells.share(rows, i).0 < threshold) {
        return None;
    }
    let correlation = |a: usize, b: usize| cells.correlation(rows, columns[a], columns[b]);
    let matrix = Matrix::new(columns.len(), correlation);
    let mut factors = Factors::default();
    let mut own = 0.0;
    for (k, &column) in columns.iter().enumerate() {
        let (share, ln_share) = cells.share(rows, column);
        if factors.push(&matrix, k, 0.0) * share < threshold {
            return None;
        }
        own += ln_share;
    }
    Some(own + factors.ln_determinant())
}

impl<const W: usize> Worker<W> for Evaluating<'_> {
    fn term(&mut self, set: VarSet<W>) -> f64 {
        self.value(set.iter())
    }

    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]) {
        for source in sources {
            let with_x = given.with(source.x);
            source.joint = self.value(with_x.with(y).iter());
            if source.known.is_none() {
                source.margin = self.value(with_x.iter());
            }
        }
    }
}

impl<const W: usize> Survey<W> for Evaluating<'_> {
    fn measure(&mut self, set: VarSet<W>) -> Measure {
        Measure { term: self.value(set.iter()), detail: 0.0 }
    }
}
