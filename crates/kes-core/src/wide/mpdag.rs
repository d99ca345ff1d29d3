//! Sparse MPDAGs; see [`crate::graph::mpdag`] for what they are.

use std::collections::{BTreeSet, BinaryHeap};

use super::graph::{Dag, Graph};
use super::knowledge::Knowledge;
use super::list::{self, List, Marks};
use crate::graph::mpdag::Inadmissible;

/// An essential graph with the edges that knowledge directs.
#[derive(Clone, Debug)]
pub struct Mpdag {
    /// The arcs that all admissible DAGs share, and the edges on which they differ.
    pub graph: Graph,
    /// Whether knowledge directed an edge of a node.
    touched: Vec<bool>,
}

impl Mpdag {
    /// The MPDAG of the class of an essential graph, be it tiered or not.
    ///
    /// # Errors
    /// If no DAG of the class is admissible.
    pub fn new(essential: &Graph, knowledge: &Knowledge) -> Result<Self, Inadmissible> {
        let mut new = Self { graph: essential.clone(), touched: vec![false; essential.len()] };
        new.apply(knowledge, 0..essential.len() as u32)?;
        Ok(new)
    }

    /// Becomes the MPDAG of another graph, which differs from the old one at `changed` nodes: only their components are
    /// directed again.
    ///
    /// # Errors
    /// If no DAG of the class is admissible any more; the MPDAG is then invalid.
    pub fn renew(
        &mut self,
        essential: &Graph,
        knowledge: &Knowledge,
        changed: &[u32],
        marks: &mut Marks,
    ) -> Result<(), Inadmissible> {
        let mut nodes = BTreeSet::new();
        for &v in changed {
            if !nodes.contains(&v) {
                nodes.extend(essential.component(v, marks));
            }
        }
        for &v in &nodes {
            let v = v as usize;
            self.graph.parents[v].clone_from(&essential.parents[v]);
            self.graph.children[v].clone_from(&essential.children[v]);
            self.graph.neighbours[v].clone_from(&essential.neighbours[v]);
            self.touched[v] = false;
        }
        self.apply(knowledge, nodes.into_iter())
    }

    /// Directs the edges at some nodes, whole components, as knowledge says.
    fn apply(&mut self, knowledge: &Knowledge, nodes: impl Iterator<Item = u32>) -> Result<(), Inadmissible> {
        for y in nodes {
            let missing = knowledge.required(y).iter().find(|&&x| !self.graph.adjacent(x, y));
            if let Some(&x) = missing {
                return Err(Inadmissible::Missing(x as usize, y as usize));
            }
            let mut adjacent: List = self.graph.adjacents(y).filter(|&x| knowledge.forbids(x, y)).collect();
            adjacent.sort_unstable();
            for x in adjacent {
                if list::has(&self.graph.parents[y as usize], x) {
                    return Err(Inadmissible::Forbidden(x as usize, y as usize));
                }
                if list::has(&self.graph.neighbours[y as usize], x) {
                    self.direct(y, x);
                }
            }
        }
        Ok(())
    }

    /// Turns the edge `from – to` into an arc, and all edges whose direction follows.
    fn direct(&mut self, from: u32, to: u32) {
        self.turn(from, to);
        let around = |graph: &Graph, from: u32, to: u32| {
            graph.children[to as usize].iter().copied().chain([from, to]).collect::<List>()
        };
        let mut near: BTreeSet<u32> = around(&self.graph, from, to).into_iter().collect();
        while let Some(v) = near.pop_first() {
            for u in self.graph.neighbours[v as usize].clone() {
                for (x, y) in [(u, v), (v, u)] {
                    if list::has(&self.graph.neighbours[x as usize], y) && self.must_point(x, y) {
                        self.turn(x, y);
                        near.extend(around(&self.graph, x, y));
                    }
                }
            }
        }
    }

    fn turn(&mut self, from: u32, to: u32) {
        list::remove(&mut self.graph.neighbours[from as usize], to);
        list::remove(&mut self.graph.neighbours[to as usize], from);
        list::add(&mut self.graph.children[from as usize], to);
        list::add(&mut self.graph.parents[to as usize], from);
        self.touched[from as usize] = true;
        self.touched[to as usize] = true;
    }

    /// Whether knowledge directs no edge at a node.
    pub fn leaves_alone(&self, v: u32) -> bool {
        !self.touched[v as usize]
    }

    /// Whether one of Meek's rules directs the edge `x – y` from `x` to `y`.
    fn must_point(&self, x: u32, y: u32) -> bool {
        let graph = &self.graph;
        let (of_x, of_y) = (x as usize, y as usize);
        // (z → x – y) ⇒ (x → y), where z and y are not adjacent
        let no_collider = || graph.parents[of_x].iter().any(|&z| !graph.adjacent(y, z));
        // (x → z → y, x – y) ⇒ (x → y)
        let no_cycle = || list::intersects(&graph.children[of_x], &graph.parents[of_y]);
        // (x – z → y, x – w → y, x – y) ⇒ (x → y), where z and w are not adjacent
        let no_diamond = || {
            let between = list::intersection(&graph.neighbours[of_x], &graph.parents[of_y]);
            between.iter().any(|&z| between.iter().any(|&w| w != z && !graph.adjacent(z, w)))
        };
        // (x – z → w → y, x – y) ⇒ (x → y), where x and w are adjacent, z and y are not
        let no_chain = || {
            let starts = graph.neighbours[of_x].iter().filter(|&&z| z != y && !graph.adjacent(z, y));
            let ends = || graph.parents[of_y].iter().filter(|&&w| graph.adjacent(x, w));
            starts.into_iter().any(|&z| ends().any(|&w| list::has(&graph.parents[w as usize], z)))
        };
        no_collider() || no_cycle() || no_diamond() || no_chain()
    }

    /// Whether `y` has exactly these parents in some admissible DAG; see [`crate::graph::Mpdag::allows`].
    pub fn allows(&self, y: u32, parents: &[u32]) -> bool {
        let graph = &self.graph;
        let at = y as usize;
        let new = list::difference(parents, &graph.parents[at]);
        list::is_subset(&graph.parents[at], parents)
            && list::is_subset(&new, &graph.neighbours[at])
            && new.iter().all(|&x| parents.iter().all(|&v| v == x || graph.adjacent(x, v)))
            && parents.iter().all(|&x| {
                let others = graph.adjacents(y).filter(|&v| !list::has(parents, v));
                others.into_iter().all(|v| !list::has(&graph.parents[x as usize], v))
            })
    }

    /// The canonical admissible DAG: the one that follows the canonical DAG of the class, given by its
    /// essential graph, as far as knowledge allows; see [`crate::graph::mpdag::follow`].
    pub fn extension(&self, essential: &Graph) -> Dag {
        let canonical = essential.extension();
        let order = canonical.order().unwrap_or_else(|| unreachable!("the canonical DAG is acyclic"));
        let mut position = vec![0; order.len()];
        (0u32..).zip(&order).for_each(|(at, &v)| position[v as usize] = at);
        let mut dag = Dag { parents: essential.parents.clone(), children: essential.children.clone() };
        let mut gone = vec![false; essential.len()];
        let joined = |gone: &[bool], v: u32| -> List {
            essential.neighbours[v as usize].iter().copied().filter(|&u| !gone[u as usize]).collect()
        };
        let mut waiting: BinaryHeap<(u32, u32)> = (0..essential.len() as u32)
            .filter(|&v| self.can_be_last(v, &joined(&gone, v)))
            .map(|v| (position[v as usize], v))
            .collect();
        while let Some((_, last)) = waiting.pop() {
            if std::mem::replace(&mut gone[last as usize], true) {
                continue;
            }
            let above = joined(&gone, last);
            above.iter().for_each(|&v| dag.insert(v, last));
            let freed = above.iter().filter(|&&v| self.can_be_last(v, &joined(&gone, v)));
            waiting.extend(freed.map(|&v| (position[v as usize], v)));
        }
        debug_assert!(gone.iter().all(|&gone| gone), "an admissible DAG has a last node");
        dag
    }

    /// Whether a node can come last among those that edges still join it to.
    fn can_be_last(&self, v: u32, joined: &[u32]) -> bool {
        let graph = &self.graph;
        let reversible = list::intersection(&graph.neighbours[v as usize], joined);
        !list::intersects(&graph.children[v as usize], joined)
            && reversible.iter().all(|&u| joined.iter().all(|&w| w == u || graph.adjacent(u, w)))
    }
}
