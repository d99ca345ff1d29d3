//! Terms `F(S)` of the set function: counted once, kept in the shared cache.

use crate::boundary::Neighbour;
use crate::graph::Dag;
use crate::score::cache::Cache;
use crate::score::discrete::counts::Counter;
use crate::score::discrete::criterion::{Cells, Criterion, SetFunction, tolerance};
use crate::score::discrete::dataset::Dataset;
use crate::varset::VarSet;

/// A coded table under one criterion: everything that all runs share.
pub struct Terms<const W: usize> {
    data: Dataset,
    function: SetFunction,
    cache: Cache<W>,
    tolerance: f64,
}

impl<const W: usize> Terms<W> {
    /// The terms of `data` under `criterion`, of which about `cache_bytes` are kept.
    pub fn new(data: Dataset, criterion: Criterion, cache_bytes: usize) -> Self {
        let function = SetFunction::new(criterion, &data);
        let tolerance = tolerance(criterion, data.total());
        Self { data, function, cache: Cache::new(cache_bytes), tolerance }
    }

    /// The table.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// `F` itself.
    pub fn function(&self) -> &SetFunction {
        &self.function
    }

    /// `τ`: see [`tolerance`].
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Number of terms in the cache.
    pub fn cached(&self) -> usize {
        self.cache.len()
    }

    /// `F(S)`.
    pub fn term(&self, counter: &mut Counter, set: VarSet<W>) -> f64 {
        if let Some(term) = self.cache.get(&set) {
            return term;
        }
        let counts = counter.count(&self.data, &set.iter().collect::<Vec<_>>());
        self.remember(set, counts)
    }

    fn remember(&self, set: VarSet<W>, counts: &[u64]) -> f64 {
        let cells = Cells::of(set.iter().map(|v| self.data.arity()[v]));
        let term = self.function.value(cells, counts);
        self.cache.put(set, term);
        term
    }

    /// Calls `found(x, Δ)` for every `x` in `sources`, where
    /// `Δ = F(Cxy) − F(Cx) − F(Cy) + F(C)` is the gain of inserting an edge between `x` and `y` given `C`.
    pub fn gains(
        &self,
        counter: &mut Counter,
        y: usize,
        given: VarSet<W>,
        sources: VarSet<W>,
        mut found: impl FnMut(usize, f64),
    ) {
        let (neither, target) = (self.term(counter, given), self.term(counter, given.with(y)));
        let mut unknown = Vec::new();
        for x in sources.iter() {
            match self.cache.get(&given.with(y).with(x)) {
                Some(joint) => found(x, gain(joint, neither, self.term(counter, given.with(x)), target)),
                None => unknown.push(x),
            }
        }
        if unknown.is_empty() {
            return;
        }
        let members: Vec<usize> = given.iter().collect();
        counter.count_each(&self.data, &members, y, &unknown, |x, counts| {
            let joint = self.remember(given.with(y).with(x), &counts.joint);
            let with_x = given.with(x);
            let source = self.cache.get(&with_x).unwrap_or_else(|| self.remember(with_x, &counts.margin));
            found(x, gain(joint, neither, source, target));
        });
    }

    /// The gain of inserting an edge between `x` and `y` given `C`; of deleting it, the negative.
    pub fn gain(&self, counter: &mut Counter, x: usize, y: usize, given: VarSet<W>) -> f64 {
        gain(
            self.term(counter, given.with(x).with(y)),
            self.term(counter, given),
            self.term(counter, given.with(x)),
            self.term(counter, given.with(y)),
        )
    }

    /// The gain of moving to a neighbour.
    pub fn delta(&self, counter: &mut Counter, neighbour: &Neighbour<W>) -> f64 {
        let gain = self.gain(counter, neighbour.x, neighbour.y, neighbour.given);
        if neighbour.insert { gain } else { -gain }
    }

    /// The score of a family, `F(Pa(y) ∪ y) − F(Pa(y))`.
    pub fn family(&self, counter: &mut Counter, y: usize, parents: VarSet<W>) -> f64 {
        let whole = self.term(counter, parents.with(y));
        if whole == f64::NEG_INFINITY { whole } else { whole - self.term(counter, parents) }
    }

    /// The score of a DAG: the sum over its families.
    pub fn score(&self, counter: &mut Counter, dag: &Dag<W>) -> f64 {
        dag.parents.iter().enumerate().map(|(y, &parents)| self.family(counter, y, parents)).sum()
    }

    /// The multiple of `τ` that a gain or score rounds to: equal levels are ties.
    pub fn level(&self, value: f64) -> i64 {
        libm::round(value / self.tolerance) as i64
    }
}

/// `(F(Cxy) + F(C)) − (F(Cx) + F(Cy))`: this way it is the same for `x` and `y` exchanged, to the bit.
/// A set with more cells than a floating-point number can say has a penalty beyond every gain.
#[inline]
fn gain(joint: f64, neither: f64, x: f64, y: f64) -> f64 {
    if joint == f64::NEG_INFINITY { joint } else { (joint + neither) - (x + y) }
}
