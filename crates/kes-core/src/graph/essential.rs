//! Essential graphs: one graph for a Markov equivalence class of DAGs.
//!
//! The essential graph of a class has the arc `a → b` where all DAGs of the class have it
//! (*compelled*) and the edge `a – b` where they differ (*reversible*) [Andersson 1997]. It is a
//! chain graph: no cycle follows arcs forwards and edges either way unless it has edges only. Its
//! *chain components*, the parts connected by edges, are chordal, and all nodes of one component
//! have the same parents (else `p → b – c` would force `b → c`). So the DAGs of the class are
//! exactly the ways to orient every component, each by itself, without a new v-structure, and an
//! orientation along a maximum cardinality search from any clique is one of them.
//!
//! # Tiers
//! If all variables are divided into consecutive tiers and only DAGs count that have no arc from a
//! later to an earlier one, more edges have a direction: those between tiers, and what follows. All of
//! the above holds of this *tiered* essential graph, too [Bang & Didelez 2023], and so does what is
//! built upon it, in particular Chickering's operators (see [`crate::boundary`]).

use super::Dag;
use crate::Error;
use crate::varset::VarSet;

/// An essential graph. All four views are kept, indexed by node.
#[derive(Debug, PartialEq, Eq)]
pub struct EssentialGraph<const W: usize> {
    /// `Pa(v)`: nodes with a compelled arc into `v`.
    pub parents: Vec<VarSet<W>>,
    /// Nodes with a compelled arc from `v`.
    pub children: Vec<VarSet<W>>,
    /// `Ne(v)`: nodes joined to `v` by a reversible edge.
    pub neighbours: Vec<VarSet<W>>,
    /// `Ad(v)`: all of these.
    pub adjacent: Vec<VarSet<W>>,
}

clone_fields!(EssentialGraph { parents, children, neighbours, adjacent });

impl<const W: usize> EssentialGraph<W> {
    /// The model without any edge.
    pub fn empty(n: usize) -> Self {
        let none = vec![VarSet::EMPTY; n];
        Self { parents: none.clone(), children: none.clone(), neighbours: none.clone(), adjacent: none }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The essential graph of the class of `dag`, whose causal order is `order`.
    ///
    /// [Chickering 1995] labels the arcs node by node along the order. Of the arcs into `y` he looks
    /// first at the one from the last parent `x` in the order, and that one settles all the others:
    ///
    /// * some compelled `w → x` with `w ∉ Pa(y)`, or some parent of `y` outside `Pa(x) ∪ {x}`:
    ///   all arcs into `y` are compelled;
    /// * otherwise those from the compelled parents of `x` are, and the rest are reversible.
    pub fn from_dag(dag: &Dag<W>, order: &[usize]) -> Self {
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &v)| position[v] = at);
        Self::labelled(dag, order, |v| position[v], |_, _| false)
    }

    /// The tiered essential graph of the class of `dag`, which has no arc to an earlier tier.
    ///
    /// The same labelling, along the order sorted by tiers. If the last parent `x` is in an earlier
    /// tier than `y`, so are all, and their arcs are compelled; otherwise those of its parents that
    /// are in earlier tiers are compelled parents of `x`.
    pub fn from_dag_in_tiers(dag: &Dag<W>, order: &[usize], tier: &[usize]) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &v)| place[v] = tier[v] * order.len() + at);
        Self::labelled(dag, order, |v| place[v], |x, y| tier[x] != tier[y])
    }

    /// Labels the arcs; of the parents of a node the one with the largest `place` is the last, and
    /// `compelled` says which arcs knowledge compels.
    fn labelled(
        dag: &Dag<W>,
        order: &[usize],
        place: impl Fn(usize) -> usize,
        compelled: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let mut graph = Self::empty(order.len());
        for &y in order {
            let parents = dag.parents[y];
            let Some(x) = parents.iter().max_by_key(|&v| place(v)) else { continue };
            let inherited = graph.parents[x];
            let shared = dag.parents[x].with(x);
            let all = !inherited.is_subset(&parents) || !parents.is_subset(&shared) || compelled(x, y);
            graph.parents[y] = if all { parents } else { inherited };
        }
        for (y, parents) in dag.parents.iter().enumerate() {
            graph.adjacent[y] |= *parents;
            for x in parents.iter() {
                graph.adjacent[x].insert(y);
                if graph.parents[y].contains(x) {
                    graph.children[x].insert(y);
                } else {
                    graph.neighbours[x].insert(y);
                    graph.neighbours[y].insert(x);
                }
            }
        }
        graph
    }

    /// The graph with the given directed and undirected edges.
    ///
    /// # Errors
    /// If an edge names an unknown node, two nodes are joined twice, or the graph is not the
    /// essential graph of any class.
    pub fn from_edges(
        n: usize,
        directed: &[(usize, usize)],
        undirected: &[(usize, usize)],
    ) -> Result<Self, Error> {
        let mut graph = Self::empty(n);
        for &(a, b) in directed.iter().chain(undirected) {
            if a >= n || b >= n {
                return Err(Error::UnknownVariable(a.max(b)));
            }
            if a == b {
                return Err(Error::SelfLoop(a));
            }
            if graph.adjacent[a].contains(b) {
                return Err(Error::JoinedTwice(a, b));
            }
            graph.adjacent[a].insert(b);
            graph.adjacent[b].insert(a);
        }
        for &(a, b) in directed {
            graph.parents[b].insert(a);
            graph.children[a].insert(b);
        }
        for &(a, b) in undirected {
            graph.neighbours[a].insert(b);
            graph.neighbours[b].insert(a);
        }
        // If the graph is essential, orienting its components gives a DAG of its class; whatever
        // `from_dag` gives back is essential. So equality is the test.
        let dag = graph.extension();
        match dag.order() {
            Some(order) if Self::from_dag(&dag, &order) == graph => Ok(graph),
            Some(_) => Err(Error::NotEssential),
            None => Err(Error::Cycle),
        }
    }

    /// A key that is unique among all graphs over its nodes.
    pub fn key(&self) -> Vec<VarSet<W>> {
        [self.parents.as_slice(), &self.neighbours].concat()
    }

    /// The compelled arcs `(from, to)`, sorted.
    pub fn directed(&self) -> Vec<(usize, usize)> {
        (0..self.len()).flat_map(|a| self.children[a].iter().map(move |b| (a, b))).collect()
    }

    /// The reversible edges `(a, b)` with `a < b`, sorted.
    pub fn undirected(&self) -> Vec<(usize, usize)> {
        (0..self.len())
            .flat_map(|a| self.neighbours[a].iter().filter(move |&b| a < b).map(move |b| (a, b)))
            .collect()
    }

    /// The chain component of `v`.
    pub fn component(&self, v: usize) -> VarSet<W> {
        self.reach_within(v, VarSet::EMPTY)
    }

    /// The nodes that edges connect to `v` without entering `barrier`.
    pub fn reach_within(&self, v: usize, barrier: VarSet<W>) -> VarSet<W> {
        let mut reached = VarSet::single(v);
        let mut fresh = reached;
        while !fresh.is_empty() {
            fresh = VarSet::union(fresh.iter().map(|u| &self.neighbours[u])) - reached - barrier;
            reached |= fresh;
        }
        reached
    }

    /// Whether the nodes of `set` are pairwise adjacent.
    pub fn is_clique(&self, set: VarSet<W>) -> bool {
        set.iter().all(|v| set.without(v).is_subset(&self.adjacent[v]))
    }

    /// The canonical DAG of the class: every component is oriented from its smallest node on.
    pub fn extension(&self) -> Dag<W> {
        let mut dag = Dag { parents: self.parents.clone() };
        let mut left = VarSet::first_n(self.len());
        while let Some(v) = left.first() {
            let component = self.component(v);
            left -= component;
            self.orient(&mut dag, component, std::iter::empty());
        }
        dag
    }

    /// Orients the component of `y` in `dag` so that the neighbours of `y` in `clique`, and no
    /// others, become its parents, and returns the component. `clique` must be a clique in `Ne(y)`.
    pub fn orient_into(&self, dag: &mut Dag<W>, y: usize, clique: VarSet<W>) -> VarSet<W> {
        let component = self.component(y);
        self.orient(dag, component, clique.iter().chain([y]));
        component
    }

    /// Orients `component` in `dag`, beginning with the nodes `first`.
    fn orient(&self, dag: &mut Dag<W>, component: VarSet<W>, first: impl Iterator<Item = usize>) {
        let mut search = CardinalitySearch::new(component);
        for v in first {
            search.visit(self, dag, v);
        }
        while let Some(v) = search.next() {
            search.visit(self, dag, v);
        }
    }
}

/// Maximum cardinality search: visits next the node with the most visited neighbours. On a chordal
/// graph the visited neighbours of each node then form a clique [Tarjan & Yannakakis 1984], so
/// orienting edges from earlier to later makes no v-structure.
struct CardinalitySearch<const W: usize> {
    visited: VarSet<W>,
    /// `waiting[c]`: unvisited nodes with `c` visited neighbours.
    waiting: Vec<VarSet<W>>,
}

impl<const W: usize> CardinalitySearch<W> {
    fn new(component: VarSet<W>) -> Self {
        Self { visited: VarSet::EMPTY, waiting: vec![component] }
    }

    fn next(&mut self) -> Option<usize> {
        while self.waiting.len() > 1 && self.waiting.last().is_some_and(VarSet::is_empty) {
            self.waiting.pop();
        }
        self.waiting.last().and_then(VarSet::first)
    }

    fn visit(&mut self, graph: &EssentialGraph<W>, dag: &mut Dag<W>, v: usize) {
        let before = graph.neighbours[v] & self.visited;
        dag.parents[v] = graph.parents[v] | before;
        self.waiting[before.len()].remove(v);
        self.visited.insert(v);
        for u in (graph.neighbours[v] - self.visited).iter() {
            let count = (graph.neighbours[u] & self.visited).len();
            if count == self.waiting.len() {
                self.waiting.push(VarSet::EMPTY);
            }
            self.waiting[count - 1].remove(u);
            self.waiting[count].insert(u);
        }
    }
}
