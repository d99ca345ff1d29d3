//! Many runs on threads, and the models in which they end; see [`crate::runs`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;

use super::frontier::{Frontier, Occurrences, Position};
use super::gains::{Gains, Terms};
use super::graph::Graph;
use super::search::{self, Settings};
use crate::engine::{Batch, End, Graph as Edges};
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;

/// Does the runs `numbers` on `threads` threads, each with about `bytes` of rows. The calling thread gets the
/// results every `pause`, and at the end; when `take` returns false the search stops.
pub fn run_all(
    terms: &Terms,
    settings: &Settings,
    numbers: &[u64],
    threads: usize,
    bytes: usize,
    pause: Duration,
    mut take: impl FnMut(Batch) -> bool,
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
            results.record(numbers[at], &graph, &mut runner.gains, settings, &stop)
        };
        let _ = share_out(&mut states, numbers.len(), &stop, run, pause, &mut look);
    }
    take(results.take());
}

/// Per-thread state for runs: going back to the start costs as much as a run moved.
struct Runner<'a> {
    gains: Gains<'a>,
    /// Whether another run is likely, which makes it worth going back to the start.
    comes_back: bool,
    start: Option<Position>,
    /// Where the last run ended.
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
            results.steps.fetch_add(1, Ordering::Relaxed);
        });
        if end.is_ok() {
            *left = Some(model.leave());
        } else if has_moved {
            let graph = model.model().essential();
            results.leave(run, &graph, gains);
        }
        end
    }
}

/// The ends found so far, shared by the threads.
#[derive(Default)]
struct Results {
    steps: AtomicUsize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    numbers: HashMap<Edges, usize>,
    runs: Vec<(u64, usize)>,
    ends: Vec<End>,
    unfinished: Option<(u64, Edges, f64)>,
}

impl Results {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes where a run was that is stopped.
    fn leave(&self, run: u64, graph: &Graph, gains: &mut Gains<'_>) {
        let score = gains.score(graph);
        let last = &mut self.lock().unfinished;
        if last.as_ref().is_none_or(|(earlier, ..)| run < *earlier) {
            *last = Some((run, graph.edges(), score));
        }
    }

    /// Notes that `run` ended in `graph`; scores and certifies a graph that is new.
    fn record(
        &self,
        run: u64,
        graph: &Graph,
        gains: &mut Gains<'_>,
        settings: &Settings,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        let edges = graph.edges();
        let known = self.lock().numbers.get(&edges).copied();
        if let Some(number) = known {
            self.lock().runs.push((run, number));
            return Ok(());
        }
        let score = gains.score(graph);
        let Settings { start, max_parents, .. } = settings;
        let is_local_optimum = search::is_local_optimum(gains, graph, start.knowledge(), *max_parents, stop)
            .inspect_err(|_| self.leave(run, graph, gains))?;
        let mut inner = self.lock();
        let Inner { numbers, runs, ends, .. } = &mut *inner;
        let new = numbers.len();
        let number = *numbers.entry(edges).or_insert_with_key(|edges| {
            ends.push(End { graph: edges.clone(), score, is_local_optimum });
            new
        });
        runs.push((run, number));
        Ok(())
    }

    /// Results that came in since the last call.
    fn take(&self) -> Batch {
        let mut inner = self.lock();
        Batch {
            runs: std::mem::take(&mut inner.runs),
            ends: std::mem::take(&mut inner.ends),
            steps: self.steps.load(Ordering::Relaxed),
            unfinished: inner.unfinished.take().map(|(_, graph, score)| (graph, score)),
        }
    }
}
