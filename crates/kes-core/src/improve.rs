//! Better than any single run: recombine, refine, perturb and climb again.
//!
//! A pool of models, at first the optima of the runs, is worked on in rounds. Each round is a list of
//! tasks that do not depend on each other; threads share them out, and what they find joins the pool in
//! the order of the tasks. So the result depends on pool, seed and number of tasks only.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::graph::EssentialGraph;
use crate::improving::{Gains, Stopped};
use crate::recombine::recombine;
use crate::refine::Refinement;
use crate::rng::Stream;
use crate::terms::Terms;
use crate::varset::VarSet;

/// How many of the best models are recombined with the best one, and how many are refined at first.
const PARTNERS: usize = 200;
const REFINED: usize = 10;
/// How many perturbations make a round.
const ROUND: usize = 16;
/// Greediness of the climb after a perturbation: less than 1, so that it need not lead straight back.
const GREEDINESS: f64 = 0.6;

/// How a model came about; numbers are places in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Given,
    /// It was climbed to from a child of two models.
    Recombined(usize, usize),
    /// It was reached by turning and delete-and-block.
    Refined(usize),
    /// Some edges were taken out, and the search climbed again.
    Perturbed(usize),
}

/// A model of the pool.
#[derive(Clone, Debug)]
pub struct Found<const W: usize> {
    /// Its essential graph.
    pub graph: EssentialGraph<W>,
    /// Its score.
    pub score: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// What bounds the work.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// At most so many tasks (recombinations, refinements, perturbations).
    pub tasks: usize,
    /// With the number of the task, selects its random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// Number of threads.
    pub threads: usize,
}

/// The pool and what works on it.
struct Pool<'a, const W: usize> {
    terms: &'a Terms<W>,
    effort: Effort,
    found: Vec<Found<W>>,
    known: HashMap<Vec<VarSet<W>>, usize, FxBuildHasher>,
    /// Tasks done.
    done: usize,
}

/// Works on the given models until the effort is spent or `take` returns false; `take` gets what is new
/// after every round, with the number of tasks done so far, and is asked before the first as well.
pub fn improve<const W: usize>(
    terms: &Terms<W>,
    given: &[EssentialGraph<W>],
    effort: Effort,
    gains_bytes: usize,
    stop: &AtomicBool,
    mut take: impl FnMut(&[Found<W>], usize) -> bool,
) {
    let mut workers: Vec<Gains<'_, W>> =
        (0..effort.threads.max(1)).map(|_| Gains::new(terms, gains_bytes / effort.threads.max(1))).collect();
    let mut pool = Pool { terms, effort, found: Vec::new(), known: HashMap::default(), done: 0 };
    for graph in given {
        let score = terms.score(&mut workers[0].counter, &graph.extension());
        pool.add(Found { graph: graph.clone(), score, origin: Origin::Given });
    }
    let mut seen = pool.found.len();
    let mut plan = Plan::default();
    while pool.done < effort.tasks && !pool.found.is_empty() {
        let mut tasks = plan.next(&pool);
        tasks.truncate(effort.tasks - pool.done);
        pool.work(&mut workers, &tasks, stop);
        if !take(&pool.found[seen..], pool.done) || stop.load(Ordering::Relaxed) {
            return;
        }
        seen = pool.found.len();
    }
}

impl<const W: usize> Pool<'_, W> {
    fn add(&mut self, found: Found<W>) {
        let key = [found.graph.parents.as_slice(), &found.graph.neighbours].concat();
        if !self.known.contains_key(&key) {
            self.known.insert(key, self.found.len());
            self.found.push(found);
        }
    }

    /// Places in the pool, best first; of equal levels the earlier.
    fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.found.len()).collect();
        places.sort_by_key(|&i| (std::cmp::Reverse(self.terms.level(self.found[i].score)), i));
        places
    }

    /// Does the tasks and adds what they found, in the order of the tasks.
    fn work(&mut self, workers: &mut [Gains<'_, W>], tasks: &[Origin], stop: &AtomicBool) {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(vec![None; tasks.len()]);
        let (pool, first) = (&*self, self.done as u64);
        std::thread::scope(|scope| {
            for gains in workers {
                let (next, results) = (&next, &results);
                scope.spawn(move || {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&task) = tasks.get(at) else { return };
                        let Ok(found) = pool.task(gains, task, first + at as u64, stop) else { return };
                        results.lock().unwrap_or_else(PoisonError::into_inner)[at] = found;
                    }
                });
            }
        });
        self.done += tasks.len();
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().flatten().for_each(|found| self.add(found));
    }

    /// Does one task.
    fn task(
        &self,
        gains: &mut Gains<'_, W>,
        task: Origin,
        number: u64,
        stop: &AtomicBool,
    ) -> Result<Option<Found<W>>, Stopped> {
        let max_parents = self.effort.max_parents;
        let mut stream = Stream::new(self.effort.seed, number);
        let mut refinement = Refinement { gains, max_parents, stream: &mut stream, stop };
        let graph = match task {
            Origin::Given => return Ok(None),
            Origin::Recombined(a, b) => {
                match self.cross(&mut refinement, &self.found[a].graph, &self.found[b].graph) {
                    Some(child) => refinement.climb(child, 1.0)?,
                    None => return Ok(None),
                }
            }
            Origin::Refined(a) => refinement.refine(self.found[a].graph.clone())?,
            Origin::Perturbed(a) => {
                let start = &self.found[a].graph;
                let fewer = without_some_edges(start, refinement.stream);
                let climbed = refinement.climb(fewer, GREEDINESS)?;
                match self.cross(&mut refinement, start, &climbed) {
                    Some(child) => refinement.climb(child, 1.0)?,
                    None => climbed,
                }
            }
        };
        let score = refinement.score(&graph);
        Ok(Some(Found { graph, score, origin: task }))
    }

    /// The child of two models, unless it breaks the limit on parents (it cannot: it has the parents
    /// of one or the other) or is nothing new.
    fn cross(
        &self,
        refinement: &mut Refinement<'_, '_, W>,
        a: &EssentialGraph<W>,
        b: &EssentialGraph<W>,
    ) -> Option<EssentialGraph<W>> {
        let child = recombine(self.terms, &mut refinement.gains.counter, a, b)?;
        child.order().map(|order| EssentialGraph::from_dag(&child, &order))
    }
}

/// The model of a DAG of the class from which some arcs were taken out: two at least, a quarter of the
/// number of nodes at most.
fn without_some_edges<const W: usize>(graph: &EssentialGraph<W>, stream: &mut Stream) -> EssentialGraph<W> {
    let mut dag = graph.extension();
    let mut arcs = dag.arcs();
    let number = 2 + stream.below(graph.len() / 4 + 1);
    for _ in 0..number.min(arcs.len()) {
        let (from, to) = arcs.swap_remove(stream.below(arcs.len()));
        dag.parents[to].remove(from);
    }
    let order = dag.order().unwrap_or_else(|| unreachable!("part of a DAG is acyclic"));
    EssentialGraph::from_dag(&dag, &order)
}

/// What to do next: recombine the best model with others until that finds nothing, refine, and then
/// perturb; whenever the best model has changed, from the start.
#[derive(Default)]
struct Plan {
    best: Option<usize>,
    /// Places in the pool from here on were not yet recombined with the best model.
    partners: usize,
    refined: Vec<usize>,
}

impl Plan {
    fn next<const W: usize>(&mut self, pool: &Pool<'_, W>) -> Vec<Origin> {
        let ranking = pool.ranking();
        let best = ranking[0];
        if self.best != Some(best) {
            self.best = Some(best);
            self.partners = 0;
        }
        let partners: Vec<Origin> = (ranking.iter().take(PARTNERS))
            .filter(|&&i| i >= self.partners && i != best)
            .map(|&i| Origin::Recombined(best, i))
            .collect();
        self.partners = pool.found.len();
        if !partners.is_empty() {
            return partners;
        }
        let wanted = if self.refined.is_empty() { REFINED } else { 1 };
        let fresh: Vec<usize> =
            ranking.into_iter().take(wanted).filter(|i| !self.refined.contains(i)).collect();
        if !fresh.is_empty() {
            self.refined.extend(&fresh);
            return fresh.into_iter().map(Origin::Refined).collect();
        }
        vec![Origin::Perturbed(best); ROUND]
    }
}
