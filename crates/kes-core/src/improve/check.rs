//! Check from scratch whether models are local optima.
//!
//! The boundary of each model is enumerated from scratch. Models found by improving differ little from each
//! other, so they are checked together, target by target: most gains are needed by several of them.

use std::sync::Arc;

use crate::boundary::Model;
use crate::gains::Gains;
use crate::graph::{EssentialGraph, Knowledge};
use crate::score::terms::Terms;
use crate::search::has_better;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// For each model, is it admissible, and does no admissible neighbour score higher? About `gains_bytes` are
/// used for the gains of all threads together.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn local_optima<const W: usize>(
    terms: &Terms<W>,
    graphs: &[EssentialGraph<W>],
    knowledge: Option<&Arc<Knowledge<W>>>,
    max_parents: Option<usize>,
    threads: usize,
    gains_bytes: usize,
    stop: &Stop,
) -> Result<Vec<bool>, Stopped> {
    let models: Vec<Option<Model<W>>> =
        graphs.iter().map(|graph| Model::under(graph.clone(), knowledge).ok()).collect();
    let threads = threads.max(1);
    let mut states: Vec<Gains<'_, W>> =
        (0..threads).map(|_| Gains::new(terms, gains_bytes / threads)).collect();
    let better = map(&mut states, terms.variables(), stop, |gains, y| {
        gains.tidy();
        let at_target = |model: &Option<Model<W>>| match model {
            Some(model) => has_better(gains, model, y, max_parents, stop),
            None => Ok(true),
        };
        models.iter().map(at_target).collect::<Result<Vec<bool>, Stopped>>()
    })?;
    let is_one = |at: usize| models[at].is_some() && !better.iter().any(|target| target[at]);
    Ok((0..graphs.len()).map(is_one).collect())
}
