//! Two engines on one table: greedy searches go over lists, all else over sets of bits.
//!
//! Above a thousand variables a search by lists takes a fraction of the time, and its results are the same to the bit.
//! Improving, proofs and posteriors need sets of bits; what these remember is made when it is first asked for.

use std::sync::OnceLock;
use std::time::Duration;

use super::{Batch, Constraints, Engine, Graph, ImproveOptions, Improved, Move, OnBits, SearchOptions, Step};
use crate::Error;
use crate::stop::Stop;

/// Makes the engine on sets of bits.
type Make = Box<dyn Fn(&Stop) -> Result<Box<dyn OnBits>, Error> + Send + Sync>;

/// An engine on lists, and one on sets of bits that is made when it is first needed.
pub struct Two {
    lists: Box<dyn Engine>,
    bits: OnceLock<Box<dyn OnBits>>,
    make: Make,
}

impl Two {
    /// The two engines, which must be on the same table.
    pub fn boxed(
        lists: Box<dyn Engine>,
        make: impl Fn(&Stop) -> Result<Box<dyn OnBits>, Error> + Send + Sync + 'static,
    ) -> Box<dyn Engine> {
        Box::new(Self { lists, bits: OnceLock::new(), make: Box::new(make) })
    }

    fn for_search(&self, options: &SearchOptions, stop: &Stop) -> Result<&dyn Engine, Error> {
        if options.sampling.is_none() {
            return Ok(&*self.lists);
        }
        Ok(self.bits("the sampled neighbourhood", stop)?)
    }
}

impl Engine for Two {
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error> {
        self.lists.score(arcs)
    }

    fn delta(&self, step: &Move) -> Result<f64, Error> {
        self.lists.delta(step)
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
        self.bits("improving", stop)?.improve(graphs, options, pause, stop, take)
    }

    fn varying(&self) -> Vec<usize> {
        self.lists.varying()
    }

    fn tolerance(&self) -> f64 {
        self.lists.tolerance()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        let of_bits = self.bits.get().and_then(|bits| bits.dependent());
        let found = self.lists.dependent().into_iter().chain(of_bits);
        found.min_by_key(|set| (set.len(), set.clone()))
    }

    fn cached(&self) -> usize {
        self.bits.get().map_or(0, |bits| bits.cached())
    }

    fn bits(&self, _: &str, stop: &Stop) -> Result<&dyn OnBits, Error> {
        if let Some(bits) = self.bits.get() {
            return Ok(&**bits);
        }
        let made = (self.make)(stop)?;
        Ok(&**self.bits.get_or_init(|| made)) // another thread may have been faster
    }
}
