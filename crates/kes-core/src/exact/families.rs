//! The families that can be part of a best network: level by level, smallest first.
//!
//! Level `k` holds the sets `T` of `k` variables in which some family `y | T∖y` may still grow into
//! a useful one: every family `y | T∖{y,x}` could, and no rule of [`Bounds`] says otherwise. Only such
//! sets, and the parent sets in them, are counted. A family is kept if it scores higher than with any
//! proper subset of its parents.
//!
//! If the work is stopped early, the open families of the last level bound the rest: every family that was
//! not evaluated contains one of them, and scores no more than its [`Bounds::ceiling`].
//!
//! # Under knowledge
//! The best admissible model is that of the best admissible DAG, so families with forbidden parents or
//! without the required ones are left out. The rules compare a family with smaller ones, which must have
//! the required parents too. So variables with the same required parents `R` make a [`Group`]: the same
//! levels, of sets `T` without `R`, that are counted together with `R`.

use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::level::{Counted, Family, Level};
use super::{Choice, Failure, Families, Limits, Missing};
use crate::graph::Knowledge;
use crate::order;
use crate::score::bounds::{Bounds, Measure};
use crate::score::set_function::{SetFunction, Survey};
use crate::score::terms::Terms;
use crate::stop::Stop;
use crate::threads::map_chunks;
use crate::varset::VarSet;

/// Sets per piece of parallel work: few enough to be interrupted at once, enough to share partitions.
const PIECE: usize = 256;
/// Per-thread state for measuring sets.
type Surveys<'e, const W: usize> = Box<dyn Survey<W> + 'e>;

/// Finds the families of `terms` that can be part of a best admissible network with at most `max_parents`
/// parents each (knowledge requires no more than that). `counted` always holds the number of sets counted so far.
/// If `stop` is raised, or a level needs more memory than allowed, families are [missing](Families::missing).
pub fn find<const W: usize>(
    terms: &Terms<W>,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
    limits: &Limits,
    stop: &Stop,
    counted: &AtomicUsize,
) -> Families<W> {
    find_within(terms, 0.0, max_parents, knowledge, limits, stop, counted)
}

/// The same for all networks whose score is at most `slack` below the best: a family is kept unless some proper
/// subset of its parents scores higher by at least that much [Liao 2019].
pub fn find_within<const W: usize>(
    terms: &Terms<W>,
    slack: f64,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
    limits: &Limits,
    stop: &Stop,
    counted: &AtomicUsize,
) -> Families<W> {
    let n = terms.variables();
    let mut families = Families::new(vec![Vec::new(); n]);
    let mut most = vec![terms.function().perfect(); n];
    let mut grow = || {
        let (function, threads) = (terms.function(), limits.threads);
        let bounds = &function.bounds(threads, stop)?;
        let mut workers: Vec<_> = (0..threads).map(|_| function.survey()).collect();
        for group in groups(n, knowledge) {
            let growth = Growth { function, bounds, slack, group, knowledge, limits, stop, counted };
            growth.grow(max_parents, &mut workers, (&mut families, &mut most))?;
        }
        Ok(())
    };
    let grown: Result<(), Failure> = grow();
    families.missing = grown.err().map(|why| Missing { why, most });
    families.sort();
    families
}

/// Variables with the same required parents.
struct Group<const W: usize> {
    members: VarSet<W>,
    required: VarSet<W>,
}

/// All variables by their required parents.
fn groups<const W: usize>(n: usize, knowledge: Option<&Knowledge<W>>) -> Vec<Group<W>> {
    let mut groups: Vec<Group<W>> = Vec::new();
    for y in 0..n {
        let required = knowledge.map_or(VarSet::EMPTY, |known| known.required(y));
        match groups.iter_mut().find(|group| group.required == required) {
            Some(group) => group.members.insert(y),
            None => groups.push(Group { members: VarSet::single(y), required }),
        }
    }
    groups
}

/// The inputs of every level.
struct Growth<'g, const W: usize> {
    function: &'g dyn SetFunction<W>,
    bounds: &'g Bounds,
    slack: f64,
    group: Group<W>,
    knowledge: Option<&'g Knowledge<W>>,
    limits: &'g Limits,
    stop: &'g Stop,
    counted: &'g AtomicUsize,
}

/// A set of the next level, with what its subsets imply.
struct Candidate<const W: usize> {
    set: VarSet<W>,
    /// The variables `y` for which `y | T∖y` is not known to be hopeless.
    open: VarSet<W>,
    /// For each of them, in order, what smaller sets imply.
    origins: Vec<Precedent>,
}

/// The implications of smaller sets for a family `y | P`.
#[derive(Clone, Copy)]
struct Precedent {
    /// The best score of `y` with a proper subset of `P`.
    best: f64,
    /// The place of `P` in its level, if it was counted.
    parents: Option<u32>,
}

impl<const W: usize> Growth<'_, W> {
    /// Upper bound on the score of a family that was not evaluated, by the rules and in any case.
    fn ceiling(&self, y: usize, cells: f64, parents: f64, family: f64) -> f64 {
        self.bounds.ceiling(y, cells, parents, family).min(self.function.perfect())
    }

    /// Finds the families of the group, and keeps `most` at what each variable can score with others than
    /// those found.
    fn grow(
        &self,
        max_parents: Option<usize>,
        workers: &mut [Surveys<'_, W>],
        (families, most): (&mut Families<W>, &mut Vec<f64>),
    ) -> Result<(), Failure> {
        let Group { members, required } = self.group;
        members.iter().for_each(|y| most[y] = self.ceiling(y, self.cells(VarSet::single(y)), 1.0, 1.0));
        let mut level = Level::default(); // level 0: the empty set
        level.push(VarSet::EMPTY, workers[0].measure(required), []);
        let largest =
            max_parents.map_or(usize::MAX, |limit| limit.saturating_add(1).saturating_sub(required.len()));
        for _ in 0..self.function.variables().min(largest) {
            let candidates = self.candidates(&level)?;
            if candidates.is_empty() {
                break;
            }
            level = self.count(workers, &level, &candidates, (families, most))?;
        }
        members.iter().for_each(|y| most[y] = f64::NEG_INFINITY);
        Ok(())
    }

    /// The cells of a set and the required parents.
    fn cells(&self, set: VarSet<W>) -> f64 {
        self.bounds.cells(set | self.group.required)
    }

    /// The variables of a set whose families the group and the knowledge allow. For sets larger than pairs, their
    /// subsets have settled this.
    fn allowed(&self, set: VarSet<W>) -> VarSet<W> {
        match (set.len(), self.knowledge) {
            (1, _) => set & self.group.members,
            (2, Some(known)) => {
                let barred = |y: usize| known.forbidden(y) | known.required(y);
                set.iter().filter(|&y| !barred(y).intersects(&set)).collect()
            }
            _ => set,
        }
    }

    /// The sets of the next level, sorted.
    fn candidates(&self, level: &Level<W>) -> Result<Vec<Candidate<W>>, Failure> {
        // This level and what was needed to find it take about as much as the next.
        let room = AtomicUsize::new(self.limits.bytes / 2);
        let mut states = vec![Vec::new(); self.limits.threads];
        let mut found = map_chunks(&mut states, &level.sets, PIECE, self.stop, |parts, sets| {
            let mut found = Vec::new();
            for counted in sets {
                self.stop.check()?;
                self.extensions(level, counted, parts, &mut found);
            }
            let families: usize = found.iter().map(|candidate: &Candidate<W>| candidate.origins.len()).sum();
            // Besides a candidate, its entry in the next level, with a place in a half-empty table.
            let bytes = found.len() * (size_of::<(Candidate<W>, Counted<W>)>() + 3 * size_of::<VarSet<W>>())
                + families * size_of::<(Precedent, Family)>();
            let left =
                room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(bytes));
            left.map(|_| found).map_err(|_| Failure::Memory)
        })?;
        order::sort_by(&mut found, |a, b| a.set.cmp(&b.set));
        Ok(found)
    }

    /// The sets made of `counted` and one more variable. An open variable `y` of such a set `T` is open
    /// in `T∖x` for all `x ≠ y`; so `T` can be found from the set without its first or without its
    /// second variable, and the former has precedence.
    fn extensions<'l>(
        &self,
        level: &'l Level<W>,
        counted: &Counted<W>,
        parts: &mut Vec<(usize, Option<&'l Counted<W>>)>,
        found: &mut Vec<Candidate<W>>,
    ) {
        let set = counted.set;
        if counted.open.is_empty() && !set.is_empty() {
            return;
        }
        let n = self.function.variables();
        let first = set.first().unwrap_or(n);
        let second = set.iter().nth(1).unwrap_or(n);
        for v in (0..second).filter(|&v| v != first) {
            let grown = set.with(v);
            let precedes = |other: &Counted<W>| !other.open.is_empty();
            if v > first && level.get(grown.without(first)).is_some_and(precedes) {
                continue;
            }
            found.extend(self.candidate(level, grown, parts));
        }
    }

    /// The set, if some variable is open in it.
    fn candidate<'l>(
        &self,
        level: &'l Level<W>,
        set: VarSet<W>,
        parts: &mut Vec<(usize, Option<&'l Counted<W>>)>,
    ) -> Option<Candidate<W>> {
        parts.clear();
        let mut open = self.allowed(set);
        for x in set.iter() {
            let part = level.get(set.without(x));
            open = open & part.map_or(VarSet::EMPTY, |part| part.open).with(x);
            if open.is_empty() {
                return None;
            }
            parts.push((x, part));
        }
        let cells = self.cells(set);
        let mut origins = Vec::new();
        for &(y, parents) in parts.iter() {
            if !open.contains(y) {
                continue;
            }
            match self.best_smaller(level, parts, y, parents, cells) {
                Some(best) => {
                    origins.push(Precedent { best, parents: level.place.get(&set.without(y)).copied() })
                }
                None => open.remove(y),
            }
        }
        (!open.is_empty()).then_some(Candidate { set, open, origins })
    }

    /// The best score of `y` with a proper subset of `P = T∖y`, where `parts` holds `T∖x` for each `x`, and
    /// `cells` are those of `T`; nothing if `y | P` is hopeless.
    #[inline]
    fn best_smaller(
        &self,
        level: &Level<W>,
        parts: &[(usize, Option<&Counted<W>>)],
        y: usize,
        parents: Option<&Counted<W>>,
        cells: f64,
    ) -> Option<f64> {
        let known = parents.map_or(0.0, |parents| parents.measure.detail);
        let mut best = f64::NEG_INFINITY;
        for &(x, part) in parts.iter().filter(|part| part.0 != y) {
            // With C = T∖{x,y}: T∖x has the family y | C, and T∖y = P may have x | C.
            let part = part?;
            let of_y = level.family(part, y)?;
            let of_x = parents.and_then(|parents| level.family(parents, x));
            let gain_bound = of_x.map_or(of_y.gain_bound, |of_x| of_x.gain_bound.min(of_y.gain_bound));
            best = best.max(of_y.best);
            if self.bounds.pair_is_hopeless(gain_bound + self.slack, x, y, cells)
                || self.bounds.ceiling(y, cells, known, part.measure.detail) <= best - self.slack
            {
                return None;
            }
        }
        Some(best)
    }

    /// Counts the sets and the parent sets that their families need, collects the families that score
    /// higher than any smaller one, and notes the `most` that larger ones can.
    fn count(
        &self,
        workers: &mut [Surveys<'_, W>],
        smaller: &Level<W>,
        candidates: &[Candidate<W>],
        (families, most): (&mut Families<W>, &mut Vec<f64>),
    ) -> Result<Level<W>, Failure> {
        let sets: Vec<VarSet<W>> = candidates.iter().map(|candidate| candidate.set).collect();
        let measures = self.measure_all(workers, &sets)?;
        let others = self.uncounted_parents(workers, candidates)?;
        let mut level = Level::default();
        level.place.reserve(candidates.len());
        let mut open = Vec::new();
        let mut larger = most.clone();
        self.group.members.iter().for_each(|y| larger[y] = f64::NEG_INFINITY);
        for (candidate, &measure) in candidates.iter().zip(&measures) {
            self.stop.check()?;
            let set = candidate.set;
            let cells = self.cells(set);
            if measure.term == f64::NEG_INFINITY {
                level.push(set, measure, []); // inadmissible, and so is every larger set
                continue;
            }
            for (y, origin) in candidate.open.iter().zip(&candidate.origins) {
                let parents = set.without(y);
                let counted = match origin.parents {
                    Some(place) => Some(smaller.sets[place as usize].measure),
                    None => others.get(&parents).copied(),
                };
                let Some(counted) = counted else { continue };
                let score = measure.term - counted.term;
                let best = origin.best.max(score);
                if score > origin.best - self.slack {
                    let parents = parents | self.group.required;
                    families.of[y].push(Choice { parents, score });
                }
                // Could it still be better with one parent more, which has at least two states?
                let ceiling = self.ceiling(y, 2.0 * cells, counted.detail, measure.detail);
                if ceiling > best - self.slack {
                    larger[y] = larger[y].max(ceiling);
                    open.push((y, Family { gain_bound: self.bounds.gain_bound(y, counted, measure), best }));
                }
            }
            level.push(set, measure, open.drain(..));
        }
        *most = larger;
        Ok(level)
    }

    /// The measures of parent sets in which no variable was open itself.
    fn uncounted_parents(
        &self,
        workers: &mut [Surveys<'_, W>],
        candidates: &[Candidate<W>],
    ) -> Result<HashMap<VarSet<W>, Measure, FxBuildHasher>, Failure> {
        let of = |candidate: &Candidate<W>| {
            let families = candidate.open.iter().zip(&candidate.origins);
            let uncounted = families.filter(|(_, origin)| origin.parents.is_none());
            uncounted.map(|(y, _)| candidate.set.without(y)).collect::<Vec<_>>()
        };
        let mut sets: Vec<VarSet<W>> = candidates.iter().flat_map(of).collect();
        sets.sort_unstable();
        sets.dedup();
        let measures = self.measure_all(workers, &sets)?;
        Ok(sets.into_iter().zip(measures).collect())
    }

    fn measure_all(
        &self,
        workers: &mut [Surveys<'_, W>],
        sets: &[VarSet<W>],
    ) -> Result<Vec<Measure>, Failure> {
        map_chunks(workers, sets, PIECE, self.stop, |measuring, part| {
            self.counted.fetch_add(part.len(), Ordering::Relaxed);
            let measure = |&set: &VarSet<W>| {
                self.stop.check()?;
                Ok(measuring.measure(set | self.group.required))
            };
            part.iter().map(measure).collect()
        })
    }
}
