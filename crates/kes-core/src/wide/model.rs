//! A model and its moves, with sparse sets: what [`crate::boundary`] says of targets, cliques and sources holds
//! here too, but no sets of reachable nodes are kept.
//!
//! An insertion of `x → y` given `Pa(y) ∪ K` is valid iff no semi-directed path from `y` to `x` avoids `K`. So the
//! sources that a row of gains offers are checked by following the paths from `y`, and only when a move may have
//! changed the answer: a path that exists before or after a move, but not both, leads from a node that
//! reaches one of the nodes that the move changed to a node that is reached from one of them. All edges that
//! change have both ends among these nodes, so the move changes nothing on the path up to the first of them, nor
//! from the last of them on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::graph::{Dag, Graph};
use super::knowledge::Knowledge;
use super::list::{self, List, Marks};
use super::mpdag::Mpdag;
use crate::boundary::Operator;
use crate::graph::mpdag::Inadmissible;

/// A neighbour of a model; see [`crate::boundary::Neighbour`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Whether an edge is inserted or deleted.
    pub operator: Operator,
    /// One end of the edge.
    pub x: u32,
    /// The other end, whose parents in a suitable DAG of the class are `given` (and `x`).
    pub y: u32,
    /// The conditioning set `C`.
    pub given: List,
}

impl Neighbour {
    /// The canonical order of neighbours, by their triples.
    pub fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let pair = |of: &Self| (of.operator, of.x.min(of.y), of.x.max(of.y));
        pair(self).cmp(&pair(other)).then_with(|| list::compare(&self.given, &other.given))
    }

    /// The parents of `y` before the move, in a DAG of the class from which it adds or removes one arc.
    fn parents_before(&self) -> List {
        match self.operator {
            Operator::Insert => self.given.clone(),
            Operator::Delete => list::with(&self.given, self.x),
        }
    }
}

/// A model with one DAG of its class and a causal order of it.
#[derive(Clone, Debug)]
pub struct Model {
    /// The essential graph, tiered by the levels of the knowledge.
    pub graph: Graph,
    dag: Dag,
    /// A causal order that respects the levels.
    order: List,
    position: List,
    knowledge: Option<Arc<Knowledge>>,
    /// The MPDAG, if arcs are known.
    mpdag: Option<Mpdag>,
    marks: Marks,
}

/// The changes of a move.
#[derive(Clone, Debug)]
pub struct Change {
    /// The nodes whose parents or neighbours changed, and the two ends of the edge.
    pub nodes: List,
    /// The targets among whose parents and neighbours two were joined or separated: their cliques changed.
    pub cliques: List,
}

impl Model {
    /// The model of an essential graph under knowledge.
    ///
    /// # Errors
    /// If the model is not admissible.
    pub fn under(essential: Graph, knowledge: Option<&Arc<Knowledge>>) -> Result<Self, Inadmissible> {
        let dag = match knowledge {
            None => essential.extension(),
            Some(known) => Mpdag::new(&essential, known)?.extension(&essential),
        };
        Ok(Self::of_dag(dag, knowledge.cloned()))
    }

    /// The model of a DAG that has no arc to an earlier level.
    pub fn of_dag(dag: Dag, knowledge: Option<Arc<Knowledge>>) -> Self {
        let n = dag.parents.len();
        let mut order = dag.order().unwrap_or_else(|| unreachable!("a DAG of the class is acyclic"));
        if let Some(known) = &knowledge {
            order.sort_by_key(|&v| known.levels()[v as usize]);
        }
        let mut position = vec![0; n];
        (0..).zip(&order).for_each(|(at, &v)| position[v as usize] = at);
        let graph = Graph::from_dag(&dag, &order, knowledge.as_ref().map(|known| known.levels()));
        let known = knowledge.as_deref().filter(|known| known.has_arcs());
        let mpdag = known.and_then(|known| Mpdag::new(&graph, known).ok());
        Self { graph, dag, order, position, knowledge, mpdag, marks: Marks::new(n) }
    }

    /// The background knowledge.
    pub fn knowledge(&self) -> Option<&Arc<Knowledge>> {
        self.knowledge.as_ref()
    }

    /// The essential graph of the class, without what knowledge directs.
    pub fn essential(&self) -> Graph {
        match self.knowledge {
            None => self.graph.clone(),
            Some(_) => Graph::from_dag(&self.dag, &self.order, None),
        }
    }

    /// Some DAG of the class.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    fn levels(&self) -> Option<&[u32]> {
        self.knowledge.as_ref().map(|known| known.levels())
    }

    /// Moves to a neighbour and returns what changed; see [`crate::boundary::Model::apply`].
    pub fn apply(&mut self, neighbour: &Neighbour) -> Change {
        let mut dag = std::mem::take(&mut self.dag);
        let mut turned = self.step(&mut dag, neighbour);
        self.dag = dag;
        let (x, y) = (neighbour.x, neighbour.y);
        turned.extend([x, y]);
        self.sort(&turned);
        let nodes = self.relabel(x, y);
        let known = self.knowledge.as_deref().filter(|known| known.has_arcs());
        if let (Some(known), Some(mpdag)) = (known, &mut self.mpdag) {
            let renewed = mpdag.renew(&self.graph, known, &nodes, &mut self.marks);
            debug_assert!(renewed.is_ok(), "only admissible neighbours are moved to");
        }
        Change { nodes, cliques: self.around(x, y) }
    }

    /// Makes a DAG of the class one of a neighbour, and returns the nodes that were oriented anew for it.
    fn step(&mut self, dag: &mut Dag, neighbour: &Neighbour) -> List {
        let &Neighbour { operator, x, y, .. } = neighbour;
        let parents = neighbour.parents_before();
        let mut turned = List::new();
        if dag.parents[y as usize] != parents {
            turned = self.graph.component(y, &mut self.marks);
            let mut first = list::intersection(&parents, &self.graph.neighbours[y as usize]);
            first.push(y);
            self.graph.orient(dag, &turned, &first, &mut self.marks);
        }
        match operator {
            Operator::Insert => dag.insert(x, y),
            Operator::Delete => dag.remove(x, y),
        }
        turned
    }

    /// The graph of a neighbour.
    pub fn graph_after(&mut self, neighbour: &Neighbour) -> Graph {
        let mut dag = self.dag.clone();
        self.step(&mut dag, neighbour);
        let mut order = dag.order().unwrap_or_else(|| unreachable!("a neighbour is acyclic"));
        if let Some(levels) = self.levels() {
            order.sort_by_key(|&v| levels[v as usize]);
        }
        Graph::from_dag(&dag, &order, self.levels())
    }

    /// Restores the causal order between the first and the last of the given nodes, among which are both ends of
    /// every new arc. Nodes keep their order, but for parents that have to come first.
    fn sort(&mut self, nodes: &[u32]) {
        let Self { dag, order, position, .. } = self;
        let place = |v: u32| position[v as usize] as usize;
        let is_after = |&v: &u32| dag.parents[v as usize].iter().all(|&u| place(u) < place(v));
        if nodes.iter().all(is_after) {
            return;
        }
        let places = nodes.iter().map(|&v| place(v));
        let (Some(first), Some(last)) = (places.clone().min(), places.clone().max()) else { return };
        let before = order[first..=last].to_vec();
        let (mut placed, mut has_new) = (vec![false; before.len()], vec![false; before.len()]);
        places.for_each(|place| has_new[place - first] = true);
        let mut path: Vec<(u32, usize)> = Vec::new(); // a node and how many of its parents were visited
        let mut at = first;
        for (old, &start) in before.iter().enumerate() {
            if placed[old] {
                continue;
            }
            if !has_new[old] {
                // All of its parents were before it, so they have their places.
                placed[old] = true;
                order[at] = start;
                at += 1;
                continue;
            }
            path.push((start, 0));
            while let Some((v, next)) = path.last_mut() {
                let parents = &dag.parents[*v as usize];
                let is_open = |&&u: &&u32| (first..=last).contains(&place(u)) && !placed[place(u) - first];
                match parents[*next..].iter().find(is_open) {
                    Some(&parent) => {
                        *next = parents.partition_point(|&u| u <= parent);
                        path.push((parent, 0));
                    }
                    None => {
                        placed[place(*v) - first] = true;
                        order[at] = *v;
                        at += 1;
                        path.pop();
                    }
                }
            }
        }
        (first..=last).for_each(|at| position[order[at] as usize] = at as u32);
    }

    /// Brings the graph up to date after an arc from `x` to `y` was put into the DAG or taken out; see
    /// [`crate::graph::EssentialGraph::relabel`]. Returns the nodes whose parents or neighbours changed, with `x` and
    /// `y`.
    fn relabel(&mut self, x: u32, y: u32) -> List {
        let levels = self.knowledge.clone();
        let levels = levels.as_ref().map(|known| known.levels());
        let Self { graph, dag, position, .. } = self;
        let joined = list::has(&dag.parents[y as usize], x);
        for (a, b) in [(x as usize, y), (y as usize, x)] {
            if joined {
                list::add(&mut graph.neighbours[a], b);
            } else {
                [&mut graph.parents[a], &mut graph.children[a], &mut graph.neighbours[a]]
                    .into_iter()
                    .for_each(|set| list::remove(set, b));
            }
        }
        let mut changed = vec![x, y];
        let mut waiting = BinaryHeap::from([Reverse((position[y as usize], y))]);
        let mut last = None;
        while let Some(Reverse(next)) = waiting.pop() {
            let v = next.1;
            if last.replace(next) == Some(next) {
                continue;
            }
            let label = graph.label(dag, position, levels, v);
            let old = &graph.parents[v as usize];
            let (compelled, freed) = (list::difference(&label, old), list::difference(old, &label));
            if v != y && compelled.is_empty() && freed.is_empty() {
                continue;
            }
            graph.parents[v as usize] = label;
            for &u in &compelled {
                list::remove(&mut graph.neighbours[v as usize], u);
                list::remove(&mut graph.neighbours[u as usize], v);
                list::add(&mut graph.children[u as usize], v);
            }
            for &u in &freed {
                list::remove(&mut graph.children[u as usize], v);
                list::add(&mut graph.neighbours[v as usize], u);
                list::add(&mut graph.neighbours[u as usize], v);
            }
            changed.extend(compelled);
            changed.extend(freed);
            changed.push(v);
            waiting.extend(dag.children[v as usize].iter().map(|&u| Reverse((position[u as usize], u))));
        }
        list::tidy(&mut changed);
        changed
    }

    /// The targets whose cliques depend on whether two nodes are joined.
    fn around(&self, a: u32, b: u32) -> List {
        let graph = &self.graph;
        let is_neighbour = |y: u32, v: u32| list::has(&graph.neighbours[y as usize], v);
        let above = |y: u32, v: u32| is_neighbour(y, v) || list::has(&graph.parents[y as usize], v);
        let depends = |&y: &u32| (is_neighbour(y, a) || is_neighbour(y, b)) && above(y, a) && above(y, b);
        let mut around: List = graph.adjacents(a).filter(|&y| graph.adjacent(b, y)).filter(depends).collect();
        around.sort_unstable();
        around
    }

    /// Whether an edge from `x` to `y` is admissible as far as levels and nodes kept apart are concerned.
    #[inline]
    pub fn is_open(&self, x: u32, y: u32) -> bool {
        self.knowledge.as_ref().is_none_or(|known| !known.bars(x, y))
    }

    /// Whether the insertion of `x → y` represents its triple; see [`crate::boundary::Model::stands`].
    pub fn stands(&self, x: u32, y: u32, clique: &[u32]) -> bool {
        x < y || !self.may_be_doubled(x, y) || !self.share(x, y, clique)
    }

    /// Whether an insertion of `x → y` can also be one of `y → x`, for some clique.
    fn may_be_doubled(&self, x: u32, y: u32) -> bool {
        let same_level = |levels: &[u32]| levels[x as usize] == levels[y as usize];
        self.graph.parents[x as usize] == self.graph.parents[y as usize]
            && self.levels().is_none_or(same_level)
    }

    /// Whether the common neighbours of two nodes are a given clique of neighbours of `y`.
    fn share(&self, x: u32, y: u32, clique: &[u32]) -> bool {
        let (of_x, of_y) = (&self.graph.neighbours[x as usize], &self.graph.neighbours[y as usize]);
        let common = of_x.iter().filter(|&&v| list::has(of_y, v));
        list::is_subset(clique, of_x) && common.count() == clique.len()
    }

    /// Calls `found(x, C)` once for every neighbour by a deletion whose target is `y`.
    ///
    /// # Errors
    /// If `found` does.
    pub fn deletions<E>(&self, y: u32, mut found: impl FnMut(u32, &[u32]) -> Result<(), E>) -> Result<(), E> {
        let graph = &self.graph;
        let (parents, neighbours) = (&graph.parents[y as usize], &graph.neighbours[y as usize]);
        let smaller: List = neighbours.iter().copied().filter(|&x| x < y).collect();
        for x in list::union(parents, &smaller) {
            let rest = list::without(parents, x);
            let common: List =
                neighbours.iter().copied().filter(|&z| z != x && graph.adjacent(x, z)).collect();
            graph
                .for_each_clique(&common, usize::MAX, &mut |clique| found(x, &list::union(&rest, clique)))?;
        }
        Ok(())
    }

    /// Marks the nodes that semi-directed paths from `y` reach without entering `clique`, until `enough` returns true
    /// for one of them.
    pub fn follow(
        &self,
        y: u32,
        clique: &[u32],
        marks: &mut Marks,
        queue: &mut List,
        mut enough: impl FnMut(u32) -> bool,
    ) {
        marks.clear();
        marks.insert(y);
        clique.iter().for_each(|&z| _ = marks.insert(z));
        queue.clear();
        queue.push(y);
        let mut at = 0;
        while at < queue.len() {
            let v = queue[at] as usize;
            for &u in self.graph.children[v].iter().chain(&self.graph.neighbours[v]) {
                if marks.insert(u) {
                    queue.push(u);
                    if enough(u) {
                        return;
                    }
                }
            }
            at += 1;
        }
    }

    /// Marks and lists the nodes from which semi-directed paths lead to some nodes, or to which they lead from these.
    pub fn reach(&self, nodes: &[u32], upwards: bool, marks: &mut Marks, found: &mut List) {
        marks.clear();
        found.clear();
        found.extend(nodes.iter().copied().filter(|&v| marks.insert(v)));
        let ways = if upwards { &self.graph.parents } else { &self.graph.children };
        let mut at = 0;
        while at < found.len() {
            let v = found[at] as usize;
            found.extend(
                ways[v].iter().chain(&self.graph.neighbours[v]).copied().filter(|&u| marks.insert(u)),
            );
            at += 1;
        }
    }

    /// Whether there is knowledge beyond the levels, so that each neighbour must be checked.
    pub fn asks(&self) -> bool {
        self.knowledge.as_ref().is_some_and(|known| known.has_arcs())
    }

    /// Whether a neighbour is admissible, given that the levels admit it; see
    /// [`crate::boundary::Model::admits`] for the rules.
    pub fn admits(&mut self, neighbour: &Neighbour) -> bool {
        let Some(known) = self.knowledge.clone().filter(|known| known.has_arcs()) else { return true };
        let &Neighbour { operator, x, y, ref given } = neighbour;
        let insert = operator == Operator::Insert;
        if !insert && (known.requires(x, y) || known.requires(y, x)) {
            return false;
        }
        if let Some(mpdag) = &self.mpdag {
            let allowed = |x: u32, y: u32| !(insert && known.forbids(x, y));
            let parents = |x: u32| if insert { given.clone() } else { list::with(given, x) };
            let free = mpdag.leaves_alone(y)
                && self.graph.neighbours[y as usize].iter().all(|&z| mpdag.leaves_alone(z));
            if allowed(x, y) && (free || mpdag.allows(y, &parents(x))) {
                return true;
            }
            if allowed(y, x) && mpdag.allows(x, &parents(y)) {
                return true;
            }
            let common = |&v: &u32| self.graph.adjacent(v, x) && self.graph.adjacent(v, y);
            if given.is_empty() || !given.iter().all(common) {
                return false;
            }
        }
        Mpdag::new(&self.graph_after(neighbour), &known).is_ok()
    }

    /// Whether a neighbour is admissible, by the definition: some DAG of its class obeys the knowledge.
    pub fn admits_by_definition(&mut self, neighbour: &Neighbour) -> bool {
        let known = self.knowledge.clone().filter(|known| known.has_arcs());
        known.is_none_or(|known| Mpdag::new(&self.graph_after(neighbour), &known).is_ok())
    }
}
