//! Exact probabilities against sums over all DAGs with few variables, and against a sum over layers with more.

mod common;

use std::sync::atomic::AtomicUsize;

use common::{random_dag, random_table, terms};
use kes_core::exact::{Failure, Limits};
use kes_core::graph::{Dag, Knowledge};
use kes_core::posterior::{Exact, bytes, exact};
use kes_core::rng::Stream;
use kes_core::score::discrete::Table;
use kes_core::score::discrete::criterion::Criterion;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::prior::Weighted;
use kes_core::score::terms::Terms;
use kes_core::stop::Stop;
use kes_core::varset::VarSet;

fn limits(threads: usize) -> Limits {
    Limits { bytes: 1 << 28, threads }
}

fn table(n: usize, rows: usize, stream: &mut Stream) -> Dataset {
    let dag = random_dag::<1>(n, 300, stream);
    let arity: Vec<usize> = (0..n).map(|v| 2 + v % 2).collect();
    let columns = random_table(&dag, &arity, rows, stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    Dataset::new(&slices, &arity, None).expect("a table")
}

fn found(
    terms: &Terms<1>,
    max_parents: Option<usize>,
    known: Option<&Knowledge<1>>,
    threads: usize,
) -> Exact {
    let counted = AtomicUsize::new(0);
    let found = exact(terms, max_parents, known, &limits(threads), &Stop::default(), &counted);
    found.expect("enough memory")
}

/// All DAGs: all choices of parents without a cycle.
fn all_dags(n: usize) -> Vec<Dag<1>> {
    let mut dags = vec![Dag::empty(n)];
    for y in 0..n {
        let others: Vec<usize> = (0..n).filter(|&v| v != y).collect();
        let sets: Vec<Vec<usize>> = common::subsets(others);
        dags = dags
            .iter()
            .flat_map(|dag| {
                sets.iter().map(move |parents| {
                    let mut dag = dag.clone();
                    dag.parents[y] = parents.iter().copied().collect();
                    dag
                })
            })
            .filter(|dag| dag.order().is_some())
            .collect();
    }
    dags
}

/// Is there a directed path?
fn leads(dag: &Dag<1>, a: usize, b: usize) -> bool {
    dag.parents[b].contains(a) || dag.parents[b].iter().any(|parent| leads(dag, a, parent))
}

fn assert_is_the_sum_over_dags(
    terms: &Terms<1>,
    max_parents: Option<usize>,
    known: Option<&Knowledge<1>>,
    dags: &[Dag<1>],
) {
    let n = terms.variables();
    let mut worker = terms.worker();
    let most = max_parents.unwrap_or(n);
    let few = |dag: &&Dag<1>| dag.parents.iter().all(|parents| parents.len() <= most);
    let admissible = dags.iter().filter(few).filter(|dag| known.is_none_or(|known| known.admits(dag)));
    let scored: Vec<(&Dag<1>, f64)> = admissible.map(|dag| (dag, terms.score(&mut *worker, dag))).collect();
    let best = scored.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let sum = |is: &dyn Fn(&Dag<1>) -> bool| -> f64 {
        scored.iter().filter(|(dag, _)| is(dag)).map(|(_, score)| (score - best).exp()).sum()
    };
    let all = sum(&|_| true);
    let found = found(terms, max_parents, known, 2);
    assert!((found.log_sum - best - all.ln()).abs() < 1e-9);
    assert!(found.dropped < 1e-9 && found.rounding < 1e-9 && found.mismatch < 1e-9, "{found:?}");
    for a in 0..n {
        for b in (0..n).filter(|&b| b != a) {
            let arc = sum(&|dag| dag.parents[b].contains(a)) / all;
            let path = sum(&|dag| leads(dag, a, b)) / all;
            assert!((found.arcs[a * n + b] - arc).abs() < 1e-9, "{a} -> {b}: {arc} {found:?}");
            assert!((found.ancestors[a * n + b] - path).abs() < 1e-9, "{a} => {b}: {path} {found:?}");
        }
    }
}

#[test]
fn probabilities_are_those_of_all_dags() {
    let dags = all_dags(4);
    assert_eq!(dags.len(), 543);
    let mut stream = Stream::new(1, 1);
    for (case, rows) in [10, 100, 1000, 3000].into_iter().enumerate() {
        for criterion in [("bdeu", 1.0), ("bic", 1.0), ("bdeu", 30.0)] {
            let terms = terms::<1>(table(4, rows, &mut stream), criterion, 1 << 20);
            assert_is_the_sum_over_dags(&terms, None, None, &dags);
            assert_is_the_sum_over_dags(&terms, Some(1 + case % 2), None, &dags);
            let tiers = [Some(0), Some(1), Some(0), None];
            let known = Knowledge::new(4, &tiers, &[], &[(2, 3)]).expect("no contradiction");
            assert_is_the_sum_over_dags(&terms, None, Some(&known), &dags);
            let known = Knowledge::new(4, &[], &[(3, 0)], &[(1, 2)]).expect("no contradiction");
            assert_is_the_sum_over_dags(&terms, Some(2), Some(&known), &dags);
        }
    }
}

#[test]
fn a_prior_over_edges_counts() {
    let dags = all_dags(4);
    let mut stream = Stream::new(2, 1);
    let criterion = Criterion::named("bdeu", 1.0).expect("known");
    let table = Table::new(table(4, 200, &mut stream), criterion).expect("good parameters");
    let weighted = Weighted::new(table, -1.5, &[(0, 1, 4.0), (2, 3, -2.0)], &[]);
    assert_is_the_sum_over_dags(&Terms::new(weighted, 1 << 20), None, None, &dags);
}

/// Constant columns have no edges, and nothing else changes.
#[test]
fn constant_columns_are_isolated() {
    let columns: [&[i32]; 4] = [&[0, 1, 1, 0, 1], &[0; 5], &[0, 1, 1, 0, 0], &[0; 5]];
    let data = Dataset::new(&columns, &[2, 1, 2, 1], None).expect("a table");
    let terms = terms::<1>(data, ("bdeu", 1.0), 1 << 20);
    let found = found(&terms, None, None, 1);
    for (a, b) in [(0, 1), (1, 2), (3, 0), (2, 3), (1, 3)] {
        assert_eq!(found.arcs[a * 4 + b], 0.0);
        assert_eq!(found.arcs[b * 4 + a], 0.0);
    }
    assert!(found.arcs[2] > 0.1 && (found.arcs[2] - found.arcs[8]).abs() < 1e-12);
}

/// Sums of `e^s(i | P)` over `P ⊆ U` that contain a variable, or over all.
fn sums(terms: &Terms<1>, i: usize, with: Option<usize>) -> Vec<f64> {
    let n = terms.variables();
    let mut worker = terms.worker();
    let set = |bits: usize| -> VarSet<1> { (0..n).filter(|v| bits >> v & 1 == 1).collect() };
    let scale = terms.family(&mut *worker, i, VarSet::EMPTY);
    let mut sums: Vec<f64> = (0..1usize << n)
        .map(|bits| {
            let counts = bits >> i & 1 == 0 && with.is_none_or(|j| bits >> j & 1 == 1);
            if counts { (terms.family(&mut *worker, i, set(bits)) - scale).exp() } else { 0.0 }
        })
        .collect();
    for v in 0..n {
        for bits in (0..1 << n).filter(|bits| bits >> v & 1 == 1) {
            sums[bits] += sums[bits ^ 1 << v];
        }
    }
    sums
}

/// The sum over all DAGs by their layers: the first has no parents, and each further variable has a parent in
/// the layer before its own [Kuipers & Moffa 2017]. Nothing is subtracted but sums over families.
fn sum_over_layers(n: usize, sums: &[Vec<f64>]) -> f64 {
    let full = (1usize << n) - 1;
    // by_last[U]: the subsets T of U with the weight of the DAGs over U whose last layer is T.
    let mut by_last: Vec<Vec<(usize, f64)>> = vec![Vec::new(); full + 1];
    for (first, states) in by_last.iter_mut().enumerate().skip(1) {
        let weight = (0..n).filter(|i| first >> i & 1 == 1).map(|i| sums[i][0]).product();
        states.push((first, weight));
    }
    for used in 1..full {
        let states = std::mem::take(&mut by_last[used]);
        let rest = full & !used;
        let mut next = rest;
        while next != 0 {
            let mut weight = 0.0;
            for &(last, before) in &states {
                let members = (0..n).filter(|i| next >> i & 1 == 1);
                weight += before * members.map(|i| sums[i][used] - sums[i][used & !last]).product::<f64>();
            }
            by_last[used | next].push((next, weight));
            next = (next - 1) & rest;
        }
    }
    by_last[full].iter().map(|(_, weight)| weight).sum()
}

fn assert_is_a_sum_over_layers(n: usize, rows: usize, pairs: usize) {
    let mut stream = Stream::new(3, n as u64);
    let terms = terms::<1>(table(n, rows, &mut stream), ("bdeu", 1.0), 1 << 24);
    let found = found(&terms, None, None, 2);
    let all: Vec<Vec<f64>> = (0..n).map(|i| sums(&terms, i, None)).collect();
    let total = sum_over_layers(n, &all);
    let scale = terms.score(&mut *terms.worker(), &Dag::empty(n));
    assert!((found.log_sum - scale - total.ln()).abs() < 1e-9);
    let arcs = (0..n).flat_map(|a| (0..n).filter(move |&b| b != a).map(move |b| (a, b)));
    for (a, b) in arcs.take(pairs) {
        let mut with = all.clone();
        with[b] = sums(&terms, b, Some(a));
        let expected = sum_over_layers(n, &with) / total;
        assert!((found.arcs[a * n + b] - expected).abs() < 1e-9, "{a} -> {b}: {expected}");
    }
    assert!(found.mismatch < 1e-9, "{found:?}");
}

#[test]
fn probabilities_are_those_of_a_sum_over_layers() {
    for (n, rows, pairs) in [(7, 60, 42), (9, 300, 8), (10, 30, 3)] {
        assert_is_a_sum_over_layers(n, rows, pairs);
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "16 million terms of the sum: slow if not optimised")]
fn probabilities_of_twelve_variables_are_those_of_a_sum_over_layers() {
    assert_is_a_sum_over_layers(12, 100, 2);
}

#[test]
fn threads_change_nothing() {
    let mut stream = Stream::new(4, 1);
    let terms = terms::<1>(table(13, 100, &mut stream), ("bdeu", 1.0), 1 << 24);
    let bits = |found: Exact| {
        let numbers = found.arcs.into_iter().chain(found.ancestors);
        numbers.chain([found.log_sum, found.dropped]).map(f64::to_bits).collect::<Vec<_>>()
    };
    let one = bits(found(&terms, None, None, 1));
    assert_eq!(one, bits(found(&terms, None, None, 3)));
}

#[test]
fn too_much_memory_and_a_stop_are_failures() {
    let mut stream = Stream::new(5, 1);
    let terms = terms::<1>(table(12, 50, &mut stream), ("bdeu", 1.0), 1 << 20);
    let counted = AtomicUsize::new(0);
    let small = Limits { bytes: bytes(12) as usize - 1, threads: 1 };
    let failed = exact(&terms, None, None, &small, &Stop::default(), &counted);
    assert_eq!(failed.err(), Some(Failure::Memory));
    let stop = Stop::default();
    stop.raise();
    assert_eq!(exact(&terms, None, None, &limits(1), &stop, &counted).err(), Some(Failure::Stopped));
}
