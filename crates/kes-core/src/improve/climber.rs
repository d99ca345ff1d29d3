//! Climbing from one model after another, each time from where the last climb left off.
//!
//! The models that improving works on differ little from each other. Going from one to the next costs as much
//! as they differ, while starting anew would visit every target.

use std::sync::Arc;

use crate::boundary::Model;
use crate::frontier::{Frontier, Moves, Position};
use crate::gains::Gains;
use crate::graph::{Dag, EssentialGraph, Knowledge};
use crate::rng::Stream;
use crate::score::terms::Terms;
use crate::search::climb;
use crate::stop::{Stop, Stopped};

/// Per-thread state for climbing.
pub struct Climber<'a, const W: usize> {
    /// For evaluating.
    pub gains: Gains<'a, W>,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// Background knowledge, if there is any; the DAGs that are given must be admissible.
    pub knowledge: Option<Arc<Knowledge<W>>>,
    /// The end of the last climb.
    left: Option<Position<W>>,
}

impl<'a, const W: usize> Climber<'a, W> {
    /// A climber without a position, which keeps about `bytes` of gains.
    pub fn new(
        terms: &'a Terms<W>,
        bytes: usize,
        max_parents: Option<usize>,
        knowledge: Option<Arc<Knowledge<W>>>,
    ) -> Self {
        Self { gains: Gains::new(terms, bytes), max_parents, knowledge, left: None }
    }

    /// Calls `work` at the model of a DAG.
    ///
    /// # Errors
    /// If `work` does, or if `stop` is raised meanwhile.
    pub fn at<T>(
        &mut self,
        dag: Dag<W>,
        stop: &Stop,
        work: impl FnOnce(&mut Frontier<'_, 'a, W>) -> Result<T, Stopped>,
    ) -> Result<T, Stopped> {
        let Self { gains, max_parents, knowledge, left } = self;
        let mut model = match left.take().filter(|_| !gains.is_full()) {
            Some(position) => {
                let mut model = Frontier::go_on(gains, position, *max_parents, stop);
                model.jump(dag)?;
                model
            }
            None => Frontier::new(gains, Model::of_dag(dag, knowledge.clone()), *max_parents, stop)?,
        };
        let result = work(&mut model)?;
        self.left = Some(model.leave());
        Ok(result)
    }

    /// The local optimum that the search with greediness `k` climbs to.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn climb(
        &mut self,
        dag: Dag<W>,
        k: f64,
        stream: &mut Stream,
        stop: &Stop,
    ) -> Result<EssentialGraph<W>, Stopped> {
        self.at(dag, stop, |model| {
            climb(model, Moves::All, k, stream, |_, _| ())?;
            Ok(model.model().essential())
        })
    }
}
