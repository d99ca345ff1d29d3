//! Admissible neighbours of a model.

use std::sync::Arc;

use super::{Model, Neighbour};
use crate::graph::mpdag::Inadmissible;
use crate::graph::{Dag, EssentialGraph, Knowledge, Mpdag};
use crate::varset::VarSet;

impl<const W: usize> Model<W> {
    /// The model of an essential graph under knowledge.
    ///
    /// # Errors
    /// If the model is not admissible.
    pub fn under(
        essential: EssentialGraph<W>,
        knowledge: Option<&Arc<Knowledge<W>>>,
    ) -> Result<Self, Inadmissible> {
        let Some(known) = knowledge else { return Ok(Self::new(essential)) };
        let dag = Mpdag::new(&essential, known)?.extension(&essential);
        Ok(Self::of_dag(dag, Some(known.clone())))
    }

    /// The background knowledge.
    pub fn knowledge(&self) -> Option<&Arc<Knowledge<W>>> {
        self.knowledge.as_ref()
    }

    /// The essential graph of the class, without what knowledge directs.
    pub fn essential(&self) -> EssentialGraph<W> {
        match self.knowledge {
            None => self.graph.clone(),
            Some(_) => EssentialGraph::from_dag(&self.dag, &self.order),
        }
    }

    /// Directs edges by the known arcs again, where nodes have changed since the last time.
    pub(super) fn restrict(&mut self, changed: VarSet<W>) {
        let Some(known) = self.knowledge.as_deref().filter(|known| known.has_arcs()) else { return };
        self.mpdag = match self.mpdag.take() {
            None => Mpdag::new(&self.graph, known).ok(),
            Some(mut old) => old.renew(&self.graph, known, changed).is_ok().then_some(old),
        };
    }

    /// Whether there is knowledge beyond the levels, so that each neighbour must be checked.
    pub(crate) fn asks(&self) -> bool {
        self.knowledge.as_ref().is_some_and(|known| known.has_arcs())
    }

    /// Whether a neighbour is admissible, given that the levels admit it. In order of cost:
    ///
    /// 1. No edge is inserted between nodes kept apart (the sources exclude them), and no required edge
    ///    is deleted.
    /// 2. It is admissible if it is one arc away from an admissible DAG of this class: one in which
    ///    the parents of `y` (or of `x`) are those before the move. If no edge at `y` and its
    ///    neighbours is directed by knowledge, there is one, since the operator is valid.
    /// 3. It is not, otherwise, if `C` is empty or not within `Ad(x) ∩ Ad(y)`: then of two admissible
    ///    models with this triple, some admissible DAGs are one arc apart (checked; see
    ///    `docs/theory.md`, section 10).
    /// 4. Otherwise its MPDAG decides.
    pub fn admits(&self, neighbour: &Neighbour<W>) -> bool {
        let Some(known) = self.knowledge.as_deref().filter(|known| known.has_arcs()) else { return true };
        let &Neighbour { x, y, given, .. } = neighbour;
        let insert = neighbour.is_insertion();
        if !insert && (known.required(y).contains(x) || known.required(x).contains(y)) {
            return false;
        }
        if let Some(mpdag) = &self.mpdag {
            let allowed = |x: usize, y: usize| !(insert && known.forbidden(y).contains(x));
            let parents = |x: usize| if insert { given } else { given.with(x) };
            let free = mpdag.leaves_alone(self.graph.neighbours[y].with(y));
            if allowed(x, y) && (free || mpdag.allows(y, parents(x))) {
                return true;
            }
            if allowed(y, x) && mpdag.allows(x, parents(y)) {
                return true;
            }
            let common = self.graph.adjacent[x] & self.graph.adjacent[y];
            if given.is_empty() || !given.is_subset(&common) {
                return false;
            }
        }
        Mpdag::new(&self.graph_after(neighbour), known).is_ok()
    }

    /// Whether a neighbour is admissible, by the definition: some DAG of its class obeys the knowledge.
    ///
    /// The rules of [`Model::admits`] steer the search; what they lead to is checked by this one.
    pub fn admits_by_definition(&self, neighbour: &Neighbour<W>) -> bool {
        let known = self.knowledge.as_deref().filter(|known| known.has_arcs());
        known.is_none_or(|known| Mpdag::new(&self.graph_after(neighbour), known).is_ok())
    }

    /// The graph of a neighbour.
    pub(crate) fn graph_after(&self, neighbour: &Neighbour<W>) -> EssentialGraph<W> {
        let mut dag = self.dag.clone();
        self.step(&mut dag, neighbour);
        let order = dag.order().unwrap_or_else(|| unreachable!("a neighbour is acyclic"));
        graph_of(&dag, &order, self.knowledge.as_deref())
    }
}

/// The essential graph of the class of a DAG, tiered by the levels of the knowledge.
pub(super) fn graph_of<const W: usize>(
    dag: &Dag<W>,
    order: &[usize],
    knowledge: Option<&Knowledge<W>>,
) -> EssentialGraph<W> {
    match knowledge {
        None => EssentialGraph::from_dag(dag, order),
        Some(known) => EssentialGraph::from_dag_in_tiers(dag, order, known.levels()),
    }
}
