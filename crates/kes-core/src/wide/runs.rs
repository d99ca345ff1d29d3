//! Many runs on threads, and the models in which they end; see [`crate::runs`].

use std::time::Duration;

use super::frontier::{Frontier, Occurrences, Position};
use super::gains::{Gains, Terms};
use super::graph::Graph;
use super::search::{self, Settings};
use crate::ends::{Batch, End, Ends, Unfinished};
use crate::engine::Graph as Edges;
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;

/// The ends of runs.
type Results = Ends<Edges, Edges>;

/// Does the runs `numbers` on `threads` threads, each with about `bytes` of rows. The calling thread gets the
/// results every `pause`, and at the end; when `take` returns false the search stops.
pub fn run_all(
    terms: &Terms,
    settings: &Settings,
    numbers: &[u64],
    threads: usize,
    bytes: usize,
    pause: Duration,
    mut take: impl FnMut(Batch<Edges>) -> bool,
) {
    let (stop, results) = (Stop::default(), Results::default());
    let running = threads.clamp(1, numbers.len().max(1));
    let mut look = |_| {
        if !take(results.take()) {
            stop.raise();
        }
    };
    // All pairs first, on all threads: the calling thread must stay free to be interrupted.
    let prepare = |_: &mut (), _| terms.pairs(threads, &stop).map(|_| ());
    let (_, prepared) = share_out(&mut [()], 1, &stop, prepare, pause, &mut look);
    if prepared.is_ok() {
        let gains = |_| Gains::new(terms, bytes / running, threads, &stop);
        let states: Result<Vec<_>, Stopped> = (0..running).map(gains).collect();
        let comes_back = numbers.len() > running;
        let runner = |gains| Runner { gains, comes_back, start: None, left: None };
        let mut states: Vec<_> = states.unwrap_or_default().into_iter().map(runner).collect();
        let run = |runner: &mut Runner<'_>, at: usize| {
            let graph = runner.end_of_run(settings, numbers[at], &results, &stop)?;
            record(&results, numbers[at], &graph, &mut runner.gains, settings, &stop)
        };
        let _ = share_out(&mut states, numbers.len(), &stop, run, pause, &mut look);
    }
    take(results.take());
}

/// Per-thread state for runs: going back to the start costs in proportion to how far the run has moved.
struct Runner<'a> {
    gains: Gains<'a>,
    /// Whether another run is likely, which makes it worth going back to the start.
    comes_back: bool,
    start: Option<Position>,
    /// The end of the last run.
    left: Option<(Position, Occurrences)>,
}

impl Runner<'_> {
    /// The model in which a run ends. If it is stopped, the results have the one that it had reached.
    fn end_of_run(
        &mut self,
        settings: &Settings,
        run: u64,
        results: &Results,
        stop: &Stop,
    ) -> Result<Graph, Stopped> {
        let Self { gains, comes_back, start, left } = self;
        let places = start.as_ref().zip(left.take()).filter(|(start, _)| gains.lasts(start.age()));
        let mut model = match places {
            Some((start, left)) => {
                let mut model = Frontier::go_on(gains, left, settings.max_parents, stop);
                model.return_to(start);
                model
            }
            None => {
                let mut model = Frontier::new(gains, settings.start.clone(), settings.max_parents, stop)?;
                *start = comes_back.then(|| model.position());
                model
            }
        };
        let mut has_moved = false;
        let end = search::run_from(&mut model, settings, run, |_, _| {
            has_moved = true;
            results.step();
        });
        if end.is_ok() {
            *left = Some(model.leave());
        } else if has_moved {
            let graph = model.model().essential();
            results.leave(Unfinished { run, score: gains.score(&graph), graph: graph.edges() });
        }
        end
    }
}

/// Notes that `run` ended in `graph`.
fn record(
    results: &Results,
    run: u64,
    graph: &Graph,
    gains: &mut Gains<'_>,
    settings: &Settings,
    stop: &Stop,
) -> Result<(), Stopped> {
    let Settings { start, max_parents, .. } = settings;
    results.record(run, graph.edges(), || {
        let score = gains.score(graph);
        let is_local_optimum = search::is_local_optimum(gains, graph, start.knowledge(), *max_parents, stop)
            .inspect_err(|_| results.leave(Unfinished { run, graph: graph.edges(), score }))?;
        Ok(End { graph: graph.edges(), score, is_local_optimum })
    })
}
