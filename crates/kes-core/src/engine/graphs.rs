//! Operations on graphs that need no data.

use super::plain::{self, Constraints, Edges, Graph, Move, Statements};
use crate::boundary::{Model, Neighbour};
use crate::graph::knowledge::Contradiction;
use crate::graph::mpdag::Inadmissible;
use crate::graph::{EssentialGraph, Mpdag};
use crate::stop::Stop;
use crate::{Error, with_width};

/// The essential graph of a DAG.
///
/// # Errors
/// If the arcs are not those of a DAG.
pub fn essential_graph(n: usize, arcs: &[(usize, usize)]) -> Result<Graph, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let (dag, order) = plain::dag::<W>(n, arcs)?;
        Ok(plain::graph(&EssentialGraph::from_dag(&dag, &order)))
    })
}

/// # Errors
/// If the graph is not essential.
pub fn check_essential(n: usize, graph: &Graph) -> Result<(), Error> {
    plain::check_number(n)?;
    with_width!(n, W => plain::essential::<W>(n, graph).map(|_| ()))
}

/// The arcs of the canonical DAG of a class; under knowledge, of the admissible DAG that follows it as far as
/// possible.
///
/// # Errors
/// If the graph is not essential, or not admissible.
pub fn extension(n: usize, graph: &Graph, knowledge: Option<&Statements>) -> Result<Edges, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let graph = plain::essential::<W>(n, graph)?;
        let dag = match knowledge {
            None => graph.extension(),
            Some(known) => Mpdag::new(&graph, &known.knowledge(n)?)?.extension(&graph),
        };
        Ok(dag.arcs())
    })
}

/// The admissible neighbours of a model.
///
/// # Errors
/// If the graph is not essential or not admissible, or `stop` is raised.
pub fn boundary(n: usize, graph: &Graph, constraints: &Constraints, stop: &Stop) -> Result<Vec<Move>, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let known = constraints.knowledge::<W>(n)?;
        let model = Model::under(plain::essential(n, graph)?, known.as_ref())?;
        let neighbours = model.boundary_until(constraints.max_parents, stop)?;
        Ok(neighbours.iter().map(Move::from).collect())
    })
}

/// The model that a move leads to.
///
/// # Errors
/// If the graph is not essential, or the move not in its boundary.
pub fn apply(n: usize, graph: &Graph, step: &Move) -> Result<Graph, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let mut model = Model::new(plain::essential::<W>(n, graph)?);
        let Neighbour { operator, x, y, given } = step.neighbour(n)?;
        let mut all = model.between(operator, x, y, None).into_iter();
        let neighbour = all.find(|neighbour| neighbour.given == given).ok_or(Error::NotANeighbour)?;
        model.apply(&neighbour);
        Ok(plain::graph(&model.graph))
    })
}

/// Why no network is admissible; `None` if some are.
///
/// # Errors
/// If the statements do not fit the number of variables.
pub fn contradiction(n: usize, knowledge: &Statements) -> Result<Option<Contradiction>, Error> {
    plain::check_number(n)?;
    with_width!(n, W => match knowledge.knowledge::<W>(n) {
        Ok(_) => Ok(None),
        Err(Error::Contradiction(why)) => Ok(Some(why)),
        Err(error) => Err(error),
    })
}

/// Why a model is not admissible; `None` if it is.
///
/// # Errors
/// If the graph is not essential, or the statements are contradictory.
pub fn inadmissible(n: usize, graph: &Graph, knowledge: &Statements) -> Result<Option<Inadmissible>, Error> {
    plain::check_number(n)?;
    with_width!(n, W => Ok(Mpdag::new(&plain::essential::<W>(n, graph)?, &knowledge.knowledge(n)?).err()))
}

/// The arcs that all admissible DAGs of a class share, and the edges on which they differ.
///
/// # Errors
/// If the graph is not essential, or not admissible.
pub fn mpdag(n: usize, graph: &Graph, knowledge: &Statements) -> Result<Graph, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let mpdag = Mpdag::new(&plain::essential::<W>(n, graph)?, &knowledge.knowledge(n)?)?;
        Ok((mpdag.directed(), mpdag.undirected()))
    })
}
