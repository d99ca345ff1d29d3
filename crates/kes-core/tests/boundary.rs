//! The engine's boundary and its incremental `B` against a from-scratch enumeration.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Plain, Triple, delta, random_dag, random_table, terms};
use kes_core::boundary::{Model, Neighbour, Operator};
use kes_core::frontier::{Better, Frontier, Moves};
use kes_core::gains::Gains;
use kes_core::graph::EssentialGraph;
use kes_core::rng::Stream;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;
use kes_core::search::{Settings, run};
use kes_core::stop::Stop;

fn plain<const W: usize>(neighbour: &Neighbour<W>) -> Triple {
    let (_, x, y, given) = neighbour.triple();
    (neighbour.is_insertion(), x, y, given.iter().collect())
}

fn check_boundary<const W: usize>(model: &Model<W>, max_parents: Option<usize>) -> Vec<Neighbour<W>> {
    let all = model.boundary(max_parents);
    let triples: BTreeSet<Triple> = all.iter().map(plain).collect();
    assert_eq!(triples.len(), all.len(), "a neighbour came twice");
    assert_eq!(triples, Plain::new(&model.graph).boundary(max_parents));
    all
}

/// The moves between two nodes are those of the boundary.
fn check_between<const W: usize>(model: &Model<W>, of: &Neighbour<W>) {
    let (operator, x, y, _) = of.triple();
    let found: Vec<Triple> = model.between(operator, of.x, of.y, None).iter().map(plain).collect();
    let distinct: BTreeSet<Triple> = found.iter().cloned().collect();
    assert_eq!(distinct.len(), found.len(), "a neighbour came twice");
    let all = Plain::new(&model.graph).boundary(None);
    assert_eq!(distinct, all.into_iter().filter(|t| (t.0, t.1, t.2) == (of.is_insertion(), x, y)).collect());
}

/// Random walks through the boundary, additions preferred so that graphs become dense and mixed.
fn walk<const W: usize>(n: usize, steps: usize, seed: u64) {
    let mut stream = Stream::new(seed, n as u64);
    let mut model = Model::<W>::new(EssentialGraph::empty(n));
    for step in 0..steps {
        let boundary = check_boundary(&model, (step % 3 == 2).then_some(3));
        let inserts: Vec<_> = boundary.iter().filter(|b| b.is_insertion()).collect();
        let deletes: Vec<_> = boundary.iter().filter(|b| !b.is_insertion()).collect();
        let pool = if deletes.is_empty() || (stream.below(3) > 0 && !inserts.is_empty()) {
            inserts
        } else {
            deletes
        };
        let chosen = *pool[stream.below(pool.len())];
        check_between(&model, &chosen);
        model.apply(&chosen);
        // The move arrived at an essential graph, and its own deletion or insertion leads back.
        let rebuilt = EssentialGraph::from_edges(n, &model.graph.directed(), &model.graph.undirected());
        assert_eq!(rebuilt.as_ref(), Ok(&model.graph));
        let back = (!chosen.is_insertion(), plain(&chosen).1, plain(&chosen).2, plain(&chosen).3);
        assert!(model.boundary(None).iter().any(|b| plain(b) == back), "no way back");
    }
}

#[test]
fn the_boundary_agrees_with_the_operators_along_random_walks() {
    for seed in 0..6 {
        walk::<1>(5, 40, seed);
        walk::<1>(8, 40, seed);
        walk::<1>(13, 30, seed);
    }
    walk::<1>(20, 30, 1);
    walk::<1>(30, 25, 2);
    walk::<4>(30, 25, 3);
    walk::<4>(70, 6, 4);
}

#[test]
fn the_boundary_of_random_classes_agrees_with_the_operators() {
    let mut stream = Stream::new(11, 0);
    for n in [4, 6, 9, 12] {
        for per_mille in [150, 300, 500] {
            let dag = random_dag::<1>(n, per_mille, &mut stream);
            let order = dag.order().expect("acyclic");
            let model = Model::new(EssentialGraph::from_dag(&dag, &order));
            check_boundary(&model, None);
        }
    }
}

/// After every step of a random ascent or descent, `B` has exactly the triples whose gain by full
/// recounting is positive, in the incremental structure as in the oracle.
#[test]
fn the_improving_neighbours_stay_exact_along_walks() {
    for (n, rows, per_mille, steps) in
        [(5, 60, 400, 30), (8, 150, 300, 30), (14, 120, 200, 30), (30, 80, 80, 20)]
    {
        let mut stream = Stream::new(5, n as u64);
        let arity: Vec<usize> = (0..n).map(|v| 2 + v % 3).collect();
        let columns = random_table(&random_dag::<1>(n, per_mille, &mut stream), &arity, rows, &mut stream);
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, &arity, None).expect("a good table");
        let terms: Terms<1> = terms(data, ("bic", 1.0), 1 << 20);
        let mut gains = Gains::new(&terms, 1 << 20);
        let stop = Stop::default();
        let mut frontier = Frontier::new(&mut gains, Model::new(EssentialGraph::empty(n)), None, &stop)
            .expect("not stopped");
        let mut better = Vec::new();
        for _ in 0..steps {
            frontier.collect(Moves::All, &mut better);
            let found: BTreeSet<Triple> = better.iter().map(|b| plain(&frontier.neighbour(b))).collect();
            assert_eq!(found.len(), better.len(), "a neighbour came twice");
            let all = Plain::new(&frontier.model().graph).boundary(None);
            let expected: BTreeSet<Triple> =
                all.iter().filter(|t| delta(&columns, &arity, t) > terms.tolerance()).cloned().collect();
            assert_eq!(found, expected);
            for b in &better {
                let neighbour = frontier.neighbour(b);
                let direct = delta(&columns, &arity, &plain(&neighbour));
                assert!((frontier.delta(&neighbour) - direct).abs() < 1e-9);
                assert!((b.level as f64 * terms.tolerance() - direct).abs() < 1e-9);
            }
            // Half of the time move at random within the boundary, so that deletions come up too.
            let model = frontier.model().clone();
            let pool: Vec<Neighbour<1>> = if better.is_empty() || stream.below(2) == 0 {
                model.boundary(None)
            } else {
                better.iter().map(|b| frontier.neighbour(b)).collect()
            };
            frontier.move_to(&pool[stream.below(pool.len())]).expect("not stopped");
        }
    }
}

/// Three copies of a variable: any two of them can be joined, for the same gain.
#[test]
fn ties_are_broken_with_equal_chances() {
    let column: Vec<i32> = (0..40).map(|i| i % 2).collect();
    let data = Dataset::new(&[&column, &column, &column], &[2; 3], None).expect("a good table");
    let terms: Terms<1> = terms(data, ("bic", 1.0), 1 << 20);
    let (mut gains, stop) = (Gains::new(&terms, 1 << 20), Stop::default());
    let start = Model::new(EssentialGraph::empty(3));
    let settings = Settings { k: 1.0, seed: 7, max_parents: None, two_phase: false, start, sampling: None };
    let mut joined = BTreeMap::new();
    for number in 0..600 {
        let mut first = None;
        run(&mut gains, &settings, number, &stop, |_, pick| {
            assert!(first.is_some() || (pick.rank, pick.better) == (0, 3));
            first.get_or_insert(pick.neighbour.triple());
        })
        .expect("not stopped");
        *joined.entry(first.map(|(_, x, y, _)| (x, y))).or_insert(0) += 1;
    }
    assert_eq!(joined.len(), 3);
    assert!(joined.values().all(|times| (150..250).contains(times)), "{joined:?}"); // 200, give or take four deviations
}

/// An undirected star: 60 leaves are 61 cliques, not 2^60 subsets.
#[test]
fn a_star_costs_nothing_special() {
    let n = 61;
    let edges: Vec<(usize, usize)> = (1..n).map(|leaf| (0, leaf)).collect();
    let model = Model::<1>::new(EssentialGraph::from_edges(n, &[], &edges).expect("a tree"));
    let boundary = model.boundary(None);
    // Each of the 60 edges can be deleted; each pair of leaves can be joined given the centre (one
    // model: a triangle) or given nothing, with either leaf's edge as the collider's other parent.
    let deletions = boundary.iter().filter(|b| !b.is_insertion()).count();
    assert_eq!(deletions, 60);
    assert!(boundary.iter().filter(|b| b.is_insertion()).all(|b| b.given.len() <= 1));
}

/// `B` with the levels of its members, sorted.
fn members<const W: usize>(frontier: &Frontier<'_, '_, W>) -> Vec<(Triple, i64)> {
    let mut better = Vec::new();
    frontier.collect(Moves::All, &mut better);
    let mut all: Vec<_> = better.iter().map(|b| (plain(&frontier.neighbour(b)), b.level)).collect();
    check_ties(frontier, &all);
    all.sort();
    all
}

/// Without a list of all, the members that tie at a rank are those that have the level of the member at that
/// place when all are sorted; whichever rank is asked for first.
fn check_ties<const W: usize>(frontier: &Frontier<'_, '_, W>, all: &[(Triple, i64)]) {
    let mut levels: Vec<i64> = all.iter().map(|&(_, level)| level).collect();
    levels.sort_unstable_by(|a, b| b.cmp(a));
    let mut better = Better::new(Moves::All);
    for ranks in [[0, 1, 3], [levels.len() / 2, 0, 2]] {
        frontier.find(&mut better);
        assert_eq!(better.len(), all.len());
        for rank in ranks.into_iter().filter(|&rank| rank < all.len()) {
            let found: BTreeSet<Triple> = frontier.tied(&mut better, rank).iter().map(plain).collect();
            let at_level = all.iter().filter(|(_, level)| *level == levels[rank]);
            assert_eq!(found, at_level.map(|(triple, _)| triple.clone()).collect());
        }
    }
    for moves in [Moves::Insertions, Moves::Deletions] {
        let mut better = Better::new(moves);
        frontier.find(&mut better);
        let of_kind = |(triple, _): &&(Triple, i64)| triple.0 == (moves == Moves::Insertions);
        assert_eq!(better.len(), all.iter().filter(of_kind).count());
        if !better.is_empty() {
            let best = all.iter().filter(of_kind).map(|&(_, level)| level).max();
            let found: BTreeSet<Triple> = frontier.tied(&mut better, 0).iter().map(plain).collect();
            let at_level = all.iter().filter(of_kind).filter(|(_, level)| Some(*level) == best);
            assert_eq!(found, at_level.map(|(triple, _)| triple.clone()).collect());
        }
    }
}

/// The incremental `B` equals one computed from scratch: along ascents with steps back, jumps to other models
/// and returns, on networks with up to 300 nodes.
#[test]
fn what_is_kept_from_move_to_move_is_what_a_fresh_look_finds() {
    for (n, steps, every) in [(12, 60, 1), (60, 120, 3), (300, 400, 40)] {
        let mut stream = Stream::new(17, n as u64);
        let arity: Vec<usize> = (0..n).map(|v| 2 + v % 2).collect();
        let dag = random_dag::<12>(n, 2200 / n, &mut stream);
        let columns = random_table(&dag, &arity, 60, &mut stream);
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let terms: Terms<12> =
            terms(Dataset::new(&slices, &arity, None).expect("a good table"), ("bic", 1.0), 1 << 26);
        let (mut gains, mut others) = (Gains::new(&terms, 1 << 26), Gains::new(&terms, 1 << 26));
        let stop = Stop::default();
        let mut frontier = Frontier::new(&mut gains, Model::new(EssentialGraph::empty(n)), None, &stop)
            .expect("not stopped");
        let mut check = |frontier: &Frontier<'_, '_, 12>| {
            let graph = frontier.graph();
            let rebuilt = EssentialGraph::from_edges(n, &graph.directed(), &graph.undirected());
            assert_eq!(rebuilt.as_ref(), Ok(graph));
            let fresh =
                Frontier::new(&mut others, Model::new(graph.clone()), None, &stop).expect("not stopped");
            assert_eq!(members(frontier), members(&fresh));
        };
        let mut better = Vec::new();
        for step in 0..steps {
            frontier.collect(Moves::All, &mut better);
            let back: Vec<Neighbour<12>> =
                if step % 5 == 4 { deletions(&frontier, &mut stream) } else { Vec::new() };
            match (back.first(), better.len()) {
                (Some(deletion), _) => frontier.move_to(deletion).expect("not stopped"),
                (None, 0) => break,
                (None, most) => {
                    let chosen = frontier.neighbour(&better[stream.below(most)]);
                    frontier.move_to(&chosen).expect("not stopped");
                }
            }
            if step % every == 0 {
                check(&frontier);
            }
        }
        let (home, start) = (members(&frontier), frontier.position());
        frontier.jump(dag).expect("not stopped");
        check(&frontier);
        frontier.return_to(&start);
        assert_eq!(members(&frontier), home);
        for deletion in deletions(&frontier, &mut stream) {
            frontier.move_to(&deletion).expect("not stopped");
            frontier.return_to(&start);
        }
        check(&frontier);
    }
}

/// A deletion at each of three nodes, if there are any.
fn deletions<const W: usize>(frontier: &Frontier<'_, '_, W>, stream: &mut Stream) -> Vec<Neighbour<W>> {
    let mut all = Vec::new();
    for _ in 0..3 {
        let y = stream.below(frontier.graph().len());
        let mut found = Vec::new();
        let _all = frontier.model().deletions(y, |x, given| {
            found.push(Neighbour { operator: Operator::Delete, x, y, given });
            Ok(())
        });
        all.extend((!found.is_empty()).then(|| found[stream.below(found.len())]));
    }
    all
}
