//! The engine for sets of one width.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::plain::{self, Constraints, Graph, Move, Statements};
use super::{
    Additions, Batch, Engine, Families, ImproveOptions, Improved, OnBits, SearchOptions, Step, posterior,
};
use crate::Error;
use crate::boundary::Model;
use crate::exact::{Failure, Limits, credible, families};
use crate::gains::{Gains, RowStore};
use crate::graph::{EssentialGraph, Knowledge, Mpdag};
use crate::improve::check::local_optima;
use crate::improve::{self, Effort};
use crate::order;
use crate::posterior::{self as over_models, Exact, Prior, chain, enumerate};
use crate::runs;
use crate::score::prior::Weighted;
use crate::score::set_function::SetFunction;
use crate::score::terms::{self, Terms};
use crate::search::Settings;
use crate::stop::Stop;

/// The engine for one width: the terms of its set function, and the rows of gains of its last search.
pub(super) struct ForWidth<const W: usize> {
    terms: Terms<W>,
    rows: RowStore<W>,
}

impl<const W: usize> ForWidth<W> {
    /// Three quarters of the memory are for terms, a quarter for the rows of gains of a search.
    pub(super) fn boxed(
        function: impl SetFunction<W> + 'static,
        additions: Option<&Additions>,
        bytes: usize,
    ) -> Box<dyn OnBits> {
        let terms = match additions {
            None => Terms::new(function, bytes / 4 * 3),
            Some((common, pairs, exogenous)) => {
                Terms::new(Weighted::new(function, *common, pairs, exogenous), bytes / 4 * 3)
            }
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
            take(batch.map(plain::graph))
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

    fn bits(&self, _: &str, _: &Stop) -> Result<&dyn OnBits, Error> {
        Ok(self)
    }
}

impl<const W: usize> OnBits for ForWidth<W> {
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
        order::sort_by(&mut valued, |&(_, a), &(_, b)| level(b).total_cmp(&level(a)));
        Ok(valued.into_iter().map(|(neighbour, delta)| (neighbour.into(), delta)).collect())
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
}
