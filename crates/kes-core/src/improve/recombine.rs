//! Recombination of two models: partition crossover on DAGs.
//!
//! Take a DAG `a` of one model and, of the other, the DAG `b` that follows the order of `a` as far as
//! its class allows. In the digraph `a ∪ b`, every strongly connected component can be decided by
//! itself: give all its nodes their parents in `a`, or all their parents in `b`, or any mixture that has
//! no cycle inside the component.
//!
//! * *The child is acyclic.* A cycle lies within one component of `a ∪ b`, since its arcs are arcs of
//!   `a ∪ b`; and within a component the choice is acyclic.
//! * *It scores at least as much as the better parent*, since the score is a sum over nodes, so over
//!   components, and in each component the choices of `a` and of `b` are both among those considered.
//! * *It is admissible*, if `a` and `b` are, since every family is one of theirs.
//!
//! So the good regions of different runs come together, which one run would have to hit all at once.
//! Partition crossover is due to [Whitley 2009]; strongly connected components of parent graphs were
//! used by [Fan 2014] to divide the search for an optimal network, and recombination by parent sets by
//! [Cotta & Muruzábal 2002] and [Contaldi 2017]. We know of no earlier use of the two together.

use crate::graph::components::strong_components;
use crate::graph::mpdag::{admissible_dag, follow};
use crate::graph::{Dag, EssentialGraph, Knowledge, Mpdag};
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::varset::VarSet;

/// Within components of up to this many nodes every node chooses for itself, by dynamic programming.
const MIXED: usize = 18;

/// The best child of two admissible models, or `None` if it is one of the two DAGs it was made of.
pub fn recombine<const W: usize>(
    terms: &Terms<W>,
    worker: &mut dyn Worker<W>,
    first: &EssentialGraph<W>,
    second: &EssentialGraph<W>,
    knowledge: Option<&Knowledge<W>>,
) -> Option<Dag<W>> {
    let a = admissible_dag(first, knowledge);
    let b = follow(second, Mpdag::of_admissible(second, knowledge).as_ref(), &a.positions());
    let mut child = Dag::empty(first.len());
    let both: Vec<VarSet<W>> = a.parents.iter().zip(&b.parents).map(|(&a, &b)| a | b).collect();
    for component in strong_components(&both) {
        if component.iter().all(|v| a.parents[v] == b.parents[v]) {
            component.iter().for_each(|v| child.parents[v] = a.parents[v]);
            continue;
        }
        let scores: Vec<[f64; 2]> =
            (component.iter()).map(|v| [&a, &b].map(|dag| terms.family(worker, v, dag.parents[v]))).collect();
        let choices = choose(component, [&a, &b], &scores);
        for (v, choice) in component.iter().zip(choices) {
            child.parents[v] = [&a, &b][choice].parents[v];
        }
    }
    (child != a && child != b).then_some(child)
}

/// For every node of a component, whether it takes its parents from `a` (0) or from `b` (1).
fn choose<const W: usize>(component: VarSet<W>, dags: [&Dag<W>; 2], scores: &[[f64; 2]]) -> Vec<usize> {
    let finite = scores.iter().flatten().all(|score| score.is_finite());
    if finite && component.len() <= MIXED && component.len() > 1 {
        return mix(component, dags, scores);
    }
    let total = |dag: usize| scores.iter().map(|score| score[dag]).sum::<f64>();
    vec![usize::from(total(1) > total(0)); scores.len()]
}

/// The best acyclic mixture within a component. `best[S]` is the highest score of the nodes in `S` when
/// they come first in the order: some node of `S` is the last of them, and has its parents within the
/// component among the others.
fn mix<const W: usize>(component: VarSet<W>, dags: [&Dag<W>; 2], scores: &[[f64; 2]]) -> Vec<usize> {
    let nodes: Vec<usize> = component.iter().collect();
    let inside = |parents: VarSet<W>| {
        nodes
            .iter()
            .enumerate()
            .filter(|(_, v)| parents.contains(**v))
            .fold(0usize, |mask, (i, _)| mask | 1 << i)
    };
    let needs: Vec<[usize; 2]> = nodes.iter().map(|&v| dags.map(|dag| inside(dag.parents[v]))).collect();
    let full = (1usize << nodes.len()) - 1;
    let mut best = vec![(f64::NEG_INFINITY, 0, 0); full + 1]; // (score, last node, its choice)
    best[0].0 = 0.0;
    for done in 0..full {
        if best[done].0 == f64::NEG_INFINITY {
            continue;
        }
        for node in (0..nodes.len()).filter(|node| done >> node & 1 == 0) {
            for choice in 0..2 {
                let score = best[done].0 + scores[node][choice];
                if needs[node][choice] & !done == 0 && score > best[done | 1 << node].0 {
                    best[done | 1 << node] = (score, node, choice);
                }
            }
        }
    }
    let mut choices = vec![0; nodes.len()];
    let mut left = full;
    while left != 0 {
        let (_, node, choice) = best[left];
        choices[node] = choice;
        left &= !(1 << node);
    }
    choices
}
