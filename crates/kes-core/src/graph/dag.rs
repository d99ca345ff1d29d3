//! Directed acyclic graphs.

use crate::varset::VarSet;

/// A directed graph, stored as parent sets; every method except [`Dag::order`] expects it to be acyclic.
#[derive(Debug, PartialEq, Eq)]
pub struct Dag<const W: usize> {
    /// Parents of every node.
    pub parents: Vec<VarSet<W>>,
}

clone_fields!(Dag { parents });

impl<const W: usize> Dag<W> {
    /// The graph without arcs.
    pub fn empty(n: usize) -> Self {
        Self { parents: vec![VarSet::EMPTY; n] }
    }

    /// The graph with the given arcs `(from, to)`.
    pub fn from_arcs(n: usize, arcs: &[(usize, usize)]) -> Self {
        let mut dag = Self::empty(n);
        arcs.iter().for_each(|&(from, to)| dag.parents[to].insert(from));
        dag
    }

    /// The arcs `(from, to)`, sorted.
    pub fn arcs(&self) -> Vec<(usize, usize)> {
        let into = |(to, parents): (usize, &VarSet<W>)| {
            parents.iter().map(move |from| (from, to)).collect::<Vec<_>>()
        };
        let mut arcs: Vec<_> = self.parents.iter().enumerate().flat_map(into).collect();
        arcs.sort_unstable();
        arcs
    }

    /// Children of every node.
    pub fn children(&self) -> Vec<VarSet<W>> {
        let mut children = vec![VarSet::EMPTY; self.parents.len()];
        for (to, parents) in self.parents.iter().enumerate() {
            parents.iter().for_each(|from| children[from].insert(to));
        }
        children
    }

    /// A causal order of the nodes (parents first), or `None` if there is a directed cycle.
    pub fn order(&self) -> Option<Vec<usize>> {
        let n = self.parents.len();
        let children = self.children();
        let mut waiting: Vec<usize> = self.parents.iter().map(VarSet::len).collect();
        let mut order: Vec<usize> = (0..n).filter(|&v| waiting[v] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for child in children[order[at]].iter() {
                waiting[child] -= 1;
                if waiting[child] == 0 {
                    order.push(child);
                }
            }
            at += 1;
        }
        (order.len() == n).then_some(order)
    }

    /// The place of each node in a causal order.
    pub fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.parents.len()];
        let order = self.order().unwrap_or_else(|| unreachable!("the graph is acyclic"));
        order.iter().enumerate().for_each(|(at, &v)| positions[v] = at);
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_puts_parents_first_and_a_cycle_has_none() {
        let dag = Dag::<1>::from_arcs(4, &[(3, 1), (1, 0), (3, 0), (0, 2)]);
        assert_eq!(dag.order(), Some(vec![3, 1, 0, 2]));
        assert_eq!(dag.arcs(), [(0, 2), (1, 0), (3, 0), (3, 1)]);
        assert_eq!(Dag::<1>::from_arcs(3, &[(0, 1), (1, 2), (2, 0)]).order(), None);
    }
}
