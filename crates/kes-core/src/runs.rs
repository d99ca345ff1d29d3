//! Many runs on threads, and the models in which they end.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::gains::Gains;
use crate::graph::EssentialGraph;
use crate::sampled;
use crate::score::terms::Terms;
use crate::search::{self, Pick, Settings, Step};
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;
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
#[derive(Default)]
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
    let mut states: Vec<Gains<'_, W>> =
        (0..threads).map(|_| Gains::new(terms, gains_bytes / threads)).collect();
    let (stop, results) = (Stop::default(), Results::default());
    let run = |gains: &mut Gains<'_, W>, at: usize| {
        let graph = end_of_run(gains, settings, numbers[at], &stop)?;
        results.record(numbers[at], graph, gains, settings, &stop)
    };
    let _ = share_out(&mut states, numbers.len(), &stop, run, pause, |_| {
        if !take(results.take()) {
            stop.raise();
        }
    });
    take(results.take());
}

/// The model in which a run ends.
fn end_of_run<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    run: u64,
    stop: &Stop,
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
    stop: &Stop,
) -> Result<(Vec<Step<W>>, EssentialGraph<W>), Stopped> {
    let mut steps = Vec::new();
    let end = match settings.sampling {
        None => search::run(gains, settings, run, stop, |model, Pick { neighbour, rank, better }| {
            steps.push(Step { neighbour, delta: model.delta(&neighbour), better, rank });
        })?,
        Some(sampling) => sampled::run(gains, settings, sampling, run, stop, |step| steps.push(step))?,
    };
    Ok((steps, end))
}

/// The ends found so far, shared by the threads.
#[derive(Default)]
struct Results<const W: usize>(Mutex<Inner<W>>);

#[derive(Default)]
struct Inner<const W: usize> {
    numbers: HashMap<Vec<VarSet<W>>, usize, FxBuildHasher>,
    batch: Batch<W>,
}

impl<const W: usize> Results<W> {
    fn lock(&self) -> MutexGuard<'_, Inner<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that `run` ended in `graph`; scores a graph that is new.
    fn record(
        &self,
        run: u64,
        graph: EssentialGraph<W>,
        gains: &mut Gains<'_, W>,
        settings: &Settings<W>,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        let key = graph.key();
        let known = self.lock().numbers.get(&key).copied();
        if let Some(number) = known {
            self.lock().batch.runs.push((run, number));
            return Ok(());
        }
        let score = gains.score(&graph);
        let Settings { start, max_parents, .. } = settings;
        let is_local_optimum = settings.ends_in_optimum()
            || search::is_local_optimum(gains, &graph, start.knowledge(), *max_parents, stop)?;
        let mut inner = self.lock();
        let Inner { numbers, batch } = &mut *inner;
        let new = numbers.len();
        let number = *numbers.entry(key).or_insert_with(|| {
            batch.ends.push(End { graph, score, is_local_optimum });
            new
        });
        batch.runs.push((run, number));
        Ok(())
    }

    /// What came in since the last time.
    fn take(&self) -> Batch<W> {
        std::mem::take(&mut self.lock().batch)
    }
}
