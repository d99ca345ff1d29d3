//! The engine for very many variables against the one with sets of bits: every step of every run must be the same.

mod common;

use std::time::Duration;

use common::{random_dag, random_table};
use kes_core::engine::{self, Additions, Constraints, Engine, SearchOptions, Statements, Table};
use kes_core::graph::Dag;
use kes_core::rng::Stream;
use kes_core::score::discrete::{self, criterion::Criterion, dataset::Dataset};
use kes_core::score::gaussian::{self, Column, criterion};
use kes_core::stop::Stop;
use kes_core::wide;

type Arcs = Vec<(usize, usize)>;

/// A table in two engines, with a DAG that its knowledge may be about.
struct Case {
    dense: Box<dyn Engine>,
    sparse: Box<dyn Engine>,
    truth: Dag<4>,
}

const BYTES: usize = 1 << 24;

fn discrete_case(n: usize, seed: u64) -> Case {
    let stream = &mut Stream::new(seed, 0);
    let truth = random_dag::<4>(n, 3000 / n, stream);
    let arity: Vec<usize> = (0..n).map(|_| 2 + stream.below(3)).collect();
    let columns = random_table(&truth, &arity, 60 + stream.below(200), stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let weights: Vec<f64> = columns[0].iter().map(|_| (1 + stream.below(4)) as f64 * 0.7).collect();
    let weights = (stream.below(3) == 0).then_some(weights);
    let name = ["bic", "aic", "bdeu"][stream.below(3)];
    let prior = prior(n, stream);
    let table = || {
        let data = Dataset::new(&slices, &arity, weights.as_deref()).unwrap();
        discrete::Table::new(data, Criterion::named(name, 1.0).unwrap()).unwrap()
    };
    Case {
        dense: table().engine(prior.as_ref(), BYTES, Some(false)).unwrap(),
        sparse: wide::engine::on(Box::new(table()), prior.as_ref(), BYTES),
        truth,
    }
}

fn gaussian_case(n: usize, seed: u64) -> Case {
    let stream = &mut Stream::new(seed, 1);
    let truth = random_dag::<4>(n, 3000 / n, stream);
    let rows = 30 + stream.below(200);
    let mut columns = vec![Vec::new(); n];
    for v in truth.order().unwrap() {
        // Now and then a copy, a sum without noise, a constant or whole numbers with ties.
        let kind = stream.below(25);
        let noise = if kind == 0 { 0.0 } else { 1.0 };
        let parents: Vec<(usize, f64)> =
            truth.parents[v].iter().map(|p| (p, stream.uniform() * 2.0 - 1.0)).collect();
        let mut value = |row: usize| {
            let normal = (0..4).map(|_| stream.uniform() - 0.5).sum::<f64>() * noise;
            let all = normal
                + parents.iter().map(|&(p, b): &(usize, f64)| b * columns_at(&columns, p, row)).sum::<f64>();
            if kind == 1 {
                (all * 2.0).round()
            } else if kind == 2 {
                7.0
            } else {
                all
            }
        };
        let column = (0..rows).map(&mut value).collect();
        columns[v] = column;
    }
    let table: Vec<Column<'_>> = columns.iter().map(|column| Column::Numbers(column)).collect();
    let weights: Vec<f64> = (0..rows).map(|_| stream.below(4) as f64 * 0.7).collect();
    let weights = (stream.below(3) == 0).then_some(weights);
    let by = if n.is_multiple_of(7) { 1 } else { 7 };
    let order: Vec<usize> = (0..n).map(|v| (v * by + 3) % n).collect();
    let criterion = || criterion::Criterion::named(["bic", "aic", "bge"][seed as usize % 3], 1.0).unwrap();
    let prior = prior(n, stream);
    let (weights, stop) = (weights.as_deref(), &Stop::default());
    let moments = gaussian::Moments::new(&table, &order, weights, 1, stop).unwrap();
    let dense = gaussian::Table::new(moments, criterion());
    let sparse = gaussian::WideTable::new(&table, &order, weights, criterion(), 2, stop).unwrap();
    let twins = |excluded: Vec<kes_core::score::excluded::Excluded>| {
        excluded.iter().map(|pair| (pair.x, pair.y)).collect::<Vec<_>>()
    };
    assert_eq!(twins(dense.excluded()), twins(wide::function::Function::excluded(&sparse)));
    Case {
        dense: dense.engine(prior.as_ref(), BYTES, Some(false)).unwrap(),
        sparse: wide::engine::on(Box::new(sparse), prior.as_ref(), BYTES),
        truth,
    }
}

fn columns_at(columns: &[Vec<f64>], v: usize, row: usize) -> f64 {
    columns[v].get(row).copied().unwrap_or(0.0)
}

/// No prior, a price, or a price with some pairs that weigh more or less.
fn prior(n: usize, stream: &mut Stream) -> Option<Additions> {
    let mut pairs = Vec::new();
    if stream.below(3) == 0 {
        for _ in 0..4 {
            let (a, b) = (stream.below(n), stream.below(n));
            if a != b {
                pairs.push((a, b, stream.uniform() * 12.0 - 6.0));
            }
        }
    }
    (stream.below(2) == 0).then(|| (-(n as f64).ln(), pairs, Vec::new()))
}

/// Knowledge that the truth obeys: complete tiers, tiers of some, roots and leaves, single arcs.
fn knowledge(truth: &Dag<4>, stream: &mut Stream) -> Option<Statements> {
    let n = truth.parents.len();
    let order = truth.order().unwrap();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(at, &v)| place[v] = at);
    let mut known = Statements::default();
    match stream.below(4) {
        0 => return None,
        1 => known.tiers = (0..n).map(|v| Some(3 * place[v] / n)).collect(),
        2 => known.tiers = (0..n).map(|v| (stream.below(3) > 0).then_some(3 * place[v] / n)).collect(),
        _ => (),
    }
    let arcs = truth.arcs();
    if stream.below(2) == 0 && !arcs.is_empty() {
        for _ in 0..3 {
            known.required.push(arcs[stream.below(arcs.len())]);
            let (a, b) = (stream.below(n), stream.below(n));
            if a != b && !truth.parents[b].contains(a) {
                known.forbidden.push((a, b));
                known.forbidden.extend((!truth.parents[a].contains(b)).then_some((b, a)));
            }
        }
    }
    if stream.below(3) == 0 {
        let (root, leaf) = (order[0], order[n - 1]);
        known.forbidden.extend((0..n).filter(|&v| v != root).map(|v| (v, root)));
        known.forbidden.extend((0..n).filter(|&v| v != leaf).map(|v| (leaf, v)));
    }
    Some(known)
}

/// Runs by number, with the graph and the score of their ends to the bit, and whether they are local optima.
fn ends(engine: &dyn Engine, options: &SearchOptions) -> Vec<(u64, engine::Graph, u64, bool)> {
    let (mut runs, mut ends) = (Vec::new(), Vec::new());
    let numbers: Vec<u64> = (0..20).collect();
    engine
        .search(&numbers, options, 2, Duration::from_secs(10), &mut |batch| {
            runs.extend(batch.runs);
            ends.extend(batch.ends);
            true
        })
        .unwrap();
    let mut all: Vec<_> = runs
        .into_iter()
        .map(|(run, end)| {
            let end: &engine::End = &ends[end];
            (run, end.graph.clone(), end.score.to_bits(), end.is_local_optimum)
        })
        .collect();
    all.sort_unstable_by_key(|end| end.0);
    all
}

fn compare(case: &Case, seed: u64) {
    let stream = &mut Stream::new(seed, 2);
    let n = case.truth.parents.len();
    let most = [None, None, Some(1), Some(3)][stream.below(4)];
    let knowledge = knowledge(&case.truth, stream);
    let required = |v: usize| {
        knowledge.as_ref().map_or(0, |known| known.required.iter().filter(|arc| arc.1 == v).count())
    };
    let max_parents = most.map(|most: usize| most.max((0..n).map(required).max().unwrap_or(0)));
    let constraints = Constraints { max_parents, knowledge };
    for k in [1.0, 0.6] {
        let mut options = SearchOptions {
            k,
            seed,
            two_phase: stream.below(4) == 0,
            start: None,
            sampling: None,
            constraints: constraints.clone(),
        };
        // Required families of columns that determine each other cannot be estimated.
        let refusal = |engine: &dyn Engine| {
            engine.trace(0, &options, &Stop::default()).err().map(|error| error.to_string())
        };
        if let Some(message) = refusal(&*case.dense) {
            assert_eq!(refusal(&*case.sparse), Some(message));
            return;
        }
        let trace = |engine: &dyn Engine, options: &SearchOptions| {
            let (steps, end) = engine.trace(3, options, &Stop::default()).unwrap();
            let plain =
                |step: &engine::Step| (step.step.clone(), step.delta.to_bits(), step.better, step.rank);
            (steps.iter().map(plain).collect::<Vec<_>>(), end)
        };
        let (dense, sparse) = (trace(&*case.dense, &options), trace(&*case.sparse, &options));
        for (at, (a, b)) in dense.0.iter().zip(&sparse.0).enumerate() {
            assert_eq!(a, b, "step {at}, seed {seed}, {constraints:?}");
        }
        assert_eq!(dense, sparse);
        assert_eq!(
            ends(&*case.dense, &options),
            ends(&*case.sparse, &options),
            "seed {seed}, {constraints:?}"
        );
        let arcs: Arcs = case.truth.arcs();
        assert_eq!(case.dense.score(&arcs).unwrap().to_bits(), case.sparse.score(&arcs).unwrap().to_bits());
        options.start = Some(dense.1.clone());
        assert_eq!(trace(&*case.dense, &options), trace(&*case.sparse, &options));
        let check = |engine: &dyn Engine| {
            let graphs = [dense.1.clone(), engine::graphs::essential_graph(n, &arcs).unwrap()];
            engine.local_optima(&graphs, &constraints, 2, &Stop::default()).unwrap()
        };
        assert_eq!(check(&*case.dense), check(&*case.sparse));
    }
}

#[test]
fn discrete_tables_give_the_same_bits() {
    (0..12).for_each(|seed| compare(&discrete_case(5 + seed as usize % 15, seed), seed));
}

#[test]
fn continuous_tables_give_the_same_bits() {
    (0..12).for_each(|seed| compare(&gaussian_case(5 + seed as usize % 15, seed), seed));
}
