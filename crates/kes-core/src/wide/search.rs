//! One run, and the certificate of its end; the algorithm is that of [`crate::search`].

use std::sync::Arc;

use super::frontier::Frontier;
use super::gains::Gains;
use super::graph::Graph;
use super::knowledge::Knowledge;
use super::model::{Model, Neighbour};
use crate::frontier::Moves;
use crate::rng::Stream;
use crate::search::draw;
use crate::stop::{Stop, Stopped};

/// The settings of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Greediness, from 0 (SES) to 1 (GES).
    pub k: f64,
    /// With run, selects the random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// First insertions only, then deletions only, instead of both at every step.
    pub two_phase: bool,
    /// The model in which every run starts, with the background knowledge.
    pub start: Model,
}

/// A choice from `B`.
pub struct Pick<'n> {
    /// The model.
    pub neighbour: &'n Neighbour,
    /// Its rank in `B`, from 0, the best.
    pub rank: usize,
    /// `|B|`.
    pub better: usize,
}

/// Does one run from the start, where `model` must be; `visit` sees every choice before the move.
///
/// # Errors
/// If the search is stopped meanwhile.
pub fn run_from(
    model: &mut Frontier<'_, '_>,
    settings: &Settings,
    run: u64,
    mut visit: impl FnMut(&mut Frontier<'_, '_>, Pick<'_>),
) -> Result<Graph, Stopped> {
    let mut stream = Stream::new(settings.seed, run);
    let phases: &[Moves] =
        if settings.two_phase { &[Moves::Insertions, Moves::Deletions] } else { &[Moves::All] };
    for &moves in phases {
        climb(model, moves, settings.k, &mut stream, &mut visit)?;
    }
    Ok(model.model().essential())
}

/// Moves on until no neighbour scores higher.
///
/// # Errors
/// If the search is stopped meanwhile.
pub fn climb(
    model: &mut Frontier<'_, '_>,
    moves: Moves,
    k: f64,
    stream: &mut Stream,
    mut visit: impl FnMut(&mut Frontier<'_, '_>, Pick<'_>),
) -> Result<(), Stopped> {
    loop {
        let better = model.find(moves)?;
        let tied = |rank| model.tied(&better, rank);
        let Some((neighbour, rank)) = draw(better.len(), k, stream, tied) else { return Ok(()) };
        visit(model, Pick { neighbour: &neighbour, rank, better: better.len() });
        model.move_to(&neighbour)?;
    }
}

/// Whether the model is admissible and no admissible neighbour scores higher, checked from scratch and, where
/// knowledge rules out neighbours one by one, by the definition.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn is_local_optimum(
    gains: &mut Gains<'_>,
    graph: &Graph,
    knowledge: Option<&Arc<Knowledge>>,
    max_parents: Option<usize>,
    stop: &Stop,
) -> Result<bool, Stopped> {
    let Ok(model) = Model::under(graph.clone(), knowledge) else { return Ok(false) };
    let mut by_definition = model.asks().then(|| model.clone());
    let frontier = Frontier::new(gains, model, max_parents, stop)?;
    for neighbour in frontier.neighbours() {
        stop.check()?;
        if by_definition.as_mut().is_none_or(|model| model.admits_by_definition(&neighbour)) {
            return Ok(false);
        }
    }
    Ok(true)
}
