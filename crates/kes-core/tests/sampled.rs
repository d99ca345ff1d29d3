//! The walk of the paper's section 4.1 against the exact boundary, on all models with four nodes.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Triple, random_dag};
use kes_core::boundary::{Model, Neighbour};
use kes_core::graph::{Dag, EssentialGraph};
use kes_core::rng::Stream;
use kes_core::sampled::{Walk, draws_per_member};

fn plain<const W: usize>(neighbour: &Neighbour<W>) -> Triple {
    let (_, x, y, given) = neighbour.triple();
    (neighbour.is_insertion(), x, y, given.iter().collect())
}

/// All acyclic ways to choose the arcs between `n` nodes.
fn all_dags(n: usize) -> Vec<Dag<1>> {
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let choices = 3usize.pow(pairs.len() as u32);
    let chosen = |number: usize| {
        let arcs: Vec<(usize, usize)> = pairs
            .iter()
            .enumerate()
            .filter_map(|(i, &(a, b))| match number / 3usize.pow(i as u32) % 3 {
                0 => None,
                1 => Some((a, b)),
                _ => Some((b, a)),
            })
            .collect();
        Dag::from_arcs(n, &arcs)
    };
    (0..choices).map(chosen).filter(|dag| dag.order().is_some()).collect()
}

fn class_of(dag: &Dag<1>) -> EssentialGraph<1> {
    EssentialGraph::from_dag(dag, &dag.order().expect("acyclic"))
}

/// The classes with `n` nodes, each with its DAGs.
fn classes(n: usize) -> Vec<(EssentialGraph<1>, Vec<Dag<1>>)> {
    let mut by_edges = BTreeMap::new();
    for dag in all_dags(n) {
        let graph = class_of(&dag);
        let key = (graph.directed(), graph.undirected());
        by_edges.entry(key).or_insert_with(|| (graph, Vec::new())).1.push(dag);
    }
    by_edges.into_values().collect()
}

/// A member has a probability of at least 1/(24 · 12) per draw if the DAGs of its class come up
/// equally often; 6000 draws miss it with a probability of the order of 1e-9.
#[test]
fn draws_reach_every_member_of_the_boundary_and_nothing_else() {
    let classes = classes(4);
    assert_eq!(classes.len(), 185);
    let mut members = 0;
    for (number, (graph, dags)) in classes.iter().enumerate() {
        let expected: BTreeSet<Triple> = Model::new(graph.clone()).boundary(None).iter().map(plain).collect();
        members += expected.len();
        let mut stream = Stream::new(4, number as u64);
        let mut walk = Walk::new(dags[number % dags.len()].clone());
        let drawn: BTreeSet<Triple> = (0..6000).map(|_| plain(&walk.draw(5, &mut stream))).collect();
        assert_eq!(drawn, expected, "{:?} {:?}", graph.directed(), graph.undirected());
        assert_eq!(walk.essential_graph(), *graph, "the walk left its class");
    }
    assert_eq!(members, 1512);
}

/// Without reversals the walk stays at its DAG, and sees only what one arc of that DAG can do: of
/// a triangle, half of the six deletions.
#[test]
fn without_reversals_part_of_the_boundary_is_out_of_reach() {
    let triangle = Dag::<1>::from_arcs(3, &[(0, 1), (0, 2), (1, 2)]);
    let mut stream = Stream::new(5, 0);
    let mut walk = Walk::new(triangle.clone());
    let drawn: BTreeSet<Triple> = (0..1000).map(|_| plain(&walk.draw(0, &mut stream))).collect();
    let expected = [(false, 0, 1, vec![]), (false, 0, 2, vec![1]), (false, 1, 2, vec![0])];
    assert_eq!(drawn, BTreeSet::from(expected));
    assert_eq!(Model::new(class_of(&triangle)).boundary(None).len(), 6);
}

/// The state that reversals and moves update equals that of a fresh start from the same DAG.
#[test]
fn the_walk_keeps_its_matrices_up_to_date() {
    for (n, per_mille) in [(4, 500), (7, 300), (12, 250), (20, 150), (20, 400)] {
        let mut stream = Stream::new(6, n as u64);
        let mut walk = Walk::<1>::new(random_dag(n, per_mille, &mut stream));
        for step in 0..400 {
            let neighbour = walk.draw(8, &mut stream);
            assert_eq!(walk, Walk::new(walk.dag().clone()), "after reversals, step {step}");
            walk.change(&neighbour);
            assert_eq!(walk, Walk::new(walk.dag().clone()), "after a move, step {step}");
        }
    }
}

/// Every draw is a member of the exact boundary also where classes are large.
#[test]
fn draws_are_members_on_larger_graphs() {
    for (n, per_mille) in [(8, 200), (12, 200), (20, 120)] {
        let mut stream = Stream::new(7, n as u64);
        let mut walk = Walk::<1>::new(random_dag(n, per_mille, &mut stream));
        for _ in 0..40 {
            let model = Model::new(walk.essential_graph());
            let members: BTreeSet<Triple> = model.boundary(None).iter().map(plain).collect();
            let drawn: Vec<Neighbour<1>> = (0..50).map(|_| walk.draw(10, &mut stream)).collect();
            assert!(drawn.iter().all(|neighbour| members.contains(&plain(neighbour))));
            walk.change(drawn.last().expect("there are fifty"));
        }
    }
}

/// Drawing `k* m` of `m` equally likely members with repetition sees a share
/// `1 − (1 − 1/m)^(k* m)` of them on average, which must be about `k`.
#[test]
fn so_many_draws_see_a_share_k_of_the_members() {
    let members = 1332.0_f64;
    for k in [0.005, 0.1, 0.4, 0.8, 0.99] {
        let draws = draws_per_member(k) * members;
        assert!((1.0 - (1.0 - 1.0 / members).powf(draws) - k).abs() < 1e-3);
    }
    assert!((draws_per_member(0.4) - 0.51).abs() < 0.005); // the paper says 0.5
    assert_eq!(draws_per_member(0.0), 0.0);
    assert_eq!(draws_per_member(1.0), 20.0);
}
