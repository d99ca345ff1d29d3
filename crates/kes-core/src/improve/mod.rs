//! Improve on single runs: recombine, refine, perturb, reorder, and climb again.
//!
//! A pool of models, at first the optima of the runs, is worked on in rounds. Each round is a list of
//! tasks that do not depend on each other; threads share them out, and what they find joins the pool in
//! the order of the tasks. So the result depends on pool, seed and number of tasks only. Of a round
//! that is stopped, the tasks up to the first unfinished one count: stopped after `p` tasks, the result
//! is the same as if `p` had been asked for.
//!
//! Under knowledge all models are admissible: children and perturbations are made of admissible DAGs, and
//! climbing stays among admissible models. Orders are not searched then, as they ignore knowledge.

pub mod check;
pub mod climber;
pub mod families;
pub mod orders;
mod plan;
pub mod recombine;
pub mod refine;

use std::sync::Arc;
use std::time::Duration;

use crate::graph::mpdag::admissible_dag;
use crate::graph::{Dag, EssentialGraph, Knowledge};
use crate::improve::climber::Climber;
use crate::improve::families::{Candidates, Family};
use crate::improve::orders::Ordering;
use crate::improve::plan::{Plan, Task};
use crate::improve::recombine::recombine;
use crate::rng::Stream;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::threads::share_out;
use crate::varset::VarSet;

/// Number of best models that are kept to be recombined; fewer where they would take more memory than this. A
/// model that is not among them when it is found is dropped, and one that no longer is, once it was handed
/// over: memory stays bounded however long the work.
const KEPT: usize = 200;
const KEPT_AT_LEAST: usize = 30;
const KEPT_BYTES: usize = 1 << 28;
/// One perturbation in this many inserts arcs instead of deleting some.
const INSERTING: usize = 8;
/// Greediness of the climb after a perturbation: far less than 1, so that it need not lead straight back.
const GREEDINESS: f64 = 0.3;
/// Number of rounds of searching for new families near those in use, and of families for each variable.
const EXTENSIONS: usize = 3;
const EXTENDED: usize = 20;

/// The origin of a model; numbers are places in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is one of the initial models.
    Given,
    /// It was climbed to from a child of two models.
    Recombined(usize, usize),
    /// It was reached by turning and delete-and-block.
    Refined(usize),
    /// Some edges were taken out or put in, and the search climbed again.
    Perturbed(usize),
    /// Its variables were put into a better order, and the search climbed from the best network for that.
    Ordered(usize),
}

/// A model of the pool.
#[derive(Clone, Debug)]
pub struct Found<const W: usize> {
    /// Its essential graph.
    pub graph: EssentialGraph<W>,
    /// Its score.
    pub score: f64,
    /// Its origin.
    pub origin: Origin,
    /// The number of the task that found it, from 0; meaningless for initial models.
    pub task: usize,
}

/// Limits of the work, and how to do it.
#[derive(Clone, Debug)]
pub struct Effort<const W: usize> {
    /// Maximum number of tasks (recombinations, refinements, perturbations).
    pub tasks: usize,
    /// With the number of the task, selects its random stream.
    pub seed: u64,
    /// No node may have more parents.
    pub max_parents: Option<usize>,
    /// Background knowledge, if there is any.
    pub knowledge: Option<Arc<Knowledge<W>>>,
    /// Number of threads.
    pub threads: usize,
}

/// The pool and what works on it.
struct Pool<'a, const W: usize> {
    terms: &'a Terms<W>,
    effort: &'a Effort<W>,
    found: Vec<Found<W>>,
    /// Places of the best models, best first; of equal levels the earlier.
    ranking: Vec<usize>,
    /// Places of those that are not among them any more.
    dropped: Vec<usize>,
    /// Good families of every variable, once an order was searched.
    families: Vec<Vec<Family<W>>>,
    /// Tasks done.
    done: usize,
}

/// A result, unless the work was stopped.
type Result<T> = std::result::Result<T, Stopped>;

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
    let threads = effort.threads.max(1);
    let climber =
        |_| Climber::new(terms, gains_bytes / threads, effort.max_parents, effort.knowledge.clone());
    let mut climbers: Vec<Climber<'_, W>> = (0..threads).map(climber).collect();
    let mut pool = Pool {
        terms,
        effort,
        found: Vec::new(),
        ranking: Vec::new(),
        dropped: Vec::new(),
        families: Vec::new(),
        done: 0,
    };
    for graph in given {
        if stop.is_raised() {
            return;
        }
        let score = climbers[0].gains.score(graph);
        pool.add(Found { graph: graph.clone(), score, origin: Origin::Given, task: 0 });
    }
    let mut seen = pool.found.len();
    let mut plan = Plan::default();
    while pool.done < effort.tasks && !pool.found.is_empty() {
        let mut tasks = plan.next(&pool);
        tasks.truncate(effort.tasks - pool.done);
        pool.work(&mut climbers, &tasks, pause, stop, |done| take(&[], done));
        if !take(&pool.found[seen..], pool.done) || stop.is_raised() {
            return;
        }
        pool.forget();
        seen = pool.found.len();
    }
}

impl<const W: usize> Pool<'_, W> {
    /// The number of models kept.
    fn room(&self) -> usize {
        let n = self.terms.variables();
        (KEPT_BYTES / (4 * n * size_of::<VarSet<W>>()).max(1)).clamp(KEPT_AT_LEAST, KEPT)
    }

    /// Adds a model if it is new and among the best; what is given is always added.
    fn add(&mut self, found: Found<W>) {
        let level = |found: &Found<W>| self.terms.level(found.score);
        let own = level(&found);
        let rank = self.ranking.partition_point(|&i| level(&self.found[i]) >= own);
        let mut tied = self.ranking[..rank].iter().rev().take_while(|&&i| level(&self.found[i]) == own);
        if tied.any(|&i| self.found[i].graph == found.graph) {
            return;
        }
        if rank < self.room() || found.origin == Origin::Given {
            self.ranking.insert(rank, self.found.len());
            self.found.push(found);
            self.dropped.extend(self.ranking.drain(self.room().min(self.ranking.len())..));
        }
    }

    /// Drops the graphs of models that no task will use.
    fn forget(&mut self) {
        self.dropped.drain(..).for_each(|i| self.found[i].graph = EssentialGraph::empty(0));
    }

    /// Does the tasks and adds their models, in the order of the tasks. Whenever a `pause` has passed,
    /// `go_on` gets the number of tasks done; if it returns false, the work ends.
    fn work(
        &mut self,
        climbers: &mut [Climber<'_, W>],
        tasks: &[Task],
        pause: Duration,
        stop: &Stop,
        mut go_on: impl FnMut(usize) -> bool,
    ) {
        let first = self.done;
        let mut meanwhile = |done| {
            if !go_on(first + done) {
                stop.raise();
            }
        };
        let results = match tasks {
            &[Task::Order(a)] => {
                vec![self.order(climbers, a, first, pause, stop, || meanwhile(0)).ok()]
            }
            _ => {
                let pool = &*self;
                let task =
                    |climber: &mut Climber<'_, W>, at: usize| pool.task(climber, tasks[at], first + at, stop);
                share_out(climbers, tasks.len(), stop, task, pause, &mut meanwhile).0
            }
        };
        for found in results.into_iter().map_while(|result| result) {
            self.done += 1;
            found.into_iter().for_each(|found| self.add(found));
        }
    }

    /// Does one task.
    fn task(
        &self,
        climber: &mut Climber<'_, W>,
        task: Task,
        number: usize,
        stop: &Stop,
    ) -> Result<Option<Found<W>>> {
        let stream = &mut Stream::of_task(self.effort.seed, number as u64);
        let graph = match task {
            Task::Recombine(a, b) => match self.cross(climber, &self.found[a].graph, &self.found[b].graph) {
                Some(child) => climber.climb(child, 1.0, stream, stop)?,
                None => return Ok(None),
            },
            Task::Refine(a, slice) => climber.refine(&self.found[a].graph, slice, stream, stop)?,
            Task::Perturb(a) => {
                let start = &self.found[a].graph;
                let other = self.perturbed(start, stream);
                let climbed = climber.climb(other, GREEDINESS, stream, stop)?;
                match self.cross(climber, start, &climbed) {
                    Some(child) => climber.climb(child, 1.0, stream, stop)?,
                    None => climbed,
                }
            }
            Task::Order(_) => return Ok(None), // done by all threads together
        };
        let score = climber.gains.score(&graph);
        Ok(Some(Found { graph, score, origin: task.origin(), task: number }))
    }

    /// The child of two models, unless it equals one of them. Every node has its parents from one or the
    /// other, so a limit on parents that both keep is kept.
    fn cross(
        &self,
        climber: &mut Climber<'_, W>,
        a: &EssentialGraph<W>,
        b: &EssentialGraph<W>,
    ) -> Option<Dag<W>> {
        recombine(self.terms, &mut *climber.gains.worker, a, b, self.effort.knowledge.as_deref())
    }

    /// Searches for a better order, from that of a model, with all threads; see [`orders`]. The calling
    /// thread waits, and calls `meanwhile`.
    fn order(
        &mut self,
        climbers: &mut [Climber<'_, W>],
        place: usize,
        number: usize,
        pause: Duration,
        stop: &Stop,
        mut meanwhile: impl FnMut(),
    ) -> Result<Option<Found<W>>> {
        if self.families.is_empty() {
            self.families =
                self.for_all(climbers, pause, stop, &mut meanwhile, |candidates| candidates.find())?;
        }
        let models: Vec<Dag<W>> = self.ranking.iter().map(|&i| self.found[i].graph.extension()).collect();
        let known = std::mem::take(&mut self.families);
        self.families = self.for_all(climbers, pause, stop, &mut meanwhile, |candidates| {
            let list = known[candidates.y].clone();
            candidates.with(list, &models)
        })?;
        let start = self.found[place].graph.extension();
        let order = start.order().unwrap_or_else(|| unreachable!("an extension is acyclic"));
        let families = std::mem::take(&mut self.families);
        let mut ordering = Ordering::new(families, order, self.terms.tolerance());
        let mut stream = Stream::of_task(self.effort.seed, number as u64);
        for round in 0..=EXTENSIONS {
            if round > 0 && !self.extend(&mut ordering, climbers, pause, stop, &mut meanwhile)? {
                break;
            }
            let mut state = [(&mut ordering, &mut stream)];
            let settle = |state: &mut (&mut Ordering<W>, &mut Stream), _| state.0.settle(state.1, stop);
            share_out(&mut state, 1, stop, settle, pause, |_| meanwhile()).1?;
        }
        let mut state = [(&mut climbers[0], &mut stream)];
        let climb = |state: &mut (&mut Climber<'_, W>, &mut Stream), _| {
            let graph = state.0.climb(ordering.dag(), 1.0, state.1, stop)?;
            let score = state.0.gains.score(&graph);
            Ok(Found { graph, score, origin: Origin::Ordered(place), task: number })
        };
        let (mut found, end) = share_out(&mut state, 1, stop, climb, pause, |_| meanwhile());
        self.families = ordering.into_families();
        end.map(|()| found.pop().flatten())
    }

    /// Adds families near those in use, and returns whether a variable has a better one now.
    fn extend(
        &self,
        ordering: &mut Ordering<W>,
        climbers: &mut [Climber<'_, W>],
        pause: Duration,
        stop: &Stop,
        meanwhile: impl FnMut(),
    ) -> Result<bool> {
        let in_use = ordering.in_use();
        let new = self.for_all(climbers, pause, stop, meanwhile, |candidates| {
            let (family, before) = in_use[candidates.y];
            let allowed = candidates.allowed & before;
            let mut found = Candidates { allowed, ..candidates }.around(family)?;
            found.truncate(EXTENDED);
            Ok(found)
        })?;
        Ok(ordering.add(new))
    }

    /// Families for every variable, found by all threads.
    fn for_all(
        &self,
        climbers: &mut [Climber<'_, W>],
        pause: Duration,
        stop: &Stop,
        mut meanwhile: impl FnMut(),
        find: impl Fn(Candidates<'_, '_, W>) -> Result<Vec<Family<W>>> + Sync,
    ) -> Result<Vec<Vec<Family<W>>>> {
        let (terms, most) = (self.terms, self.effort.max_parents.unwrap_or(usize::MAX));
        let n = terms.variables();
        let varying: VarSet<W> = (0..n).filter(|&v| terms.function().varies(v)).collect();
        let find = |climber: &mut Climber<'_, W>, y: usize| {
            let worker = &mut *climber.gains.worker;
            let allowed = if varying.contains(y) { varying.without(y) } else { VarSet::EMPTY };
            find(Candidates { terms, worker, y, allowed, most, stop })
        };
        let (results, end) = share_out(climbers, n, stop, find, pause, |_| meanwhile());
        end.map(|()| results.into_iter().flatten().collect())
    }

    /// An admissible DAG of the class in which some arcs were taken out: from two to about as many as
    /// there are nodes, or all of them. Now and then two or three are put into one node instead: some
    /// dependences show only when several parents come at once, and nothing that is taken out leads
    /// there. Knowledge is respected: the result is admissible.
    fn perturbed(&self, graph: &EssentialGraph<W>, stream: &mut Stream) -> Dag<W> {
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
        dag
    }

    /// May a perturbation insert this arc into a node with this many parents? An edge to a constant gains
    /// and costs nothing, so the climb would leave it.
    fn may_insert(&self, from: usize, to: usize, parents: usize) -> bool {
        let function = self.terms.function();
        function.varies(from)
            && function.varies(to)
            && self.effort.max_parents.is_none_or(|most| parents < most)
            && self.effort.knowledge.as_ref().is_none_or(|known| !known.forbidden(to).contains(from))
    }
}
