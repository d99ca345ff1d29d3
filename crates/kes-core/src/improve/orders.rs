//! The best network for an order of the variables, and a better order.
//!
//! Given for each variable a list of [families](super::families), the best network for an order gives each
//! variable its best family whose parents all come before it. From the order of a good model, each
//! variable in turn goes to the place that is best for the whole, until a sweep gains nothing. While a
//! variable walks past others, only families with the passed variable, or with the walking one, change.
//! Then families near the ones in use are added to the lists, given the order, and it goes on.
//!
//! The space of orders has far fewer local optima than that of networks [Teyssier & Koller 2005]; moving one
//! variable anywhere is the neighbourhood of [Scanagatta 2015] and [Lee & van Beek 2017], and of
//! [Andrews 2023], who grow families as they go. From a random order it ends far lower than from the
//! order of a good model: it is a way to leave an optimum that no few changes of edges leave.

use super::families::{Family, add};
use crate::graph::Dag;
use crate::rng::Stream;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// An order with the families it is judged by.
pub struct Ordering<const W: usize> {
    /// Of each variable, best first; the last has no parents.
    families: Vec<Vec<Family<W>>>,
    /// Of each variable, those that are a parent in some family of it.
    mentioned: Vec<VarSet<W>>,
    order: Vec<usize>,
    /// Of each variable, its best family in this order.
    chosen: Vec<Family<W>>,
    tolerance: f64,
}

impl<const W: usize> Ordering<W> {
    /// Starts with the order of a DAG whose own families are among the given ones. Differences of scores
    /// up to `tolerance` are ignored.
    pub fn new(families: Vec<Vec<Family<W>>>, order: Vec<usize>, tolerance: f64) -> Self {
        let chosen = Vec::new();
        let mut ordering = Self { families, mentioned: Vec::new(), order, chosen, tolerance };
        ordering.choose_all();
        ordering
    }

    /// The best family of `y` with parents among `before`.
    fn best(&self, y: usize, before: VarSet<W>) -> Family<W> {
        let mut families = self.families[y].iter();
        let fits = families.find(|family| family.parents.is_subset(&before));
        *fits.unwrap_or_else(|| unreachable!("every variable has a family without parents"))
    }

    fn choose_all(&mut self) {
        let above = |families: &Vec<Family<W>>| VarSet::union(families.iter().map(|family| &family.parents));
        self.mentioned = self.families.iter().map(above).collect();
        let mut before = VarSet::EMPTY;
        let mut chosen = vec![Family { parents: VarSet::EMPTY, score: 0.0 }; self.order.len()];
        for &y in &self.order {
            chosen[y] = self.best(y, before);
            before.insert(y);
        }
        self.chosen = chosen;
    }

    /// The families, for another order.
    pub fn into_families(self) -> Vec<Vec<Family<W>>> {
        self.families
    }

    /// The network.
    pub fn dag(&self) -> Dag<W> {
        Dag { parents: self.chosen.iter().map(|family| family.parents).collect() }
    }

    /// Its score.
    pub fn score(&self) -> f64 {
        self.chosen.iter().map(|family| family.score).sum()
    }

    /// Each variable's family with those that come before it.
    pub fn in_use(&self) -> Vec<(Family<W>, VarSet<W>)> {
        let mut all: Vec<_> = self.chosen.iter().map(|&family| (family, VarSet::EMPTY)).collect();
        let mut before = VarSet::EMPTY;
        for &y in &self.order {
            all[y].1 = before;
            before.insert(y);
        }
        all
    }

    /// Adds families to the list of each variable, and returns whether a variable has a better one now.
    pub fn add(&mut self, new: Vec<Vec<Family<W>>>) -> bool {
        let score = self.score();
        for (y, more) in new.into_iter().enumerate() {
            more.into_iter().for_each(|family| add(&mut self.families[y], family));
        }
        self.choose_all();
        self.score() > score + self.tolerance
    }

    /// Moves variables to better places until none gains anything.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn settle(&mut self, stream: &mut Stream, stop: &Stop) -> Result<(), Stopped> {
        let n = self.order.len();
        let mut variables: Vec<usize> = (0..n).collect();
        loop {
            (1..n).rev().for_each(|i| variables.swap(i, stream.below(i + 1)));
            let mut moved = false;
            for &v in &variables {
                stop.check()?;
                moved |= self.improve_place(v);
            }
            if !moved {
                return Ok(());
            }
        }
    }

    /// Moves a variable to its best place, if that gains anything.
    fn improve_place(&mut self, v: usize) -> bool {
        let Some(from) = self.order.iter().position(|&u| u == v) else { return false };
        let mut best = (self.tolerance, from);
        let before: VarSet<W> = self.order[..from].iter().copied().collect();
        self.walk(v, from, before, true, &mut best);
        self.walk(v, from, before, false, &mut best);
        let (_, to) = best;
        if to == from {
            return false;
        }
        self.order.remove(from);
        self.order.insert(to, v);
        let (first, last) = (from.min(to), from.max(to));
        let mut before: VarSet<W> = self.order[..first].iter().copied().collect();
        for at in first..=last {
            let u = self.order[at];
            if u == v || self.mentioned[u].contains(v) {
                self.chosen[u] = self.best(u, before);
            }
            before.insert(u);
        }
        true
    }

    /// Walks from a place to the left end or to the right end, and notes the best place with its gain.
    fn walk(&self, v: usize, from: usize, before: VarSet<W>, left: bool, best: &mut (f64, usize)) {
        let mut before = before; // variables other than v that come before the place
        let mut own = self.chosen[v];
        let mut others = 0.0; // gains of the variables passed
        let mut at = from;
        loop {
            let passed = if left { at.checked_sub(1) } else { Some(at + 1) };
            let Some(&u) = passed.and_then(|passed| self.order.get(passed)) else { return };
            if left {
                before.remove(u);
                if self.mentioned[u].contains(v) {
                    others += self.best(u, before.with(v)).score - self.chosen[u].score;
                }
                if own.parents.contains(u) {
                    own = self.best(v, before);
                }
                at -= 1;
            } else {
                if self.chosen[u].parents.contains(v) {
                    others += self.best(u, before).score - self.chosen[u].score;
                }
                before.insert(u);
                if self.mentioned[v].contains(u) {
                    own = self.best(v, before);
                }
                at += 1;
            }
            let gain = others + own.score - self.chosen[v].score;
            if gain > best.0 {
                *best = (gain, at);
            }
        }
    }
}
