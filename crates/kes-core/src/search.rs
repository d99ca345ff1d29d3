//! k-greedy equivalence search [Nielsen 2003]: one run.
//!
//! ```text
//! KES(k in [0,1]):  M = empty model
//!   repeat  B = models in the inclusion boundary IB(M) that score higher than M
//!           if B is empty: return M                      (M is a local optimum)
//!           C = uniform random subset of B, |C| = max(1, floor(k |B| + 1e-9))
//!           M = the best model of C
//! ```

use std::sync::Arc;

use crate::boundary::{Model, Neighbour, Operator};
use crate::frontier::{Better, Frontier, Moves};
use crate::gains::Gains;
use crate::graph::{EssentialGraph, Knowledge};
use crate::order;
use crate::rng::Stream;
use crate::sampled::Sampling;
use crate::stop::{Stop, Stopped};

/// The settings of a search.
#[derive(Clone, Debug)]
pub struct Settings<const W: usize> {
    /// Greediness, from 0 (SES) to 1 (GES).
    pub k: f64,
    /// With run, selects the random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// First insertions only, then deletions only, instead of both at every step.
    pub two_phase: bool,
    /// The model in which every run starts, with the background knowledge.
    pub start: Model<W>,
    /// The sampling of the boundary, if it is not searched completely (see [`crate::sampled`]).
    pub sampling: Option<Sampling>,
}

/// One step of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<const W: usize> {
    /// The neighbour moved to.
    pub neighbour: Neighbour<W>,
    /// Its gain.
    pub delta: f64,
    /// `|B|`.
    pub better: usize,
    /// The rank of the neighbour in `B`, from 0, the best.
    pub rank: usize,
}

impl<const W: usize> Settings<W> {
    fn phases(&self) -> &'static [Moves] {
        if self.two_phase { &[Moves::Insertions, Moves::Deletions] } else { &[Moves::All] }
    }
}

/// Does one run and returns the model in which it ends; `visit` sees every choice before the move.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn run<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    run: u64,
    stop: &Stop,
    visit: impl FnMut(&mut Frontier<'_, '_, W>, Pick<W>),
) -> Result<EssentialGraph<W>, Stopped> {
    let mut model = Frontier::new(gains, settings.start.clone(), settings.max_parents, stop)?;
    run_from(&mut model, settings, run, visit)
}

/// Does one run from the start, where `model` must be.
///
/// # Errors
/// If the search is stopped meanwhile.
pub fn run_from<const W: usize>(
    model: &mut Frontier<'_, '_, W>,
    settings: &Settings<W>,
    run: u64,
    mut visit: impl FnMut(&mut Frontier<'_, '_, W>, Pick<W>),
) -> Result<EssentialGraph<W>, Stopped> {
    let mut stream = Stream::new(settings.seed, run);
    for &moves in settings.phases() {
        climb(model, moves, settings.k, &mut stream, &mut visit)?;
    }
    Ok(model.model().essential())
}

/// Moves on until no neighbour scores higher.
///
/// # Errors
/// If the search is stopped meanwhile.
pub fn climb<const W: usize>(
    model: &mut Frontier<'_, '_, W>,
    moves: Moves,
    k: f64,
    stream: &mut Stream,
    mut visit: impl FnMut(&mut Frontier<'_, '_, W>, Pick<W>),
) -> Result<(), Stopped> {
    let mut better = Better::new(moves);
    loop {
        model.find(&mut better);
        let number = better.len();
        let tied = |rank| {
            let mut tied = model.tied(&mut better, rank);
            order::sort_by(&mut tied, |a, b| a.triple().cmp(&b.triple()));
            tied
        };
        let Some((neighbour, rank)) = draw(number, k, stream, tied) else { return Ok(()) };
        visit(model, Pick { neighbour, rank, better: number });
        model.move_to(&neighbour)?;
    }
}

/// Whether the model is admissible and no admissible neighbour scores higher, checked from scratch and, where
/// knowledge rules out neighbours one by one, by the definition.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn is_local_optimum<const W: usize>(
    gains: &mut Gains<'_, W>,
    graph: &EssentialGraph<W>,
    knowledge: Option<&Arc<Knowledge<W>>>,
    max_parents: Option<usize>,
    stop: &Stop,
) -> Result<bool, Stopped> {
    let Ok(model) = Model::under(graph.clone(), knowledge) else { return Ok(false) };
    if model.asks() {
        for y in 0..gains.terms().variables() {
            gains.tidy();
            if has_better(gains, &model, y, max_parents, stop)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let mut better = Better::new(Moves::All);
    Frontier::new(gains, model, max_parents, stop)?.find(&mut better);
    Ok(better.is_empty())
}

/// Whether the model has an admissible neighbour with the target `y` that scores higher. What is admissible is
/// decided by the definition.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn has_better<const W: usize>(
    gains: &mut Gains<'_, W>,
    model: &Model<W>,
    y: usize,
    max_parents: Option<usize>,
    stop: &Stop,
) -> Result<bool, Stopped> {
    let tolerance = gains.terms().tolerance();
    let mut found = false;
    model.deletions(y, |x, given| {
        let deletion = Neighbour { operator: Operator::Delete, x, y, given };
        found |= gains.delta(&deletion) > tolerance && model.admits_by_definition(&deletion);
        stop.check()
    })?;
    model.insertions(&model.frame(y), max_parents, |clique, sources| {
        let given = model.graph.parents[y] | clique;
        let row = gains.row(y, given, sources);
        gains.evaluate(stop)?;
        let mut improving = gains.improving(row).iter().map(|&(x, _)| x as usize);
        found |= improving.any(|x| {
            let insertion = Neighbour { operator: Operator::Insert, x, y, given };
            sources.contains(x) && model.admits_by_definition(&insertion)
        });
        stop.check()
    })?;
    Ok(found)
}

/// The model chosen from `B`.
#[derive(Clone, Copy, Debug)]
pub struct Pick<const W: usize> {
    /// The model.
    pub neighbour: Neighbour<W>,
    /// Its rank in `B`, from 0, the best.
    pub rank: usize,
    /// `|B|`.
    pub better: usize,
}

/// The best model of a uniform random subset of `B` with `max(1, floor(k |B| + 1e-9))` members, and its rank, or
/// `None` if `B` is empty. `tied` has the members that tie at a rank, in canonical order: one of them is drawn.
pub(crate) fn draw<N>(
    better: usize,
    k: f64,
    stream: &mut Stream,
    tied: impl FnOnce(usize) -> Vec<N>,
) -> Option<(N, usize)> {
    if better == 0 {
        return None;
    }
    let size = ((k * better as f64 + 1e-9).floor() as usize).max(1);
    let rank = rank_of_best(better, size, stream);
    let mut tied = tied(rank);
    let chosen = if tied.len() == 1 { 0 } else { stream.below(tied.len()) };
    Some((tied.swap_remove(chosen), rank))
}

/// The rank of the best of a uniform random subset of `size` out of `all`, without drawing it: given
/// that the members of rank below `r` are not in the subset, `r` is with probability
/// `size / (all − r)`.
pub fn rank_of_best(all: usize, size: usize, stream: &mut Stream) -> usize {
    (0..=all - size).find(|&r| stream.below(all - r) < size).unwrap_or(all - size)
}
