//! Improve a model of very many variables place by place.
//!
//! A task takes the best model and, again and again, deletes the edges around a node drawn at random, climbs with
//! little greediness, and keeps what scores higher: with thousands of variables there are thousands of places where a
//! search can go wrong, and each can be mended by itself. The tasks of a round do not depend on each other, and
//! what they find joins the pool in their order, as in [`crate::improve`].

use std::time::Duration;

use super::frontier::{Frontier, Occurrences, Position};
use super::gains::{Gains, Terms};
use super::graph::Graph;
use super::list;
use super::model::{Model, Neighbour};
use super::search::climb;
use crate::boundary::Operator;
use crate::engine::Improved;
use crate::frontier::Moves;
use crate::improve::Origin;
use crate::rng::Stream;
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;

/// Tasks per round.
const ROUND: usize = 8;
/// Places that a task tries.
const PLACES: usize = 32;
/// Edges that are deleted at a place, at most.
const DELETED: usize = 12;
/// Greediness of the climb after a perturbation.
const GREEDINESS: f64 = 0.3;

/// Limits of the work, and how to do it.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Maximum number of tasks.
    pub tasks: usize,
    /// With the number of the task, selects its random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// Number of threads.
    pub threads: usize,
    /// For the gains of all threads.
    pub bytes: usize,
}

/// A thread's gains, with the place in the pool where it starts, and the position there.
struct Climber<'a> {
    gains: Gains<'a>,
    start: Option<(usize, Position)>,
    left: Option<(Position, Occurrences)>,
}

/// Works on the given, admissible models until the effort is spent or `take` returns false; see
/// [`crate::improve::improve`].
pub fn improve(
    terms: &Terms,
    given: &[Model],
    effort: &Effort,
    pause: Duration,
    stop: &Stop,
    take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
) {
    let threads = effort.threads.max(1);
    // All pairs first: the calling thread must stay free to watch the clock.
    let prepare = |_: &mut (), _| terms.pairs(threads, stop).map(|_| ());
    let watch = |_| {
        if !take(Vec::new(), 0) {
            stop.raise();
        }
    };
    let (_, prepared) = share_out(&mut [()], 1, stop, prepare, pause, watch);
    if prepared.is_err() {
        return;
    }
    let climber = |_| Gains::new(terms, effort.bytes / threads, threads, stop);
    let gains: Result<Vec<Gains<'_>>, Stopped> = (0..threads).map(climber).collect();
    let Ok(gains) = gains else { return };
    let mut climbers: Vec<Climber<'_>> =
        gains.into_iter().map(|gains| Climber { gains, start: None, left: None }).collect();
    let score = |model: &Model| climbers[0].gains.score(&model.essential());
    let scores: Vec<f64> = given.iter().map(score).collect();
    let level = |score: f64| terms.level(score);
    let Some(mut best) = (0..given.len()).min_by_key(|&at| (-level(scores[at]), at)) else { return };
    let (mut model, mut highest) = (given[best].clone(), scores[best]);
    let (mut done, mut found) = (0, given.len());
    while done < effort.tasks {
        let tasks = ROUND.min(effort.tasks - done);
        let task = |climber: &mut Climber<'_>, at: usize| {
            let mut stream = Stream::of_task(effort.seed, (done + at) as u64);
            climber.task(&model, best, effort, &mut stream, stop)
        };
        let meanwhile = |more: usize| {
            if !take(Vec::new(), done + more) {
                stop.raise();
            }
        };
        let (results, _) = share_out(&mut climbers, tasks, stop, task, pause, meanwhile);
        let mut new = Vec::new();
        let mut next = None;
        for result in results.into_iter().map_while(|result| result) {
            if let Some((graph, score)) = result
                && level(score) > level(highest)
            {
                (highest, next) = (score, Some((found + new.len(), graph.clone())));
                new.push(Improved {
                    graph: graph.edges(),
                    score,
                    origin: Origin::Perturbed(best),
                    task: done,
                });
            }
            done += 1;
        }
        found += new.len();
        if !take(new, done) || stop.is_raised() {
            return;
        }
        if let Some((place, graph)) = next
            && let Ok(next) = Model::under(graph, model.knowledge())
        {
            (best, model) = (place, next);
        }
    }
}

impl<'a> Climber<'a> {
    /// The best model found from `model`, which is at `place` in the pool, with its score; `None` if nothing better
    /// was found.
    fn task(
        &mut self,
        model: &Model,
        place: usize,
        effort: &Effort,
        stream: &mut Stream,
        stop: &Stop,
    ) -> Result<Option<(Graph, f64)>, Stopped> {
        let Self { gains, start, left } = self;
        let known = start.as_ref().filter(|(at, position)| *at == place && gains.lasts(position.age()));
        let mut frontier = match (known, left.take()) {
            (Some((_, position)), Some(left)) => {
                let mut frontier = Frontier::go_on(gains, left, effort.max_parents, stop);
                frontier.return_to(position);
                frontier
            }
            _ => {
                let mut frontier = Frontier::new(gains, model.clone(), effort.max_parents, stop)?;
                *start = Some((place, frontier.position()));
                frontier
            }
        };
        let is_better = mend(&mut frontier, stream)?;
        let graph = frontier.model().essential();
        *left = Some(frontier.leave());
        // Going back restores only what moved since a position was last saved, which `mend` has done. Unless it found
        // something, that position equals the start.
        if is_better {
            *start = None;
        }
        let score = gains.score(&graph);
        Ok(is_better.then_some((graph, score)))
    }
}

/// Tries some places one after the other, and returns whether the score is higher than before.
fn mend(frontier: &mut Frontier<'_, '_>, stream: &mut Stream) -> Result<bool, Stopped> {
    let tolerance = frontier.gains().terms().tolerance();
    let mut is_better = false;
    for _ in 0..PLACES {
        let before = frontier.position();
        let mut gained = delete_around(frontier, stream)?;
        climb(frontier, Moves::All, GREEDINESS, stream, |model, pick| {
            gained += model.gains().delta(pick.neighbour);
        })?;
        if gained > tolerance {
            is_better = true;
        } else {
            frontier.return_to(&before);
        }
    }
    Ok(is_better)
}

/// Deletes edges around a node drawn at random, and returns the gain, which is mostly negative.
fn delete_around(frontier: &mut Frontier<'_, '_>, stream: &mut Stream) -> Result<f64, Stopped> {
    let model = frontier.model();
    let n = model.graph.len();
    let node = stream.below(n) as u32;
    let mut around: Vec<u32> = model.graph.adjacents(node).chain([node]).collect();
    list::tidy(&mut around);
    let arcs =
        around.iter().flat_map(|&to| model.dag().parents[to as usize].iter().map(move |&from| (from, to)));
    let mut arcs: Vec<(u32, u32)> = arcs.collect();
    let mut gained = 0.0;
    for _ in 0..DELETED.min(arcs.len()) {
        let (from, to) = arcs.swap_remove(stream.below(arcs.len()));
        let dag = frontier.model().dag();
        // An earlier deletion may have reversed the arc.
        let (x, y) = if list::has(&dag.parents[to as usize], from) { (from, to) } else { (to, from) };
        let given = list::without(&dag.parents[y as usize], x);
        let deletion = Neighbour { operator: Operator::Delete, x, y, given };
        if list::has(&dag.parents[y as usize], x) && frontier.admits(&deletion) {
            gained += frontier.gains().delta(&deletion);
            frontier.move_to(&deletion)?;
        }
    }
    Ok(gained)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::score::set_function::Source;
    use crate::wide::function::{Function, Worker};
    use crate::wide::list::List;

    /// A function that takes five seconds to prepare, and notes whether it was stopped.
    struct Slow(std::sync::Arc<AtomicBool>);

    struct Zero;

    impl Function for Slow {
        fn variables(&self) -> usize {
            3
        }

        fn varies(&self, _: usize) -> bool {
            true
        }

        fn tolerance(&self) -> f64 {
            1e-9
        }

        fn total(&self) -> f64 {
            1.0
        }

        fn fingerprint(&self) -> u128 {
            0
        }

        fn worker(&self) -> Box<dyn Worker + '_> {
            Box::new(Zero)
        }

        fn prepare(&self, _: usize, stop: &Stop) -> Result<(), Stopped> {
            for _ in 0..5000 {
                stop.check().inspect_err(|_| self.0.store(true, Ordering::Relaxed))?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        }
    }

    impl Worker for Zero {
        fn term(&mut self, _: &[u32]) -> f64 {
            0.0
        }

        fn hopeful(
            &mut self,
            _: u32,
            _: &[u32],
            _: (f64, f64),
            _: f64,
            _: &dyn Fn(u32) -> bool,
            _: &mut List,
        ) {
        }

        fn join(&mut self, _: &[u32], _: u32, _: &mut [Source]) {}
    }

    #[test]
    fn the_caller_can_end_the_work_while_all_pairs_are_computed() {
        let stopped = std::sync::Arc::new(AtomicBool::new(false));
        let terms = Terms::new(Box::new(Slow(stopped.clone())), None);
        let model = Model::under(Graph::empty(3), None).unwrap();
        let effort = Effort { tasks: 8, seed: 0, max_parents: None, threads: 2, bytes: 1 << 20 };
        let stop = Stop::default();
        improve(&terms, &[model], &effort, Duration::from_millis(5), &stop, &mut |_, _| false);
        assert!(stopped.load(Ordering::Relaxed) && stop.is_raised());
    }
}
