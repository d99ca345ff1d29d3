//! An oracle for the boundary and for `B`: Chickering's operators by their definition, with one path
//! search and one clique test per operator, and every score from a full recount. Slow on purpose;
//! it shares nothing with the engine but the graph types.
#![allow(dead_code, clippy::needless_range_loop)] // each test file uses its part; rows are indices

pub mod brute;

use std::collections::{BTreeMap, BTreeSet};

use kes_core::graph::{Dag, EssentialGraph};
use kes_core::rng::Stream;
use kes_core::score::discrete::Table;
use kes_core::score::discrete::criterion::Criterion;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::terms::Terms;

/// (kind, x, y, C) with x < y.
pub type Triple = (bool, usize, usize, Vec<usize>);

/// A graph as plain edge lists.
pub struct Plain {
    pub n: usize,
    pub arcs: BTreeSet<(usize, usize)>,
    pub edges: BTreeSet<(usize, usize)>,
}

impl Plain {
    pub fn new<const W: usize>(graph: &EssentialGraph<W>) -> Self {
        let edges = graph.undirected().into_iter().flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        Self { n: graph.len(), arcs: graph.directed().into_iter().collect(), edges }
    }

    pub fn adjacent(&self, a: usize, b: usize) -> bool {
        self.arcs.contains(&(a, b)) || self.arcs.contains(&(b, a)) || self.edges.contains(&(a, b))
    }

    fn neighbours(&self, v: usize) -> Vec<usize> {
        (0..self.n).filter(|&u| self.edges.contains(&(v, u))).collect()
    }

    fn parents(&self, v: usize) -> Vec<usize> {
        (0..self.n).filter(|&u| self.arcs.contains(&(u, v))).collect()
    }

    fn is_clique(&self, set: &[usize]) -> bool {
        set.iter().all(|&a| set.iter().all(|&b| a == b || self.adjacent(a, b)))
    }

    /// Whether there is a semi-directed path from `y` to `x` that avoids `block`.
    fn path(&self, y: usize, x: usize, block: &[usize]) -> bool {
        let mut seen = BTreeSet::from([y]);
        let mut stack = vec![y];
        while let Some(v) = stack.pop() {
            for u in 0..self.n {
                let step = self.arcs.contains(&(v, u)) || self.edges.contains(&(v, u));
                if step && !block.contains(&u) && seen.insert(u) {
                    stack.push(u);
                }
            }
        }
        seen.contains(&x)
    }

    /// The triples of all valid operators [Chickering 2002, Thms 15 and 17].
    pub fn boundary(&self, max_parents: Option<usize>) -> BTreeSet<Triple> {
        let mut triples = BTreeSet::new();
        for y in 0..self.n {
            for x in (0..self.n).filter(|&x| x != y) {
                let common: Vec<usize> =
                    self.neighbours(y).into_iter().filter(|&z| self.adjacent(z, x)).collect();
                let mut add = |insert, mut given: Vec<usize>| {
                    given.sort_unstable();
                    triples.insert((insert, x.min(y), x.max(y), given));
                };
                if !self.adjacent(x, y) {
                    let free =
                        self.neighbours(y).into_iter().filter(|&z| z != x && !self.adjacent(z, x)).collect();
                    for t in subsets(free) {
                        let block = [common.clone(), t].concat();
                        let given = [block.clone(), self.parents(y)].concat();
                        let admissible = max_parents.is_none_or(|limit| given.len() < limit);
                        if admissible && self.is_clique(&block) && !self.path(y, x, &block) {
                            add(true, given);
                        }
                    }
                } else if self.edges.contains(&(x, y)) || self.arcs.contains(&(x, y)) {
                    for kept in subsets(common) {
                        if self.is_clique(&kept) {
                            let parents = self.parents(y).into_iter().filter(|&p| p != x).collect();
                            add(false, [kept, parents].concat());
                        }
                    }
                }
            }
        }
        triples
    }
}

pub fn subsets(items: Vec<usize>) -> Vec<Vec<usize>> {
    assert!(items.len() < 16, "the oracle is for small neighbourhoods");
    (0..1usize << items.len())
        .map(|mask| items.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, &v)| v).collect())
        .collect()
}

/// A random DAG: each pair is joined with probability `per_mille / 1000`, along a random order.
pub fn random_dag<const W: usize>(n: usize, per_mille: usize, stream: &mut Stream) -> Dag<W> {
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|i| order.swap(i, stream.below(i + 1)));
    let mut dag = Dag::empty(n);
    for i in 0..n {
        for j in 0..i {
            if stream.below(1000) < per_mille {
                dag.parents[order[i]].insert(order[j]);
            }
        }
    }
    dag
}

/// A table drawn from a random network on `dag`: each node mostly follows the sum of its parents.
pub fn random_table<const W: usize>(
    dag: &Dag<W>,
    arity: &[usize],
    rows: usize,
    stream: &mut Stream,
) -> Vec<Vec<i32>> {
    let mut columns = vec![vec![0; rows]; arity.len()];
    for v in dag.order().expect("acyclic") {
        for row in 0..rows {
            let sum: usize = dag.parents[v].iter().map(|p| columns[p][row] as usize).sum();
            let state = if stream.below(100) < 70 { sum } else { stream.below(arity[v]) };
            columns[v][row] = (state % arity[v]) as i32;
        }
    }
    columns
}

/// The terms of a table under a criterion, given by its name and equivalent sample size.
pub fn terms<const W: usize>(data: Dataset, (name, ess): (&str, f64), cache_bytes: usize) -> Terms<W> {
    let criterion = Criterion::named(name, ess).expect("a known criterion");
    Terms::new(Table::new(data, criterion).expect("good parameters"), cache_bytes)
}

/// The BIC of a family, straight from the definition.
pub fn family_bic(columns: &[Vec<i32>], arity: &[usize], y: usize, parents: &[usize]) -> f64 {
    let rows = columns[y].len();
    let mut table: BTreeMap<Vec<i32>, BTreeMap<i32, f64>> = BTreeMap::new();
    for row in 0..rows {
        let key = parents.iter().map(|&p| columns[p][row]).collect();
        *table.entry(key).or_default().entry(columns[y][row]).or_default() += 1.0;
    }
    let mut likelihood = 0.0;
    for counts in table.values() {
        let total: f64 = counts.values().sum();
        likelihood += counts.values().map(|n| n * (n / total).ln()).sum::<f64>();
    }
    let parameters: usize = parents.iter().map(|&p| arity[p]).product::<usize>() * (arity[y] - 1);
    likelihood - 0.5 * (rows as f64).ln() * parameters as f64
}

/// The gain of a triple as a difference of two family scores.
pub fn delta(columns: &[Vec<i32>], arity: &[usize], triple: &Triple) -> f64 {
    let (insert, x, y, given) = triple;
    let with = [given.as_slice(), &[*x]].concat();
    let gain = family_bic(columns, arity, *y, &with) - family_bic(columns, arity, *y, given);
    if *insert { gain } else { -gain }
}
