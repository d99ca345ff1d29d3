//! The essential graph of a DAG that differs little from one whose essential graph is known.
//!
//! The label of a node, which is the set of its compelled parents, is a function of its parents, of
//! those of its last parent `x` in a causal order, and of the label of `x`; see
//! [`EssentialGraph::from_dag`]. Along an order that suits the old DAG and the new one, only the labels of
//! nodes can change for which one of these did. DAGs of one class have the same labels, so a DAG may
//! be exchanged for an equivalent one before. All of this holds of tiered graphs too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Dag, EssentialGraph};
use crate::varset::VarSet;

impl<const W: usize> EssentialGraph<W> {
    /// Becomes the essential graph of `dag`, in which `position` is a causal order, and which differs from
    /// a DAG of this class by an arc from `x` to `y` that it has, or has not. If it is tiered, `tier` has
    /// the tier of each node, and the order goes by tiers. Returns the nodes whose parents or neighbours
    /// changed.
    pub fn relabel(
        &mut self,
        dag: &Dag<W>,
        position: &[usize],
        tier: Option<&[usize]>,
        x: usize,
        y: usize,
    ) -> VarSet<W> {
        let of_x = (self.parents[x], self.neighbours[x]);
        self.set_adjacent(x, y, dag.parents[y].contains(x));
        let mut changed = VarSet::single(y);
        let mut waiting = BinaryHeap::from([Reverse((position[y], y))]);
        while let Some(Reverse((_, v))) = waiting.pop() {
            let label = self.label(dag, position, tier, v);
            let joined = label - self.parents[v];
            let left = self.parents[v] - label;
            if v != y && joined.is_empty() && left.is_empty() {
                continue;
            }
            self.parents[v] = label;
            for u in joined.iter() {
                self.neighbours[v].remove(u);
                self.neighbours[u].remove(v);
                self.children[u].insert(v);
            }
            for u in left.iter() {
                self.children[u].remove(v);
                self.neighbours[v].insert(u);
                self.neighbours[u].insert(v);
            }
            changed |= joined | left;
            changed.insert(v);
            for child in self.adjacent[v].iter().filter(|&u| dag.parents[u].contains(v)) {
                if waiting.iter().all(|Reverse((_, u))| *u != child) {
                    waiting.push(Reverse((position[child], child)));
                }
            }
        }
        changed.insert(x);
        if of_x == (self.parents[x], self.neighbours[x]) {
            changed.remove(x);
        }
        changed
    }

    /// Joins two nodes by an edge, or takes away whatever joins them.
    fn set_adjacent(&mut self, x: usize, y: usize, joined: bool) {
        for (a, b) in [(x, y), (y, x)] {
            if joined {
                self.neighbours[a].insert(b);
                self.adjacent[a].insert(b);
            } else {
                self.parents[a].remove(b);
                self.children[a].remove(b);
                self.neighbours[a].remove(b);
                self.adjacent[a].remove(b);
            }
        }
    }

    /// The compelled parents of `y`, given those of its last parent.
    fn label(&self, dag: &Dag<W>, position: &[usize], tier: Option<&[usize]>, y: usize) -> VarSet<W> {
        let parents = dag.parents[y];
        let Some(x) = parents.iter().max_by_key(|&v| position[v]) else { return VarSet::EMPTY };
        let inherited = self.parents[x];
        let all = !inherited.is_subset(&parents)
            || !parents.is_subset(&dag.parents[x].with(x))
            || tier.is_some_and(|tier| tier[x] != tier[y]);
        if all { parents } else { inherited }
    }
}
