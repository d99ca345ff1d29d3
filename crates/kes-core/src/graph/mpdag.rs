//! MPDAGs: essential graphs with the edges that knowledge directs.
//!
//! Of the DAGs of a class, knowledge leaves the admissible ones. Where they agree on the direction of
//! an edge, the *maximally oriented partially directed graph* (MPDAG) has an arc;
//! elsewhere it has an edge. It is found by orienting, arc by arc, what knowledge says of the edges
//! there are, and closing under four rules after each; the class has no admissible DAG iff an arc would
//! have to be reversed or a required arc joins nodes that are not adjacent [Meek 1995].
//!
//! The nodes of one chain component of the essential graph are oriented independently of all others,
//! and have the same parents outside it. So everything here happens within components.

use std::collections::BinaryHeap;

use super::{Dag, EssentialGraph, Knowledge};
use crate::varset::VarSet;

/// An MPDAG. All four views are kept, indexed by node.
#[derive(Debug, PartialEq, Eq)]
pub struct Mpdag<const W: usize> {
    /// Nodes with an arc into `v` in all admissible DAGs.
    pub parents: Vec<VarSet<W>>,
    /// Nodes with an arc from `v` in all of them.
    pub children: Vec<VarSet<W>>,
    /// Nodes joined to `v` by an arc one way in some and the other way in others.
    pub neighbours: Vec<VarSet<W>>,
    /// All of these.
    pub adjacent: Vec<VarSet<W>>,
    /// The ends of the edges that knowledge directed.
    touched: VarSet<W>,
}

/// Why a model is not admissible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inadmissible {
    /// The required arc is missing.
    Missing(usize, usize),
    /// All DAGs of the class that obey the rest of the knowledge have this arc, which is forbidden or whose
    /// reverse is required.
    Forbidden(usize, usize),
}

impl Inadmissible {
    /// The arc `(from, to)`.
    pub fn arc(self) -> (usize, usize) {
        match self {
            Self::Missing(from, to) | Self::Forbidden(from, to) => (from, to),
        }
    }
}

clone_fields!(Mpdag { parents, children, neighbours, adjacent, touched });

impl<const W: usize> Mpdag<W> {
    /// The MPDAG of the class of an essential graph, be it tiered or not.
    ///
    /// # Errors
    /// If no DAG of the class is admissible.
    pub fn new(essential: &EssentialGraph<W>, knowledge: &Knowledge<W>) -> Result<Self, Inadmissible> {
        let mut graph = Self {
            parents: essential.parents.clone(),
            children: essential.children.clone(),
            neighbours: essential.neighbours.clone(),
            adjacent: essential.adjacent.clone(),
            touched: VarSet::EMPTY,
        };
        graph.apply(knowledge, VarSet::first_n(essential.len()))?;
        Ok(graph)
    }

    /// Becomes that of another graph, from which the old one differs by edges between `changed` nodes, by
    /// their directions, or by whether they have any: only their components are looked at again.
    ///
    /// # Errors
    /// If no DAG of the class is admissible any more; the MPDAG is then invalid.
    pub(crate) fn renew(
        &mut self,
        essential: &EssentialGraph<W>,
        knowledge: &Knowledge<W>,
        changed: VarSet<W>,
    ) -> Result<(), Inadmissible> {
        let nodes = changed.iter().fold(changed, |nodes, v| nodes | essential.component(v));
        for v in nodes.iter() {
            self.parents[v] = essential.parents[v];
            self.children[v] = essential.children[v];
            self.neighbours[v] = essential.neighbours[v];
            self.adjacent[v] = essential.adjacent[v];
        }
        self.touched -= nodes;
        self.apply(knowledge, nodes)
    }

    /// Directs what knowledge says of the edges at some nodes, among them all those of their components.
    fn apply(&mut self, knowledge: &Knowledge<W>, nodes: VarSet<W>) -> Result<(), Inadmissible> {
        for y in nodes.iter() {
            if let Some(x) = (knowledge.required(y) - self.adjacent[y]).first() {
                return Err(Inadmissible::Missing(x, y));
            }
            for x in (knowledge.forbidden(y) & self.adjacent[y]).iter() {
                if self.parents[y].contains(x) {
                    return Err(Inadmissible::Forbidden(x, y));
                }
                if self.neighbours[y].contains(x) {
                    self.direct(y, x);
                }
            }
        }
        Ok(())
    }

    /// The arcs `(from, to)`, sorted.
    pub fn directed(&self) -> Vec<(usize, usize)> {
        (0..self.parents.len()).flat_map(|a| self.children[a].iter().map(move |b| (a, b))).collect()
    }

    /// The edges `(a, b)` with `a < b`, sorted.
    pub fn undirected(&self) -> Vec<(usize, usize)> {
        let after = |a: usize| self.neighbours[a].iter().filter(move |&b| a < b).map(move |b| (a, b));
        (0..self.parents.len()).flat_map(after).collect()
    }

    /// Turns the edge `from – to` into an arc, and all edges whose direction follows.
    fn direct(&mut self, from: usize, to: usize) {
        self.turn(from, to);
        // A rule applies first when the last of its arcs appears, and then to an edge at one of its
        // ends or at a child of its head.
        let mut near = self.children[to].with(from).with(to);
        while let Some(v) = near.first() {
            near.remove(v);
            for u in self.neighbours[v].iter() {
                for (x, y) in [(u, v), (v, u)] {
                    if self.neighbours[x].contains(y) && self.must_point(x, y) {
                        self.turn(x, y);
                        near |= self.children[y].with(x).with(y);
                    }
                }
            }
        }
    }

    fn turn(&mut self, from: usize, to: usize) {
        self.neighbours[from].remove(to);
        self.neighbours[to].remove(from);
        self.children[from].insert(to);
        self.parents[to].insert(from);
        self.touched |= VarSet::single(from).with(to);
    }

    /// Whether knowledge directs no edge at any of these nodes.
    pub(crate) fn leaves_alone(&self, nodes: VarSet<W>) -> bool {
        !self.touched.intersects(&nodes)
    }

    /// Whether one of Meek's rules directs the edge `x – y` from `x` to `y`.
    fn must_point(&self, x: usize, y: usize) -> bool {
        self.no_collider(x, y)
            || self.no_cycle(x, y)
            || self.no_collider_in_a_diamond(x, y)
            || self.no_collider_in_a_chain(x, y)
    }

    /// `(z → x – y) ⇒ (x → y)`, where `z` and `y` are not adjacent.
    fn no_collider(&self, x: usize, y: usize) -> bool {
        !self.parents[x].is_subset(&self.adjacent[y])
    }

    /// `(x → z → y, x – y) ⇒ (x → y)`
    fn no_cycle(&self, x: usize, y: usize) -> bool {
        self.children[x].intersects(&self.parents[y])
    }

    /// `(x – z → y, x – w → y, x – y) ⇒ (x → y)`, where `z` and `w` are not adjacent.
    fn no_collider_in_a_diamond(&self, x: usize, y: usize) -> bool {
        let between = self.neighbours[x] & self.parents[y];
        between.iter().any(|z| !between.without(z).is_subset(&self.adjacent[z]))
    }

    /// `(x – z → w → y, x – y) ⇒ (x → y)`, where `x` and `w` are adjacent, `z` and `y` are not.
    fn no_collider_in_a_chain(&self, x: usize, y: usize) -> bool {
        let starts = self.neighbours[x] - self.adjacent[y];
        !starts.is_empty()
            && (self.parents[y] & self.adjacent[x]).iter().any(|w| self.parents[w].intersects(&starts))
    }

    /// Whether `y` has exactly these parents in some admissible DAG.
    ///
    /// It has iff directing all edges at `y` accordingly makes neither a v-structure at `y` nor a
    /// directed triangle [Fang & He 2020, Thm 1]; nothing farther away matters.
    pub fn allows(&self, y: usize, parents: VarSet<W>) -> bool {
        let new = parents - self.parents[y];
        let others = self.adjacent[y] - parents;
        self.parents[y].is_subset(&parents)
            && new.is_subset(&self.neighbours[y])
            && new.iter().all(|x| parents.without(x).is_subset(&self.adjacent[x]))
            && parents.iter().all(|x| !self.parents[x].intersects(&others))
    }

    /// The MPDAG of an admissible model, if there is knowledge.
    pub(crate) fn of_admissible(
        essential: &EssentialGraph<W>,
        knowledge: Option<&Knowledge<W>>,
    ) -> Option<Self> {
        knowledge.map(|known| Self::new(essential, known).unwrap_or_else(|why| unreachable!("{why:?}")))
    }

    /// The canonical admissible DAG: the one that follows the canonical DAG of the class, given by its
    /// essential graph, as far as knowledge allows.
    pub fn extension(&self, essential: &EssentialGraph<W>) -> Dag<W> {
        follow(essential, Some(self), &essential.extension().positions())
    }
}

/// The canonical DAG of an admissible model; with knowledge, the canonical admissible one.
pub fn admissible_dag<const W: usize>(
    essential: &EssentialGraph<W>,
    knowledge: Option<&Knowledge<W>>,
) -> Dag<W> {
    match Mpdag::of_admissible(essential, knowledge) {
        None => essential.extension(),
        Some(mpdag) => mpdag.extension(essential),
    }
}

/// The DAG of a class that follows the given positions as far as the class, and knowledge by its
/// MPDAG, allow: of the nodes that can come last in what is left of a chain component, the
/// one that is latest does.
///
/// A node can come last iff it has no child left, and every node that an edge joins it to is adjacent to all
/// others that it is joined to. As long as there is an admissible DAG there is such a node, and any
/// choice leads to one [Dor & Tarsi 1992]. One that can come last still can when others have left, so only
/// those joined to one that leaves are looked at again.
pub fn follow<const W: usize>(
    essential: &EssentialGraph<W>,
    mpdag: Option<&Mpdag<W>>,
    position: &[usize],
) -> Dag<W> {
    let can_be_last = |v: usize, joined: VarSet<W>| match mpdag {
        None => essential.is_clique(joined),
        Some(graph) => {
            let reversible = graph.neighbours[v] & joined;
            !graph.children[v].intersects(&joined)
                && reversible.iter().all(|u| joined.without(u).is_subset(&graph.adjacent[u]))
        }
    };
    let mut dag = Dag { parents: essential.parents.clone() };
    let mut left = VarSet::first_n(essential.len());
    let mut waiting: BinaryHeap<(usize, usize)> = (left.iter())
        .filter(|&v| can_be_last(v, essential.neighbours[v]))
        .map(|v| (position[v], v))
        .collect();
    while let Some((_, last)) = waiting.pop() {
        if left.contains(last) {
            left.remove(last);
            let joined = essential.neighbours[last] & left;
            dag.parents[last] |= joined;
            let freed = joined.iter().filter(|&v| can_be_last(v, essential.neighbours[v] & left));
            waiting.extend(freed.map(|v| (position[v], v)));
        }
    }
    debug_assert!(left.is_empty(), "an admissible DAG has a last node");
    dag
}
