//! Many runs on threads, and the models in which they end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::frontier::{Gains, Stopped};
use crate::graph::EssentialGraph;
use crate::sampled;
use crate::score::terms::Terms;
use crate::search::{self, Choice, Settings, Step};
use crate::varset::VarSet;

/// A distinct model in which runs ended.
#[derive(Clone, Debug)]
pub struct End<const W: usize> {
    /// Its essential graph.
    pub graph: EssentialGraph<W>,
    /// Its score, from the canonical DAG.
    pub score: f64,
    /// Was no admissible neighbour found to score higher?
    pub is_local_optimum: bool,
}

/// Results since the last look.
pub struct Batch<const W: usize> {
    /// `(run, number of its end)`.
    pub runs: Vec<(u64, usize)>,
    /// Ends not handed over before; numbers go on from batch to batch.
    pub ends: Vec<End<W>>,
}

/// Does the runs `numbers` on `threads` threads. The calling thread gets the results every `pause`,
/// and at the end; when `take` returns false the search stops.
pub fn run_all<const W: usize>(
    terms: &Terms<W>,
    settings: &Settings<W>,
    numbers: &[u64],
    threads: usize,
    gains_bytes: usize,
    pause: Duration,
    mut take: impl FnMut(Batch<W>) -> bool,
) {
    let threads = threads.clamp(1, numbers.len().max(1));
    let (next, stop, results) = (AtomicUsize::new(0), AtomicBool::new(false), Results::new(threads));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let _leave = results.leaving();
                let mut gains = Gains::new(terms, gains_bytes / threads);
                while let Some(&run) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ended = end_of_run(&mut gains, settings, run, &stop)
                        .and_then(|graph| results.record(run, graph, &mut gains, settings, &stop));
                    if ended == Err(Stopped) {
                        break;
                    }
                }
            });
        }
        loop {
            let (batch, finished) = results.wait(pause);
            if !take(batch) {
                stop.store(true, Ordering::Relaxed);
            }
            if finished {
                break;
            }
        }
    });
}

/// The model in which a run ends.
fn end_of_run<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    run: u64,
    stop: &AtomicBool,
) -> Result<EssentialGraph<W>, Stopped> {
    match settings.sampling {
        None => search::run(gains, settings, run, stop, |_, _| ()),
        Some(sampling) => sampled::run(gains, settings, sampling, run, stop, |_| ()),
    }
}

/// The steps of a run, and its end.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn trace<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    run: u64,
    stop: &AtomicBool,
) -> Result<(Vec<Step<W>>, EssentialGraph<W>), Stopped> {
    let mut steps = Vec::new();
    let end = match settings.sampling {
        None => search::run(gains, settings, run, stop, |model, Choice { neighbour, rank, better }| {
            steps.push(Step { neighbour, delta: model.delta(&neighbour), better, rank });
        })?,
        Some(sampling) => sampled::run(gains, settings, sampling, run, stop, |step| steps.push(step))?,
    };
    Ok((steps, end))
}

/// The ends found so far, shared by the threads.
struct Results<const W: usize> {
    inner: Mutex<Inner<W>>,
    finished: Condvar,
}

struct Inner<const W: usize> {
    numbers: HashMap<Vec<VarSet<W>>, usize, FxBuildHasher>,
    batch: Batch<W>,
    working: usize,
}

impl<const W: usize> Results<W> {
    fn new(working: usize) -> Self {
        let batch = Batch { runs: Vec::new(), ends: Vec::new() };
        Self {
            inner: Mutex::new(Inner { numbers: HashMap::default(), batch, working }),
            finished: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<W>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that `run` ended in `graph`; scores and certifies a graph that is new.
    fn record(
        &self,
        run: u64,
        graph: EssentialGraph<W>,
        gains: &mut Gains<'_, W>,
        settings: &Settings<W>,
        stop: &AtomicBool,
    ) -> Result<(), Stopped> {
        let key = graph.key();
        let known = self.lock().numbers.get(&key).copied();
        if let Some(number) = known {
            self.lock().batch.runs.push((run, number));
            return Ok(());
        }
        let score = gains.terms().score(&mut *gains.worker, &graph.extension());
        let is_local_optimum = search::is_local_optimum(gains, &graph, settings.max_parents, stop)?;
        let mut inner = self.lock();
        let Inner { numbers, batch, .. } = &mut *inner;
        let new = numbers.len();
        let number = *numbers.entry(key).or_insert_with(|| {
            batch.ends.push(End { graph, score, is_local_optimum });
            new
        });
        batch.runs.push((run, number));
        Ok(())
    }

    /// Waits for the end of the work, at most for `pause`, and takes what there is.
    fn wait(&self, pause: Duration) -> (Batch<W>, bool) {
        let waited = self.finished.wait_timeout_while(self.lock(), pause, |inner| inner.working > 0);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let batch = Batch {
            runs: std::mem::take(&mut inner.batch.runs),
            ends: std::mem::take(&mut inner.batch.ends),
        };
        (batch, inner.working == 0)
    }

    /// When what it returns is dropped, even by a panic, one thread fewer is at work.
    fn leaving(&self) -> Leave<'_, W> {
        Leave(self)
    }
}

struct Leave<'r, const W: usize>(&'r Results<W>);

impl<const W: usize> Drop for Leave<'_, W> {
    fn drop(&mut self) {
        self.0.lock().working -= 1;
        self.0.finished.notify_one();
    }
}
