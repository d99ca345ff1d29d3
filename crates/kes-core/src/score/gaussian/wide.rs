//! A continuous table of very many columns under one criterion, as a set function of short lists.
//!
//! The terms are those of [`Table`], to the bit; but the correlations they are made of are computed on
//! demand, and a screen of rounded ones tells which edges may gain anything.

use hashbrown::HashMap;
use pulp::Arch;
use rustc_hash::FxBuildHasher;

use super::cholesky::{Factors, Matrix, SMALL};
use super::criterion::{Criterion, Function as Value};
use super::double_double::DoubleDouble;
use super::embedding::{Column, Embedding};
use super::moments::{Moments, Spread, check_shape, hash_rows};
use super::on_demand::OnDemand;
use super::screen::{BLOCK, Screen};
use super::table::{TOLERANCE, Table, dependence_threshold, quantum};
use crate::Error;
use crate::score::excluded::{Dependent, Excluded, Why};
use crate::score::rows::{fingerprint, to_units};
use crate::score::set_function::Source;
use crate::stop::{Stop, Stopped};
use crate::varset::MAX_VARIABLES;
use crate::wide::function::{Function, Worker};
use crate::wide::list::{self, List};

/// In units of `N`: far more than the rounding of a gain.
const MARGIN: f64 = 1e-6;
/// Correlations that a thread remembers at most.
const REMEMBERED: usize = 1 << 22;
/// No column determines another unless its rounded correlation exceeds this.
const NEARLY_ONE: f32 = 1.0 - 1e-6;

/// The columns of a table with the function of a criterion on them.
pub struct WideTable {
    columns: OnDemand,
    screen: Screen,
    /// The column of each variable, if it varies, and the variable of each column.
    column_of: Vec<Option<usize>>,
    variable_of: Vec<u32>,
    criterion: Criterion,
    value: Box<dyn Value>,
    ln_variance: Vec<f64>,
    total: f64,
    quantum: f64,
    fingerprint: u128,
    threads: usize,
    dependent: Dependent,
}

impl WideTable {
    /// A table of numbers with optional weights of its rows; see [`Moments::new`](super::Moments::new) for the order.
    ///
    /// # Errors
    /// If the shapes disagree, a value or weight cannot be used, or `stop` is raised meanwhile.
    pub fn new(
        table: &[Column<'_>],
        order: &[usize],
        weights: Option<&[f64]>,
        criterion: Criterion,
        threads: usize,
        stop: &Stop,
    ) -> Result<Self, Error> {
        let rows = check_shape(table, order, weights)?;
        let (units, unit) = to_units(weights, rows)?;
        let [high, low] = fingerprint(&hash_rows(table, rows), units.iter().copied(), unit);
        let total = units.iter().sum::<u64>() as f64 * unit;
        let embedding = Embedding::new(table, order, units, usize::MAX, threads, stop)?;
        if let Some(v) = embedding.blocks().iter().position(|block| block.len() > 1) {
            let problem = format!(
                "has several numeric columns, as its states or its basis need; tables with more than {MAX_VARIABLES} \
                 variables can have only one for each"
            );
            return Err(Error::Column(v, problem));
        }
        let column_of: Vec<Option<usize>> =
            embedding.blocks().iter().map(|block| (!block.is_empty()).then_some(block.start)).collect();
        let mut variable_of = vec![0; embedding.columns()];
        for (v, column) in (0..).zip(&column_of) {
            column.iter().for_each(|&column| variable_of[column] = v);
        }
        let (columns, ln_variance) = OnDemand::new(&embedding);
        let screen = Screen::new(&columns, threads, stop)?;
        let value = criterion.on(Spread { ln_variance: &ln_variance, total });
        let quantum = quantum(total);
        let fingerprint = u128::from(high) << 64 | u128::from(low);
        let dependent = Dependent::default();
        Ok(Self {
            columns,
            screen,
            column_of,
            variable_of,
            criterion,
            value,
            ln_variance,
            total,
            quantum,
            fingerprint,
            threads,
            dependent,
        })
    }

    /// The same as a table with all correlations known exactly.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn with_all(&self, stop: &Stop) -> Result<Table, Stopped> {
        let moments = Moments {
            correlations: self.columns.all(self.threads, stop)?,
            blocks: self.column_of.iter().map(|column| column.map_or(0..0, |at| at..at + 1)).collect(),
            ln_variance: self.ln_variance.clone(),
            total: self.total,
            fingerprint: self.fingerprint,
        };
        Ok(Table::new(moments, self.criterion))
    }
}

impl Function for WideTable {
    fn variables(&self) -> usize {
        self.column_of.len()
    }

    fn varies(&self, v: usize) -> bool {
        self.column_of[v].is_some()
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.quantum
    }

    fn total(&self) -> f64 {
        self.total
    }

    fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Evaluating {
            table: self,
            known: HashMap::default(),
            factors: Factors::default(),
            columns: Vec::new(),
            buffer: Vec::new(),
        })
    }

    /// Only pairs that determine each other. Four cases are too few for any pair: a list of all would be of no use.
    fn excluded(&self) -> Vec<Excluded> {
        let mut excluded = Vec::new();
        for column in 0..self.columns.columns() {
            for block in column / BLOCK..self.screen.side() {
                let near = self.screen.with_block(column, block).iter().enumerate();
                for (at, _) in near.filter(|&(_, r)| r.abs() > NEARLY_ONE) {
                    let other = block * BLOCK + at;
                    let r = if other > column { self.columns.correlation(column, other).high } else { 0.0 };
                    if 1.0 - r * r < dependence_threshold(2) {
                        let (a, b) = (self.variable_of[column] as usize, self.variable_of[other] as usize);
                        excluded.push(Excluded { x: a.min(b), y: a.max(b), why: Why::Twins });
                    }
                }
            }
        }
        excluded.sort_unstable_by_key(|pair| (pair.x, pair.y));
        excluded
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.dependent.set()
    }
}

/// Computes terms of a table, for one thread.
struct Evaluating<'t> {
    table: &'t WideTable,
    /// The correlations computed so far, by their columns.
    known: HashMap<(u32, u32), (f64, f32), FxBuildHasher>,
    factors: Factors,
    columns: Vec<usize>,
    buffer: Vec<f64>,
}

impl Evaluating<'_> {
    /// The correlations of some columns, which are in ascending order.
    fn matrix(&mut self, columns: &[usize]) -> Matrix {
        let Self { table, known, .. } = self;
        if known.len() > REMEMBERED {
            known.clear();
        }
        let mut elements = Vec::with_capacity(columns.len() * columns.len());
        for (j, &second) in columns.iter().enumerate() {
            for &first in &columns[..j] {
                elements.push(*known.entry((first as u32, second as u32)).or_insert_with(|| {
                    let DoubleDouble { high, low } = table.columns.correlation(first, second);
                    (high, low as f32)
                }));
            }
        }
        Matrix::new(columns.len(), |i, j| {
            let (high, low) = elements[j * j.saturating_sub(1) / 2 + i];
            DoubleDouble { high, low: f64::from(low) }
        })
    }

    /// Marks the sources that may gain something: those with a large enough partial correlation.
    ///
    /// With the factors `L` and the pivots `d` of the columns of `C` and `y`, the residuals of a column `x` are
    /// `e_j = r_xj − Σ l_ji e_i`, its variance given `C` is `v = 1 − Σ e_j²/d_j`, and its squared partial correlation
    /// with `y` is `e_y² / (d_y v)`. An error `δ` of each `r` makes one of at most `ε_j = δ + Σ |l_ji| ε_i` in `e_j`,
    /// whatever `x` is.
    ///
    /// With the [`Price`](super::criterion::Price) of the criterion, a gain of more than `least` needs
    /// `v ρ² > v − s v^(1 − 2a/m)`, where `s = exp(−2 (cost + least)/m)`; and `v^(1 − 2a/m)` is below its tangent at 1.
    fn sift(&mut self, base: &[usize], least: f64, found: &mut List) -> Option<()> {
        let table = self.table;
        let mut sorted = base.to_vec();
        sorted.sort_unstable();
        let matrix = self.matrix(&sorted);
        let enlargement = table.value.enlargement();
        let Self { factors, buffer, .. } = self;
        factors.truncate(0);
        for column in base {
            let at = sorted.binary_search(column).unwrap_or_else(|_| unreachable!("it is one of them"));
            (factors.push(&matrix, at, enlargement) >= SMALL).then_some(())?;
        }
        let ln_pivot = libm::log(*factors.pivots().last()?);
        let price = table.value.price(base.len() - 1, ln_pivot);
        let share = libm::exp(-2.0 * (price.cost + least - MARGIN * table.total) / price.cases);
        let slack = share * 2.0 * price.of_variance / price.cases;
        let needed = 1.0 - share + slack;
        (needed > 0.0).then_some(())?;
        let margin = table.screen.margin(table.columns.rows());
        let bound = Bound::new(factors, needed, slack, 1.0 + enlargement, margin);
        for block in 0..table.screen.side() {
            let rows: Vec<&[f32]> = base.iter().map(|&c| table.screen.with_block(c, block)).collect();
            Arch::new().dispatch(
                #[inline(always)]
                || bound.sift(&rows, buffer),
            );
            let hopeful = buffer.iter().enumerate().filter(|&(_, &excess)| excess >= 0.0);
            found.extend(hopeful.map(|(at, _)| table.variable_of[block * BLOCK + at]));
        }
        Some(())
    }
}

impl Worker for Evaluating<'_> {
    fn term(&mut self, set: &[u32]) -> f64 {
        let table = self.table;
        let mut columns = std::mem::take(&mut self.columns);
        columns.clear();
        columns.extend(set.iter().filter_map(|&v| table.column_of[v as usize]));
        columns.sort_unstable(); // that order alone decides the bits
        let always_defined = table.value.enlargement() > 0.0;
        let is_large = columns.len() > 1 && 2.0 * columns.len() as f64 >= table.total;
        let value = if is_large && !always_defined {
            f64::NEG_INFINITY
        } else {
            let threshold = if always_defined { 0.0 } else { dependence_threshold(columns.len()) };
            let matrix = self.matrix(&columns);
            let factors = &mut self.factors;
            factors.truncate(0);
            if (0..columns.len()).all(|at| factors.push(&matrix, at, table.value.enlargement()) >= threshold)
            {
                let value = table.value.value(&columns, factors.ln_determinant());
                libm::rint(value / table.quantum) * table.quantum
            } else {
                let varying = set.iter().map(|&v| v as usize).filter(|&v| table.column_of[v].is_some());
                table.dependent.note(varying);
                f64::NEG_INFINITY
            }
        };
        self.columns = columns;
        value
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
        let table = self.table;
        let Some(target) = table.column_of[y as usize] else { return };
        if !(terms.0.is_finite() && terms.1.is_finite()) {
            return; // no edge leads to an inadmissible set
        }
        let mut base: Vec<usize> = given.iter().filter_map(|&v| table.column_of[v as usize]).collect();
        base.push(target);
        if self.sift(&base, least, hopeful).is_none() {
            hopeful.clear();
            hopeful.extend(&table.variable_of);
        }
        hopeful.retain(|&x| x != y && !list::has(given, x) && is_wanted(x));
        hopeful.sort_unstable();
    }

    fn join(&mut self, given: &[u32], y: u32, sources: &mut [Source]) {
        for source in sources {
            let with_x = list::with(given, source.x as u32);
            source.margin = self.term(&with_x);
            source.joint = self.term(&list::with(&with_x, y));
        }
    }
}

/// The bounds that a source must exceed.
struct Bound {
    lower: Vec<f64>,
    pivots: Vec<f64>,
    /// Of `e_y`, and of `v`.
    error: f64,
    variance_error: f64,
    /// The bound of `e_y²` is this times `v`,
    needed: f64,
    /// less this.
    slack: f64,
    /// The variance of a column before anything is given.
    whole: f64,
}

impl Bound {
    fn new(factors: &Factors, needed: f64, slack: f64, whole: f64, margin: f64) -> Self {
        let (lower, pivots) = (factors.lower().to_vec(), factors.pivots().to_vec());
        let last = pivots.len() - 1;
        let mut errors: Vec<f64> = Vec::new();
        let mut variance_error = 0.0;
        for j in 0..=last {
            let row = &lower[j * j.saturating_sub(1) / 2..][..j];
            let error = margin + row.iter().zip(&errors).map(|(l, error)| l.abs() * error).sum::<f64>();
            if j < last {
                variance_error += (2.0 * libm::sqrt(pivots[j]) * error + error * error) / pivots[j];
            }
            errors.push(error);
        }
        let (needed, slack) = (needed * pivots[last], slack * pivots[last]);
        Self { lower, pivots, error: errors[last], variance_error, needed, slack, whole }
    }

    /// Fills `excess` with what is not negative for the columns of a block that may gain something.
    #[inline(always)]
    fn sift(&self, rows: &[&[f32]], excess: &mut Vec<f64>) {
        const CHUNK: usize = 64;
        let last = rows.len() - 1;
        let mut residuals = vec![[0.0f64; CHUNK]; rows.len()];
        excess.clear();
        for start in (0..rows[last].len()).step_by(CHUNK) {
            let width = CHUNK.min(rows[last].len() - start);
            let mut variance = [self.whole; CHUNK];
            for (j, row) in rows.iter().enumerate() {
                let (before, now) = residuals.split_at_mut(j);
                let now = &mut now[0];
                now[..width].iter_mut().zip(&row[start..][..width]).for_each(|(e, &r)| *e = f64::from(r));
                let factors = &self.lower[j * j.saturating_sub(1) / 2..][..j];
                for (&factor, residual) in factors.iter().zip(before) {
                    now.iter_mut().zip(residual).for_each(|(e, other)| *e -= factor * *other);
                }
                if j < last {
                    let share = 1.0 / self.pivots[j];
                    variance.iter_mut().zip(&*now).for_each(|(left, e)| *left -= e * e * share);
                }
            }
            for (e, left) in residuals[last][..width].iter().zip(&variance) {
                let (most, least) = (e.abs() + self.error, left - self.variance_error);
                // A variance that is small is not known well enough.
                excess.push(if least < SMALL { 0.0 } else { most * most - self.needed * least + self.slack });
            }
        }
    }
}
