//! Admissible models, MPDAGs and boundaries under knowledge, against all DAGs with four and
//! five nodes.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::Triple;
use common::brute::{Models, arc, arcs, pairs};
use kes_core::boundary::{Model, Neighbour};
use kes_core::graph::mpdag::Mpdag;
use kes_core::graph::{Dag, EssentialGraph, Knowledge};
use kes_core::rng::Stream;

/// Knowledge, as bits like those of a DAG, and as the engine represents it.
struct Known {
    required: u32,
    forbidden: u32,
    engine: Arc<Knowledge<1>>,
}

impl Known {
    fn new(n: usize, tiers: &[Option<usize>], required: u32, forbidden: u32) -> Self {
        let engine = Knowledge::new(n, tiers, &arcs(n, required), &arcs(n, forbidden));
        let later = |&(x, y): &(usize, usize)| {
            !tiers.is_empty() && tiers[x].is_some() && tiers[y].is_some() && tiers[x] > tiers[y]
        };
        let against = pairs(n).filter(later).fold(0, |all, (x, y)| all | arc(x, y));
        Self { required, forbidden: forbidden | against, engine: Arc::new(engine.expect("no contradiction")) }
    }

    fn admits(&self, dag: u32) -> bool {
        dag & self.required == self.required && dag & self.forbidden == 0
    }
}

fn essential(n: usize, dag: u32) -> EssentialGraph<1> {
    let dag = Dag::from_arcs(n, &arcs(n, dag));
    EssentialGraph::from_dag(&dag, &dag.order().expect("acyclic"))
}

fn plain(neighbour: &Neighbour<1>) -> Triple {
    let (_, x, y, given) = neighbour.triple();
    (neighbour.is_insertion(), x, y, given.iter().collect())
}

fn bits(n: usize, parents: &[kes_core::varset::VarSet<1>]) -> u32 {
    pairs(n).filter(|&(x, y)| parents[y].contains(x)).fold(0, |all, (x, y)| all | arc(x, y))
}

/// Compares every class, or one in every few, with the definitions.
fn check(models: &Models, known: &Known, one_in: usize) {
    let n = models.n;
    let admissible: Vec<Vec<u32>> = (models.classes.iter())
        .map(|dags| dags.iter().copied().filter(|&dag| known.admits(dag)).collect())
        .collect();
    for (class, dags) in admissible.iter().enumerate().step_by(one_in) {
        let graph = essential(n, models.classes[class][0]);
        let mpdag = Mpdag::new(&graph, &known.engine);
        assert_eq!(mpdag.is_ok(), !dags.is_empty(), "admissible or not");
        let Ok(mpdag) = mpdag else { continue };
        // An arc is in the MPDAG iff all admissible DAGs have it.
        let common = dags.iter().fold(u32::MAX, |common, dag| common & dag);
        assert_eq!(bits(n, &mpdag.parents), common);
        assert_eq!(mpdag.directed().iter().fold(0, |all, &(x, y)| all | arc(x, y)), common);
        // And an edge iff some have it one way and some the other.
        let edges = mpdag.undirected();
        let both = edges.iter().fold(0, |all, &(x, y)| all | arc(x, y) | arc(y, x));
        assert_eq!(both, dags.iter().fold(0, |any, dag| any | dag) & !common);
        let extension = mpdag.extension(&graph);
        assert!(dags.contains(&bits(n, &extension.parents)), "the extension is admissible");
        for y in 0..n {
            for mask in 0..1usize << n {
                let parents: Vec<usize> = (0..n).filter(|x| mask >> x & 1 == 1).collect();
                let is_family = |dag: u32| (0..n).all(|x| (dag & arc(x, y) != 0) == parents.contains(&x));
                let allowed = mpdag.allows(y, parents.iter().copied().collect());
                assert_eq!(allowed, dags.iter().copied().any(is_family), "parents of {y}");
            }
        }
        check_boundary(models, known, &admissible, class, graph);
    }
}

/// The neighbours are the admissible ones, each once, and each leads to its class.
fn check_boundary(
    models: &Models,
    known: &Known,
    admissible: &[Vec<u32>],
    class: usize,
    graph: EssentialGraph<1>,
) {
    let model = Model::under(graph.clone(), Some(&known.engine)).expect("admissible");
    assert_eq!(model.essential(), graph);
    let found = model.boundary(None);
    let reached = |(_, target): &(&Triple, &usize)| !admissible[**target].is_empty();
    let expected: BTreeMap<&Triple, &usize> = models.boundary[class].iter().filter(reached).collect();
    let triples: BTreeSet<Triple> = found.iter().map(plain).collect();
    assert_eq!(triples.len(), found.len(), "a neighbour came twice");
    assert!(triples.iter().eq(expected.keys().copied()), "{triples:?} instead of {expected:?}");
    for neighbour in &found {
        let target = *expected[&plain(neighbour)];
        let mut moved = model.clone();
        moved.apply(neighbour);
        assert_eq!(moved.essential(), essential(models.n, models.classes[target][0]));
        assert_eq!(
            Model::under(moved.essential(), Some(&known.engine)).expect("admissible").graph,
            moved.graph
        );
    }
}

/// One of each digraph on four nodes up to isomorphism: the smallest of its permutations.
fn digraphs() -> Vec<u32> {
    let mut permutations = vec![vec![]];
    for v in 0..4 {
        permutations = (permutations.iter())
            .flat_map(|p: &Vec<usize>| (0..=v).map(move |at| [&p[..at], &[v], &p[at..]].concat()))
            .collect();
    }
    let all: Vec<(usize, usize)> = pairs(4).collect();
    let digraph = |mask: usize| {
        (0..12).filter(|i| mask >> i & 1 == 1).map(|i| all[i]).fold(0, |bits, (x, y)| bits | arc(x, y))
    };
    let renamed = |bits: u32, p: &[usize]| arcs(4, bits).iter().fold(0, |b, &(x, y)| b | arc(p[x], p[y]));
    (0..1 << 12).map(digraph).filter(|&bits| permutations.iter().all(|p| renamed(bits, p) >= bits)).collect()
}

#[test]
fn all_forbidden_digraphs_on_four_nodes() {
    let models = Models::new(4);
    assert_eq!(models.classes.len(), 185);
    let all = digraphs();
    assert_eq!(all.len(), 218);
    for forbidden in all {
        check(&models, &Known::new(4, &[], 0, forbidden), 1);
    }
}

/// All ways to put four nodes into tiers, or into none, up to isomorphism.
#[test]
fn all_tierings_of_four_nodes() {
    let models = Models::new(4);
    let tiers_of = |code: usize| (0..4).map(move |v| (code / 5usize.pow(v) % 5).checked_sub(1));
    let mut tierings = 0;
    for tiers in (0..5usize.pow(4)).map(|code| tiers_of(code).collect::<Vec<Option<usize>>>()) {
        let used: BTreeSet<usize> = tiers.iter().flatten().copied().collect();
        if tiers.is_sorted() && used.iter().copied().eq(0..used.len()) {
            check(&models, &Known::new(4, &tiers, 0, 0), 1);
            tierings += 1;
        }
    }
    assert_eq!(tierings, 16); // 2^(m-1) compositions of the m nodes in tiers, and one without any
}

/// Tiers, required and forbidden arcs that some network obeys.
fn mixture(models: &Models, stream: &mut Stream) -> Known {
    let n = models.n;
    let class = &models.classes[stream.below(models.classes.len())];
    let dag = class[stream.below(class.len())];
    let share = [50, 150, 300, 500][stream.below(4)];
    let mut some = |arc_set: u32, share: usize| {
        let chosen = arcs(n, arc_set).into_iter().filter(|_| stream.below(1000) < share).collect::<Vec<_>>();
        chosen.iter().fold(0, |all, &(x, y)| all | arc(x, y))
    };
    let everything = pairs(n).fold(0, |all, (x, y)| all | arc(x, y));
    let (required, forbidden) = (some(dag, share), some(everything & !dag, share));
    // A tier is the length of the longest way to a node, or less where that is no contradiction.
    let mut tiers = vec![0; n];
    for _ in 0..n {
        arcs(n, dag).iter().for_each(|&(x, y)| tiers[y] = tiers[y].max(tiers[x] + 1));
    }
    let width = 1 + stream.below(3);
    let listed = stream.below(3);
    let tier = |v: usize| match listed {
        0 => None,
        1 if v == 0 => None,
        _ => Some(tiers[v] / width),
    };
    Known::new(n, &(0..n).map(tier).collect::<Vec<_>>(), required, forbidden)
}

#[test]
fn random_mixtures_on_four_nodes() {
    let models = Models::new(4);
    let mut stream = Stream::new(3, 0);
    (0..40).for_each(|_| check(&models, &mixture(&models, &mut stream), 1));
}

#[test]
fn random_mixtures_on_five_nodes() {
    let models = Models::new(5);
    assert_eq!(models.classes.len(), 8782);
    let mut stream = Stream::new(4, 0);
    (0..30).for_each(|_| check(&models, &mixture(&models, &mut stream), 97));
}
