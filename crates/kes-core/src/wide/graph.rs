//! Sparse essential graphs and DAGs; see [`crate::graph`] for what they are.

use std::collections::BTreeSet;

use super::list::{self, List, Marks};
use crate::Error;
use crate::engine::Graph as Edges;

/// A DAG by the parents and the children of its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dag {
    /// Parents of every node.
    pub parents: Vec<List>,
    /// Children of every node.
    pub children: Vec<List>,
}

impl Dag {
    /// The graph without arcs.
    pub fn empty(n: usize) -> Self {
        Self { parents: vec![List::new(); n], children: vec![List::new(); n] }
    }

    /// The graph with the given arcs `(from, to)`.
    pub fn from_arcs(n: usize, arcs: &[(usize, usize)]) -> Self {
        let mut dag = Self::empty(n);
        arcs.iter().for_each(|&(from, to)| dag.insert(from as u32, to as u32));
        dag
    }

    /// Adds an arc.
    pub fn insert(&mut self, from: u32, to: u32) {
        list::add(&mut self.parents[to as usize], from);
        list::add(&mut self.children[from as usize], to);
    }

    /// Removes an arc.
    pub fn remove(&mut self, from: u32, to: u32) {
        list::remove(&mut self.parents[to as usize], from);
        list::remove(&mut self.children[from as usize], to);
    }

    /// Replaces the parents of a node.
    fn set_parents(&mut self, to: u32, parents: List) {
        let old = std::mem::replace(&mut self.parents[to as usize], parents);
        let new = &self.parents[to as usize];
        old.iter().filter(|&&v| !list::has(new, v)).for_each(|&v| {
            list::remove(&mut self.children[v as usize], to);
        });
        new.iter().filter(|&&v| !list::has(&old, v)).for_each(|&v| {
            list::add(&mut self.children[v as usize], to);
        });
    }

    /// A causal order of the nodes (parents first), or `None` if there is a directed cycle.
    pub fn order(&self) -> Option<List> {
        let n = self.parents.len();
        let mut waiting: Vec<usize> = self.parents.iter().map(Vec::len).collect();
        let mut order: List = (0..n as u32).filter(|&v| waiting[v as usize] == 0).collect();
        let mut at = 0;
        while at < order.len() {
            for &child in &self.children[order[at] as usize] {
                waiting[child as usize] -= 1;
                if waiting[child as usize] == 0 {
                    order.push(child);
                }
            }
            at += 1;
        }
        (order.len() == n).then_some(order)
    }

    /// The arcs `(from, to)`, sorted.
    pub fn arcs(&self) -> Vec<(usize, usize)> {
        pairs(&self.children).collect()
    }
}

/// An essential graph, tiered or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// `Pa(v)`: nodes with a compelled arc into `v`.
    pub parents: Vec<List>,
    /// Nodes with a compelled arc from `v`.
    pub children: Vec<List>,
    /// `Ne(v)`: nodes joined to `v` by a reversible edge.
    pub neighbours: Vec<List>,
}

impl Graph {
    /// The model without any edge.
    pub fn empty(n: usize) -> Self {
        let none = vec![List::new(); n];
        Self { parents: none.clone(), children: none.clone(), neighbours: none }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// The graph of the class of a DAG whose causal order respects `levels`, if there are any: every edge between
    /// two levels is an arc. See [`crate::graph::essential`] for the rule.
    pub fn from_dag(dag: &Dag, order: &[u32], levels: Option<&[u32]>) -> Self {
        let mut position = vec![0; order.len()];
        (0..).zip(order).for_each(|(at, &v)| position[v as usize] = at);
        let mut graph = Self::empty(order.len());
        for &y in order {
            graph.parents[y as usize] = graph.label(dag, &position, levels, y);
        }
        for (y, parents) in (0..).zip(&dag.parents) {
            for &x in parents {
                if list::has(&graph.parents[y as usize], x) {
                    list::add(&mut graph.children[x as usize], y);
                } else {
                    list::add(&mut graph.neighbours[x as usize], y);
                    list::add(&mut graph.neighbours[y as usize], x);
                }
            }
        }
        graph
    }

    /// The compelled parents of `y`, given those of its last parent.
    pub fn label(&self, dag: &Dag, position: &[u32], levels: Option<&[u32]>, y: u32) -> List {
        let parents = &dag.parents[y as usize];
        let Some(&x) = parents.iter().max_by_key(|&&v| position[v as usize]) else { return List::new() };
        let inherited = &self.parents[x as usize];
        let all = !list::is_subset(inherited, parents)
            || !parents.iter().all(|&v| v == x || list::has(&dag.parents[x as usize], v))
            || levels.is_some_and(|levels| levels[x as usize] != levels[y as usize]);
        if all { parents.clone() } else { inherited.clone() }
    }

    /// The graph with the given directed and undirected edges.
    ///
    /// # Errors
    /// If an edge names an unknown node, two nodes are joined twice, or the graph is not the
    /// essential graph of any class.
    pub fn from_edges(n: usize, (directed, undirected): &Edges) -> Result<Self, Error> {
        let mut graph = Self::empty(n);
        for &(a, b) in directed.iter().chain(undirected) {
            if a >= n || b >= n {
                return Err(Error::UnknownVariable(a.max(b)));
            }
            if a == b {
                return Err(Error::SelfLoop(a));
            }
        }
        for (&(a, b), compelled) in directed
            .iter()
            .zip(std::iter::repeat(true))
            .chain(undirected.iter().zip(std::iter::repeat(false)))
        {
            let (from, to) = (a as u32, b as u32);
            if graph.adjacent(from, to) {
                return Err(Error::JoinedTwice(a, b));
            }
            if compelled {
                list::add(&mut graph.parents[b], from);
                list::add(&mut graph.children[a], to);
            } else {
                list::add(&mut graph.neighbours[a], to);
                list::add(&mut graph.neighbours[b], from);
            }
        }
        // If the graph is essential, orienting its components gives a DAG of its class; whatever
        // `from_dag` gives back is essential. So equality is the test.
        let dag = graph.extension();
        match dag.order() {
            Some(order) if Self::from_dag(&dag, &order, None) == graph => Ok(graph),
            Some(_) => Err(Error::NotEssential),
            None => Err(Error::Cycle),
        }
    }

    /// The directed and undirected edges, both sorted.
    pub fn edges(&self) -> Edges {
        let undirected = pairs(&self.neighbours).filter(|(a, b)| a < b);
        (pairs(&self.children).collect(), undirected.collect())
    }

    /// Whether two nodes are adjacent.
    #[inline]
    pub fn adjacent(&self, a: u32, b: u32) -> bool {
        let at = a as usize;
        list::has(&self.neighbours[at], b)
            || list::has(&self.parents[at], b)
            || list::has(&self.children[at], b)
    }

    /// The nodes adjacent to a node, in no particular order.
    pub fn adjacents(&self, v: u32) -> impl Iterator<Item = u32> {
        let at = v as usize;
        self.neighbours[at].iter().chain(&self.parents[at]).chain(&self.children[at]).copied()
    }

    /// The nodes of a set that are adjacent to a node.
    fn adjacent_among(&self, v: u32, set: &[u32]) -> List {
        let at = v as usize;
        if self.neighbours[at].len() + self.parents[at].len() + self.children[at].len() < set.len() {
            let mut adjacent: List = self.adjacents(v).filter(|&u| list::has(set, u)).collect();
            adjacent.sort_unstable();
            return adjacent;
        }
        set.iter().copied().filter(|&u| self.adjacent(v, u)).collect()
    }

    /// The chain component of `v`, sorted; `marks` is overwritten.
    pub fn component(&self, v: u32, marks: &mut Marks) -> List {
        marks.clear();
        marks.insert(v);
        let mut all = vec![v];
        let mut at = 0;
        while at < all.len() {
            all.extend(self.neighbours[all[at] as usize].iter().copied().filter(|&u| marks.insert(u)));
            at += 1;
        }
        all.sort_unstable();
        all
    }

    /// The canonical DAG of the class: every component is oriented from its smallest node on.
    pub fn extension(&self) -> Dag {
        let mut dag = Dag { parents: self.parents.clone(), children: self.children.clone() };
        let (mut marks, mut done) = (Marks::new(self.len()), Marks::new(self.len()));
        for v in 0..self.len() as u32 {
            if !done.contains(v) && !self.neighbours[v as usize].is_empty() {
                let component = self.component(v, &mut marks);
                component.iter().for_each(|&u| _ = done.insert(u));
                self.orient(&mut dag, &component, &[], &mut marks);
            }
        }
        dag
    }

    /// Orients a component in `dag` by a maximum cardinality search that begins with the nodes `first`; see
    /// [`crate::graph::essential`].
    pub fn orient(&self, dag: &mut Dag, component: &[u32], first: &[u32], marks: &mut Marks) {
        marks.clear(); // the nodes visited
        let mut waiting: Vec<BTreeSet<u32>> = vec![component.iter().copied().collect()];
        let mut first = first.iter();
        loop {
            let v = match first.next() {
                Some(&v) => v,
                None => {
                    while waiting.len() > 1 && waiting.last().is_some_and(BTreeSet::is_empty) {
                        waiting.pop();
                    }
                    let Some(&v) = waiting.last().and_then(BTreeSet::first) else { break };
                    v
                }
            };
            let neighbours = &self.neighbours[v as usize];
            let before: List = neighbours.iter().copied().filter(|&u| marks.contains(u)).collect();
            waiting[before.len()].remove(&v);
            dag.set_parents(v, list::union(&self.parents[v as usize], &before));
            marks.insert(v);
            for &u in neighbours.iter().filter(|&&u| !marks.contains(u)) {
                let count = self.neighbours[u as usize].iter().filter(|&&w| marks.contains(w)).count();
                if count == waiting.len() {
                    waiting.push(BTreeSet::new());
                }
                waiting[count - 1].remove(&u);
                waiting[count].insert(u);
            }
        }
    }

    /// Calls `found` for every clique of at most `room` nodes within a set, the empty one included, until it fails.
    ///
    /// # Errors
    /// If `found` does.
    pub fn for_each_clique<E>(
        &self,
        set: &[u32],
        room: usize,
        found: &mut impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.grow(&mut List::new(), set, room, found)
    }

    fn grow<E>(
        &self,
        clique: &mut List,
        candidates: &[u32],
        room: usize,
        found: &mut impl FnMut(&[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        found(clique)?;
        if room == 0 {
            return Ok(());
        }
        for (at, &v) in candidates.iter().enumerate() {
            let rest = self.adjacent_among(v, &candidates[at + 1..]);
            clique.push(v);
            self.grow(clique, &rest, room - 1, found)?;
            clique.pop();
        }
        Ok(())
    }
}

/// All `(a, b)` with `b` in the list of `a`.
fn pairs(lists: &[List]) -> impl Iterator<Item = (usize, usize)> {
    lists.iter().enumerate().flat_map(|(a, list)| list.iter().map(move |&b| (a, b as usize)))
}
