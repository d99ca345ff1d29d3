//! Markov chains over models, where the sum over all networks is out of reach.
//!
//! A chain consists of a few [walkers](walk) at different temperatures; only the first, at temperature 1, is observed.
//! It proceeds in rounds. In a round every walker walks for the same time; then neighbouring walkers may exchange
//! their models. The chain records for what share of the time the first walker has each edge, and draws one DAG of its
//! class at the end of the round. Rounds are grouped into blocks, and the spread of the blocks gives the errors.
//!
//! A round depends on the models it begins with, the seed, and its number only: chains go on where they left off, on
//! any number of threads.

mod listed;
mod walk;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::tally::Tally;
use super::{Prior, varying};
use crate::boundary::Model;
use crate::graph::class_size::ClassSizes;
use crate::graph::{Dag, EssentialGraph, Knowledge, Mpdag};
use crate::order;
use crate::rng::Stream;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::threads::map;
use crate::varset::VarSet;
use listed::Listed;
use walk::{Ground, Walk};

/// Jumps that the first walker of the pilot does in a round, on average, for each variable.
const JUMPS: f64 = 2.0;
/// Units of time that the pilot walks at first, and its rounds at most.
const PILOT_TIME: f64 = 1.0;
const PILOT_ROUNDS: usize = 8;

/// The settings of chains.
#[derive(Clone, Debug)]
pub struct Options {
    /// The prior over models.
    pub prior: Prior,
    /// Inverse temperatures, the first of them 1.
    pub betas: Vec<f64>,
    /// With the numbers of chain and round, selects the random stream.
    pub seed: u64,
    /// Number of steps of a walker in a round.
    pub duration: f64,
    /// Rounds in a block.
    pub rounds: usize,
    /// Blocks that were done before.
    pub before: usize,
    /// Blocks to do.
    pub blocks: usize,
    /// No variable may have more parents.
    pub max_parents: Option<usize>,
    /// Number of threads.
    pub threads: usize,
}

/// The results of the blocks of a chain.
#[derive(Clone, Debug)]
pub struct Chain<const W: usize> {
    /// Of each block, the share of the time with an edge between `a` and `b`, at `a * n + b` with `a < b`.
    pub edges: Vec<Vec<f64>>,
    /// Of each block, the DAGs drawn.
    pub drawn: Vec<Tally>,
    /// The classes at the end of rounds, and in how many of them, the most frequent first.
    pub classes: Vec<(EssentialGraph<W>, usize)>,
    /// The models of the walkers at the end, to go on from.
    pub state: Vec<EssentialGraph<W>>,
    /// Jumps of the first walker.
    pub jumps: u64,
}

/// A model under the knowledge of a problem, with an admissible DAG.
fn model<const W: usize>(
    graph: &EssentialGraph<W>,
    knowledge: Option<&Arc<Knowledge<W>>>,
) -> Option<(Model<W>, Dag<W>)> {
    let dag = match knowledge {
        None => graph.extension(),
        Some(known) => Mpdag::new(graph, known).ok()?.extension(graph),
    };
    Some((Model::under(graph.clone(), knowledge).ok()?, dag))
}

/// A duration of rounds in which a walker from the first start jumps often enough.
///
/// # Errors
/// If it is stopped.
pub fn pilot<const W: usize>(
    terms: &Terms<W>,
    start: &EssentialGraph<W>,
    options: &Options,
    knowledge: Option<&Arc<Knowledge<W>>>,
    stop: &Stop,
) -> Result<f64, Stopped> {
    let listed = Listed::new([]);
    let ground = ground(terms, options, &listed, stop);
    let Some((model, _)) = model(start, knowledge) else { return Ok(PILOT_TIME) };
    let mut sizes = ClassSizes::new(knowledge.map(|known| &**known));
    let mut stream = Stream::of_chain(options.seed, u64::MAX);
    let mut walk = Walk::new(&ground, model, 0.0, 1.0)?;
    let enough = JUMPS * terms.variables() as f64;
    let (mut duration, mut time) = (PILOT_TIME, 0.0);
    for _ in 0..PILOT_ROUNDS {
        walk.walk(duration, &mut stream, &mut sizes, |_, _| ())?;
        time += duration;
        if walk.jumps as f64 >= 10.0 * enough {
            break;
        }
        duration *= 2.0;
    }
    Ok(enough * time / (walk.jumps as f64).max(1.0))
}

fn ground<'g, const W: usize>(
    terms: &'g Terms<W>,
    options: &Options,
    listed: &'g Listed<W>,
    stop: &'g Stop,
) -> Ground<'g, W> {
    let varying: VarSet<W> = varying(terms).into_iter().collect();
    Ground { terms, prior: options.prior, max_parents: options.max_parents, listed, varying, stop }
}

/// Lets chains go on from the models of their walkers. `listed` are the models that they hop between; `done` is kept at
/// the number of rounds done.
///
/// # Errors
/// If it is stopped.
pub fn chains<const W: usize>(
    terms: &Terms<W>,
    starts: &[Vec<EssentialGraph<W>>],
    optima: &[EssentialGraph<W>],
    options: &Options,
    knowledge: Option<&Arc<Knowledge<W>>>,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<Vec<Chain<W>>, Stopped> {
    let mut worker = terms.worker();
    let listed = Listed::new(optima.iter().filter_map(|graph| {
        let (model, dag) = model(graph, knowledge)?;
        let score = terms.score(&mut *worker, &graph.extension());
        Some((model, dag, score))
    }));
    let ground = ground(terms, options, &listed, stop);
    map(&mut vec![(); options.threads], starts.len(), stop, |(), chain| {
        let sizes = ClassSizes::new(knowledge.map(|known| &**known));
        let mut worker = terms.worker();
        let mut walks = Vec::new();
        for (graph, &beta) in starts[chain].iter().zip(&options.betas) {
            let (model, _) = model(graph, knowledge).ok_or(Stopped)?; // as the engine has checked
            let score = terms.score(&mut *worker, &graph.extension());
            walks.push(Walk::new(&ground, model, score, beta)?);
        }
        let mut group = Group { walks, sizes, options, chain, classes: HashMap::default() };
        let (mut edges, mut drawn) = (Vec::new(), Vec::new());
        for block in options.before..options.before + options.blocks {
            let (share, tally) = group.block(block, done)?;
            edges.push(share);
            drawn.push(tally);
            // As if it went on from there another time.
            for walk in &mut group.walks {
                let graph = walk.model().essential();
                let (model, _) = model(&graph, knowledge).ok_or(Stopped)?;
                walk.restart(model, terms.score(&mut *worker, &graph.extension()))?;
            }
        }
        let mut classes: Vec<_> = group.classes.into_values().collect();
        order::sort_by(&mut classes, |a, b| b.1.cmp(&a.1).then_with(|| a.0.key().cmp(&b.0.key())));
        let state = group.walks.iter().map(|walk| walk.model().essential()).collect();
        let jumps = group.walks.first().map_or(0, |walk| walk.jumps);
        Ok(Chain { edges, drawn, classes, state, jumps })
    })
}

/// The walkers of a chain.
struct Group<'g, const W: usize> {
    walks: Vec<Walk<'g, W>>,
    sizes: ClassSizes<'g, W>,
    options: &'g Options,
    chain: usize,
    classes: HashMap<Vec<VarSet<W>>, (EssentialGraph<W>, usize), FxBuildHasher>,
}

impl<const W: usize> Group<'_, W> {
    fn block(&mut self, block: usize, done: &AtomicUsize) -> Result<(Vec<f64>, Tally), Stopped> {
        let Some(first) = self.walks.first() else { return Err(Stopped) };
        let n = first.model().graph.len();
        let (mut edges, mut tally) = (vec![0.0; n * n], Tally::new(n));
        for at in 0..self.options.rounds {
            let round = block * self.options.rounds + at;
            self.round(round, &mut edges, &mut tally)?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        let time = self.options.rounds as f64 * self.options.duration;
        edges.iter_mut().for_each(|share| *share /= time);
        tally.normalise();
        Ok((edges, tally))
    }

    fn round(&mut self, round: usize, edges: &mut [f64], tally: &mut Tally) -> Result<(), Stopped> {
        let &Options { seed, duration, .. } = self.options;
        let Self { walks, sizes, chain, classes, .. } = self;
        let mut stream = Stream::of_chain(seed, (*chain as u64) << 40 | round as u64);
        for (place, walk) in walks.iter_mut().enumerate() {
            let mut since = 0.0;
            walk.walk(duration, &mut stream, sizes, |time, model| {
                if place == 0 {
                    note_edges(edges, &model.graph, time - since);
                    since = time;
                }
            })?;
            if place == 0 {
                note_edges(edges, &walk.model().graph, duration - since);
            }
        }
        for place in (round % 2..walks.len().saturating_sub(1)).step_by(2) {
            if let [.., a, b] = &mut walks[..place + 2] {
                a.exchange(b, &mut stream)?;
            }
        }
        let Some(first) = walks.first() else { return Ok(()) };
        let dag = sizes.draw(&first.model().graph, &mut stream);
        let order = dag.order().unwrap_or_else(|| unreachable!("a DAG of the class is acyclic"));
        tally.add(&dag, &order, 1.0);
        let graph = first.model().essential();
        classes.entry(graph.key()).or_insert_with(|| (graph, 0)).1 += 1;
        Ok(())
    }
}

/// Adds some time with the edges of a model.
fn note_edges<const W: usize>(edges: &mut [f64], graph: &EssentialGraph<W>, time: f64) {
    let n = graph.len();
    for a in 0..n {
        graph.adjacent[a].iter().filter(|&b| a < b).for_each(|b| edges[a * n + b] += time);
    }
}
