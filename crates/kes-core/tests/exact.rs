//! The exact optimum against plain dynamic programming without bounds, components or blocks, on terms
//! counted one by one; and the bounds of the relaxation against it.

mod common;

use std::sync::atomic::AtomicUsize;

use common::{random_dag, random_table, terms};
use kes_core::boundary::Model;
use kes_core::exact::families::find;
use kes_core::exact::relaxation::{Cluster, Relaxation};
use kes_core::exact::subset_dp::{bytes, optimum};
use kes_core::exact::{Failure, Families, Limits};
use kes_core::gains::Gains;
use kes_core::graph::{Dag, EssentialGraph, Knowledge};
use kes_core::rng::Stream;
use kes_core::score::bounds::{Bounds, Measure};
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::set_function::{SetFunction, Source, Survey, Worker};
use kes_core::score::terms::Terms;
use kes_core::search::{Settings, run};
use kes_core::stop::{Stop, Stopped};
use kes_core::varset::VarSet;

const LIMITS: Limits = Limits { bytes: 1 << 28, threads: 2 };
/// Names and equivalent sample sizes.
const CRITERIA: [(&str, f64); 5] = [("bic", 1.0), ("aic", 1.0), ("bdeu", 1.0), ("bdeu", 20.0), ("qnml", 1.0)];

fn set<const W: usize>(bits: usize) -> VarSet<W> {
    (0..usize::BITS as usize).filter(|v| bits >> v & 1 == 1).collect()
}

/// The best score by the recursion as it stands, from the terms of all subsets.
fn plain_optimum<const W: usize>(
    terms: &Terms<W>,
    max_parents: usize,
    knowledge: Option<&Knowledge<W>>,
) -> f64 {
    let n = terms.variables();
    let mut worker = terms.worker();
    let term: Vec<f64> = (0..1 << n).map(|bits| terms.term(&mut *worker, set(bits))).collect();
    let admits = |y: usize, parents: VarSet<W>| {
        knowledge.is_none_or(|known| {
            known.required(y).is_subset(&parents) && !known.forbidden(y).intersects(&parents)
        })
    };
    // best_parents[y][U]: the best score of y with at most max_parents parents in U.
    let best_parents: Vec<Vec<f64>> = (0..n)
        .map(|y| {
            let mut best: Vec<f64> = (0..1usize << n)
                .map(|bits| {
                    let few = bits.count_ones() as usize <= max_parents && bits >> y & 1 == 0;
                    if few && admits(y, set(bits)) {
                        term[bits | 1 << y] - term[bits]
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect();
            for bits in 0..1usize << n {
                for x in (0..n).filter(|x| bits >> x & 1 == 1) {
                    best[bits] = best[bits].max(best[bits ^ 1 << x]);
                }
            }
            best
        })
        .collect();
    let mut best = vec![0.0; 1 << n];
    for bits in 1..1usize << n {
        let sinks = (0..n).filter(|y| bits >> y & 1 == 1);
        best[bits] =
            sinks.map(|y| best[bits ^ 1 << y] + best_parents[y][bits ^ 1 << y]).fold(f64::MIN, f64::max);
    }
    best[(1 << n) - 1]
}

fn random_terms<const W: usize>(
    n: usize,
    criterion: (&str, f64),
    rows: usize,
    seed: u64,
    weight: impl Fn(usize) -> f64,
) -> Terms<W> {
    let mut stream = Stream::new(seed, 0);
    let arity: Vec<usize> = (0..n).map(|v| if v == 1 { 1 } else { 2 + stream.below(3) }).collect();
    let columns = random_table(&random_dag::<W>(n, 300, &mut stream), &arity, rows, &mut stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let weights: Vec<f64> = (0..rows).map(weight).collect();
    let data = Dataset::new(&slices, &arity, Some(&weights)).expect("a table");
    terms(data, criterion, 1 << 24)
}

fn solve<const W: usize>(
    terms: &Terms<W>,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
) -> (Families<W>, Dag<W>, f64) {
    let (stop, counted) = (Stop::default(), AtomicUsize::new(0));
    let families = find(terms, max_parents, knowledge, &LIMITS, &stop, &counted);
    let (dag, score) = optimum(&families, &LIMITS, &stop, &AtomicUsize::new(0)).expect("small");
    (families, dag, score)
}

fn check<const W: usize>(terms: &Terms<W>, max_parents: Option<usize>, knowledge: Option<&Knowledge<W>>) {
    let (_, dag, score) = solve(terms, max_parents, knowledge);
    let n = terms.variables();
    let expected = plain_optimum(terms, max_parents.unwrap_or(n), knowledge);
    let tolerance = 1e-9 * expected.abs();
    assert!((score - expected).abs() < tolerance, "{score} is not {expected}");
    assert!((terms.score(&mut *terms.worker(), &dag) - expected).abs() < tolerance);
    assert!(dag.order().is_some(), "the network has a cycle");
    assert!(dag.parents.iter().all(|parents| parents.len() <= max_parents.unwrap_or(n)));
    assert!(knowledge.is_none_or(|known| known.admits(&dag)));
}

#[test]
fn the_optimum_is_that_of_all_orders_and_all_parent_sets() {
    for seed in 0..8 {
        for criterion in CRITERIA {
            for max_parents in [None, Some(0), Some(1), Some(2)] {
                check(&random_terms::<1>(7, criterion, 150, seed, |_| 1.0), max_parents, None);
            }
        }
    }
}

/// Tiers, required and forbidden arcs, including arcs that no search would choose.
#[test]
fn the_optimum_under_knowledge_is_that_of_all_admissible_families() {
    for seed in 0..12 {
        let mut stream = Stream::new(seed, 7);
        let dag = random_dag::<1>(7, 350, &mut stream);
        let required: Vec<_> = dag.arcs().into_iter().filter(|_| stream.below(3) == 0).collect();
        let most = (0..7).map(|y| required.iter().filter(|arc| arc.1 == y).count()).max();
        let mut forbidden = Vec::new();
        for y in 0..7 {
            forbidden.extend((0..7).filter(|&x| x != y && stream.below(5) == 0).map(|x| (x, y)));
        }
        forbidden.retain(|&(x, y)| !dag.parents[y].contains(x));
        let order = dag.order().expect("acyclic");
        let tier = |v: usize| order.iter().position(|&u| u == v).map(|at| at / 3);
        let tiers: Vec<_> = (0..7).map(|v| tier(v).filter(|_| seed % 2 == 0)).collect();
        let known = Knowledge::<1>::new(7, &tiers, &required, &forbidden).expect("no contradiction");
        for criterion in CRITERIA {
            for max_parents in [None, most] {
                check(&random_terms(7, criterion, 150, seed, |_| 1.0), max_parents, Some(&known));
            }
        }
    }
}

/// More variables than a block has, with counts, and with weights that are no whole numbers.
#[test]
fn blocks_tasks_and_weights_change_nothing() {
    for (seed, criterion) in CRITERIA.into_iter().enumerate() {
        check(&random_terms::<1>(12, criterion, 120, seed as u64, |i| (1 + i % 3) as f64), None, None);
        check(&random_terms::<4>(10, criterion, 60, seed as u64, |i| 0.07 * (1 + i % 5) as f64), None, None);
    }
}

#[test]
fn threads_do_not_matter() {
    let terms = random_terms::<1>(13, ("bic", 1.0), 300, 5, |_| 1.0);
    let (stop, counted) = (Stop::default(), AtomicUsize::new(0));
    let solutions = [1, 2, 5].map(|threads| {
        let limits = Limits { threads, ..LIMITS };
        let families = find(&terms, None, None, &limits, &stop, &counted);
        let solution = optimum(&families, &limits, &stop, &AtomicUsize::new(0)).expect("small");
        (families, solution)
    });
    assert!(solutions.iter().all(|solution| *solution == solutions[0]));
}

/// For every set of parents allowed, the families that were kept hold the best choice there is.
#[test]
fn no_family_that_matters_is_lost() {
    for criterion in CRITERIA {
        let terms = random_terms::<1>(6, criterion, 80, 3, |_| 1.0);
        let (families, ..) = solve(&terms, None, None);
        let mut worker = terms.worker();
        for y in 0..6 {
            for allowed in (0..1usize << 6).filter(|bits| bits >> y & 1 == 0) {
                let all = (0..1usize << 6).filter(|bits| bits & !allowed == 0).map(set::<1>);
                let mut score = |parents: VarSet<1>| terms.family(&mut *worker, y, parents);
                let expected = all.map(&mut score).fold(f64::MIN, f64::max);
                let kept = families.of[y].iter().find(|choice| choice.parents.is_subset(&set(allowed)));
                assert!((kept.expect("the empty set is kept").score - expected).abs() < 1e-9);
            }
        }
    }
}

/// No superset of parents scores more than the ceiling, over all families of tables whose rows repeat.
#[test]
fn ceilings_are_above_all_larger_families() {
    for seed in 0..12 {
        let mut stream = Stream::new(seed, 3);
        let arity: Vec<usize> = (0..6).map(|_| 2 + stream.below(8) / 6).collect();
        let rows = 100 + stream.below(900);
        let columns = random_table(&random_dag::<1>(6, 400, &mut stream), &arity, rows, &mut stream);
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        for criterion in [("bdeu", 0.1), ("bdeu", 1.0), ("bdeu", 30.0), ("bic", 1.0), ("aic", 1.0)] {
            let terms = terms::<1>(Dataset::new(&slices, &arity, None).expect("a table"), criterion, 1 << 20);
            let bounds = terms.function().bounds(2, &Stop::default()).expect("not stopped");
            let (mut worker, mut survey) = (terms.worker(), terms.function().survey());
            let families = (0..6).flat_map(|y| (0..1usize << 6).map(move |bits| (y, set::<1>(bits))));
            for (y, parents) in families.filter(|(y, parents)| !parents.contains(*y)) {
                let [counted, family] = [parents, parents.with(y)].map(|set| survey.measure(set).detail);
                let ceiling = bounds.ceiling(y, bounds.cells(parents.with(y)), counted, family);
                let larger = (0..1usize << 6).map(set::<1>).filter(|q| !q.contains(y));
                for q in larger.filter(|q| parents.is_subset(q)) {
                    let score = terms.family(&mut *worker, y, q);
                    assert!(
                        score <= ceiling + 1e-9,
                        "{criterion:?}: {y} | {q:?} scores {score}, not {ceiling}"
                    );
                }
            }
        }
    }
}

#[test]
fn limits_are_kept_and_stopping_stops() {
    let terms = random_terms::<1>(12, ("aic", 1.0), 400, 1, |_| 1.0);
    let (stop, counted, done) = (Stop::default(), AtomicUsize::new(0), AtomicUsize::new(0));
    let little = Limits { bytes: 1000, threads: 1 };
    let failure = |families: &Families<1>| families.missing.as_ref().map(|missing| missing.why);
    let few = find(&terms, None, None, &little, &stop, &counted);
    assert_eq!(failure(&few), Some(Failure::Memory));
    assert_eq!(optimum(&few, &LIMITS, &stop, &done).err(), Some(Failure::Memory));
    let families = find(&terms, None, None, &LIMITS, &stop, &counted);
    assert_eq!(failure(&families), None);
    assert_eq!(optimum(&families, &little, &stop, &done).err(), Some(Failure::Memory));
    assert_eq!(bytes(10), 8192);
    stop.raise();
    assert_eq!(failure(&find(&terms, None, None, &LIMITS, &stop, &counted)), Some(Failure::Stopped));
    assert_eq!(optimum(&families, &LIMITS, &stop, &done).err(), Some(Failure::Stopped));
}

fn cluster(bits: usize, k: usize, weight: f64) -> Cluster<1> {
    Cluster { members: set(bits), k, weight }
}

fn drawn_cluster(stream: &mut Stream) -> Cluster<1> {
    let (bits, k) = (1 + stream.below(127), 1 + stream.below(4)); // some have fewer members than k
    cluster(bits, k, stream.below(100) as f64 / 4.0)
}

/// In every order and whatever the parents before it, at least `k` members of a cluster have fewer than `k`
/// parents in it: all are paid for what they are charged, on networks drawn at random.
#[test]
fn clusters_pay_no_less_than_they_charge() {
    for seed in 0..300 {
        let mut stream = Stream::new(seed, 2);
        let dag = random_dag::<1>(7, 700, &mut stream);
        let Cluster { members, k, .. } = drawn_cluster(&mut stream);
        let paid = members.iter().filter(|&y| (dag.parents[y] & members).len() < k).count();
        assert!(paid >= k.min(members.len()));
    }
}

/// Whatever the clusters and weights, the bound is valid and the reduction keeps the optimum.
#[test]
fn relaxations_never_cut_off_the_optimum() {
    for seed in 0..30 {
        let terms = random_terms::<1>(7, CRITERIA[seed as usize % CRITERIA.len()], 150, seed, |_| 1.0);
        let (families, dag, score) = solve(&terms, None, None);
        let mut stream = Stream::new(seed, 1);
        let clusters: Vec<Cluster<1>> = (0..10).map(|_| drawn_cluster(&mut stream)).collect();
        let relaxation = Relaxation::new(&families, &clusters);
        assert!(relaxation.upper_bound() >= score - 1e-9);
        let reduced = relaxation.reduced(score - 1e-9);
        for (y, parents) in dag.parents.iter().enumerate() {
            assert!(reduced.of[y].iter().any(|choice| choice.parents == *parents));
        }
        let none = Relaxation::new(&families, &[]);
        let best: f64 = families.of.iter().map(|choices| choices[0].score).sum();
        assert_eq!(none.upper_bound(), best);
    }
}

/// Wherever the work ends, no network scores more than the bound from the known families and the bounds on the
/// rest; and more known families give a lower bound. Compared with the optimum of all networks.
#[test]
fn what_is_missing_is_bounded() {
    for criterion in CRITERIA {
        for weight in [1.0, 0.7] {
            let terms = random_terms::<1>(7, criterion, 150, 11, |_| weight);
            let best = plain_optimum(&terms, 7, None);
            let (stop, counted) = (Stop::default(), AtomicUsize::new(0));
            let mut bounds = vec![0.0];
            for doubled in 0..20 {
                let limits = Limits { bytes: 256 << doubled, threads: 2 };
                let families = find(&terms, None, None, &limits, &stop, &counted);
                let clusters = [cluster(0b110_0110, 1, 3.0), cluster(0b1_1001, 2, 5.0)];
                let paid = Relaxation::new(&families, &clusters);
                assert!(paid.upper_bound() >= best - 1e-9 && paid.reduced(best).missing == families.missing);
                bounds.push(Relaxation::new(&families, &[]).upper_bound());
                if families.missing.is_none() {
                    break;
                }
            }
            assert!(bounds.len() > 4 && bounds.iter().rev().is_sorted(), "{bounds:?}");
            assert!(bounds[bounds.len() - 1] >= best - 1e-9);
            stop.raise();
            let nothing = find(&terms, None, None, &LIMITS, &stop, &counted);
            assert_eq!(Relaxation::new(&nothing, &[]).upper_bound(), 0.0);
        }
    }
}

/// A set function that has nothing to do with tables: a number drawn for every set, and no set of more
/// than four variables is admissible.
#[derive(Clone, Copy)]
struct Drawn(u64);

impl Drawn {
    fn value(self, set: VarSet<1>) -> f64 {
        let bits = set.iter().fold(0, |bits, v| bits | 1 << v);
        if set.len() > 4 { f64::NEG_INFINITY } else { Stream::new(self.0, bits).below(1 << 20) as f64 }
    }
}

impl SetFunction<1> for Drawn {
    fn variables(&self) -> usize {
        7
    }
    fn varies(&self, _: usize) -> bool {
        true
    }
    fn tolerance(&self) -> f64 {
        0.5
    }
    fn worker(&self) -> Box<dyn Worker<1> + '_> {
        Box::new(*self)
    }
    fn survey(&self) -> Box<dyn Survey<1> + '_> {
        Box::new(*self)
    }
    fn perfect(&self) -> f64 {
        f64::INFINITY
    }
    fn bounds(&self, _: usize, _: &Stop) -> Result<Bounds, Stopped> {
        Ok(Bounds::None)
    }
}

impl Worker<1> for Drawn {
    fn term(&mut self, set: VarSet<1>) -> f64 {
        self.value(set)
    }
    fn join(&mut self, given: VarSet<1>, y: usize, sources: &mut [Source]) {
        for source in sources {
            source.margin = self.value(given.with(source.x));
            source.joint = self.value(given.with(source.x).with(y));
        }
    }
}

impl Survey<1> for Drawn {
    fn measure(&mut self, set: VarSet<1>) -> Measure {
        Measure { term: self.value(set), detail: f64::NAN }
    }
}

/// The engine asks nothing of a score but that it be a function of sets: the optimum is that of all
/// orders, and a run ends where no model of the boundary scores higher.
#[test]
fn any_set_function_will_do() {
    for seed in 0..20 {
        let terms = Terms::new(Drawn(seed), 1 << 20);
        // With at most three parents no inadmissible set comes up.
        check(&terms, Some(3), None);
        let (_, dag, score) = solve(&terms, None, None);
        assert!(dag.parents.iter().all(|parents| parents.len() < 4));
        assert!((score - plain_optimum(&terms, 3, None)).abs() < 1e-6);
        let settings = Settings {
            k: 0.5,
            seed,
            max_parents: None,
            two_phase: false,
            start: Model::new(EssentialGraph::empty(7)),
            sampling: None,
        };
        let mut gains = Gains::new(&terms, 1 << 20);
        let end = run(&mut gains, &settings, 0, &Stop::default(), |_, _| ()).expect("not stopped");
        let mut worker = terms.worker();
        let here = terms.score(&mut *worker, &end.extension());
        for neighbour in Model::new(end.clone()).boundary(None) {
            let mut other = Model::new(end.clone());
            other.apply(&neighbour);
            assert!(terms.score(&mut *worker, &other.graph.extension()) <= here);
        }
    }
}
