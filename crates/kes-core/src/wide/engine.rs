//! The engine for callers, on very many variables.

use std::sync::Arc;
use std::time::Duration;

use super::function::Function;
use super::gains::{Gains, Terms};
use super::graph::{Dag, Graph};
use super::improve::{self, Effort};
use super::knowledge::Knowledge;
use super::list::List;
use super::model::{Model, Neighbour};
use super::runs;
use super::search::{self, Settings};
use crate::Error;
use crate::engine::plain::check_arcs;
use crate::engine::{
    Additions, Batch, Constraints, Engine, Graph as Edges, ImproveOptions, Improved, Move, OnBits,
    SearchOptions, Step,
};
use crate::score::prior::Prior;
use crate::stop::Stop;
use crate::threads::map;
use crate::varset::MAX_VARIABLES;

/// The engine on a set function, with about `bytes` of memory for the rows of gains of a search.
pub fn on(function: Box<dyn Function>, additions: Option<&Additions>, bytes: usize) -> Box<dyn Engine> {
    let prior = additions.map(|(common, pairs, exogenous)| {
        let varying = (0..function.variables()).map(|v| function.varies(v)).collect();
        let mut worker = function.worker();
        let mut own = |&x: &usize| (x, worker.term(&[]) - worker.term(&[x as u32]));
        let own: Vec<_> = exogenous.iter().map(&mut own).collect();
        Prior::new(function.tolerance(), varying, *common, pairs, &own)
    });
    Box::new(Wide { terms: Terms::new(function, prior), bytes })
}

struct Wide {
    terms: Terms,
    bytes: usize,
}

impl Wide {
    fn variables(&self) -> usize {
        self.terms.variables()
    }

    /// The knowledge, if there is any. Required families must be allowed and have a score.
    fn knowledge(&self, constraints: &Constraints) -> Result<Option<Arc<Knowledge>>, Error> {
        let Some(statements) = &constraints.knowledge else { return Ok(None) };
        let n = self.variables();
        let known = Knowledge::new(n, statements)?;
        let max_parents = constraints.max_parents.unwrap_or(n);
        let mut worker = self.terms.function().worker();
        for y in (0..n as u32).filter(|&y| !known.required(y).is_empty()) {
            let variable = y as usize;
            let parents: Vec<usize> = known.required(y).iter().map(|&v| v as usize).collect();
            if parents.len() > max_parents {
                return Err(Error::TooManyRequired { variable, parents, max_parents });
            }
            if worker.term(&super::list::with(known.required(y), y)) == f64::NEG_INFINITY {
                return Err(Error::NotEstimable { variable, parents });
            }
        }
        Ok(Some(Arc::new(known)))
    }

    fn settings(&self, options: &SearchOptions) -> Result<Settings, Error> {
        let SearchOptions { k, seed, two_phase, ref start, sampling, ref constraints } = *options;
        if sampling.is_some() {
            self.bits("the sampled neighbourhood", &Stop::default())?;
        }
        let knowledge = self.knowledge(constraints)?;
        let graph = match (start, &knowledge) {
            (Some(graph), _) => Graph::from_edges(self.variables(), graph)?,
            (None, Some(known)) => known.start(),
            (None, None) => Graph::empty(self.variables()),
        };
        let start = Model::under(graph, knowledge.as_ref())?;
        Ok(Settings { k, seed, max_parents: constraints.max_parents, two_phase, start })
    }

    fn neighbour(&self, step: &Move) -> Result<Neighbour, Error> {
        let &Move { operator, x, y, ref given } = step;
        if let Some(&unknown) = given.iter().chain([&x, &y]).find(|&&v| v >= self.variables()) {
            return Err(Error::UnknownVariable(unknown));
        }
        if x == y || given.contains(&x) || given.contains(&y) {
            return Err(Error::NotANeighbour);
        }
        let mut given: List = given.iter().map(|&v| v as u32).collect();
        super::list::tidy(&mut given);
        Ok(Neighbour { operator, x: x.min(y) as u32, y: x.max(y) as u32, given })
    }
}

fn plain(neighbour: &Neighbour) -> Move {
    let (x, y) = (neighbour.x as usize, neighbour.y as usize);
    let given = neighbour.given.iter().map(|&v| v as usize).collect();
    Move { operator: neighbour.operator, x: x.min(y), y: x.max(y), given }
}

impl Engine for Wide {
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error> {
        let n = self.variables();
        check_arcs(n, arcs)?;
        let dag = Dag::from_arcs(n, arcs);
        dag.order().ok_or(Error::Cycle)?;
        Ok(Gains::without_rows(&self.terms).score_of_dag(&dag))
    }

    fn delta(&self, step: &Move) -> Result<f64, Error> {
        let neighbour = self.neighbour(step)?;
        Ok(Gains::without_rows(&self.terms).delta(&neighbour))
    }

    fn local_optima(
        &self,
        graphs: &[Edges],
        constraints: &Constraints,
        threads: usize,
        stop: &Stop,
    ) -> Result<Vec<bool>, Error> {
        let knowledge = self.knowledge(constraints)?;
        let n = self.variables();
        let graphs: Vec<_> =
            graphs.iter().map(|graph| Graph::from_edges(n, graph)).collect::<Result<_, _>>()?;
        let threads = threads.clamp(1, graphs.len().max(1));
        let gains = |_| Gains::new(&self.terms, self.bytes / threads, threads, stop);
        let mut states: Vec<_> = (0..threads).map(gains).collect::<Result<_, _>>()?;
        Ok(map(&mut states, graphs.len(), stop, |gains, at| {
            search::is_local_optimum(gains, &graphs[at], knowledge.as_ref(), constraints.max_parents, stop)
        })?)
    }

    fn trace(&self, run: u64, options: &SearchOptions, stop: &Stop) -> Result<(Vec<Step>, Edges), Error> {
        let settings = self.settings(options)?;
        let mut gains = Gains::new(&self.terms, self.bytes, 1, stop)?;
        let mut steps = Vec::new();
        let start = settings.start.clone();
        let mut model = super::frontier::Frontier::new(&mut gains, start, settings.max_parents, stop)?;
        let end = search::run_from(&mut model, &settings, run, |model, pick| {
            let delta = model.gains().delta(pick.neighbour);
            steps.push(Step { step: plain(pick.neighbour), delta, better: pick.better, rank: pick.rank });
        })?;
        Ok((steps, end.edges()))
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
        runs::run_all(&self.terms, &settings, runs, threads, self.bytes, pause, take);
        Ok(())
    }

    fn improve(
        &self,
        graphs: &[Edges],
        options: &ImproveOptions,
        pause: Duration,
        stop: &Stop,
        take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
    ) -> Result<(), Error> {
        let ImproveOptions { tasks, seed, threads, ref constraints } = *options;
        let knowledge = self.knowledge(constraints)?;
        let n = self.variables();
        let models =
            graphs.iter().map(|graph| Ok(Model::under(Graph::from_edges(n, graph)?, knowledge.as_ref())?));
        let models: Vec<Model> = models.collect::<Result<_, Error>>()?;
        let effort = Effort { tasks, seed, max_parents: constraints.max_parents, threads, bytes: self.bytes };
        improve::improve(&self.terms, &models, &effort, pause, stop, take);
        Ok(())
    }

    fn varying(&self) -> Vec<usize> {
        (0..self.variables()).filter(|&v| self.terms.function().varies(v)).collect()
    }

    fn tolerance(&self) -> f64 {
        self.terms.tolerance()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.terms.function().dependent()
    }

    fn cached(&self) -> usize {
        0
    }

    fn bits(&self, what: &str, _: &Stop) -> Result<&dyn OnBits, Error> {
        let n = self.variables();
        Err(Error::Setting(format!("{what} is possible for up to {MAX_VARIABLES} variables; there are {n}")))
    }
}
