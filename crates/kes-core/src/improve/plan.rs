//! The plan: which tasks to do next.
//!
//! A model that became the best is recombined with what was found since, and with the best of what was
//! there before. With many variables the order is searched first, which leaves optima that no few changes
//! of edges leave. Models with few edges are refined at once: it takes milliseconds. To refine one with
//! many takes as long as thousands of steps, while every perturbation improves some places of many; so it
//! is perturbed, and when that stalls, ordered again, and refined slice by slice.

use super::refine::slices;
use super::{Origin, Pool};

/// Number of best models with which a new best is recombined, besides those found since the last one.
const PARTNERS: usize = 20;
/// Number of models refined at first, if refining takes one task.
const REFINED: usize = 10;
/// Number of perturbations, or slices of a refinement, in a round.
const ROUND: usize = 16;
/// Perturbing has stalled after this many rounds in a row without improvement.
const STALLED: usize = 4;
/// From this many variables on, orders are searched, unless there is background knowledge.
const LARGE: usize = 100;

/// A piece of work on models of the pool, given by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Recombine two.
    Recombine(usize, usize),
    /// Refine one at a slice of its edges.
    Refine(usize, usize),
    /// Perturb one.
    Perturb(usize),
    /// Search for a better order.
    Order(usize),
}

impl Task {
    /// The origin of what it finds.
    pub fn origin(self) -> Origin {
        match self {
            Self::Recombine(a, b) => Origin::Recombined(a, b),
            Self::Refine(a, _) => Origin::Refined(a),
            Self::Perturb(a) => Origin::Perturbed(a),
            Self::Order(a) => Origin::Ordered(a),
        }
    }
}

/// The tasks done so far.
#[derive(Default)]
pub struct Plan {
    best: Option<usize>,
    /// Places in the pool from here on were not yet recombined with any best model.
    partners: usize,
    /// The models that were refined, and how many slices of the best one were.
    refined: Vec<usize>,
    slices: usize,
    /// The model that was last ordered.
    ordered: Option<usize>,
    /// Rounds of perturbing since the best model changed.
    idle: usize,
}

impl Plan {
    /// The tasks of the next round.
    pub fn next<const W: usize>(&mut self, pool: &Pool<'_, W>) -> Vec<Task> {
        let best = pool.ranking[0];
        let changed = self.best != Some(best);
        if changed {
            (self.best, self.slices, self.idle) = (Some(best), 0, 0);
        }
        let partners = self.partners(pool, best, changed);
        if !partners.is_empty() {
            return partners;
        }
        let graph = &pool.found[best].graph;
        let stalled = self.idle >= STALLED;
        let unordered = self.ordered.is_none() || stalled && self.ordered != Some(best);
        if unordered && graph.len() >= LARGE && pool.effort.knowledge.is_none() {
            self.ordered = Some(best);
            return vec![Task::Order(best)];
        }
        let parts = slices(graph);
        if parts == 1 {
            let wanted = if self.refined.is_empty() { REFINED } else { 1 };
            let is_fresh = |i: &usize| !self.refined.contains(i);
            let fresh: Vec<usize> = pool.ranking.iter().copied().take(wanted).filter(is_fresh).collect();
            if !fresh.is_empty() {
                self.refined.extend(&fresh);
                return fresh.into_iter().map(|i| Task::Refine(i, 0)).collect();
            }
        } else if stalled && self.slices < parts {
            let next = self.slices..parts.min(self.slices + ROUND);
            self.slices = next.end;
            return next.map(|slice| Task::Refine(best, slice)).collect();
        }
        self.idle += 1;
        vec![Task::Perturb(best); ROUND]
    }

    /// Recombinations of the best model. What was perturbed from it has been recombined with it already.
    fn partners<const W: usize>(&mut self, pool: &Pool<'_, W>, best: usize, changed: bool) -> Vec<Task> {
        let since = std::mem::replace(&mut self.partners, pool.found.len());
        let wanted = |(rank, &i): (usize, &usize)| {
            let is_partner = i != best && pool.found[i].origin != Origin::Perturbed(best);
            (is_partner && (i >= since || changed && rank <= PARTNERS)).then_some(Task::Recombine(best, i))
        };
        pool.ranking.iter().enumerate().filter_map(wanted).collect()
    }
}
