//! The inclusion boundary of a model, each member once.
//!
//! The boundary `IB(M)` holds all models one arc addition or removal away from *any* DAG of the
//! class `M`. Chickering's operators generate it [Chickering 2002, Thms 15 and 17]:
//!
//! * `Insert(x, y, T)`, for `x`, `y` not adjacent and `T ⊆ Ne(y) \ Ad(x)`, is valid iff
//!   (1) `NA(y,x) ∪ T` is a clique and (2) every semi-directed path from `y` to `x` meets it;
//! * `Delete(x, y, H)`, for `x – y` or `x → y` and `H ⊆ NA(y,x)`, is valid iff
//!   (1) `NA(y,x) \ H` is a clique,
//!
//! where `NA(y,x) = Ne(y) ∩ Ad(x)`. Operators are not models: one or two of them lead to the same
//! neighbour. What is unique is the *triple* (kind, `{x,y}`, `C`) with `C = Pa(y) ∪ K` (less `x`),
//! where `K = NA(y,x) ∪ T`, or `K = NA(y,x) \ H`. See `docs/theory.md`.
//!
//! # A target at a time
//! Fix the target `y`. An insertion is a clique `K ⊆ Ne(y)` and an `x` with `NA(y,x) ⊆ K` that
//! meets condition (2). Because an essential graph has no semi-directed cycle with an arc in it, a
//! path that leaves `y` through a child never comes back to `Ne(y)`, so nothing can block it; any
//! other path has a last node `z` in `Ne(y)`, and is blocked together with `y – z` and the rest of
//! the path iff `z ∈ K`. Hence, for a given `K`, the sources are
//!
//! ```text
//! x ∉ {y} ∪ Ad(y) ∪ beyond(y),  and  x ∉ Ad(z) ∪ lead(y, z) for every z ∈ Ne(y) \ K
//! ```
//!
//! with `beyond(y)`: what is reached through a child of `y`; `lead(y,z)`: what is reached from `z`
//! without entering `{y} ∪ Ne(y)` again. A few word operations settle all `x` together.
//!
//! # Under knowledge
//! The neighbours are the *admissible* models of the boundary. Under [`Knowledge`] the graph is tiered
//! by its levels, and with `Pa`, `Ne`, `Ad` and paths read off the tiered graph, and sources from the
//! same or earlier levels, the operators give exactly the models that the levels admit. The rule for
//! doubled operators stays the same, for `x` and `y` in one level. All of this was checked on all
//! classes with four nodes and all tierings, and on random ones with five. [`Model::admits`] checks
//! each neighbour against the rest of the knowledge.

mod admissible;
mod paths;

use std::sync::Arc;

pub use paths::Change;

use crate::graph::{Dag, EssentialGraph, Knowledge, Mpdag};
use crate::order;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// The kind of move to a neighbour, after Chickering's operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// Delete an edge.
    Delete,
    /// Insert an edge.
    Insert,
}

/// A neighbour of a model: the kind of move, the pair and the conditioning set. `y` is a target
/// from which the neighbour can be reached; as an identity, the pair is unordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbour<const W: usize> {
    /// Whether an edge is inserted or deleted.
    pub operator: Operator,
    /// One end of the edge.
    pub x: usize,
    /// The other end, whose parents in a suitable DAG of the class are `given` (and `x`).
    pub y: usize,
    /// The conditioning set `C`.
    pub given: VarSet<W>,
}

impl<const W: usize> Neighbour<W> {
    /// Whether an edge is inserted.
    pub fn is_insertion(&self) -> bool {
        self.operator == Operator::Insert
    }

    /// The parents of `y` before the move, in a DAG of the class from which it adds or removes one arc.
    fn parents_before(&self) -> VarSet<W> {
        match self.operator {
            Operator::Insert => self.given,
            Operator::Delete => self.given.with(self.x),
        }
    }

    /// The gain of the move, given the gain of the insertion between `x` and `y` given `C`.
    pub(crate) fn signed(&self, gain: f64) -> f64 {
        match self.operator {
            Operator::Insert => gain,
            Operator::Delete => -gain,
        }
    }

    /// The triple: equal iff the neighbours are the same model, and a canonical order of them.
    pub fn triple(&self) -> (Operator, usize, usize, VarSet<W>) {
        (self.operator, self.x.min(self.y), self.x.max(self.y), self.given)
    }
}

/// A model with what its boundary is read from: its essential graph, one DAG of the class, and
/// which nodes semi-directed paths reach.
#[derive(Debug)]
pub struct Model<const W: usize> {
    /// The essential graph, tiered by the levels of the knowledge.
    pub graph: EssentialGraph<W>,
    /// Some DAG of the class.
    dag: Dag<W>,
    /// A causal order of the DAG, level by level, and the place of each node in it.
    order: Vec<usize>,
    position: Vec<usize>,
    /// `beyond[v]`: nodes at the end of a semi-directed path that leaves `v` through a child.
    beyond: Vec<VarSet<W>>,
    /// `reach[v]`: nodes at the end of any semi-directed path, including `v` and its component.
    reach: Vec<VarSet<W>>,
    /// Background knowledge, if there is any.
    knowledge: Option<Arc<Knowledge<W>>>,
    /// Nodes without parents in the graph.
    orphans: VarSet<W>,
    /// The MPDAG, if arcs are known and the model is admissible.
    mpdag: Option<Mpdag<W>>,
}

/// The inputs that determine the insertions with a given target `y`, apart from which of the neighbours of
/// `y` are adjacent to each other. As long as both stay as they are, so do the insertions.
#[derive(Debug)]
pub struct Frame<const W: usize> {
    /// `Pa(y)`.
    parents: VarSet<W>,
    /// `Ne(y)`.
    neighbours: VarSet<W>,
    /// The sources that no path through a child of `y` rules out.
    open: VarSet<W>,
    /// For every `z` in `Ne(y)`, the sources that need it in `K`.
    barred: Vec<Bar<W>>,
}

/// The nodes that a neighbour of a target bars unless it is in `K`.
#[derive(Clone, Copy, Debug)]
struct Bar<const W: usize> {
    /// The neighbour.
    z: usize,
    /// The nodes that edges connect it to, off the target and its neighbours.
    inside: VarSet<W>,
    /// `Ad(z) ∪ lead(y, z)`.
    sources: VarSet<W>,
}

clone_fields!(Model { graph, dag, order, position, beyond, reach, knowledge, orphans, mpdag });
clone_fields!(Frame { parents, neighbours, open, barred });

impl<const W: usize> Model<W> {
    /// The model of an essential graph, without background knowledge.
    pub fn new(graph: EssentialGraph<W>) -> Self {
        Self::of_dag(graph.extension(), None)
    }

    /// Moves to a neighbour and returns what changed.
    ///
    /// In a DAG of the class in which `Pa(y) = C` (less `x`), `x` cannot be a descendant of `y`: a
    /// directed path from `y` to `x` would pass `K ⊆ Pa(y)`. So there the arc is added or removed,
    /// and the essential graph of the new class is read off.
    pub fn apply(&mut self, neighbour: &Neighbour<W>) -> Change<W> {
        let mut dag = std::mem::replace(&mut self.dag, Dag::empty(0));
        let turned = self.step(&mut dag, neighbour);
        self.dag = dag;
        self.update(neighbour.x, neighbour.y, turned)
    }

    /// Makes a DAG of the class one of a neighbour, and returns the nodes that were oriented anew for it.
    fn step(&self, dag: &mut Dag<W>, neighbour: &Neighbour<W>) -> VarSet<W> {
        let &Neighbour { operator, x, y, .. } = neighbour;
        let parents = neighbour.parents_before();
        let turned = if dag.parents[y] == parents {
            VarSet::EMPTY
        } else {
            self.graph.orient_into(dag, y, parents & self.graph.neighbours[y])
        };
        match operator {
            Operator::Insert => dag.parents[y].insert(x),
            Operator::Delete => dag.parents[y].remove(x),
        }
        turned
    }

    /// Calls `found(K, sources)` for every clique `K` in `Ne(y)` for which some `Insert(x, y, ·)`
    /// with `C = Pa(y) ∪ K` is valid, with all those `x`, given the frame of `y`. With a limit, only
    /// `|C| < max_parents` counts.
    ///
    /// Here and below, `found` may stop the enumeration, since there can be many cliques.
    ///
    /// # Errors
    /// If `found` does.
    pub fn insertions(
        &self,
        frame: &Frame<W>,
        max_parents: Option<usize>,
        mut found: impl FnMut(VarSet<W>, VarSet<W>) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let limit = max_parents.unwrap_or(usize::MAX);
        let Some(room) = limit.checked_sub(frame.parents.len() + 1) else { return Ok(()) };
        for_each_clique(&self.graph, frame.neighbours, room, &mut |clique| {
            let mut sources = frame.open;
            let outside = frame.barred.iter().filter(|bar| !clique.contains(bar.z));
            outside.for_each(|bar| sources -= bar.sources);
            if sources.is_empty() { Ok(()) } else { found(clique, sources) }
        })
    }

    /// Whether the insertion of `x → y` represents its triple. Exactly one does: of two operators for the same
    /// neighbour, the one into the larger node, as in [`Model::deletions`].
    #[inline]
    pub fn stands(&self, x: usize, y: usize, clique: &VarSet<W>) -> bool {
        x < y || !self.is_doubled(x, y, clique)
    }

    /// Whether an insertion of `x → y` can also be one of `y → x`, for some clique.
    #[inline]
    pub fn may_be_doubled(&self, x: usize, y: usize) -> bool {
        self.graph.parents[x] == self.graph.parents[y]
            && self.knowledge.as_ref().is_none_or(|known| known.levels()[x] == known.levels()[y])
    }

    /// Whether the insertion into `y` is also one into `x`, with the same triple.
    ///
    /// It is iff `Pa(x) = Pa(y)`, `K = Ne(x) ∩ Ne(y)`, and the two are of one level. For let `C = Pa(y) ∪ K` be
    /// `Pa(x) ∪ K'` with cliques `K` in `Ne(y)` and `K' = NA(x,y)` in `Ne(x)`. Then no `z ∈ Pa(y)` is in `K'`, as
    /// nothing would protect `z → y` [Andersson 1997]: all of `C` is adjacent to `y` and to `z`,
    /// none of it a child of `z`, and those of its neighbours are a clique. Nor is one of `Pa(x)` in `K`.
    #[inline]
    fn is_doubled(&self, x: usize, y: usize, clique: &VarSet<W>) -> bool {
        let graph = &self.graph;
        self.may_be_doubled(x, y) && graph.neighbours[x] & graph.neighbours[y] == *clique
    }

    /// The `x` whose insertion into `y` is doubled.
    pub fn doubled(&self, y: usize, clique: &VarSet<W>) -> VarSet<W> {
        let graph = &self.graph;
        let mut doubled = graph.parents[y].first().map_or(self.orphans, |parent| graph.children[parent]);
        for z in graph.neighbours[y].iter() {
            match clique.contains(z) {
                true => doubled = doubled & graph.neighbours[z],
                false => doubled -= graph.neighbours[z],
            }
        }
        if !graph.parents[y].is_empty() || self.knowledge.is_some() {
            doubled = doubled.iter().filter(|&x| self.may_be_doubled(x, y)).collect();
        }
        doubled.without(y)
    }

    /// Calls `found(x, C)` once for every neighbour by a deletion whose target is `y`. An
    /// undirected edge can be deleted with either end as the target; the larger one stands for both.
    pub fn deletions(
        &self,
        y: usize,
        mut found: impl FnMut(usize, VarSet<W>) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let graph = &self.graph;
        let smaller = VarSet::first_n(y);
        for x in (graph.parents[y] | (graph.neighbours[y] & smaller)).iter() {
            let rest = graph.parents[y].without(x);
            let common = graph.neighbours[y] & graph.adjacent[x];
            for_each_clique(graph, common, usize::MAX, &mut |clique| found(x, rest | clique))?;
        }
        Ok(())
    }

    /// The insertions, or the deletions, of an edge between two nodes, each once.
    pub fn between(
        &self,
        operator: Operator,
        x: usize,
        y: usize,
        max_parents: Option<usize>,
    ) -> Vec<Neighbour<W>> {
        let mut all = Vec::new();
        for (x, y) in [(x, y), (y, x)] {
            let mut add = |is_one: bool, given| {
                all.extend(is_one.then_some(Neighbour { operator, x, y, given }));
                Ok(())
            };
            let _all = match operator {
                Operator::Insert => self.insertions(&self.frame(y), max_parents, |clique, sources| {
                    let is_one = sources.contains(x) && self.stands(x, y, &clique);
                    add(is_one, self.graph.parents[y] | clique)
                }),
                Operator::Delete => self.deletions(y, |from, given| add(from == x, given)),
            };
        }
        all
    }

    /// The whole boundary in canonical order, each admissible neighbour once. With a limit, insertions beyond
    /// it are left out.
    pub fn boundary(&self, max_parents: Option<usize>) -> Vec<Neighbour<W>> {
        self.boundary_until(max_parents, &Stop::default()).unwrap_or_default()
    }

    /// The same, but interruptible.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn boundary_until(
        &self,
        max_parents: Option<usize>,
        stop: &Stop,
    ) -> Result<Vec<Neighbour<W>>, Stopped> {
        let mut all = Vec::new();
        for y in 0..self.graph.len() {
            self.deletions(y, |x, given| {
                all.push(Neighbour { operator: Operator::Delete, x, y, given });
                stop.check()
            })?;
            self.insertions(&self.frame(y), max_parents, |clique, sources| {
                let given = self.graph.parents[y] | clique;
                let once = sources.iter().filter(|&x| self.stands(x, y, &clique));
                all.extend(once.map(|x| Neighbour { operator: Operator::Insert, x, y, given }));
                stop.check()
            })?;
        }
        all.retain(|neighbour| self.admits(neighbour));
        order::sort_by(&mut all, |a, b| a.triple().cmp(&b.triple()));
        Ok(all)
    }
}

/// Calls `found` for every clique within `set` of at most `room` nodes, the empty one included.
/// Cliques are grown, so the work is in proportion to their number.
fn for_each_clique<const W: usize>(
    graph: &EssentialGraph<W>,
    set: VarSet<W>,
    room: usize,
    found: &mut impl FnMut(VarSet<W>) -> Result<(), Stopped>,
) -> Result<(), Stopped> {
    fn grow<const W: usize>(
        graph: &EssentialGraph<W>,
        clique: VarSet<W>,
        mut candidates: VarSet<W>,
        room: usize,
        found: &mut impl FnMut(VarSet<W>) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        found(clique)?;
        if room == 0 {
            return Ok(());
        }
        while let Some(v) = candidates.first() {
            candidates.remove(v);
            grow(graph, clique.with(v), candidates & graph.adjacent[v], room - 1, found)?;
        }
        Ok(())
    }
    grow(graph, VarSet::EMPTY, set, room, found)
}
