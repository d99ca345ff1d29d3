//! Refinement of an optimum: ways out that lead over a lower-scoring neighbour.
//!
//! * **Turning**: delete an edge, then join the same two nodes again with another conditioning set.
//!   Reversing an arc in a DAG of the class is of this kind, so all turning moves of
//!   [Hauser & Bühlmann 2012] are, and their validity is that of the two moves in turn
//!   [Chickering 2002, Thms 15 and 17]. Worth it if the two gains add up to an improvement.
//! * **Delete and block** [Nazaret & Blei 2024]: delete an edge, climb while that edge is banned, lift
//!   the ban, climb on. Worth it if the end scores higher than the start.
//!
//! Neither ever lowers the score, and both end in a local optimum.

use std::sync::Arc;

use crate::boundary::{Model, Neighbour};
use crate::frontier::{Frontier, Moves};
use crate::gains::Gains;
use crate::graph::{EssentialGraph, Knowledge};
use crate::rng::Stream;
use crate::search::climb;
use crate::stop::{Stop, Stopped};

/// A model that is being made better.
pub struct Refinement<'g, 'a, const W: usize> {
    /// For evaluating.
    pub gains: &'g mut Gains<'a, W>,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// What is known, if anything; models that are given must be admissible.
    pub knowledge: Option<&'g Arc<Knowledge<W>>>,
    /// For ties.
    pub stream: &'g mut Stream,
    /// Raised when the work should stop.
    pub stop: &'g Stop,
}

impl<const W: usize> Refinement<'_, '_, W> {
    /// Refines until neither turning nor delete-and-block finds a higher score.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn refine(&mut self, start: EssentialGraph<W>) -> Result<EssentialGraph<W>, Stopped> {
        let mut best = self.climb(start, 1.0)?;
        loop {
            let better = match self.turn(&best)? {
                Some(better) => Some(better),
                None => self.delete_and_block(&best)?,
            };
            match better {
                Some(better) => best = better,
                None => return Ok(best),
            }
        }
    }

    /// The local optimum that the search with greediness `k` climbs to.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn climb(&mut self, start: EssentialGraph<W>, k: f64) -> Result<EssentialGraph<W>, Stopped> {
        let start = Model::of_admissible(start, self.knowledge);
        let mut model = Frontier::new(self.gains, start, self.max_parents, self.stop)?;
        climb(&mut model, Moves::All, k, self.stream, |_, _| ())?;
        Ok(model.model().essential())
    }

    /// The optimum above the best turning move, if one improves the score.
    fn turn(&mut self, start: &EssentialGraph<W>) -> Result<Option<EssentialGraph<W>>, Stopped> {
        let mut best: Option<(f64, EssentialGraph<W>)> = None;
        let tolerance = self.gains.terms().tolerance();
        let model = Model::of_admissible(start.clone(), self.knowledge);
        for (loss, deletion) in self.deletions(&model)? {
            self.stop.check()?;
            let mut between = model.clone();
            between.apply(&deletion);
            for insertion in between.between(true, deletion.x, deletion.y, self.max_parents) {
                let gain = loss + self.gains.delta(&insertion);
                let most = best.as_ref().map_or(tolerance, |(most, _)| *most);
                // What is between need not be admissible, but what comes out must.
                if gain > most && between.admits(&insertion) {
                    let mut turned = between.clone();
                    turned.apply(&insertion);
                    best = Some((gain, turned.essential()));
                }
            }
        }
        best.map(|(_, turned)| self.climb(turned, 1.0)).transpose()
    }

    /// The first higher optimum found by deleting and banning an edge, cheapest deletion first.
    fn delete_and_block(&mut self, start: &EssentialGraph<W>) -> Result<Option<EssentialGraph<W>>, Stopped> {
        let terms = self.gains.terms();
        let start = Model::of_admissible(start.clone(), self.knowledge);
        let mut deletions = self.deletions(&start)?;
        deletions.retain(|(_, deletion)| start.admits(deletion));
        let mut model = Frontier::new(self.gains, start, self.max_parents, self.stop)?;
        let level = terms.level(model.score());
        let position = model.position();
        for (_, deletion) in deletions {
            model.return_to(&position);
            model.move_to(&deletion)?;
            model.ban(Some((deletion.x, deletion.y)));
            climb(&mut model, Moves::All, 1.0, self.stream, |_, _| ())?;
            model.ban(None);
            climb(&mut model, Moves::All, 1.0, self.stream, |_, _| ())?;
            if terms.level(model.score()) > level {
                return Ok(Some(model.model().essential()));
            }
        }
        Ok(None)
    }

    /// All deletions with their gains (mostly losses), best first.
    fn deletions(&mut self, model: &Model<W>) -> Result<Vec<(f64, Neighbour<W>)>, Stopped> {
        let mut all = Vec::new();
        for y in 0..model.graph.len() {
            model.deletions(y, |x, given| {
                all.push(Neighbour { insert: false, x, y, given });
                self.stop.check()
            })?;
        }
        let mut all: Vec<_> =
            all.into_iter().map(|deletion| (self.gains.delta(&deletion), deletion)).collect();
        all.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.triple().cmp(&y.triple())));
        Ok(all)
    }
}
