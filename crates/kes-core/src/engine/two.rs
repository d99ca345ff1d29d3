//! Two engines on one table: greedy searches go over lists, all else over sets of bits.
//!
//! Above a thousand variables a search by lists takes a fraction of the time, and its results are the same to the bit.
//! Improving, proofs and posteriors need sets of bits; what these remember is made when it is first asked for.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::{
    Batch, Constraints, Engine, Families, Graph, ImproveOptions, Improved, Move, SearchOptions, Statements,
    Step, posterior,
};
use crate::Error;
use crate::exact::{Failure, Limits};
use crate::posterior::{Exact, Prior, chain};
use crate::stop::Stop;

/// Makes the engine on sets of bits.
type Make = Box<dyn Fn(&Stop) -> Result<Box<dyn Engine>, Error> + Send + Sync>;

/// An engine on lists, and one on sets of bits that is made when it is first needed.
pub struct Two {
    lists: Box<dyn Engine>,
    bits: OnceLock<Box<dyn Engine>>,
    make: Make,
}

impl Two {
    /// The two engines, which must be on the same table.
    pub fn boxed(
        lists: Box<dyn Engine>,
        make: impl Fn(&Stop) -> Result<Box<dyn Engine>, Error> + Send + Sync + 'static,
    ) -> Box<dyn Engine> {
        Box::new(Self { lists, bits: OnceLock::new(), make: Box::new(make) })
    }

    fn bits(&self, stop: &Stop) -> Result<&dyn Engine, Error> {
        if self.bits.get().is_none() {
            let made = (self.make)(stop)?;
            let _ = self.bits.set(made); // unless another thread has
        }
        Ok(self.bits.get().map_or(&*self.lists, |bits| &**bits))
    }

    fn for_search(&self, options: &SearchOptions, stop: &Stop) -> Result<&dyn Engine, Error> {
        if options.sampling.is_some() { self.bits(stop) } else { Ok(&*self.lists) }
    }
}

impl Engine for Two {
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error> {
        self.lists.score(arcs)
    }

    fn delta(&self, step: &Move) -> Result<f64, Error> {
        self.lists.delta(step)
    }

    fn boundary(
        &self,
        graph: &Graph,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<Vec<(Move, f64)>, Error> {
        self.bits(stop)?.boundary(graph, constraints, stop)
    }

    fn local_optima(
        &self,
        graphs: &[Graph],
        constraints: &Constraints,
        threads: usize,
        stop: &Stop,
    ) -> Result<Vec<bool>, Error> {
        self.lists.local_optima(graphs, constraints, threads, stop)
    }

    fn trace(&self, run: u64, options: &SearchOptions, stop: &Stop) -> Result<(Vec<Step>, Graph), Error> {
        self.for_search(options, stop)?.trace(run, options, stop)
    }

    fn search(
        &self,
        runs: &[u64],
        options: &SearchOptions,
        threads: usize,
        pause: Duration,
        take: &mut dyn FnMut(Batch) -> bool,
    ) -> Result<(), Error> {
        self.for_search(options, &Stop::default())?.search(runs, options, threads, pause, take)
    }

    fn improve(
        &self,
        graphs: &[Graph],
        options: &ImproveOptions,
        pause: Duration,
        stop: &Stop,
        take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
    ) -> Result<(), Error> {
        self.bits(stop)?.improve(graphs, options, pause, stop, take)
    }

    fn families(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Box<dyn Families>, Error> {
        self.bits(stop)?.families(constraints, limits, stop, counted)
    }

    fn posterior(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Result<Exact, Failure>, Error> {
        self.bits(stop)?.posterior(constraints, limits, stop, counted)
    }

    fn enumerate(
        &self,
        prior: Prior,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<posterior::Everything, Error> {
        self.bits(stop)?.enumerate(prior, constraints, stop)
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
        self.bits(stop)?.credible(within, most, constraints, limits, stop, done)
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
        self.bits(stop)?.chains(starts, listed, options, knowledge, stop, done)
    }

    fn pilot(
        &self,
        start: &Graph,
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
    ) -> Result<f64, Error> {
        self.bits(stop)?.pilot(start, options, knowledge, stop)
    }

    fn varying(&self) -> Vec<usize> {
        self.lists.varying()
    }

    fn tolerance(&self) -> f64 {
        self.lists.tolerance()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        let found = [Some(&self.lists), self.bits.get()].into_iter().flatten();
        found.filter_map(|engine| engine.dependent()).min_by_key(|set| (set.len(), set.clone()))
    }

    fn cached(&self) -> usize {
        self.bits.get().map_or(0, |bits| bits.cached())
    }
}
