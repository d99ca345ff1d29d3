//! Good parent sets for every variable, whatever the order of the variables.
//!
//! A greedy search adds one parent at a time, and some sets of parents raise the score only when they are
//! complete: an allele is determined by its parents' alleles *and* a selector that is uninformative by itself. So
//! per variable, all pairs among the best single parents are tried, the best sets are extended by every
//! variable there is, and a beam of good sets by the best single parents. Without the extension by every
//! variable the sets are of little use. A set is dropped if one of its subsets scores as much.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::graph::Dag;
use crate::order;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Number of best single parents that are paired, and that most sets are extended by.
const PAIRED: usize = 30;
/// Number of best sets of one size that are extended.
const BEAM: usize = 8;
/// Number of those that are extended by every variable.
const WIDE: usize = 2;
/// Number of sets kept for a variable.
const KEPT: usize = 300;

/// A parent set of a variable and what the variable scores with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family<const W: usize> {
    /// The parents.
    pub parents: VarSet<W>,
    /// `F(P ∪ y) − F(P)`.
    pub score: f64,
}

/// The search for parents of one variable.
pub struct Candidates<'t, 'w, const W: usize> {
    /// The terms.
    pub terms: &'t Terms<W>,
    /// For computing them.
    pub worker: &'w mut dyn Worker<W>,
    /// The variable.
    pub y: usize,
    /// Those that may be its parents.
    pub allowed: VarSet<W>,
    /// The most parents it may have.
    pub most: usize,
    /// Raised when the work should stop.
    pub stop: &'w Stop,
}

impl<const W: usize> Candidates<'_, '_, W> {
    /// Good families, best first, the one without parents at the end.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn find(mut self) -> Result<Vec<Family<W>>, Stopped> {
        let none =
            Family { parents: VarSet::EMPTY, score: self.terms.family(self.worker, self.y, VarSet::EMPTY) };
        let singles = best_first(self.extend(none, self.allowed)?);
        let near: VarSet<W> = singles.iter().take(PAIRED).flat_map(|family| family.parents.iter()).collect();
        let mut all = singles.clone();
        let mut beam = singles;
        let mut width = PAIRED;
        while !beam.is_empty() {
            let mut larger = Vec::new();
            for (at, &family) in beam.iter().take(width).enumerate() {
                larger.extend(self.extend(family, if at < WIDE { self.allowed } else { near })?);
            }
            beam = best_first(larger);
            width = BEAM;
            all.extend(&beam);
        }
        all.push(none);
        Ok(undominated(all))
    }

    /// The families with one parent more, from `sources`, that score higher.
    fn extend(&mut self, family: Family<W>, sources: VarSet<W>) -> Result<Vec<Family<W>>, Stopped> {
        self.stop.check()?;
        let Family { parents, score } = family;
        let mut larger = Vec::new();
        if parents.len() < self.most {
            let sources = (sources & self.allowed) - parents;
            self.terms.improving(self.worker, self.y, parents, sources, |x, gain| {
                larger.push(Family { parents: parents.with(x), score: score + gain });
            });
        }
        Ok(larger)
    }

    /// The families of a list and those that the variable has in some models.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn with(self, mut list: Vec<Family<W>>, models: &[Dag<W>]) -> Result<Vec<Family<W>>, Stopped> {
        let mut seen: HashSet<VarSet<W>, FxBuildHasher> = HashSet::default();
        for parents in models.iter().map(|model| model.parents[self.y]) {
            if seen.insert(parents) {
                self.stop.check()?;
                add(&mut list, Family { parents, score: self.terms.family(self.worker, self.y, parents) });
            }
        }
        Ok(list)
    }

    /// The families that differ from a given one by a parent more, a parent less or another parent, all
    /// of them allowed, and score higher.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn around(mut self, family: Family<W>) -> Result<Vec<Family<W>>, Stopped> {
        let mut found = self.extend(family, self.allowed)?;
        for parent in family.parents.iter() {
            let parents = family.parents.without(parent);
            let smaller = Family { parents, score: self.terms.family(self.worker, self.y, parents) };
            found.push(smaller);
            found.extend(self.extend(smaller, self.allowed.without(parent))?);
        }
        found.retain(|other| other.score > family.score);
        Ok(best_first(found))
    }
}

/// Sorted by score, of equal scores by set, each set once.
fn best_first<const W: usize>(mut families: Vec<Family<W>>) -> Vec<Family<W>> {
    let mut seen: HashSet<VarSet<W>, FxBuildHasher> = HashSet::default();
    families.retain(|family| seen.insert(family.parents));
    order::sort_by(&mut families, |a, b| b.score.total_cmp(&a.score).then_with(|| a.parents.cmp(&b.parents)));
    families
}

/// The best of the families, best first, without those that score no more than one with fewer of the same
/// parents. The family without parents, which must be among them, stays.
fn undominated<const W: usize>(families: Vec<Family<W>>) -> Vec<Family<W>> {
    let mut kept: Vec<Family<W>> = Vec::new();
    for family in best_first(families) {
        let room = kept.len() < KEPT || family.parents.is_empty();
        if room && !kept.iter().any(|better| better.parents.is_subset(&family.parents)) {
            kept.push(family);
        }
    }
    kept
}

/// Adds a family to a list, unless one with fewer of its parents scores as much.
pub fn add<const W: usize>(list: &mut Vec<Family<W>>, family: Family<W>) {
    let at = list.partition_point(|other| other.score >= family.score);
    if !list[..at].iter().any(|better| better.parents.is_subset(&family.parents)) {
        list.insert(at, family);
    }
}
