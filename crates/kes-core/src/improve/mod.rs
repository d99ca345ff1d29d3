//! Better than any single run: recombine, refine, perturb and climb again.
//!
//! A pool of models, at first the optima of the runs, is worked on in rounds. Each round is a list of
//! tasks that do not depend on each other; threads share them out, and what they find joins the pool in
//! the order of the tasks. So the result depends on pool, seed and number of tasks only. Of a round
//! that is stopped, the tasks up to the first unfinished one count: stopped after `p` tasks, the result
//! is the same as if `p` had been asked for.

pub mod recombine;
pub mod refine;

use std::sync::Arc;
use std::time::Duration;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::gains::Gains;
use crate::graph::restricted::admissible_dag;
use crate::graph::{EssentialGraph, Knowledge};
use crate::improve::recombine::recombine;
use crate::improve::refine::Refinement;
use crate::rng::Stream;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;
use crate::varset::VarSet;

/// How many of the best models are recombined with the best one, and how many are refined at first. A
/// model that is not among so many when it is found is forgotten: memory stays bounded however long the
/// work.
const PARTNERS: usize = 200;
const REFINED: usize = 10;
/// How many perturbations make a round.
const ROUND: usize = 16;
/// One perturbation in so many puts arcs in instead of taking some out.
const INSERTING: usize = 8;
/// Greediness of the climb after a perturbation: far less than 1, so that it need not lead straight back.
const GREEDINESS: f64 = 0.3;

/// How a model came about; numbers are places in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It was given.
    Given,
    /// It was climbed to from a child of two models.
    Recombined(usize, usize),
    /// It was reached by turning and delete-and-block.
    Refined(usize),
    /// Some edges were taken out or put in, and the search climbed again.
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
    /// The number of the task that found it, from 0; of no meaning if it was given.
    pub task: usize,
}

/// What bounds the work.
#[derive(Clone, Debug)]
pub struct Effort<const W: usize> {
    /// At most so many tasks (recombinations, refinements, perturbations).
    pub tasks: usize,
    /// With the number of the task, selects its random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// What is known, if anything.
    pub knowledge: Option<Arc<Knowledge<W>>>,
    /// Number of threads.
    pub threads: usize,
}

/// The pool and what works on it.
struct Pool<'a, const W: usize> {
    terms: &'a Terms<W>,
    effort: &'a Effort<W>,
    found: Vec<Found<W>>,
    known: HashSet<Vec<VarSet<W>>, FxBuildHasher>,
    /// Places of the best models, best first; of equal levels the earlier.
    ranking: Vec<usize>,
    /// Tasks done.
    done: usize,
}

/// Works on the given, admissible models until the effort is spent or `take` returns false. It gets what is
/// new after every round, with the number of tasks done so far, and meanwhile, whenever a `pause` has
/// passed, nothing new.
pub fn improve<const W: usize>(
    terms: &Terms<W>,
    given: &[EssentialGraph<W>],
    effort: &Effort<W>,
    gains_bytes: usize,
    pause: Duration,
    stop: &Stop,
    mut take: impl FnMut(&[Found<W>], usize) -> bool,
) {
    let mut workers: Vec<Gains<'_, W>> =
        (0..effort.threads.max(1)).map(|_| Gains::new(terms, gains_bytes / effort.threads.max(1))).collect();
    let mut pool =
        Pool { terms, effort, found: Vec::new(), known: HashSet::default(), ranking: Vec::new(), done: 0 };
    for graph in given {
        let score = workers[0].score(graph);
        pool.add(Found { graph: graph.clone(), score, origin: Origin::Given, task: 0 });
    }
    let mut seen = pool.found.len();
    let mut plan = Plan::default();
    while pool.done < effort.tasks && !pool.found.is_empty() {
        let mut tasks = plan.next(&pool);
        tasks.truncate(effort.tasks - pool.done);
        pool.work(&mut workers, &tasks, pause, stop, |done| take(&[], done));
        if !take(&pool.found[seen..], pool.done) || stop.is_raised() {
            return;
        }
        seen = pool.found.len();
    }
}

impl<const W: usize> Pool<'_, W> {
    /// Adds a model if it is new and among the best; what is given is always added.
    fn add(&mut self, found: Found<W>) {
        let level = self.terms.level(found.score);
        let rank = self.ranking.partition_point(|&i| self.terms.level(self.found[i].score) >= level);
        if rank >= PARTNERS && found.origin != Origin::Given {
            return;
        }
        if self.known.insert(found.graph.key()) {
            self.ranking.insert(rank, self.found.len());
            self.ranking.truncate(PARTNERS);
            self.found.push(found);
        }
    }

    /// Does the tasks and adds what they found, in the order of the tasks. Whenever a `pause` has
    /// passed, `go_on` hears how many are done; if it says no, that is the end.
    fn work(
        &mut self,
        workers: &mut [Gains<'_, W>],
        tasks: &[Origin],
        pause: Duration,
        stop: &Stop,
        mut go_on: impl FnMut(usize) -> bool,
    ) {
        let (pool, first) = (&*self, self.done);
        let task = |gains: &mut Gains<'_, W>, at: usize| pool.task(gains, tasks[at], first + at, stop);
        let (results, _) = share_out(workers, tasks.len(), stop, task, pause, |done| {
            if !go_on(first + done) {
                stop.raise();
            }
        });
        for found in results.into_iter().map_while(|result| result) {
            self.done += 1;
            found.into_iter().for_each(|found| self.add(found));
        }
    }

    /// Does one task.
    fn task(
        &self,
        gains: &mut Gains<'_, W>,
        task: Origin,
        number: usize,
        stop: &Stop,
    ) -> Result<Option<Found<W>>, Stopped> {
        let Effort { max_parents, ref knowledge, .. } = *self.effort;
        let mut stream = Stream::of_task(self.effort.seed, number as u64);
        let mut refinement =
            Refinement { gains, max_parents, knowledge: knowledge.as_ref(), stream: &mut stream, stop };
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
                let other = self.perturbed(start, refinement.stream);
                let climbed = refinement.climb(other, GREEDINESS)?;
                match self.cross(&mut refinement, start, &climbed) {
                    Some(child) => refinement.climb(child, 1.0)?,
                    None => climbed,
                }
            }
        };
        let score = refinement.gains.score(&graph);
        Ok(Some(Found { graph, score, origin: task, task: number }))
    }

    /// The child of two models, unless it is nothing new. Every node has its parents from one or the
    /// other, so a limit on parents that both keep is kept.
    fn cross(
        &self,
        refinement: &mut Refinement<'_, '_, W>,
        a: &EssentialGraph<W>,
        b: &EssentialGraph<W>,
    ) -> Option<EssentialGraph<W>> {
        let child =
            recombine(self.terms, &mut *refinement.gains.worker, a, b, self.effort.knowledge.as_deref())?;
        child.order().map(|order| EssentialGraph::from_dag(&child, &order))
    }

    /// The model of a DAG of the class in which some arcs were taken out: from two to about as many as
    /// there are nodes, or all of them. Now and then two or three are put into one node instead: some
    /// dependences show only when several parents come at once, and nothing that is taken out leads
    /// there. With the DAG, what comes of it is admissible.
    fn perturbed(&self, graph: &EssentialGraph<W>, stream: &mut Stream) -> EssentialGraph<W> {
        let mut dag = admissible_dag(graph, self.effort.knowledge.as_deref());
        let order = dag.order().unwrap_or_else(|| unreachable!("an extension is acyclic"));
        if stream.below(INSERTING) == 0 {
            let at = stream.below(order.len());
            for _ in 0..2 + stream.below(2) {
                let (from, to) = (order[stream.below(at + 1)], order[at]);
                if from != to && self.may_insert(from, to, dag.parents[to].len()) {
                    dag.parents[to].insert(from);
                }
            }
        } else {
            let mut arcs = dag.arcs();
            if let Some(known) = &self.effort.knowledge {
                arcs.retain(|&(from, to)| !known.required(to).contains(from));
            }
            let number = 2 + stream.below(order.len() + 1);
            for _ in 0..number.min(arcs.len()) {
                let (from, to) = arcs.swap_remove(stream.below(arcs.len()));
                dag.parents[to].remove(from);
            }
        }
        EssentialGraph::from_dag(&dag, &order)
    }

    /// May a perturbation insert this arc into a node with so many parents? An edge to a constant gains
    /// and costs nothing, so the climb would leave it.
    fn may_insert(&self, from: usize, to: usize, parents: usize) -> bool {
        let evaluator = self.terms.evaluator();
        evaluator.varies(from)
            && evaluator.varies(to)
            && self.effort.max_parents.is_none_or(|most| parents < most)
            && self.effort.knowledge.as_ref().is_none_or(|known| !known.forbidden(to).contains(from))
    }
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
        let best = pool.ranking[0];
        if self.best != Some(best) {
            self.best = Some(best);
            self.partners = 0;
        }
        // What was perturbed from the best model has been recombined with it already.
        let partners: Vec<Origin> = (pool.ranking.iter())
            .filter(|&&i| i >= self.partners && i != best && pool.found[i].origin != Origin::Perturbed(best))
            .map(|&i| Origin::Recombined(best, i))
            .collect();
        self.partners = pool.found.len();
        if !partners.is_empty() {
            return partners;
        }
        let wanted = if self.refined.is_empty() { REFINED } else { 1 };
        let fresh: Vec<usize> =
            pool.ranking.iter().copied().take(wanted).filter(|i| !self.refined.contains(i)).collect();
        if !fresh.is_empty() {
            self.refined.extend(&fresh);
            return fresh.into_iter().map(Origin::Refined).collect();
        }
        vec![Origin::Perturbed(best); ROUND]
    }
}
