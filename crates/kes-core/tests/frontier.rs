//! The incremental `B` against one computed from scratch, along random walks of all operations of a frontier.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Triple, random_dag, random_table, terms};
use kes_core::boundary::{Model, Neighbour};
use kes_core::frontier::{Frontier, Moves, Position};
use kes_core::gains::Gains;
use kes_core::graph::mpdag::admissible_dag;
use kes_core::graph::{Dag, EssentialGraph, Knowledge};
use kes_core::rng::Stream;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;
use kes_core::search::{Settings, run};
use kes_core::stop::Stop;

/// `B`: each member by its triple, with its level.
fn members(frontier: &Frontier<'_, '_, 1>) -> BTreeSet<(Triple, i64)> {
    let mut better = Vec::new();
    frontier.collect(Moves::All, &mut better);
    let plain = |neighbour: Neighbour<1>| {
        let (_, x, y, given) = neighbour.triple();
        (neighbour.is_insertion(), x, y, given.iter().collect())
    };
    let all: BTreeSet<_> = better.iter().map(|b| (plain(frontier.neighbour(b)), b.level)).collect();
    assert_eq!(all.len(), better.len(), "a neighbour came twice");
    all
}

/// The terms of a small table with many dependences, so that `B` is large.
fn dependent(truth: &Dag<1>, stream: &mut Stream) -> Terms<1> {
    let arity = vec![2; truth.parents.len()];
    let columns = random_table(truth, &arity, 40, stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    terms(Dataset::new(&slices, &arity, None).expect("a good table"), ("aic", 1.0), 1 << 20)
}

/// Knowledge that `truth` obeys: tiers by its order, if asked for, and some of its arcs and some of the others.
fn known(truth: &Dag<1>, with_tiers: bool, arcs: usize, stream: &mut Stream) -> Arc<Knowledge<1>> {
    let n = truth.parents.len();
    let mut tiers = vec![None; if with_tiers { n } else { 0 }];
    for (at, v) in truth.order().expect("acyclic").into_iter().enumerate().filter(|_| with_tiers) {
        tiers[v] = Some(2 * at / n);
    }
    let (mut required, mut forbidden) = (Vec::new(), Vec::new());
    for _ in 0..arcs {
        let (x, y) = (stream.below(n), stream.below(n));
        match truth.parents[y].contains(x) {
            true => required.push((x, y)),
            false if x != y => forbidden.push((x, y)),
            false => (),
        }
    }
    Arc::new(Knowledge::new(n, &tiers, &required, &forbidden).expect("the truth obeys it"))
}

/// Joins or separates some pairs of a DAG along the order of the truth, within the knowledge.
fn vary(
    dag: &mut Dag<1>,
    truth: &Dag<1>,
    known: Option<&Knowledge<1>>,
    per_mille: usize,
    stream: &mut Stream,
) {
    let order = truth.order().expect("acyclic");
    for (at, &y) in order.iter().enumerate() {
        for &x in &order[..at] {
            let is_known = |known: &Knowledge<1>| (known.required(y) | known.forbidden(y)).contains(x);
            if !known.is_some_and(is_known) && stream.below(1000) < per_mille {
                dag.parents[y] = match dag.parents[y].contains(x) {
                    true => dag.parents[y].without(x),
                    false => dag.parents[y].with(x),
                };
            }
        }
    }
}

/// Inserts, deletes, jumps and returns at random, and compares with a fresh `B` after every step. Returns how
/// many members of `B` it has seen.
fn walk(n: usize, steps: usize, max_parents: Option<usize>, with_tiers: bool, arcs: usize) -> usize {
    let mut stream = Stream::new(31, n as u64);
    let truth = random_dag::<1>(n, 500, &mut stream);
    let terms = dependent(&truth, &mut stream);
    let known = (with_tiers || arcs > 0).then(|| known(&truth, with_tiers, arcs, &mut stream));
    let empty = known.as_ref().map_or_else(|| EssentialGraph::empty(n), |known| known.start());
    let mut dag = admissible_dag(&empty, known.as_deref());
    let start = Model::under(empty, known.as_ref()).expect("the start is admissible");
    let (mut gains, mut others) = (Gains::new(&terms, 1 << 20), Gains::new(&terms, 1 << 20));
    let stop = Stop::default();
    let mut frontier = Frontier::new(&mut gains, start, max_parents, &stop).expect("not stopped");
    let mut home: Option<(Position<1>, BTreeSet<(Triple, i64)>)> = None;
    let most = n * (1 + stream.below(3)); // there are about half as many edges
    let mut seen = 0;
    for _ in 0..steps {
        match (stream.below(24), &home) {
            (0..3, _) => {
                let per_mille = [20, 100][stream.below(2)];
                vary(&mut dag, &truth, known.as_deref(), per_mille, &mut stream);
                frontier.jump(dag.clone()).expect("not stopped");
            }
            (3, _) => home = Some((frontier.position(), members(&frontier))),
            (4..8, Some((position, there))) => {
                frontier.return_to(position);
                assert_eq!(members(&frontier), *there);
            }
            _ => {
                let mut pool = frontier.model().boundary(max_parents);
                let edges = frontier.graph().adjacent.iter().map(|nodes| nodes.len()).sum::<usize>() / 2;
                let insert = stream.below(most) >= edges;
                if pool.iter().any(|one| one.is_insertion() == insert) {
                    pool.retain(|one| one.is_insertion() == insert);
                }
                if !pool.is_empty() {
                    frontier.move_to(&pool[stream.below(pool.len())]).expect("not stopped");
                }
            }
        }
        let model = Model::under(frontier.model().essential(), known.as_ref()).expect("admissible");
        assert_eq!(model.graph, *frontier.graph());
        let fresh = Frontier::new(&mut others, model, max_parents, &stop).expect("not stopped");
        let found = members(&frontier);
        assert_eq!(found, members(&fresh));
        seen += found.len();
    }
    seen
}

#[test]
fn whatever_a_frontier_did_it_is_where_a_fresh_one_would_be() {
    for n in [4, 5, 6, 8, 10, 12] {
        for (max_parents, with_tiers, arcs) in
            [(None, false, 0), (Some(3), false, 0), (None, true, 0), (None, false, n), (None, true, n / 2)]
        {
            let seen = walk(n, 100, max_parents, with_tiers, arcs);
            assert!(seen > 100, "{seen} members of B");
        }
    }
}

/// A run that is stopped leaves rows that were asked for and not evaluated; runs with the same gains are those
/// that gains of their own lead to.
#[test]
fn a_stopped_run_changes_no_later_one() {
    let mut stream = Stream::new(3, 0);
    let truth = random_dag::<1>(9, 500, &mut stream);
    let terms = dependent(&truth, &mut stream);
    let start = Model::new(EssentialGraph::empty(9));
    let settings = Settings { k: 0.5, seed: 7, max_parents: None, two_phase: false, start, sampling: None };
    let mut shared = Gains::new(&terms, 1 << 20);
    for number in 0..30 {
        let (stop, mut left) = (Stop::default(), 1 + number % 5);
        let stopped = run(&mut shared, &settings, 100 + number, &stop, |_, _| {
            left -= 1;
            if left == 0 {
                stop.raise();
            }
        });
        assert!(stopped.is_err());
        let steps = |gains: &mut Gains<'_, 1>| {
            let mut picks = Vec::new();
            let end = run(gains, &settings, number, &Stop::default(), |_, pick| {
                picks.push((pick.neighbour.triple(), pick.rank, pick.better));
            });
            (picks, end)
        };
        assert_eq!(steps(&mut shared), steps(&mut Gains::new(&terms, 1 << 20)));
    }
}
