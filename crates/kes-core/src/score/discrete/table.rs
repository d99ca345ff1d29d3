//! A table under one criterion, as a set function: counts become terms here.

use super::counts::Counter;
use super::criterion::{Cells, Criterion, Function, Rules};
use super::dataset::Dataset;
use super::gain_bound::GainBound;
use super::partition::Surveyor;
use super::residual_entropy::residual_entropies;
use crate::Error;
use crate::score::bounds::Bounds;
use crate::score::set_function::{SetFunction, Source, Survey, Worker};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Counting this many rows takes longer than handing them to a thread that is awake.
const PORTION: usize = 1 << 18;

/// A coded table with the set function of a criterion on it.
pub struct Table {
    data: Dataset,
    function: Box<dyn Function>,
    /// `ln r` of every variable.
    ln_arity: Vec<f64>,
    /// Bounds of gains, if the criterion is a likelihood less a penalty.
    gain_bound: Option<GainBound>,
}

impl Table {
    /// The table under a criterion.
    ///
    /// # Errors
    /// If a parameter of the criterion is out of range.
    pub fn new(data: Dataset, criterion: Criterion) -> Result<Self, Error> {
        let function = criterion.on(&data)?;
        let ln_arity = data.arity().iter().map(|&r| libm::log(r as f64)).collect();
        let gain_bound = match function.rules() {
            Rules::Penalised { penalty } => Some(GainBound::new(&data, penalty)),
            _ => None,
        };
        Ok(Self { data, function, ln_arity, gain_bound })
    }

    /// The rows.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Bounds of gains, if the criterion is a likelihood less a penalty.
    pub(super) fn gain_bound(&self) -> Option<&GainBound> {
        self.gain_bound.as_ref()
    }

    /// The price of a parameter, or that of BIC if the criterion has none.
    pub fn price(&self) -> f64 {
        match self.function.rules() {
            Rules::Penalised { penalty } => penalty,
            _ => 0.5 * libm::log(self.data.total()),
        }
    }

    /// `F`, from counts.
    pub fn function(&self) -> &dyn Function {
        &*self.function
    }

    /// The cells of a set. Members are taken in ascending order, so that the set alone decides the bits.
    #[inline]
    pub fn cells<const W: usize>(&self, set: VarSet<W>) -> Cells {
        self.cells_of(set.iter())
    }

    /// The cells of a set, given by its members in ascending order.
    #[inline]
    pub fn cells_of(&self, members: impl Iterator<Item = usize>) -> Cells {
        members.fold(Cells::ONE, |cells, v| cells.times(self.data.arity()[v], self.ln_arity[v]))
    }
}

impl<const W: usize> SetFunction<W> for Table {
    fn variables(&self) -> usize {
        self.data.variables()
    }

    fn varies(&self, v: usize) -> bool {
        self.data.arity()[v] > 1
    }

    fn tolerance(&self) -> f64 {
        self.function.tolerance()
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        Box::new(Counting { table: self, counter: Counter::default(), members: Vec::new() })
    }

    fn survey(&self) -> Box<dyn Survey<W> + '_> {
        Box::new(Surveyor::new(self))
    }

    fn portion(&self) -> usize {
        (PORTION / self.data.units().len()).max(1)
    }

    fn promising(&self, given: VarSet<W>, y: usize, terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        match &self.gain_bound {
            Some(bound) => {
                let may_gain = bound.judge(self.data.arity(), self.cells(given), y, terms, 0.0);
                sources.iter().filter(|&x| may_gain(x)).collect()
            }
            None => sources,
        }
    }

    fn bounds(&self, threads: usize, stop: &Stop) -> Result<Bounds, Stopped> {
        let (data, arity) = (&self.data, self.data.arity().to_vec());
        let residual = |taken| residual_entropies(data, taken, threads, stop);
        Ok(match self.function.rules() {
            Rules::Penalised { penalty } => Bounds::Penalised { penalty, arity, residual: residual(0)? },
            Rules::Occupied => Bounds::Occupied { arity, residual: residual(1)? },
            Rules::None => Bounds::None,
        })
    }
}

/// Counts cells and makes terms of the counts.
struct Counting<'t> {
    table: &'t Table,
    counter: Counter,
    members: Vec<usize>,
}

impl<const W: usize> Worker<W> for Counting<'_> {
    fn term(&mut self, set: VarSet<W>) -> f64 {
        let &mut Self { table, ref mut counter, ref mut members } = self;
        members.clear();
        members.extend(set.iter());
        table.function.value(table.cells(set), counter.count(&table.data, members))
    }

    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]) {
        let &mut Self { table, ref mut counter, ref mut members } = self;
        members.clear();
        members.extend(given.iter());
        counter.count_each(&table.data, members, y, sources, &mut |source, counts| {
            let with_x = given.with(source.x);
            source.joint = table.function.value(table.cells(with_x.with(y)), &counts.joint);
            if source.known.is_none() {
                source.margin = table.function.value(table.cells(with_x), &counts.margin);
            }
        });
    }
}
