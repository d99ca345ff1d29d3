//! Features of weighted DAGs: arcs, ancestors, Markov blankets, v-structures.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::graph::Dag;
use crate::varset::VarSet;

/// Weights of the DAGs that have a feature. Matrices are `n × n`, row by row.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Of the arc from `a` to `b`.
    pub arcs: Vec<f64>,
    /// Of a directed path from `a` to `b`.
    pub ancestors: Vec<f64>,
    /// Of `a` in the Markov blanket of `b`: a parent, a child, or another parent of a child. Symmetric.
    pub blankets: Vec<f64>,
    /// Of `a → c ← b` with `a < b` not adjacent.
    pub v_structures: HashMap<(usize, usize, usize), f64, FxBuildHasher>,
    /// Of all DAGs.
    pub total: f64,
}

impl Tally {
    /// Without any DAG over `n` variables.
    pub fn new(n: usize) -> Self {
        let none = vec![0.0; n * n];
        let (ancestors, blankets) = (none.clone(), none.clone());
        Self { arcs: none, ancestors, blankets, v_structures: HashMap::default(), total: 0.0 }
    }

    /// Adds a DAG, whose causal order is `order`.
    pub fn add<const W: usize>(&mut self, dag: &Dag<W>, order: &[usize], weight: f64) {
        let n = order.len();
        self.total += weight;
        let mut above = vec![VarSet::<W>::EMPTY; n];
        let mut blankets = dag.children();
        for &y in order {
            let parents = dag.parents[y];
            above[y] = VarSet::union(parents.iter().map(|parent| &above[parent])) | parents;
            blankets[y] |= parents;
            for a in parents.iter() {
                self.arcs[a * n + y] += weight;
                blankets[a] |= parents.without(a);
                let adjacent = dag.parents[a].with(a);
                let apart = |b: &usize| a < *b && !adjacent.contains(*b) && !dag.parents[*b].contains(a);
                for b in parents.iter().filter(apart) {
                    *self.v_structures.entry((a, y, b)).or_default() += weight;
                }
            }
        }
        for y in 0..n {
            above[y].iter().for_each(|a| self.ancestors[a * n + y] += weight);
            blankets[y].iter().for_each(|a| self.blankets[a * n + y] += weight);
        }
    }

    /// Adds all DAGs of another tally.
    pub fn merge(&mut self, other: &Self) {
        let own = [&mut self.arcs, &mut self.ancestors, &mut self.blankets];
        for (sums, more) in own.into_iter().zip([&other.arcs, &other.ancestors, &other.blankets]) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        for (triple, weight) in other.colliders() {
            *self.v_structures.entry(triple).or_default() += weight;
        }
        self.total += other.total;
    }

    /// Divides all weights by their total.
    pub fn normalise(&mut self) {
        let total = self.total;
        let matrices = [&mut self.arcs, &mut self.ancestors, &mut self.blankets];
        matrices.into_iter().flatten().chain(self.v_structures.values_mut()).for_each(|sum| *sum /= total);
        self.total = 1.0;
    }

    /// The v-structures `(a, c, b)`, sorted.
    pub fn colliders(&self) -> Vec<((usize, usize, usize), f64)> {
        let mut all: Vec<_> = self.v_structures.iter().map(|(&triple, &weight)| (triple, weight)).collect();
        all.sort_unstable_by_key(|(triple, _)| *triple);
        all
    }
}
