//! The engine for callers that do not know how wide the sets of a problem are.
//!
//! [`Engine`] and [`Families`] are implemented for every width of [`VarSet`](crate::varset::VarSet), and a width is
//! chosen once, by the number of variables. Variables, arcs and graphs are passed as plain lists (see [`plain`]).
//! Nothing here is generic for callers, so all widths are compiled with this crate.

pub mod exact;
pub mod graphs;
pub mod plain;
pub mod posterior;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

pub use exact::Families;
pub use plain::{Constraints, Edges, Graph, Move, Statements, check_number};

use crate::boundary::Model;
use crate::exact::{Failure, Limits, credible, families};
use crate::gains::{Gains, RowStore};
use crate::graph::{EssentialGraph, Knowledge, Mpdag};
use crate::improve::check::local_optima;
use crate::improve::{self, Effort, Origin};
use crate::posterior::{self as over_models, Exact, Prior, chain, enumerate};
use crate::runs;
use crate::sampled::Sampling;
use crate::score::excluded::Excluded;
use crate::score::prior::Weighted;
use crate::score::set_function::SetFunction;
use crate::score::terms::{self, Terms};
use crate::score::{discrete, gaussian, location};
use crate::search::Settings;
use crate::stop::Stop;
use crate::{Error, with_width};

/// Defines a search, apart from the data.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Greediness, from 0 (SES) to 1 (GES).
    pub k: f64,
    /// With the number of the run, selects the random stream.
    pub seed: u64,
    /// First insertions only, then deletions only.
    pub two_phase: bool,
    /// Where every run starts; by default at the smallest admissible model.
    pub start: Option<Graph>,
    /// How to sample the boundary instead of searching all of it.
    pub sampling: Option<Sampling>,
    /// What models have to satisfy.
    pub constraints: Constraints,
}

/// Defines the work of improving, apart from the data and the models.
#[derive(Clone, Debug)]
pub struct ImproveOptions {
    /// Number of tasks.
    pub tasks: usize,
    /// With the number of the task, selects the random stream.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// What models have to satisfy.
    pub constraints: Constraints,
}

/// A step of a run: the move, its gain, `|B|`, and the rank of the move in `B`, from 0.
#[derive(Clone, Debug)]
pub struct Step {
    /// The move.
    pub step: Move,
    /// Its gain.
    pub delta: f64,
    /// `|B|`.
    pub better: usize,
    /// Its rank in `B`, from 0.
    pub rank: usize,
}

/// A distinct model in which runs ended.
#[derive(Clone, Debug)]
pub struct End {
    /// The essential graph.
    pub graph: Graph,
    /// The score.
    pub score: f64,
    /// Whether no admissible neighbour scores higher.
    pub is_local_optimum: bool,
}

/// Results since the last batch: runs with the number of their end, and the ends that are new.
#[derive(Clone, Debug)]
pub struct Batch {
    /// `(run, number of its end)`.
    pub runs: Vec<(u64, usize)>,
    /// Ends in the order of their numbers, which go on from batch to batch.
    pub ends: Vec<End>,
    /// Steps of all runs so far.
    pub steps: usize,
    /// The model, with its score, that the earliest of the runs had reached that were stopped on their way.
    pub unfinished: Option<(Graph, f64)>,
}

/// A model found by improving.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The essential graph.
    pub graph: Graph,
    /// The score.
    pub score: f64,
    /// How it was found, and from which models.
    pub origin: Origin,
    /// The number of the task that found it.
    pub task: usize,
}

/// Searches on a set function.
pub trait Engine: Send + Sync {
    /// The score of a DAG.
    ///
    /// # Errors
    /// If the arcs are not those of a DAG.
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error>;

    /// The gain of a move.
    ///
    /// # Errors
    /// If it names an unknown variable, or one twice.
    fn delta(&self, step: &Move) -> Result<f64, Error>;

    /// All admissible neighbours of a model with their gains, best level first.
    ///
    /// # Errors
    /// If the graph is not essential or not admissible, or `stop` is raised.
    fn boundary(
        &self,
        graph: &Graph,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<Vec<(Move, f64)>, Error>;

    /// For each model, whether it is admissible and no admissible neighbour scores higher.
    ///
    /// # Errors
    /// If a graph is not essential, or `stop` is raised.
    fn local_optima(
        &self,
        graphs: &[Graph],
        constraints: &Constraints,
        threads: usize,
        stop: &Stop,
    ) -> Result<Vec<bool>, Error>;

    /// The steps of a run, and its end.
    ///
    /// # Errors
    /// If the options cannot be used, or `stop` is raised.
    fn trace(&self, run: u64, options: &SearchOptions, stop: &Stop) -> Result<(Vec<Step>, Graph), Error>;

    /// Does runs on threads; see [`runs::run_all`].
    ///
    /// # Errors
    /// If the options cannot be used.
    fn search(
        &self,
        runs: &[u64],
        options: &SearchOptions,
        threads: usize,
        pause: Duration,
        take: &mut dyn FnMut(Batch) -> bool,
    ) -> Result<(), Error>;

    /// Improves models; see [`improve::improve`].
    ///
    /// # Errors
    /// If the options cannot be used, or a graph is not essential or not admissible.
    fn improve(
        &self,
        graphs: &[Graph],
        options: &ImproveOptions,
        pause: Duration,
        stop: &Stop,
        take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
    ) -> Result<(), Error>;

    /// The families that can be part of a best network; see [`families::find`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn families(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Box<dyn Families>, Error>;

    /// Exact probabilities of arcs and ancestors; see [`over_models::exact`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn posterior(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Result<Exact, Failure>, Error>;

    /// Exact probabilities of everything, with few variables; see [`enumerate::enumerate`].
    ///
    /// # Errors
    /// If the constraints cannot be used, or `stop` is raised.
    fn enumerate(
        &self,
        prior: Prior,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<posterior::Everything, Error>;

    /// All admissible models close to the best, and whether these are all; see [`credible::credible`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn credible(
        &self,
        within: f64,
        most: usize,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Result<posterior::Models, Failure>, Error>;

    /// Chains over models; see [`chain::chains`]. A chain has a start for each temperature.
    ///
    /// # Errors
    /// If the constraints cannot be used, a graph is not essential or not admissible, or `stop` is raised.
    fn chains(
        &self,
        starts: &[Vec<Graph>],
        listed: &[Graph],
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Vec<posterior::Found>, Error>;

    /// A good duration of the rounds of chains; see [`chain::pilot`].
    ///
    /// # Errors
    /// As [`Engine::chains`].
    fn pilot(
        &self,
        start: &Graph,
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
    ) -> Result<f64, Error>;

    /// The variables that are not constant.
    fn varying(&self) -> Vec<usize>;

    /// `τ`; see [`Terms::tolerance`].
    fn tolerance(&self) -> f64;

    /// The smallest set met so far in which some variables determine others linearly.
    fn dependent(&self) -> Option<Vec<usize>>;

    /// Number of terms in the cache.
    fn cached(&self) -> usize;
}

/// A prior over adjacencies: the weight of every pair of variables, and further weights of some.
pub type PairWeights = (f64, Vec<(usize, usize, f64)>);

/// A table under one criterion.
pub trait Table:
    SetFunction<1> + SetFunction<4> + SetFunction<12> + SetFunction<17> + SetFunction<64>
{
    /// `N`, the sum of the weights.
    fn total(&self) -> f64;

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    fn fingerprint(&self) -> u128;

    /// The pairs of variables that no model joins.
    fn excluded(&self) -> Vec<Excluded> {
        Vec::new()
    }
}

impl Table for discrete::Table {
    fn total(&self) -> f64 {
        self.data().total()
    }

    fn fingerprint(&self) -> u128 {
        self.data().fingerprint()
    }
}

impl Table for gaussian::Table {
    fn total(&self) -> f64 {
        self.moments().total
    }

    fn fingerprint(&self) -> u128 {
        self.moments().fingerprint
    }

    fn excluded(&self) -> Vec<Excluded> {
        gaussian::Table::excluded(self)
    }
}

impl Table for location::Table {
    fn total(&self) -> f64 {
        location::Table::total(self)
    }

    fn fingerprint(&self) -> u128 {
        location::Table::fingerprint(self)
    }

    fn excluded(&self) -> Vec<Excluded> {
        location::Table::excluded(self)
    }
}

/// The engine on a table, with about `bytes` of memory for what it remembers.
///
/// # Errors
/// If there are too many variables.
pub fn on(
    table: impl Table + 'static,
    prior: Option<&PairWeights>,
    bytes: usize,
) -> Result<Box<dyn Engine>, Error> {
    let n = plain::check_number(SetFunction::<1>::variables(&table))?;
    with_width!(n, W => Ok(ForWidth::<W>::boxed(table, prior, bytes)))
}

/// The engine for one width: the terms of its set function, and the rows of gains of its last search.
struct ForWidth<const W: usize> {
    terms: Terms<W>,
    rows: RowStore<W>,
}

impl<const W: usize> ForWidth<W> {
    /// Three quarters of the memory are for terms, a quarter for the rows of gains of a search.
    fn boxed(
        function: impl SetFunction<W> + 'static,
        prior: Option<&PairWeights>,
        bytes: usize,
    ) -> Box<dyn Engine> {
        let terms = match prior {
            None => Terms::new(function, bytes / 4 * 3),
            Some((common, pairs)) => Terms::new(Weighted::new(function, *common, pairs), bytes / 4 * 3),
        };
        Box::new(Self { terms, rows: RowStore::new(bytes / 4) })
    }

    fn variables(&self) -> usize {
        self.terms.variables()
    }

    /// A graph that is essential and admissible.
    fn admissible(
        &self,
        graph: &Graph,
        knowledge: Option<&Knowledge<W>>,
    ) -> Result<EssentialGraph<W>, Error> {
        let graph = plain::essential(self.variables(), graph)?;
        knowledge.map(|known| Mpdag::new(&graph, known)).transpose()?;
        Ok(graph)
    }

    /// The knowledge for chains.
    fn known(
        &self,
        options: &chain::Options,
        knowledge: Option<&Statements>,
    ) -> Result<Option<Arc<Knowledge<W>>>, Error> {
        let constraints = Constraints { max_parents: options.max_parents, knowledge: knowledge.cloned() };
        constraints.estimable(&self.terms)
    }

    fn settings(&self, options: &SearchOptions) -> Result<Settings<W>, Error> {
        let SearchOptions { k, seed, two_phase, ref start, sampling, ref constraints } = *options;
        let knowledge = constraints.estimable(&self.terms)?;
        let start = plain::model(self.variables(), start.as_ref(), knowledge.as_ref())?;
        Ok(Settings { k, seed, max_parents: constraints.max_parents, two_phase, start, sampling })
    }
}

impl<const W: usize> Engine for ForWidth<W> {
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error> {
        let (dag, _) = plain::dag(self.variables(), arcs)?;
        Ok(self.terms.score(&mut *self.terms.worker(), &dag))
    }

    fn delta(&self, step: &Move) -> Result<f64, Error> {
        let neighbour = step.neighbour(self.variables())?;
        Ok(self.terms.delta(&mut *self.terms.worker(), &neighbour))
    }

    fn boundary(
        &self,
        graph: &Graph,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<Vec<(Move, f64)>, Error> {
        let n = self.variables();
        let model = Model::under(plain::essential(n, graph)?, constraints.knowledge(n)?.as_ref())?;
        let neighbours = model.boundary_until(constraints.max_parents, stop)?;
        let deltas = self.terms.deltas(&mut *self.terms.worker(), &neighbours, stop)?;
        let mut valued: Vec<_> = neighbours.iter().zip(deltas).collect();
        // By level, not by value: the order of tied gains would depend on rounding.
        let level = |delta: f64| terms::level(delta, self.terms.tolerance());
        valued.sort_by(|&(_, a), &(_, b)| level(b).total_cmp(&level(a)));
        Ok(valued.into_iter().map(|(neighbour, delta)| (neighbour.into(), delta)).collect())
    }

    fn local_optima(
        &self,
        graphs: &[Graph],
        constraints: &Constraints,
        threads: usize,
        stop: &Stop,
    ) -> Result<Vec<bool>, Error> {
        let n = self.variables();
        let knowledge = constraints.knowledge(n)?;
        let graphs: Vec<_> =
            graphs.iter().map(|graph| plain::essential(n, graph)).collect::<Result<_, _>>()?;
        let (known, max_parents) = (knowledge.as_ref(), constraints.max_parents);
        Ok(local_optima(&self.terms, &graphs, known, max_parents, threads, self.rows.limit, stop)?)
    }

    fn trace(&self, run: u64, options: &SearchOptions, stop: &Stop) -> Result<(Vec<Step>, Graph), Error> {
        let settings = self.settings(options)?;
        let mut gains = Gains::new(&self.terms, self.rows.limit);
        let (steps, end) = runs::trace(&mut gains, &settings, run, stop)?;
        let step = |step: &crate::search::Step<W>| Step {
            step: (&step.neighbour).into(),
            delta: step.delta,
            better: step.better,
            rank: step.rank,
        };
        Ok((steps.iter().map(step).collect(), plain::graph(&end)))
    }

    fn search(
        &self,
        runs: &[u64],
        options: &SearchOptions,
        threads: usize,
        pause: Duration,
        take: &mut dyn FnMut(Batch) -> bool,
    ) -> Result<(), Error> {
        let settings = self.settings(options)?;
        runs::run_all(&self.terms, &settings, runs, threads, &self.rows, pause, |batch| {
            let end = |end: runs::End<W>| End {
                graph: plain::graph(&end.graph),
                score: end.score,
                is_local_optimum: end.is_local_optimum,
            };
            take(Batch {
                runs: batch.runs,
                ends: batch.ends.into_iter().map(end).collect(),
                steps: batch.steps,
                unfinished: batch.unfinished.map(|one| (plain::graph(&one.graph), one.score)),
            })
        });
        Ok(())
    }

    fn improve(
        &self,
        graphs: &[Graph],
        options: &ImproveOptions,
        pause: Duration,
        stop: &Stop,
        take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
    ) -> Result<(), Error> {
        let ImproveOptions { tasks, seed, threads, ref constraints } = *options;
        let knowledge = constraints.estimable(&self.terms)?;
        let admissible = |graph| self.admissible(graph, knowledge.as_deref());
        let given: Vec<_> = graphs.iter().map(admissible).collect::<Result<_, _>>()?;
        let effort = Effort { tasks, seed, max_parents: constraints.max_parents, knowledge, threads };
        improve::improve(&self.terms, &given, &effort, self.rows.limit, pause, stop, |found, done| {
            let improved = |found: &improve::Found<W>| Improved {
                graph: plain::graph(&found.graph),
                score: found.score,
                origin: found.origin,
                task: found.task,
            };
            take(found.iter().map(improved).collect(), done)
        });
        Ok(())
    }

    fn families(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Box<dyn Families>, Error> {
        let known = constraints.estimable(&self.terms)?;
        let max_parents = constraints.max_parents;
        Ok(Box::new(families::find(&self.terms, max_parents, known.as_deref(), &limits, stop, counted)))
    }

    fn posterior(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Result<Exact, Failure>, Error> {
        let known = constraints.estimable(&self.terms)?;
        let max_parents = constraints.max_parents;
        Ok(over_models::exact(&self.terms, max_parents, known.as_deref(), &limits, stop, counted))
    }

    fn enumerate(
        &self,
        prior: Prior,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<posterior::Everything, Error> {
        let known = constraints.estimable(&self.terms)?;
        let max_parents = constraints.max_parents;
        let found = enumerate::enumerate(&self.terms, prior, max_parents, known.as_deref(), stop)?;
        Ok(found.into())
    }

    fn credible(
        &self,
        within: f64,
        most: usize,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Result<posterior::Models, Failure>, Error> {
        let known = constraints.estimable(&self.terms)?;
        let max_parents = constraints.max_parents;
        let found =
            credible::credible(&self.terms, within, most, max_parents, known.as_deref(), &limits, stop, done);
        let plain = |(graph, score): (EssentialGraph<W>, f64)| (plain::graph(&graph), score);
        Ok(found.map(|found| (found.models.into_iter().map(plain).collect(), found.complete)))
    }

    fn chains(
        &self,
        starts: &[Vec<Graph>],
        listed: &[Graph],
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Vec<posterior::Found>, Error> {
        let known = self.known(options, knowledge)?;
        let admissible = |graph: &Graph| self.admissible(graph, known.as_deref());
        let all = |graphs: &Vec<Graph>| graphs.iter().map(admissible).collect::<Result<Vec<_>, _>>();
        let starts = starts.iter().map(all).collect::<Result<Vec<_>, _>>()?;
        let listed = listed.iter().map(admissible).collect::<Result<Vec<_>, _>>()?;
        let found = chain::chains(&self.terms, &starts, &listed, options, known.as_ref(), stop, done)?;
        Ok(found.into_iter().map(posterior::Found::from).collect())
    }

    fn pilot(
        &self,
        start: &Graph,
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
    ) -> Result<f64, Error> {
        let known = self.known(options, knowledge)?;
        let start = self.admissible(start, known.as_deref())?;
        Ok(chain::pilot(&self.terms, &start, options, known.as_ref(), stop)?)
    }

    fn varying(&self) -> Vec<usize> {
        over_models::varying(&self.terms)
    }

    fn tolerance(&self) -> f64 {
        self.terms.tolerance()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.terms.function().dependent()
    }

    fn cached(&self) -> usize {
        self.terms.cached()
    }
}
