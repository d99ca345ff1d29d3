//! Recombination and refinement, tested by brute force and by their properties.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use common::{family_bic, random_dag, random_table, terms};
use kes_core::boundary::{Model, Operator};
use kes_core::gains::Gains;
use kes_core::graph::{Dag, EssentialGraph};
use kes_core::improve::climber::Climber;
use kes_core::improve::families::{Candidates, Family, add};
use kes_core::improve::orders::Ordering;
use kes_core::improve::recombine::recombine;
use kes_core::improve::{Effort, Origin, improve};
use kes_core::rng::Stream;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;
use kes_core::search::{Settings, is_local_optimum, run};
use kes_core::stop::Stop;
use kes_core::varset::VarSet;

struct Example {
    columns: Vec<Vec<i32>>,
    arity: Vec<usize>,
    terms: Terms<1>,
}

fn example(n: usize, rows: usize, per_mille: usize, seed: u64) -> Example {
    let mut stream = Stream::new(seed, 0);
    let arity: Vec<usize> = (0..n).map(|v| 2 + v % 2).collect();
    let columns = random_table(&random_dag::<1>(n, per_mille, &mut stream), &arity, rows, &mut stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let data = Dataset::new(&slices, &arity, None).expect("a good table");
    let terms = terms(data, ("bic", 1.0), 1 << 22);
    Example { columns, arity, terms }
}

fn settings(n: usize, k: f64) -> Settings<1> {
    let start = Model::new(EssentialGraph::empty(n));
    Settings { k, seed: 3, max_parents: None, two_phase: false, start, sampling: None }
}

fn essential(dag: &Dag<1>) -> EssentialGraph<1> {
    EssentialGraph::from_dag(dag, &dag.order().expect("acyclic"))
}

/// The BIC of a DAG by recounting every family.
fn direct(example: &Example, dag: &Dag<1>) -> f64 {
    let family = |y: usize| {
        family_bic(&example.columns, &example.arity, y, &dag.parents[y].iter().collect::<Vec<_>>())
    };
    (0..dag.parents.len()).map(family).sum()
}

/// Any two models, optima or not: the child is acyclic, takes every node's parents from a DAG of one
/// class or the other, and scores at least as much as the better of the two.
#[test]
fn a_child_is_acyclic_and_scores_at_least_as_much_as_its_parents() {
    let mut children = 0;
    for seed in 0..40 {
        let n = [5, 8, 14, 25][seed as usize % 4];
        let example = example(n, 100, 250, seed);
        let mut stream = Stream::new(seed, 1);
        let [a, b] = [0; 2].map(|_| essential(&random_dag::<1>(n, 200, &mut stream)));
        if let Some(child) = recombine(&example.terms, &mut *example.terms.worker(), &a, &b, None) {
            assert!(child.order().is_some(), "the child has a cycle");
            let better = direct(&example, &a.extension()).max(direct(&example, &b.extension()));
            assert!(direct(&example, &child) >= better - 1e-9);
            children += 1;
        }
    }
    assert!(children > 20, "the example should be one in which children arise");
}

/// With up to five nodes all mixtures of two DAGs can be tried: none that is acyclic scores higher.
#[test]
fn the_child_is_the_best_mixture_of_the_two_dags() {
    for seed in 0..30 {
        let n = 5;
        let example = example(n, 60, 500, seed);
        let mut stream = Stream::new(seed, 2);
        let [a, b] = [0; 2].map(|_| essential(&random_dag::<1>(n, 450, &mut stream)));
        let Some(child) = recombine(&example.terms, &mut *example.terms.worker(), &a, &b, None) else {
            continue;
        };
        // The child shows which DAG of the second class was used: its parents outside those of `a`.
        let first = a.extension();
        for mask in 0..1usize << n {
            let parents = (0..n)
                .map(|v| if mask >> v & 1 == 1 { child.parents[v] } else { first.parents[v] })
                .collect();
            let mixture = Dag { parents };
            if mixture.order().is_some() {
                assert!(direct(&example, &mixture) <= direct(&example, &child) + 1e-9);
            }
        }
    }
}

/// Turning by its definition, over all classes with up to five nodes: take an arc out of any DAG of
/// the class, go to any DAG equivalent to the rest, join the same two nodes in either direction. All
/// reversals of an arc are among these.
#[test]
fn turning_is_deleting_and_joining_the_same_pair() {
    for n in 2..=5 {
        let mut members: BTreeMap<_, Vec<Dag<1>>> = BTreeMap::new();
        for dag in all_dags(n) {
            members.entry(edges(&essential(&dag))).or_default().push(dag);
        }
        // Of the 8 782 classes of five variables, every eighth.
        for (class, dags) in members.iter().step_by(if n < 5 { 1 } else { 8 }) {
            let mut expected = BTreeSet::new();
            let mut reversals = BTreeSet::new();
            for dag in dags {
                for (x, y) in dag.arcs() {
                    let less = change(dag, |parents| parents[y].remove(x));
                    for rest in &members[&edges(&essential(&less))] {
                        for (from, to) in [(x, y), (y, x)] {
                            let more = change(rest, |parents| parents[to].insert(from));
                            expected.extend(
                                more.order().map(|order| edges(&EssentialGraph::from_dag(&more, &order))),
                            );
                        }
                    }
                    let turned = change(&less, |parents| parents[x].insert(y));
                    reversals.extend(
                        turned.order().map(|order| edges(&EssentialGraph::from_dag(&turned, &order))),
                    );
                }
            }
            let start = EssentialGraph::from_edges(n, &class.0, &class.1).expect("essential");
            let found: BTreeSet<_> = turns(&start).iter().map(edges).collect();
            assert_eq!(found, expected, "from {class:?}");
            assert!(reversals.is_subset(&found), "from {class:?}");
        }
    }
}

fn change(dag: &Dag<1>, with: impl FnOnce(&mut Vec<VarSet<1>>)) -> Dag<1> {
    let mut parents = dag.parents.clone();
    with(&mut parents);
    Dag { parents }
}

type Edges = Vec<(usize, usize)>;

fn edges(graph: &EssentialGraph<1>) -> (Edges, Edges) {
    (graph.directed(), graph.undirected())
}

/// Delete an edge, join its ends again: as the refinement enumerates it.
fn turns(start: &EssentialGraph<1>) -> Vec<EssentialGraph<1>> {
    let mut ends = Vec::new();
    for deletion in Model::new(start.clone()).boundary(None).iter().filter(|b| !b.is_insertion()) {
        let mut between = Model::new(start.clone());
        between.apply(deletion);
        for insertion in between.between(Operator::Insert, deletion.x, deletion.y, None) {
            let mut end = between.clone();
            end.apply(&insertion);
            ends.push(end.graph);
        }
    }
    ends
}

/// All DAGs over `n` nodes: every orientation of every set of pairs, less the cyclic ones.
fn all_dags(n: usize) -> Vec<Dag<1>> {
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let mut dags = Vec::new();
    for mut code in 0..3usize.pow(pairs.len() as u32) {
        let mut dag = Dag::empty(n);
        for &(a, b) in &pairs {
            match code % 3 {
                1 => dag.parents[b].insert(a),
                2 => dag.parents[a].insert(b),
                _ => (),
            }
            code /= 3;
        }
        if dag.order().is_some() {
            dags.push(dag);
        }
    }
    dags
}

#[test]
fn refinement_never_lowers_the_score_and_ends_in_a_local_optimum() {
    let stop = Stop::default();
    for seed in 0..12 {
        let n = 10;
        let example = example(n, 120, 300, seed);
        let mut climber = Climber::new(&example.terms, 1 << 20, None, None);
        let mut stream = Stream::new(seed, 9);
        let gains = &mut climber.gains;
        let optimum = run(gains, &settings(n, 0.0), seed, &stop, |_, _| ()).expect("not stopped");
        let refined = climber.refine(&optimum, 0, &mut stream, &stop).expect("not stopped");
        assert!(direct(&example, &refined.extension()) >= direct(&example, &optimum.extension()) - 1e-9);
        assert_eq!(is_local_optimum(&mut climber.gains, &refined, None, None, &stop), Ok(true));
    }
}

const PAUSE: Duration = Duration::from_micros(200);

type Report = ((Vec<(usize, usize)>, Vec<(usize, usize)>), u64, Origin, usize);

/// The results of improving some optima, and the tasks done when it is stopped after about `most`.
fn improved(example: &Example, effort: &Effort<1>, most: usize) -> (Vec<Report>, usize) {
    let stop = Stop::default();
    let mut gains = Gains::new(&example.terms, 1 << 20);
    let limited = Settings { max_parents: Some(2), ..settings(14, 0.3) };
    let pool: Vec<EssentialGraph<1>> =
        (0..12).map(|i| run(&mut gains, &limited, i, &stop, |_, _| ()).expect("not stopped")).collect();
    let (mut all, mut last) = (Vec::new(), 0);
    improve(&example.terms, &pool, effort, 1 << 20, PAUSE, &stop, |new, done| {
        all.extend(new.iter().map(|f| (edges(&f.graph), f.score.to_bits(), f.origin, f.task)));
        last = done;
        done < most
    });
    (all, last)
}

/// Same pool, same effort, any number of threads: the same models in the same order.
#[test]
fn improvement_does_not_depend_on_threads_and_respects_the_limit_on_parents() {
    let example = example(14, 150, 250, 4);
    let found = |threads| {
        let effort = Effort { tasks: 120, seed: 5, max_parents: Some(2), knowledge: None, threads };
        improved(&example, &effort, usize::MAX)
    };
    let one = found(1);
    assert!(!one.0.is_empty());
    assert_eq!(one.1, 120);
    assert_eq!(one, found(2));
    assert_eq!(one, found(4));
    for (graph, ..) in &one.0 {
        let graph = EssentialGraph::<1>::from_edges(14, &graph.0, &graph.1).expect("essential");
        assert!(graph.extension().parents.iter().all(|parents| parents.len() <= 2));
    }
}

/// Stopped anywhere, even within a round, it has done exactly that number of tasks.
#[test]
fn stopped_improvement_is_that_of_fewer_tasks() {
    let example = example(14, 150, 250, 4);
    for most in [1, 13, 25, 60, 61, 110] {
        for threads in [1, 3] {
            let effort = Effort { tasks: 500, seed: 5, max_parents: Some(2), knowledge: None, threads };
            let (found, done) = improved(&example, &effort, most);
            assert!(done <= 500);
            assert_eq!((found, done), improved(&example, &Effort { tasks: done, ..effort }, usize::MAX));
        }
    }
}

/// From the order of any DAG: the network found is acyclic along the order, scores what its families do,
/// and no less than the DAG, whose families are among those to choose from.
#[test]
fn a_better_order_never_lowers_the_score() {
    let mut higher = 0;
    for seed in 0..12 {
        let n = 12;
        let example = example(n, 150, 300, seed);
        let mut stream = Stream::new(seed, 4);
        let stop = Stop::default();
        let mut families: Vec<Vec<Family<1>>> = (0..n)
            .map(|y| {
                let (terms, allowed) = (&example.terms, VarSet::first_n(n).without(y));
                let worker = &mut *terms.worker();
                let found = Candidates { terms, worker, y, allowed, most: 3, stop: &stop }.find();
                found.expect("not stopped")
            })
            .collect();
        let score = |y: usize, parents: VarSet<1>| {
            family_bic(&example.columns, &example.arity, y, &parents.iter().collect::<Vec<_>>())
        };
        for (y, families) in families.iter().enumerate() {
            assert!(families.last().expect("at least one").parents.is_empty());
            for family in families {
                assert!((family.score - score(y, family.parents)).abs() < 1e-8, "{family:?}");
                assert!(family.parents.len() <= 3 && !family.parents.contains(y));
                let dominates = |other: &&Family<1>| {
                    other.parents != family.parents
                        && other.parents.is_subset(&family.parents)
                        && other.score >= family.score
                };
                assert_eq!(families.iter().find(dominates), None, "dominates {family:?}");
            }
        }
        let start = random_dag::<1>(n, 250, &mut stream);
        for (y, &parents) in start.parents.iter().enumerate() {
            add(&mut families[y], Family { parents, score: score(y, parents) });
        }
        let order = start.order().expect("acyclic");
        let mut ordering = Ordering::new(families, order, example.terms.tolerance());
        let first = ordering.score();
        assert!(first >= direct(&example, &start) - 1e-8);
        ordering.settle(&mut stream, &stop).expect("not stopped");
        let end = ordering.dag();
        assert!(end.order().is_some());
        assert!((direct(&example, &end) - ordering.score()).abs() < 1e-8);
        assert!(ordering.score() >= first);
        higher += usize::from(ordering.score() > first + 1e-6);
    }
    assert!(higher > 6, "the example should be one in which orders matter");
}

/// With a hundred variables and more the order is searched, and threads still make no difference.
#[test]
fn large_models_are_ordered_the_same_on_any_number_of_threads() {
    let n = 110;
    let mut stream = Stream::new(2, 0);
    let arity = vec![2; n];
    let dag = random_dag::<4>(n, 40, &mut stream);
    let columns = random_table(&dag, &arity, 150, &mut stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let terms: Terms<4> = terms(Dataset::new(&slices, &arity, None).expect("good"), ("aic", 1.0), 1 << 24);
    let stop = Stop::default();
    let start = Model::new(EssentialGraph::empty(n));
    let greedy = Settings { k: 1.0, seed: 0, max_parents: Some(4), two_phase: false, start, sampling: None };
    let ges = run(&mut Gains::new(&terms, 1 << 22), &greedy, 0, &stop, |_, _| ()).expect("not stopped");
    let found = |threads| {
        let effort = Effort { tasks: 120, seed: 1, max_parents: Some(4), knowledge: None, threads };
        let mut all = Vec::new();
        improve(&terms, std::slice::from_ref(&ges), &effort, 1 << 22, PAUSE, &stop, |new, _| {
            all.extend(new.iter().map(|f| (f.graph.directed(), f.score.to_bits(), f.origin, f.task)));
            true
        });
        all
    };
    let one = found(1);
    assert_eq!(one, found(3));
    let is_there = |kind: fn(&Origin) -> bool| one.iter().any(|(_, _, origin, _)| kind(origin));
    assert!(is_there(|origin| matches!(origin, Origin::Ordered(_))), "nothing ordered");
    assert!(is_there(|origin| matches!(origin, Origin::Perturbed(_))), "nothing perturbed");
}
