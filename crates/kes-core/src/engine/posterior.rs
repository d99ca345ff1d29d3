//! Probabilities over models, as plain lists.

use super::plain;
use super::plain::Graph;
use crate::posterior::chain::Chain;
use crate::posterior::enumerate::Enumerated;
use crate::posterior::tally::Tally;

/// Models with their scores, best first, and whether these are all.
pub type Models = (Vec<(Graph, f64)>, bool);

/// `a → c ← b` as `(a, c, b)`, with its probability.
pub type Collider = ((usize, usize, usize), f64);

/// Probabilities of everything, from all DAGs.
#[derive(Clone, Debug)]
pub struct Everything {
    /// Of the arc from `a` to `b`, at `a * n + b`.
    pub arcs: Vec<f64>,
    /// Of a directed path from `a` to `b`.
    pub ancestors: Vec<f64>,
    /// Of `a` in the Markov blanket of `b`.
    pub blankets: Vec<f64>,
    /// Of the v-structures that occur, sorted.
    pub v_structures: Vec<Collider>,
    /// Of the classes, the largest first.
    pub classes: Vec<(Graph, f64)>,
    /// The logarithm of the sum over all DAGs, or classes.
    pub log_sum: f64,
}

impl<const W: usize> From<Enumerated<W>> for Everything {
    fn from(found: Enumerated<W>) -> Self {
        let Enumerated { tally, classes, log_sum } = found;
        Self {
            v_structures: tally.colliders(),
            arcs: tally.arcs,
            ancestors: tally.ancestors,
            blankets: tally.blankets,
            classes: classes.iter().map(|(graph, share)| (plain::graph(graph), *share)).collect(),
            log_sum,
        }
    }
}

/// The results of a chain; matrices are lists, row by row.
#[derive(Clone, Debug)]
pub struct Found {
    /// Of each block, the share of the time with each edge, at `a * n + b` with `a < b`.
    pub edges: Vec<Vec<f64>>,
    /// Of each block, the share of the DAGs drawn that have each arc.
    pub arcs: Vec<Vec<f64>>,
    /// The share of the DAGs drawn with a directed path from `a` to `b`.
    pub ancestors: Vec<f64>,
    /// The share of those with `a` in the Markov blanket of `b`.
    pub blankets: Vec<f64>,
    /// The share of those with a v-structure.
    pub v_structures: Vec<Collider>,
    /// The classes that rounds ended in, and how many rounds.
    pub classes: Vec<(Graph, usize)>,
    /// The state to resume from.
    pub state: Vec<Graph>,
    /// Jumps of the walker at temperature 1.
    pub jumps: u64,
}

impl<const W: usize> From<Chain<W>> for Found {
    fn from(chain: Chain<W>) -> Self {
        let n = chain.state.first().map_or(0, |graph| graph.len());
        let mut all = Tally::new(n);
        chain.drawn.iter().for_each(|block| all.merge(block));
        all.normalise();
        Self {
            edges: chain.edges,
            arcs: chain.drawn.into_iter().map(|block| block.arcs).collect(),
            v_structures: all.colliders(),
            ancestors: all.ancestors,
            blankets: all.blankets,
            classes: chain.classes.iter().map(|(graph, count)| (plain::graph(graph), *count)).collect(),
            state: chain.state.iter().map(plain::graph).collect(),
            jumps: chain.jumps,
        }
    }
}
