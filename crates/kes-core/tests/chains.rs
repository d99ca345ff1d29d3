//! Chains over models: their distribution against all classes of a few variables, and what they promise.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use common::{random_dag, random_table, terms};
use kes_core::graph::class_size::ClassSizes;
use kes_core::graph::{EssentialGraph, Knowledge};
use kes_core::posterior::chain::{Chain, Options, chains, pilot};
use kes_core::posterior::enumerate::enumerate;
use kes_core::posterior::{Prior, exact};
use kes_core::rng::Stream;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;
use kes_core::stop::Stop;
use kes_core::varset::VarSet;

fn problem(n: usize, rows: usize, number: u64) -> Terms<1> {
    let mut stream = Stream::new(number, 1);
    let dag = random_dag::<1>(n, 400, &mut stream);
    let arity = vec![2; n];
    let columns = random_table(&dag, &arity, rows, &mut stream);
    let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
    let data = Dataset::new(&slices, &arity, None).expect("a table");
    terms(data, ("bdeu", 1.0), 1 << 20)
}

fn options(prior: Prior, betas: &[f64]) -> Options {
    Options {
        prior,
        betas: betas.to_vec(),
        seed: 1,
        duration: 1.0,
        rounds: 20,
        before: 0,
        blocks: 1,
        max_parents: None,
        threads: 2,
    }
}

fn run(
    terms: &Terms<1>,
    starts: &[Vec<EssentialGraph<1>>],
    listed: &[EssentialGraph<1>],
    options: &Options,
    knowledge: Option<&Arc<Knowledge<1>>>,
) -> Vec<Chain<1>> {
    let done = AtomicUsize::new(0);
    chains(terms, starts, listed, options, knowledge, &Stop::default(), &done).expect("not stopped")
}

/// Pearson's statistic of counts at the end of rounds, and its degrees of freedom. Models that are expected in fewer
/// than five rounds count together.
fn pearson(chains: &[Chain<1>], expected: &BTreeMap<Vec<VarSet<1>>, f64>) -> (f64, usize) {
    let mut counts: BTreeMap<Vec<VarSet<1>>, usize> = BTreeMap::new();
    chains
        .iter()
        .flat_map(|chain| &chain.classes)
        .for_each(|(graph, count)| *counts.entry(graph.key()).or_default() += count);
    assert!(counts.keys().all(|key| expected.contains_key(key)), "a model that is not admissible");
    let all: usize = counts.values().sum();
    let (mut statistic, mut cells) = (0.0, 0);
    let (mut rare, mut seen) = (0.0, 0.0);
    for (key, share) in expected {
        let (mean, count) = (share * all as f64, counts.get(key).copied().unwrap_or(0) as f64);
        if mean < 5.0 {
            rare += mean;
            seen += count;
        } else {
            statistic += (count - mean).powi(2) / mean;
            cells += 1;
        }
    }
    if rare >= 5.0 {
        statistic += (seen - rare).powi(2) / rare;
        cells += 1;
    }
    (statistic, cells - 1)
}

/// Rounds are long enough for their ends to be all but independent, so that the statistic is that of independent draws:
/// its mean is the number of degrees of freedom `d`, and it is above `d + 5 √(2d)` once in a million times.
fn assert_stationary(
    terms: &Terms<1>,
    prior: Prior,
    betas: &[f64],
    hops: bool,
    knowledge: Option<&Arc<Knowledge<1>>>,
) {
    let n = terms.variables();
    let right = enumerate(terms, prior, None, knowledge.map(|known| &**known), &Stop::default());
    let right = right.expect("not stopped").classes;
    let best = right[0].0.clone();
    let last = right[right.len() - 1].0.clone();
    let listed =
        if hops { vec![best.clone(), right[right.len() / 3].0.clone(), right[1].0.clone()] } else { vec![] };
    let expected = right.into_iter().map(|(graph, share)| (graph.key(), share)).collect();
    let mut options = options(prior, betas);
    options.duration = 12.0 * n as f64;
    options.blocks = 16;
    let starts = [vec![best.clone(); betas.len()], vec![last; betas.len()]];
    let found = run(terms, &starts, &listed, &options, knowledge);
    let (statistic, freedom) = pearson(&found, &expected);
    let freedom = freedom as f64;
    assert!(statistic < freedom + 5.0 * (2.0 * freedom).sqrt(), "{statistic} with {freedom}");
}

#[test]
fn chains_have_the_posterior_over_classes() {
    assert_stationary(&problem(4, 12, 1), Prior::Classes, &[1.0], false, None);
    assert_stationary(&problem(4, 12, 1), Prior::Dags, &[1.0], false, None);
}

#[test]
fn hops_and_temperatures_leave_it_as_it_is() {
    assert_stationary(&problem(4, 25, 2), Prior::Classes, &[1.0, 0.5, 0.2], true, None);
    assert_stationary(&problem(4, 25, 2), Prior::Dags, &[1.0, 0.4], true, None);
}

#[test]
fn knowledge_restricts_it() {
    let tiers = Knowledge::new(4, &[Some(0), Some(1), Some(0), Some(1)], &[], &[]);
    let arcs = Knowledge::new(4, &[], &[(0, 2)], &[(3, 1), (1, 3)]);
    let one = Knowledge::new(4, &[], &[], &[(2, 1)]);
    for (number, known) in [tiers, arcs, one].into_iter().enumerate() {
        let known = Arc::new(known.expect("no contradiction"));
        let terms = problem(4, 15, 3 + number as u64);
        assert_stationary(&terms, Prior::Classes, &[1.0, 0.5], true, Some(&known));
        assert_stationary(&terms, Prior::Dags, &[1.0], true, Some(&known));
    }
}

#[test]
fn sizes_are_the_numbers_of_dags_of_all_classes() {
    for n in 2..=4 {
        let terms = problem(n, 10, 9);
        let known = Knowledge::new(n, &[], &[], &[(1, 0)]).expect("no contradiction");
        for knowledge in [None, Some(&known)] {
            // Without data to speak of, the probability of a class is its share of all DAGs, but for its score.
            let dags =
                enumerate(&terms, Prior::Dags, None, knowledge, &Stop::default()).expect("not stopped");
            let classes =
                enumerate(&terms, Prior::Classes, None, knowledge, &Stop::default()).expect("not stopped");
            let of_class: BTreeMap<_, f64> =
                classes.classes.iter().map(|(graph, share)| (graph.key(), *share)).collect();
            let mut sizes = ClassSizes::new(knowledge);
            for (graph, share) in &dags.classes {
                let ratio = (dags.log_sum - classes.log_sum).exp() * share / of_class[&graph.key()];
                assert!((sizes.log_size(graph) - ratio.ln()).abs() < 1e-9);
            }
        }
    }
}

/// Every DAG of a class is drawn equally often, within five standard deviations.
#[test]
fn draws_from_a_class_are_uniform() {
    let graph = EssentialGraph::<1>::from_edges(5, &[], &[(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (3, 4)])
        .expect("chordal");
    let mut sizes = ClassSizes::new(None);
    let number = sizes.log_size(&graph).exp().round() as usize;
    let mut stream = Stream::new(1, 1);
    let mut counts = BTreeMap::new();
    for _ in 0..1000 * number {
        *counts.entry(sizes.draw(&graph, &mut stream).arcs()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), number);
    assert!(
        counts.values().all(|&count: &i32| (f64::from(count) - 1000.0).abs() < 5.0 * 1000f64.sqrt()),
        "{counts:?}"
    );
}

#[test]
fn shares_of_time_are_the_exact_probabilities() {
    let terms = problem(8, 200, 5);
    let limits = kes_core::exact::Limits { bytes: 1 << 28, threads: 2 };
    let right = exact(&terms, None, None, &limits, &Stop::default(), &AtomicUsize::new(0)).expect("small");
    let start = EssentialGraph::empty(8);
    let mut options = options(Prior::Dags, &[1.0, 0.5]);
    options.duration = pilot(&terms, &start, &options, None, &Stop::default()).expect("not stopped");
    options.blocks = 60;
    let found = run(&terms, &[vec![start.clone(); 2], vec![start; 2]], &[], &options, None);
    for a in 0..8 {
        for b in a + 1..8 {
            let blocks = found.iter().flat_map(|chain| &chain.edges[10..]);
            let shares: Vec<f64> = blocks.map(|block| block[a * 8 + b]).collect();
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            let expected = right.arcs[a * 8 + b] + right.arcs[b * 8 + a];
            assert!((mean - expected).abs() < 0.05, "{a} - {b}: {mean} instead of {expected}");
        }
    }
}

#[test]
fn chains_go_on_where_they_left_off_on_any_number_of_threads() {
    let terms = problem(7, 60, 6);
    let start = vec![vec![EssentialGraph::empty(7); 2]; 3];
    let mut options = options(Prior::Dags, &[1.0, 0.5]);
    options.blocks = 4;
    let whole = run(&terms, &start, &[], &options, None);
    (options.blocks, options.threads) = (1, 1);
    let mut state = start;
    for block in 0..4 {
        options.before = block;
        let part = run(&terms, &state, &[], &options, None);
        for (chain, own) in whole.iter().zip(&part) {
            assert_eq!(chain.edges[block], own.edges[0]);
            assert_eq!(chain.drawn[block].arcs, own.drawn[0].arcs);
        }
        state = part.into_iter().map(|chain| chain.state).collect();
    }
    assert_eq!(state, whole.into_iter().map(|chain| chain.state).collect::<Vec<_>>());
}
