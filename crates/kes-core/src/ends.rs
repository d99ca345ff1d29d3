//! The models in which runs end, collected from threads and handed over in batches.

use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::stop::Stopped;

/// A distinct model in which runs ended.
#[derive(Clone, Debug)]
pub struct End<G> {
    /// Its essential graph.
    pub graph: G,
    /// Its score, from the canonical DAG.
    pub score: f64,
    /// Whether no admissible neighbour was found to score higher.
    pub is_local_optimum: bool,
}

/// New results since the last batch.
#[derive(Clone, Debug)]
pub struct Batch<G> {
    /// `(run, number of its end)`.
    pub runs: Vec<(u64, usize)>,
    /// Ends not handed over before, in the order of their numbers, which go on from batch to batch.
    pub ends: Vec<End<G>>,
    /// Steps of all runs so far.
    pub steps: usize,
    /// The position of the earliest run that was stopped on its way.
    pub unfinished: Option<Unfinished<G>>,
}

/// A model that a run had reached when it was stopped.
#[derive(Clone, Debug)]
pub struct Unfinished<G> {
    /// The number of the run.
    pub run: u64,
    /// The essential graph of the model.
    pub graph: G,
    /// Its score.
    pub score: f64,
}

impl<G> Default for Batch<G> {
    fn default() -> Self {
        Self { runs: Vec::new(), ends: Vec::new(), steps: 0, unfinished: None }
    }
}

impl<G> Batch<G> {
    /// The same with graphs of another form.
    pub fn map<H>(self, form: impl Fn(&G) -> H) -> Batch<H> {
        let Self { runs, ends, steps, unfinished } = self;
        let end =
            |End { graph, score, is_local_optimum }| End { graph: form(&graph), score, is_local_optimum };
        let reached = |Unfinished { run, graph, score }| Unfinished { run, graph: form(&graph), score };
        Batch { runs, ends: ends.into_iter().map(end).collect(), steps, unfinished: unfinished.map(reached) }
    }
}

/// The ends found so far, shared by the threads; keys tell graphs apart.
pub struct Ends<K, G> {
    steps: AtomicUsize,
    inner: Mutex<Inner<K, G>>,
}

struct Inner<K, G> {
    numbers: HashMap<K, usize, FxBuildHasher>,
    batch: Batch<G>,
}

impl<K, G> Default for Ends<K, G> {
    fn default() -> Self {
        let inner = Inner { numbers: HashMap::default(), batch: Batch::default() };
        Self { steps: AtomicUsize::new(0), inner: Mutex::new(inner) }
    }
}

impl<K: Eq + Hash, G> Ends<K, G> {
    fn lock(&self) -> MutexGuard<'_, Inner<K, G>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a step of a run.
    pub fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes where a run was that is stopped.
    pub fn leave(&self, unfinished: Unfinished<G>) {
        let last = &mut self.lock().batch.unfinished;
        if last.as_ref().is_none_or(|last| unfinished.run < last.run) {
            *last = Some(unfinished);
        }
    }

    /// Notes in which graph `run` ended; `end` scores and certifies one that is new.
    ///
    /// # Errors
    /// As `end`.
    pub fn record(
        &self,
        run: u64,
        key: K,
        end: impl FnOnce() -> Result<End<G>, Stopped>,
    ) -> Result<(), Stopped> {
        let known = self.lock().numbers.get(&key).copied();
        if let Some(number) = known {
            self.lock().batch.runs.push((run, number));
            return Ok(());
        }
        let end = end()?;
        let mut inner = self.lock();
        let Inner { numbers, batch } = &mut *inner;
        let new = numbers.len();
        let number = *numbers.entry(key).or_insert_with(|| {
            batch.ends.push(end);
            new
        });
        batch.runs.push((run, number));
        Ok(())
    }

    /// Results that came in since the last call.
    pub fn take(&self) -> Batch<G> {
        let batch = std::mem::take(&mut self.lock().batch);
        Batch { steps: self.steps.load(Ordering::Relaxed), ..batch }
    }
}
