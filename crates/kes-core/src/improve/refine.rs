//! Refinement of an optimum: ways out that lead over a lower-scoring neighbour.
//!
//! * **Turning**: delete an edge, then join the same two nodes again with another conditioning set.
//!   Reversing an arc in a DAG of the class is of this kind, so all turning moves of
//!   [Hauser & Bühlmann 2012] are, and their validity is that of the two moves in turn
//!   [Chickering 2002, Thms 15 and 17]. Worth it if the two gains add up to an improvement.
//! * **Delete and block** [Nazaret & Blei 2024]: delete an edge, climb while that edge is banned, lift
//!   the ban, climb on. Worth it if the end scores higher than the start.
//!
//! Neither ever lowers the score, and both end in a local optimum. On large networks one task looks at
//! some of the edges only: there are a thousand, and what improves one place is found by others too.

use crate::boundary::{Neighbour, Operator};
use crate::frontier::{Frontier, Moves};
use crate::graph::EssentialGraph;
use crate::graph::mpdag::admissible_dag;
use crate::improve::climber::Climber;
use crate::order;
use crate::rng::Stream;
use crate::search::climb;
use crate::stop::{Stop, Stopped};

/// A model with at most this many edges is refined in one task.
const WHOLE: usize = 128;
/// Number of edges of a larger model that one task refines.
const SLICE: usize = 32;

/// The number of tasks that refining all of a model takes.
pub fn slices<const W: usize>(graph: &EssentialGraph<W>) -> usize {
    let edges = graph.adjacent.iter().map(|adjacent| adjacent.len()).sum::<usize>() / 2;
    if edges <= WHOLE { 1 } else { edges.div_ceil(SLICE) }
}

/// The edges of a slice, or nothing if the model has only one.
fn edges_of<const W: usize>(graph: &EssentialGraph<W>, slice: usize) -> Option<Vec<(usize, usize)>> {
    let pairs = |b: usize| graph.adjacent[b].iter().take_while(move |&a| a < b).map(move |a| (a, b));
    let sliced = slices(graph) > 1;
    sliced.then(|| (0..graph.len()).flat_map(pairs).skip(slice * SLICE).take(SLICE).collect())
}

impl<const W: usize> Climber<'_, W> {
    /// Refines an admissible model at the edges of a slice, until neither turning nor delete-and-block
    /// finds a higher score there.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn refine(
        &mut self,
        start: &EssentialGraph<W>,
        slice: usize,
        stream: &mut Stream,
        stop: &Stop,
    ) -> Result<EssentialGraph<W>, Stopped> {
        let edges = edges_of(start, slice);
        let concerns = |pair: (usize, usize)| edges.as_ref().is_none_or(|edges| edges.contains(&pair));
        let max_parents = self.max_parents;
        let dag = admissible_dag(start, self.knowledge.as_deref());
        self.at(dag, stop, |model| {
            climb(model, Moves::All, 1.0, stream, |_, _| ())?;
            loop {
                let mut deletions = deletions(model, stop)?;
                deletions.retain(|(_, deletion)| concerns(ends(deletion)));
                if !turn(model, &deletions, max_parents, stream, stop)?
                    && !delete_and_block(model, &deletions, stream)?
                {
                    return Ok(model.model().essential());
                }
            }
        })
    }
}

/// The two nodes, the smaller one first.
fn ends<const W: usize>(neighbour: &Neighbour<W>) -> (usize, usize) {
    (neighbour.x.min(neighbour.y), neighbour.x.max(neighbour.y))
}

/// Makes the best turning move and climbs on, if one improves the score.
fn turn<const W: usize>(
    model: &mut Frontier<'_, '_, W>,
    deletions: &[(f64, Neighbour<W>)],
    max_parents: Option<usize>,
    stream: &mut Stream,
    stop: &Stop,
) -> Result<bool, Stopped> {
    let mut best: Option<(f64, Neighbour<W>, Neighbour<W>)> = None;
    let tolerance = model.gains().terms().tolerance();
    for (loss, deletion) in deletions {
        stop.check()?;
        let mut between = model.model().clone();
        between.apply(deletion);
        for insertion in between.between(Operator::Insert, deletion.x, deletion.y, max_parents) {
            let gain = loss + model.delta(&insertion);
            let most = best.as_ref().map_or(tolerance, |(most, ..)| *most);
            // The intermediate model need not be admissible, but the result must be.
            if gain > most && between.admits(&insertion) {
                best = Some((gain, *deletion, insertion));
            }
        }
    }
    let Some((_, deletion, insertion)) = best else { return Ok(false) };
    model.move_to(&deletion)?;
    model.move_to(&insertion)?;
    climb(model, Moves::All, 1.0, stream, |_, _| ())?;
    Ok(true)
}

/// Goes to the first higher optimum found by deleting and banning an edge, cheapest deletion first.
fn delete_and_block<const W: usize>(
    model: &mut Frontier<'_, '_, W>,
    deletions: &[(f64, Neighbour<W>)],
    stream: &mut Stream,
) -> Result<bool, Stopped> {
    let terms = model.gains().terms();
    let level = terms.level(model.score());
    let start = model.position();
    for (loss, deletion) in deletions {
        if !model.model().admits(deletion) {
            continue;
        }
        model.move_to(deletion)?;
        let mut gain = *loss;
        for banned in [Some((deletion.x, deletion.y)), None] {
            model.ban(banned);
            climb(model, Moves::All, 1.0, stream, |model, choice| gain += model.delta(&choice.neighbour))?;
        }
        // The sum is close enough to see that it is lower, not that it is higher.
        if gain > 0.0 && terms.level(model.score()) > level {
            return Ok(true);
        }
        model.return_to(&start);
    }
    Ok(false)
}

/// All deletions with their gains (mostly losses), best first.
fn deletions<const W: usize>(
    model: &mut Frontier<'_, '_, W>,
    stop: &Stop,
) -> Result<Vec<(f64, Neighbour<W>)>, Stopped> {
    let mut all = Vec::new();
    for y in 0..model.graph().len() {
        model.model().deletions(y, |x, given| {
            all.push(Neighbour { operator: Operator::Delete, x, y, given });
            stop.check()
        })?;
    }
    let mut all: Vec<_> = all.into_iter().map(|deletion| (model.delta(&deletion), deletion)).collect();
    order::sort_by(&mut all, |(a, x), (b, y)| b.total_cmp(a).then_with(|| x.triple().cmp(&y.triple())));
    Ok(all)
}
