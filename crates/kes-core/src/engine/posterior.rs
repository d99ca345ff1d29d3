//! Probabilities over models, as plain lists.

use super::plain;
use super::plain::Graph;
use crate::posterior::enumerate::Enumerated;

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
