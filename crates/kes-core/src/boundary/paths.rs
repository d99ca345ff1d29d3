//! Incremental updates of a model: after a step, recompute only what the step can have changed.
//!
//! Besides the essential graph and a DAG, a model keeps a causal order of the DAG and which nodes
//! semi-directed paths reach. A step changes the graph in a few places; the order is sorted again between
//! the first and the last place concerned, and paths are followed again upwards from what changed, for
//! as long as something does. Under knowledge the order goes by levels, and what arcs direct is found
//! again in the chain components that changed.

use std::sync::Arc;

use super::admissible::graph_of;
use super::{Bar, Frame, Model};
use crate::graph::{Dag, Knowledge};
use crate::varset::VarSet;

/// The changes of a step.
#[derive(Clone, Copy, Debug)]
pub struct Change<const W: usize> {
    /// The nodes whose parents or neighbours changed.
    pub nodes: VarSet<W>,
    /// These, the nodes that have other adjacent ones, and those whose paths lead elsewhere: a frame depends
    /// on the nodes it [watches](Frame::watched).
    pub touched: VarSet<W>,
    /// The chain components of these at least: no other frame watches a node that is touched. For from a
    /// target to a node that it watches there were edges; on the way is the first end of one that is none
    /// any more, or the node.
    pub near: VarSet<W>,
    /// The targets of whose parents and neighbours some were joined or separated, and a neighbour among
    /// these: their cliques changed.
    pub cliques: VarSet<W>,
}

impl<const W: usize> Model<W> {
    /// The model of a DAG that has no arc to an earlier level.
    pub(crate) fn of_dag(dag: Dag<W>, knowledge: Option<Arc<Knowledge<W>>>) -> Self {
        let n = dag.parents.len();
        let mut order = dag.order().unwrap_or_else(|| unreachable!("a DAG of the class is acyclic"));
        if let Some(known) = &knowledge {
            order.sort_by_key(|&v| known.levels()[v]);
        }
        let mut position = vec![0; n];
        order.iter().enumerate().for_each(|(at, &v)| position[v] = at);
        let graph = graph_of(&dag, &order, knowledge.as_deref());
        let (beyond, reach) = (vec![VarSet::EMPTY; n], vec![VarSet::EMPTY; n]);
        let orphans = (0..n).filter(|&v| graph.parents[v].is_empty()).collect();
        let mut model = Self { graph, dag, order, position, beyond, reach, orphans, knowledge, mpdag: None };
        model.follow_paths(VarSet::first_n(n));
        model.restrict(VarSet::EMPTY);
        model
    }

    /// Moves to the model of another DAG, which must have no arc to an earlier level.
    pub fn jump(&mut self, dag: Dag<W>) -> Change<W> {
        let new = Self::of_dag(dag, self.knowledge.clone());
        let old = std::mem::replace(self, new);
        let (mut nodes, mut touched) = (VarSet::EMPTY, VarSet::EMPTY);
        let mut cliques = VarSet::EMPTY;
        for v in 0..self.graph.len() {
            let (was, is) = (&old.graph, &self.graph);
            if was.parents[v] != is.parents[v] || was.neighbours[v] != is.neighbours[v] {
                nodes.insert(v);
            }
            if was.adjacent[v] != is.adjacent[v] || old.beyond[v] != self.beyond[v] {
                touched.insert(v);
            }
            let others = (was.adjacent[v] - is.adjacent[v]) | (is.adjacent[v] - was.adjacent[v]);
            others.iter().filter(|&u| u < v).for_each(|u| cliques |= self.around(u, v));
        }
        Change { nodes, touched: touched | nodes, near: VarSet::first_n(self.graph.len()), cliques }
    }

    /// Brings order, labels and paths up to date after an arc from `x` to `y` was put into the DAG or taken
    /// out, and the nodes of `turned` were oriented anew.
    pub(super) fn update(&mut self, x: usize, y: usize, turned: VarSet<W>) -> Change<W> {
        self.sort(turned.with(x).with(y));
        let levels = self.knowledge.as_ref().map(|known| known.levels());
        let nodes = self.graph.relabel(&self.dag, &self.position, levels, x, y);
        self.orphans -= nodes;
        self.orphans |= nodes.iter().filter(|&v| self.graph.parents[v].is_empty()).collect();
        let changed = nodes.with(x).with(y);
        let (beyond, near) = self.follow_paths(changed);
        self.restrict(changed);
        Change { nodes, touched: beyond | changed, near, cliques: self.around(x, y) }
    }

    /// The targets whose cliques depend on whether two nodes are joined.
    fn around(&self, a: usize, b: usize) -> VarSet<W> {
        let graph = &self.graph;
        let above = |y: usize| graph.parents[y] | graph.neighbours[y];
        let has = |&y: &usize| {
            (graph.neighbours[y].contains(a) || graph.neighbours[y].contains(b))
                && above(y).contains(a)
                && above(y).contains(b)
        };
        (graph.adjacent[a] & graph.adjacent[b]).iter().filter(has).collect()
    }

    /// Sorts the order again between the first and the last of the given nodes, which have the ends of
    /// all arcs that are new among them. A node comes after those before it and its parents, none of which
    /// is of a later level: the order stays one by levels.
    fn sort(&mut self, nodes: VarSet<W>) {
        let Self { dag, order, position, .. } = self;
        let first = nodes.iter().map(|v| position[v]).min().unwrap_or(0);
        let last = nodes.iter().map(|v| position[v]).max().unwrap_or(0);
        let before = order[first..=last].to_vec();
        let mut left: VarSet<W> = before.iter().copied().collect();
        let mut path: Vec<(usize, VarSet<W>)> = Vec::new(); // a node and its unvisited parents
        let mut at = first;
        for start in before {
            path.extend(left.contains(start).then(|| (start, dag.parents[start] & left)));
            while let Some((v, above)) = path.last_mut() {
                *above = *above & left;
                match above.first() {
                    Some(parent) => {
                        let above = dag.parents[parent] & left;
                        path.push((parent, above));
                    }
                    None => {
                        order[at] = *v;
                        position[*v] = at;
                        at += 1;
                        left.remove(*v);
                        path.pop();
                    }
                }
            }
        }
    }

    /// Follows the paths from the given nodes again, and from whatever leads to nodes whose paths changed.
    /// Returns the nodes `v` with another `beyond[v]`, and all nodes visited.
    ///
    /// The nodes of a component have the same parents, and all of them are reached from each. Components
    /// are taken from below as far as the order tells; one that is taken too early is taken again.
    fn follow_paths(&mut self, from: VarSet<W>) -> (VarSet<W>, VarSet<W>) {
        let Self { graph, order, position, beyond, reach, .. } = self;
        let (mut changed, mut seen) = (VarSet::EMPTY, VarSet::EMPTY);
        let mut waiting: VarSet<W> = from.iter().map(|v| position[v]).collect();
        while let Some(at) = waiting.last() {
            let component = graph.component(order[at]);
            let mut all = component;
            seen |= component;
            for v in component.iter() {
                waiting.remove(position[v]);
                let below = VarSet::union(graph.children[v].iter().map(|child| &reach[child]));
                if beyond[v] != below {
                    beyond[v] = below;
                    changed.insert(v);
                }
                all |= below;
            }
            if reach[order[at]] != all || component.iter().any(|v| reach[v] != all) {
                component.iter().for_each(|v| reach[v] = all);
                graph.parents[order[at]].iter().for_each(|v| waiting.insert(position[v]));
            }
        }
        (changed, seen)
    }

    /// The inputs that determine the insertions with target `y`.
    pub fn frame(&self, y: usize) -> Frame<W> {
        let mut frame = Frame {
            parents: VarSet::EMPTY,
            neighbours: VarSet::EMPTY,
            open: VarSet::EMPTY,
            barred: Vec::new(),
        };
        self.reframe(y, VarSet::first_n(self.graph.len()), &mut frame);
        frame
    }

    /// Updates the frame of `y` and returns whether it changed.
    pub fn reframe(&self, y: usize, touched: VarSet<W>, frame: &mut Frame<W>) -> bool {
        let graph = &self.graph;
        let (parents, neighbours) = (graph.parents[y], graph.neighbours[y]);
        let barred = self.knowledge.as_ref().map_or(VarSet::EMPTY, |known| known.barred(y));
        let open = VarSet::first_n(graph.len()) - graph.adjacent[y].with(y) - self.beyond[y] - barred;
        let barrier = neighbours.with(y);
        let bar = |z: usize| {
            let inside = graph.reach_within(z, barrier);
            let lead = VarSet::union(inside.iter().map(|v| &self.beyond[v]));
            Bar { z, inside, sources: graph.adjacent[z] | inside | lead }
        };
        let mut changed = parents != frame.parents || open != frame.open;
        if neighbours == frame.neighbours {
            for old in frame.barred.iter_mut().filter(|bar| bar.inside.intersects(&touched)) {
                let new = bar(old.z);
                changed |= new.sources != old.sources;
                *old = new;
            }
        } else {
            changed = true;
            frame.barred.clear();
            frame.barred.extend(neighbours.iter().map(bar));
        }
        (frame.parents, frame.neighbours, frame.open) = (parents, neighbours, open);
        changed
    }
}

impl<const W: usize> Frame<W> {
    /// The nodes that the frame of `y` depends on: as long as none of them is [touched](Change::touched),
    /// it stays as it is.
    pub fn watched(&self, y: usize) -> VarSet<W> {
        VarSet::union(self.barred.iter().map(|bar| &bar.inside)).with(y)
    }
}
