//! Graphs, moves and knowledge as plain lists of variable numbers, and their conversion to sets.

use std::sync::Arc;

use crate::Error;
use crate::boundary::{Model, Neighbour, Operator};
use crate::graph::{Dag, EssentialGraph, Knowledge};
use crate::score::terms::Terms;
use crate::varset::{MAX_VARIABLES, VarSet};

/// Pairs of variables.
pub type Edges = Vec<(usize, usize)>;
/// Directed edges `(from, to)` and undirected ones, both sorted.
pub type Graph = (Edges, Edges);

/// A move to a neighbour: its triple, with `x < y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Whether an edge is inserted or deleted.
    pub operator: Operator,
    /// One end of the edge.
    pub x: usize,
    /// The other end.
    pub y: usize,
    /// The conditioning set.
    pub given: Vec<usize>,
}

/// Background knowledge as it is stated.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// The tier of each variable, `None` if it has none; empty without tiers.
    pub tiers: Vec<Option<usize>>,
    /// Required arcs.
    pub required: Edges,
    /// Forbidden arcs.
    pub forbidden: Edges,
}

/// The constraints on the models of a search.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// No variable may have more parents.
    pub max_parents: Option<usize>,
    /// Background knowledge, if there is any.
    pub knowledge: Option<Statements>,
}

/// The number of variables.
///
/// # Errors
/// If there are too many.
pub fn check_number(n: usize) -> Result<usize, Error> {
    if n > MAX_VARIABLES { Err(Error::TooManyVariables(n)) } else { Ok(n) }
}

pub(crate) fn check_arcs(n: usize, arcs: &[(usize, usize)]) -> Result<(), Error> {
    for &(from, to) in arcs {
        if from.max(to) >= n {
            return Err(Error::UnknownVariable(from.max(to)));
        }
        if from == to {
            return Err(Error::SelfLoop(from));
        }
    }
    Ok(())
}

/// The DAG of some arcs, and a causal order.
pub(super) fn dag<const W: usize>(n: usize, arcs: &[(usize, usize)]) -> Result<(Dag<W>, Vec<usize>), Error> {
    check_arcs(n, arcs)?;
    let dag = Dag::from_arcs(n, arcs);
    let order = dag.order().ok_or(Error::Cycle)?;
    Ok((dag, order))
}

pub(super) fn essential<const W: usize>(n: usize, graph: &Graph) -> Result<EssentialGraph<W>, Error> {
    EssentialGraph::from_edges(n, &graph.0, &graph.1)
}

pub(super) fn graph<const W: usize>(graph: &EssentialGraph<W>) -> Graph {
    (graph.directed(), graph.undirected())
}

/// The model of a graph, or the smallest admissible one if none is given.
pub(super) fn model<const W: usize>(
    n: usize,
    graph: Option<&Graph>,
    knowledge: Option<&Arc<Knowledge<W>>>,
) -> Result<Model<W>, Error> {
    let graph = match (graph, knowledge) {
        (Some(graph), _) => essential(n, graph)?,
        (None, Some(known)) => known.start(),
        (None, None) => EssentialGraph::empty(n),
    };
    Ok(Model::under(graph, knowledge)?)
}

impl Move {
    pub(super) fn neighbour<const W: usize>(&self, n: usize) -> Result<Neighbour<W>, Error> {
        let &Self { operator, x, y, ref given } = self;
        if let Some(&unknown) = given.iter().chain([&x, &y]).find(|&&v| v >= n) {
            return Err(Error::UnknownVariable(unknown));
        }
        if x == y || given.contains(&x) || given.contains(&y) {
            return Err(Error::NotANeighbour);
        }
        let given = given.iter().copied().collect();
        Ok(Neighbour { operator, x: x.min(y), y: x.max(y), given })
    }
}

impl<const W: usize> From<&Neighbour<W>> for Move {
    fn from(neighbour: &Neighbour<W>) -> Self {
        let (operator, x, y, given) = neighbour.triple();
        Self { operator, x, y, given: given.iter().collect() }
    }
}

impl Statements {
    /// # Errors
    /// If they do not fit the number of variables, or contradict each other.
    pub(super) fn knowledge<const W: usize>(&self, n: usize) -> Result<Knowledge<W>, Error> {
        let Self { tiers, required, forbidden } = self;
        check_arcs(n, required)?;
        check_arcs(n, forbidden)?;
        if !tiers.is_empty() && tiers.len() != n {
            return Err(Error::Setting(format!("there are {n} variables, but {} tiers", tiers.len())));
        }
        Ok(Knowledge::new(n, tiers, required, forbidden)?)
    }
}

impl Constraints {
    /// The knowledge, if there is any.
    ///
    /// # Errors
    /// If it requires more parents than allowed, and as [`Statements::knowledge`].
    pub(super) fn knowledge<const W: usize>(&self, n: usize) -> Result<Option<Arc<Knowledge<W>>>, Error> {
        let Some(statements) = &self.knowledge else { return Ok(None) };
        let knowledge = statements.knowledge(n)?;
        let max_parents = self.max_parents.unwrap_or(n);
        match (0..n).find(|&y| knowledge.required(y).len() > max_parents) {
            Some(variable) => {
                let parents = knowledge.required(variable).iter().collect();
                Err(Error::TooManyRequired { variable, parents, max_parents })
            }
            None => Ok(Some(Arc::new(knowledge))),
        }
    }

    /// The same for a search, in which the required families must have a score.
    pub(super) fn estimable<const W: usize>(
        &self,
        terms: &Terms<W>,
    ) -> Result<Option<Arc<Knowledge<W>>>, Error> {
        let n = terms.variables();
        let Some(knowledge) = self.knowledge(n)? else { return Ok(None) };
        let mut worker = terms.worker();
        for variable in (0..n).filter(|&y| !knowledge.required(y).is_empty()) {
            let parents: VarSet<W> = knowledge.required(variable);
            if terms.family(&mut *worker, variable, parents) == f64::NEG_INFINITY {
                return Err(Error::NotEstimable { variable, parents: parents.iter().collect() });
            }
        }
        Ok(Some(knowledge))
    }
}
