//! A mixed table of very many columns, as a set function of short lists.
//!
//! The terms are those of [`Table`], computed by the same code. Of two continuous variables, the correlation within the
//! cells of the discrete ones that are given tells whether an edge may gain anything.

use std::sync::Arc;

use super::cells::Cells;
use super::rows::Place;
use super::table::Table;
use super::worker::Evaluating;
use crate::score::excluded::Excluded;
use crate::score::gaussian::{Factors, Matrix, SMALL};
use crate::score::set_function::{SetFunction, Source};
use crate::wide::function::{Function, Worker};
use crate::wide::list::{self, List};

/// In units of `N`: far more than the rounding of a gain.
const MARGIN: f64 = 1e-6;

impl Function for Table {
    fn variables(&self) -> usize {
        Table::variables(self)
    }

    fn varies(&self, v: usize) -> bool {
        SetFunction::<1>::varies(self, v)
    }

    fn tolerance(&self) -> f64 {
        SetFunction::<1>::tolerance(self)
    }

    fn total(&self) -> f64 {
        Table::total(self)
    }

    fn fingerprint(&self) -> u128 {
        Table::fingerprint(self)
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Evaluating::new(self))
    }

    /// Discrete variables first: each divides the rows once, for all that may be joined to it.
    fn targets(&self) -> List {
        let is_continuous = |&v: &u32| matches!(self.rows.places[v as usize], Place::Continuous(_));
        let (continuous, discrete): (List, List) =
            (0..Table::variables(self) as u32).partition(is_continuous);
        [discrete, continuous].concat()
    }

    fn excluded(&self) -> Vec<Excluded> {
        Table::excluded(self)
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.dependent.set()
    }
}

fn members(set: &[u32]) -> impl Iterator<Item = usize> + Clone {
    set.iter().map(|&v| v as usize)
}

impl Worker for Evaluating<'_> {
    fn term(&mut self, set: &[u32]) -> f64 {
        self.value(members(set))
    }

    fn hopeful(
        &mut self,
        y: u32,
        given: &[u32],
        terms: (f64, f64),
        least: f64,
        is_wanted: &dyn Fn(u32) -> bool,
        hopeful: &mut List,
    ) {
        let table = self.table();
        if !(terms.0.is_finite() && terms.1.is_finite()) {
            return; // no edge leads to an inadmissible set
        }
        let bound = Bound::new(self, y, given, least);
        let others =
            (0..Table::variables(table) as u32).filter(|&x| x != y && !list::has(given, x) && is_wanted(x));
        hopeful.extend(others.filter(|&x| match (&table.rows.places[x as usize], &bound) {
            (Place::Continuous(columns), Some(bound)) if columns.len() == 1 => bound.admits(columns.start),
            _ => SetFunction::<1>::varies(table, x as usize),
        }));
    }

    fn join(&mut self, given: &[u32], y: u32, sources: &mut [Source]) {
        for source in sources {
            let with_x = list::with(given, source.x as u32);
            source.margin = self.value(members(&with_x));
            source.joint = self.value(members(&list::with(&with_x, y)));
        }
    }
}

/// The bound that the partial correlation of a continuous source with a continuous target must exceed.
struct Bound<'t> {
    table: &'t Table,
    cells: Arc<Cells>,
    /// The columns that are given, and the target.
    base: Vec<usize>,
    factors: Factors,
    /// `κ`: the squared partial correlation with which an edge gains as much as it costs.
    needed: f64,
}

impl<'t> Bound<'t> {
    /// `None` if the target is not one continuous column, or if nothing can be said.
    fn new(worker: &Evaluating<'t>, y: u32, given: &[u32], least: f64) -> Option<Self> {
        let table = worker.table();
        let (mut coded, mut base) = (List::new(), Vec::new());
        for v in members(given) {
            match &table.rows.places[v] {
                Place::Discrete(d) => coded.push(*d as u32),
                Place::Continuous(columns) => base.extend(columns.clone()),
            }
        }
        let Place::Continuous(target) = &table.rows.places[y as usize] else { return None };
        (target.len() == 1).then(|| base.push(target.start))?;
        coded.sort_unstable();
        let cells = table.kept.of(&table.rows, &coded);
        let total = table.rows.total;
        let share = libm::exp(-2.0 * (table.penalty + least - MARGIN * total) / total);
        let needed = (share < 1.0).then_some(1.0 - share)?;
        let correlation = |a: usize, b: usize| {
            let (i, j) = (base[a].min(base[b]), base[a].max(base[b]));
            cells.correlation_anew(&table.rows, i, j)
        };
        let matrix = Matrix::new(base.len(), correlation);
        let mut factors = Factors::default();
        let regular = (0..base.len()).all(|at| factors.push(&matrix, at, 0.0) >= SMALL);
        regular.then_some(Self { table, cells, base, factors, needed })
    }

    /// Whether the edge from a column may gain something; see [`crate::score::gaussian::WideTable`] for the algebra.
    fn admits(&self, column: usize) -> bool {
        let (lower, pivots) = (self.factors.lower(), self.factors.pivots());
        let last = pivots.len() - 1;
        let mut residuals: Vec<f64> = Vec::with_capacity(pivots.len());
        let mut left = 1.0;
        for (j, &other) in self.base.iter().enumerate() {
            let (a, b) = (column.min(other), column.max(other));
            let r = self.cells.correlation_anew(&self.table.rows, a, b).high;
            let row = &lower[j * j.saturating_sub(1) / 2..][..j];
            let residual = r - row.iter().zip(&residuals).map(|(l, e)| l * e).sum::<f64>();
            if j < last {
                left -= residual * residual / pivots[j];
            }
            residuals.push(residual);
        }
        // A variance that is small is not known well enough.
        let own = self.cells.share(&self.table.rows, column).0;
        own < SMALL || left < SMALL || residuals[last] * residuals[last] >= self.needed * pivots[last] * left
    }
}
