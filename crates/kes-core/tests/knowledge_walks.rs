//! The incremental `B` under knowledge against all operators by their definition on the essential graph, where
//! another method than the engine's decides whether a model has an admissible DAG.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{Plain, Triple, delta, random_dag, random_table, terms};
use kes_core::boundary::{Model, Neighbour};
use kes_core::frontier::{Frontier, Moves};
use kes_core::gains::Gains;
use kes_core::graph::{Dag, EssentialGraph, Knowledge};
use kes_core::rng::Stream;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;
use kes_core::stop::Stop;

/// Knowledge as plain lists.
struct Known {
    tiers: Vec<Option<usize>>,
    required: Vec<(usize, usize)>,
    forbidden: Vec<(usize, usize)>,
}

impl Known {
    /// Knowledge that `dag` obeys: tiers by its order or none, some of its arcs, some of the others forbidden.
    fn new(dag: &Dag<1>, with_tiers: bool, arcs: usize, stream: &mut Stream) -> Self {
        let n = dag.parents.len();
        let mut known = Self { tiers: vec![None; n], required: Vec::new(), forbidden: Vec::new() };
        if with_tiers {
            for (at, v) in dag.order().expect("acyclic").into_iter().enumerate() {
                known.tiers[v] = (arcs == 0 || stream.below(8) > 0).then_some(3 * at / n);
            }
        }
        let has = dag.arcs();
        for _ in 0..arcs {
            known.required.extend(has.get(stream.below(has.len().max(1) * 3)));
            let (x, y) = (stream.below(n), stream.below(n));
            if x != y && !dag.parents[y].contains(x) {
                known.forbidden.push((x, y));
            }
        }
        known
    }

    fn engine(&self) -> Arc<Knowledge<1>> {
        let known = Knowledge::new(self.tiers.len(), &self.tiers, &self.required, &self.forbidden);
        Arc::new(known.expect("no contradiction"))
    }

    fn forbids(&self, x: usize, y: usize) -> bool {
        let against = matches!((self.tiers[x], self.tiers[y]), (Some(x), Some(y)) if x > y);
        against || self.forbidden.contains(&(x, y)) || self.required.contains(&(y, x))
    }

    /// Whether the class has an admissible DAG. Directs the known arcs and looks for a consistent extension
    /// [Dor & Tarsi 1992]; that is a DAG of the class iff it has no v-structure but those of the class.
    fn admits(&self, graph: &EssentialGraph<1>) -> bool {
        let n = graph.len();
        let mut mixed = Plain::new(graph);
        if self.required.iter().any(|&(x, y)| !mixed.adjacent(x, y)) {
            return false;
        }
        for (x, y) in mixed.edges.clone() {
            if self.forbids(x, y) {
                mixed.edges.remove(&(x, y));
                mixed.edges.remove(&(y, x));
                mixed.arcs.insert((y, x));
            }
        }
        if mixed.arcs.iter().any(|&(x, y)| self.forbids(x, y)) {
            return false;
        }
        let mut dag = Dag::<1>::empty(n);
        let mut left: BTreeSet<usize> = (0..n).collect();
        while !left.is_empty() {
            let joined = |v: usize| left.iter().copied().filter(move |&u| u != v);
            let is_sink = |&v: &usize| {
                let around: Vec<usize> = joined(v).filter(|&u| mixed.adjacent(u, v)).collect();
                around.iter().all(|&u| !mixed.arcs.contains(&(v, u)))
                    && around
                        .iter()
                        .filter(|&&u| mixed.edges.contains(&(u, v)))
                        .all(|&u| around.iter().all(|&w| w == u || mixed.adjacent(u, w)))
            };
            let Some(sink) = left.iter().copied().find(is_sink) else { return false };
            left.remove(&sink);
            dag.parents[sink] = left.iter().copied().filter(|&u| mixed.adjacent(u, sink)).collect();
        }
        EssentialGraph::from_dag(&dag, &dag.order().expect("acyclic")) == *graph
    }

    /// Those neighbours of a model whose class has an admissible DAG.
    fn filter<'a>(
        &'a self,
        model: &'a Model<1>,
        neighbours: &'a [Neighbour<1>],
    ) -> impl Iterator<Item = &'a Neighbour<1>> {
        neighbours.iter().filter(|neighbour| {
            let mut target = model.clone();
            target.apply(neighbour);
            self.admits(&target.graph)
        })
    }
}

fn plain(neighbour: &Neighbour<1>) -> Triple {
    let (_, x, y, given) = neighbour.triple();
    (neighbour.is_insertion(), x, y, given.iter().collect())
}

fn triples(frontier: &Frontier<'_, '_, 1>) -> BTreeSet<Triple> {
    let mut better = Vec::new();
    frontier.collect(Moves::All, &mut better);
    let found: BTreeSet<Triple> = better.iter().map(|b| plain(&frontier.neighbour(b))).collect();
    assert_eq!(found.len(), better.len(), "a neighbour came twice");
    found
}

/// The whole boundary of random models with random knowledge that they obey.
#[test]
fn the_boundary_of_larger_models_is_exact() {
    for case in 0..100 {
        let mut stream = Stream::new(21, case);
        let n = 6 + stream.below(4);
        let per_mille = 200 + stream.below(400);
        let dag = random_dag::<1>(n, per_mille, &mut stream);
        let (with_tiers, arcs) = (stream.below(3) == 0, 1 + stream.below(2 * n));
        let known = Known::new(&dag, with_tiers, arcs, &mut stream);
        let graph = EssentialGraph::from_dag(&dag, &dag.order().expect("acyclic"));
        let free = Model::new(graph.clone());
        let all = free.boundary(None);
        let expected: Vec<Triple> = known.filter(&free, &all).map(plain).collect();
        let model = Model::under(graph, Some(&known.engine())).expect("the DAG is admissible");
        let found: Vec<Triple> = model.boundary(None).iter().map(plain).collect();
        assert_eq!(found, expected, "case {case}");
    }
}

/// Walks at random, checks at every step, and returns how many improving neighbours were ruled out.
fn walk(n: usize, rows: usize, per_mille: usize, steps: usize, with_tiers: bool, arcs: usize) -> usize {
    let mut stream = Stream::new(8, (1000 * n + arcs) as u64);
    let arity: Vec<usize> = (0..n).map(|v| 2 + v % 3).collect();
    let truth = random_dag::<1>(n, per_mille, &mut stream);
    let columns = random_table(&truth, &arity, rows, &mut stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let data = Dataset::new(&slices, &arity, None).expect("a good table");
    let terms: Terms<1> = terms(data, ("bic", 1.0), 1 << 20);
    let stop = Stop::default();
    let known = Known::new(&truth, with_tiers, arcs, &mut stream);
    let engine = known.engine();
    let start = Model::under(engine.start(), Some(&engine)).expect("the start is admissible");
    let (mut gains, mut others) = (Gains::new(&terms, 1 << 20), Gains::new(&terms, 1 << 20));
    let mut frontier = Frontier::new(&mut gains, start, None, &stop).expect("not stopped");
    let mut ruled_out = 0;
    for _ in 0..steps {
        let found = triples(&frontier);
        let graph = frontier.model().essential();
        let free = Model::new(graph.clone());
        let improving: Vec<Neighbour<1>> = (free.boundary(None).into_iter())
            .filter(|neighbour| delta(&columns, &arity, &plain(neighbour)) > terms.tolerance())
            .collect();
        let expected: BTreeSet<Triple> = known.filter(&free, &improving).map(plain).collect();
        ruled_out += improving.len() - expected.len();
        assert_eq!(found, expected);
        let again = Model::under(graph, Some(&engine)).expect("the walk stays admissible");
        assert_eq!(found, triples(&Frontier::new(&mut others, again, None, &stop).expect("not stopped")));
        // Half of the time move at random within the boundary, so that deletions come up too.
        let pool = frontier.model().boundary(None);
        let better: Vec<_> = pool.iter().filter(|one| found.contains(&plain(one))).collect();
        let next = if better.is_empty() || stream.below(2) == 0 {
            pool[stream.below(pool.len())]
        } else {
            *better[stream.below(better.len())]
        };
        frontier.move_to(&next).expect("not stopped");
    }
    // The truth obeys the knowledge: a jump there, and the way back, give the same as a fresh look.
    let (home, position) = (triples(&frontier), frontier.position());
    frontier.jump(truth).expect("not stopped");
    let there = Model::under(frontier.model().essential(), Some(&engine)).expect("the truth is admissible");
    let fresh = Frontier::new(&mut others, there, None, &stop).expect("not stopped");
    assert_eq!(triples(&frontier), triples(&fresh));
    frontier.return_to(&position);
    assert_eq!(triples(&frontier), home);
    ruled_out
}

#[test]
fn the_improving_neighbours_stay_exact_under_tiers() {
    let ruled_out =
        walk(5, 60, 400, 30, true, 0) + walk(14, 120, 200, 15, true, 0) + walk(40, 80, 60, 8, true, 0);
    assert!(ruled_out > 0);
}

#[test]
fn the_improving_neighbours_stay_exact_under_arcs() {
    assert!(walk(5, 60, 400, 30, false, 3) > 0);
    assert!(walk(9, 150, 300, 20, false, 12) > 0);
    assert!(walk(16, 120, 200, 15, false, 20) > 0);
    assert!(walk(40, 80, 60, 8, false, 60) > 0);
}

#[test]
fn the_improving_neighbours_stay_exact_under_both() {
    assert!(walk(6, 60, 400, 30, true, 3) > 0);
    assert!(walk(12, 150, 300, 20, true, 10) > 0);
    assert!(walk(30, 80, 80, 8, true, 30) > 0);
}
