//! All DAGs with few nodes, their classes and boundaries, by the definitions. It shares nothing with
//! the engine. A DAG is its arcs as bits: bit `5 x + y` stands for `x → y`.
#![allow(dead_code)]

use std::collections::BTreeMap;

use super::Triple;

pub const STRIDE: usize = 5;

pub fn arc(x: usize, y: usize) -> u32 {
    1 << (STRIDE * x + y)
}

pub fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |x| (0..n).filter(move |&y| y != x).map(move |y| (x, y)))
}

/// All models with `n` nodes.
pub struct Models {
    pub n: usize,
    /// The DAGs of each class.
    pub classes: Vec<Vec<u32>>,
    /// The neighbours of each class, under their triples.
    pub boundary: Vec<BTreeMap<Triple, usize>>,
}

impl Models {
    pub fn new(n: usize) -> Self {
        let edges: Vec<(usize, usize)> = pairs(n).filter(|(x, y)| x < y).collect();
        let mut classes: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for mut code in 0..3u32.pow(edges.len() as u32) {
            let mut dag = 0;
            for &(x, y) in &edges {
                dag |= [0, arc(x, y), arc(y, x)][code as usize % 3];
                code /= 3;
            }
            if is_acyclic(n, dag) {
                classes.entry(equivalence_key(n, dag)).or_default().push(dag);
            }
        }
        let classes: Vec<Vec<u32>> = classes.into_values().collect();
        let number: BTreeMap<u32, usize> =
            classes.iter().enumerate().flat_map(|(i, dags)| dags.iter().map(move |&dag| (dag, i))).collect();
        let boundary = classes.iter().map(|dags| boundary(n, dags, &number)).collect();
        Self { n, classes, boundary }
    }
}

fn parents(n: usize, dag: u32, y: usize) -> Vec<usize> {
    (0..n).filter(|&x| dag & arc(x, y) != 0).collect()
}

pub fn arcs(n: usize, dag: u32) -> Vec<(usize, usize)> {
    pairs(n).filter(|&(x, y)| dag & arc(x, y) != 0).collect()
}

fn joined(dag: u32, x: usize, y: usize) -> bool {
    dag & (arc(x, y) | arc(y, x)) != 0
}

/// Some node of every acyclic digraph has no parent, and what is left is acyclic.
fn is_acyclic(n: usize, dag: u32) -> bool {
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(at) = left.iter().position(|&y| left.iter().all(|&x| x == y || dag & arc(x, y) == 0)) {
        left.remove(at);
    }
    left.is_empty()
}

/// Adjacencies and v-structures [Verma & Pearl 1990].
fn equivalence_key(n: usize, dag: u32) -> (u32, Vec<(usize, usize, usize)>) {
    let skeleton = arcs(n, dag).iter().fold(dag, |all, &(x, y)| all | arc(y, x));
    let mut colliders = Vec::new();
    for y in 0..n {
        let above = parents(n, dag, y);
        for &a in &above {
            colliders.extend(above.iter().filter(|&&b| a < b && !joined(dag, a, b)).map(|&b| (a, y, b)));
        }
    }
    (skeleton, colliders)
}

/// The classes of all DAGs that differ by one arc from one of these.
fn boundary(n: usize, dags: &[u32], number: &BTreeMap<u32, usize>) -> BTreeMap<Triple, usize> {
    let mut reached = BTreeMap::new();
    for &dag in dags {
        for (x, y) in pairs(n).filter(|&(x, y)| dag & arc(y, x) == 0) {
            // A digraph without a number has a cycle.
            if let Some(&class) = number.get(&(dag ^ arc(x, y))) {
                let given = parents(n, dag, y).into_iter().filter(|&p| p != x).collect();
                let insert = dag & arc(x, y) == 0;
                let before = reached.insert((insert, x.min(y), x.max(y), given), class);
                assert!(before.is_none_or(|before| before == class), "a triple is one model");
            }
        }
    }
    reached
}
