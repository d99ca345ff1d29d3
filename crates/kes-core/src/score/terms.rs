//! Terms `F(S)` of a set function, each computed once and kept in the shared cache, and the algebra of
//! gains made of them.
//!
//! With a score-equivalent criterion the score of a family is a difference of two values of one set
//! function, `s(y | P) = F(P ∪ y) − F(P)`, so the gain of inserting an edge between `x` and `y` given `C` is
//! `F(Cxy) − F(Cx) − F(Cy) + F(C)`, and of deleting it the negative.

use crate::boundary::Neighbour;
use crate::graph::Dag;
use crate::score::cache::{Around, Cache, TOGETHER};
use crate::score::set_function::{SetFunction, Source, Worker};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// A set function with the values that are known: everything that all runs share.
pub struct Terms<const W: usize> {
    function: Box<dyn SetFunction<W>>,
    cache: Cache<W>,
    tolerance: f64,
}

impl<const W: usize> Terms<W> {
    /// The terms of a set function, cached in about `cache_bytes`.
    pub fn new(function: impl SetFunction<W> + 'static, cache_bytes: usize) -> Self {
        let (tolerance, cache) = (function.tolerance(), Cache::new(function.variables(), cache_bytes));
        Self { function: Box::new(function), cache, tolerance }
    }

    /// The set function.
    pub fn function(&self) -> &dyn SetFunction<W> {
        &*self.function
    }

    /// One that computes terms, for one thread.
    pub fn worker(&self) -> Box<dyn Worker<W> + '_> {
        self.function.worker()
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.function.variables()
    }

    /// `τ`: gains up to it are no improvement, and gains or scores tie if they round to the same multiple
    /// of it. Every move then raises the score by more than rounding, so that no search can loop.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Number of terms in the cache.
    pub fn cached(&self) -> usize {
        self.cache.len()
    }

    /// `F(S)`.
    #[inline]
    pub fn term(&self, worker: &mut dyn Worker<W>, set: VarSet<W>) -> f64 {
        self.cache.get(&set).unwrap_or_else(|| {
            let term = worker.term(set);
            self.cache.put(set, term);
            term
        })
    }

    /// Calls `found(x, Δ)` for every `x` in `sources`, where `Δ` is the gain of inserting an edge between `x`
    /// and `y` given `C`.
    pub fn gains(
        &self,
        worker: &mut dyn Worker<W>,
        y: usize,
        given: VarSet<W>,
        sources: VarSet<W>,
        mut found: impl FnMut(usize, f64),
    ) {
        let (neither, target) = (self.term(worker, given), self.term(worker, given.with(y)));
        let cache = self.cache.open(2 * sources.len());
        let (joints, margins) = (cache.around(given.with(y)), cache.around(given));
        let mut unknown = Vec::new();
        let mut left = sources.iter();
        loop {
            let mut some = [0; TOGETHER];
            let number = some.iter_mut().zip(&mut left).map(|(place, x)| *place = x).count();
            if number == 0 {
                break;
            }
            let known = joints.get(&some[..number]).into_iter().zip(margins.get(&some[..number]));
            for (&x, terms) in some[..number].iter().zip(known) {
                match terms {
                    (Some(joint), Some(margin)) => found(x, gain(joint, neither, margin, target)),
                    (Some(joint), None) => {
                        found(x, gain(joint, neither, self.term(worker, given.with(x)), target));
                    }
                    (None, margin) => unknown.push(Source::new(x, margin)),
                }
            }
        }
        if unknown.is_empty() {
            return;
        }
        worker.join(given, y, &mut unknown);
        for &Source { x, margin, joint, .. } in &unknown {
            found(x, gain(joint, neither, margin, target));
        }
        keep(&joints, &unknown, |source| source.joint);
        unknown.retain(|source| source.known.is_none());
        keep(&margins, &unknown, |source| source.margin);
    }

    /// Calls `found(x, Δ)` for every `x` in `sources` whose gain is more than rounding.
    pub fn improving(
        &self,
        worker: &mut dyn Worker<W>,
        y: usize,
        given: VarSet<W>,
        sources: VarSet<W>,
        mut found: impl FnMut(usize, f64),
    ) {
        let terms = (self.term(worker, given), self.term(worker, given.with(y)));
        let sources = self.function.promising(given, y, terms, sources);
        self.gains(worker, y, given, sources, |x, gain| {
            if gain > self.tolerance {
                found(x, gain);
            }
        });
    }

    /// The gain of inserting an edge between `x` and `y` given `C`; of deleting it, the negative.
    pub fn gain(&self, worker: &mut dyn Worker<W>, x: usize, y: usize, given: VarSet<W>) -> f64 {
        gain(
            self.term(worker, given.with(x).with(y)),
            self.term(worker, given),
            self.term(worker, given.with(x)),
            self.term(worker, given.with(y)),
        )
    }

    /// The gain of moving to a neighbour.
    pub fn delta(&self, worker: &mut dyn Worker<W>, neighbour: &Neighbour<W>) -> f64 {
        let gain = self.gain(worker, neighbour.x, neighbour.y, neighbour.given);
        neighbour.signed(gain)
    }

    /// The gains of moving to many neighbours, those with a target and a conditioning set in common
    /// together.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn deltas(
        &self,
        worker: &mut dyn Worker<W>,
        neighbours: &[Neighbour<W>],
        stop: &Stop,
    ) -> Result<Vec<f64>, Stopped> {
        let row = |&at: &usize| (neighbours[at].y, neighbours[at].given);
        let mut order: Vec<usize> = (0..neighbours.len()).collect();
        order.sort_unstable_by_key(row);
        let mut deltas = vec![0.0; neighbours.len()];
        let mut place = vec![0; self.variables()];
        for members in order.chunk_by(|a, b| row(a) == row(b)) {
            stop.check()?;
            members.iter().for_each(|&at| place[neighbours[at].x] = at);
            let Neighbour { y, given, .. } = neighbours[members[0]];
            let sources = members.iter().map(|&at| neighbours[at].x).collect();
            self.gains(worker, y, given, sources, |x, gain| {
                deltas[place[x]] = neighbours[place[x]].signed(gain);
            });
        }
        Ok(deltas)
    }

    /// The score of a family, `F(Pa(y) ∪ y) − F(Pa(y))`.
    pub fn family(&self, worker: &mut dyn Worker<W>, y: usize, parents: VarSet<W>) -> f64 {
        let whole = self.term(worker, parents.with(y));
        if whole == f64::NEG_INFINITY { whole } else { whole - self.term(worker, parents) }
    }

    /// The score of a DAG: the sum over its families.
    pub fn score(&self, worker: &mut dyn Worker<W>, dag: &Dag<W>) -> f64 {
        dag.parents.iter().enumerate().map(|(y, &parents)| self.family(worker, y, parents)).sum()
    }

    /// The [`level`] of a gain or score as an integer; beyond the largest, the largest.
    #[inline]
    pub fn level(&self, value: f64) -> i64 {
        level(value, self.tolerance) as i64
    }
}

/// The multiple of `τ` that a gain or score rounds to, halves away from zero: equal levels are ties.
/// Infinite for infinite values.
#[inline]
pub fn level(value: f64, tolerance: f64) -> f64 {
    libm::round(value / tolerance)
}

/// `(F(Cxy) + F(C)) − (F(Cx) + F(Cy))`: this way it is the same for `x` and `y` exchanged, to the bit.
/// No edge leads to an inadmissible set; if `Cxy` is admissible, so are its subsets.
#[inline]
pub(crate) fn gain(joint: f64, neither: f64, x: f64, y: f64) -> f64 {
    if joint == f64::NEG_INFINITY { joint } else { (joint + neither) - (x + y) }
}

/// Remembers a term of every source.
fn keep<const W: usize>(around: &Around<'_, W>, sources: &[Source], term: impl Fn(&Source) -> f64) {
    for some in sources.chunks(TOGETHER) {
        let (mut variables, mut terms) = ([0; TOGETHER], [0.0; TOGETHER]);
        for (at, source) in some.iter().enumerate() {
            (variables[at], terms[at]) = (source.x, term(source));
        }
        around.put(&variables[..some.len()], &terms[..some.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::Operator;
    use crate::score::bounds::{Bounds, Measure};
    use crate::score::set_function::Survey;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// `F(S) = |S|³`, and `−∞` above three variables; counts how often it is asked.
    struct Cubes<'a> {
        asked: &'a AtomicUsize,
    }

    fn cube(set: VarSet<1>) -> f64 {
        if set.len() > 3 { f64::NEG_INFINITY } else { set.len().pow(3) as f64 }
    }

    impl SetFunction<1> for Cubes<'_> {
        fn variables(&self) -> usize {
            6
        }
        fn varies(&self, _: usize) -> bool {
            true
        }
        fn tolerance(&self) -> f64 {
            0.5
        }
        fn worker(&self) -> Box<dyn Worker<1> + '_> {
            Box::new(Cubes { asked: self.asked })
        }
        fn survey(&self) -> Box<dyn Survey<1> + '_> {
            Box::new(Cubes { asked: self.asked })
        }
        fn bounds(&self, _: usize, _: &Stop) -> Result<Bounds, Stopped> {
            Ok(Bounds::None)
        }
    }

    impl Worker<1> for Cubes<'_> {
        fn term(&mut self, set: VarSet<1>) -> f64 {
            self.asked.fetch_add(1, Ordering::Relaxed);
            cube(set)
        }
        fn join(&mut self, given: VarSet<1>, y: usize, sources: &mut [Source]) {
            for source in sources {
                self.asked.fetch_add(1, Ordering::Relaxed);
                source.margin = source.known.unwrap_or_else(|| cube(given.with(source.x)));
                source.joint = cube(given.with(source.x).with(y));
            }
        }
    }

    impl Survey<1> for Cubes<'_> {
        fn measure(&mut self, set: VarSet<1>) -> Measure {
            Measure { term: cube(set), detail: 0.0 }
        }
    }

    static ASKED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn any_set_function_will_do_and_each_set_is_asked_for_once() {
        let terms = Terms::new(Cubes { asked: &ASKED }, 1 << 16);
        let mut worker = terms.worker();
        let given = VarSet::single(0);
        let row = |worker: &mut dyn Worker<1>| {
            let mut found = Vec::new();
            terms
                .gains(worker, 1, given, VarSet::first_n(5) - given.with(1), |x, gain| found.push((x, gain)));
            found
        };
        // 3³ - 2 · 2³ + 1³ = 12 for each of the three sources.
        assert_eq!(row(&mut *worker), [(2, 12.0), (3, 12.0), (4, 12.0)]);
        let asked = ASKED.load(Ordering::Relaxed);
        assert_eq!(asked, 2 + 3);
        assert_eq!(row(&mut *worker), [(2, 12.0), (3, 12.0), (4, 12.0)]);
        assert_eq!(ASKED.load(Ordering::Relaxed), asked);
        assert_eq!(terms.cached(), 2 + 2 * 3);
    }

    /// From an inadmissible model every deletion leads, into it no insertion, whatever else is
    /// inadmissible too: a search can only leave it.
    #[test]
    fn gains_of_inadmissible_sets_are_numbers() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let terms = Terms::new(Cubes { asked: &ASKED }, 1 << 16);
        let mut worker = terms.worker();
        for size in 0..=4 {
            let given = (2..2 + size).collect();
            let insert = Neighbour { operator: Operator::Insert, x: 0, y: 1, given };
            let delete = Neighbour { operator: Operator::Delete, ..insert };
            let (gain, loss) = (terms.delta(&mut *worker, &insert), terms.delta(&mut *worker, &delete));
            assert_eq!(gain, -loss);
            assert_eq!(gain == f64::NEG_INFINITY, size + 2 > 3);
            let stop = Stop::default();
            assert_eq!(terms.deltas(&mut *worker, &[delete], &stop), Ok(vec![loss]));
        }
        assert_eq!(terms.level(f64::INFINITY), i64::MAX);
        assert_eq!(terms.family(&mut *worker, 0, VarSet::first_n(6).without(0)), f64::NEG_INFINITY);
    }

    #[test]
    fn levels_round_halves_away_from_zero() {
        assert_eq!([0.25, 0.75, -0.25, -0.2, 1.0].map(|value| level(value, 0.5)), [1.0, 2.0, -1.0, 0.0, 2.0]);
        assert_eq!(level(f64::NEG_INFINITY, 1e-9), f64::NEG_INFINITY);
    }
}
