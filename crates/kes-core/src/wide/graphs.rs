//! Operations on graphs of any size that need no data.

use super::graph::{Dag, Graph};
use super::knowledge::Knowledge;
use super::mpdag::Mpdag;
use crate::Error;
use crate::engine::plain::check_arcs;
use crate::engine::{Edges, Graph as Plain, Statements};
use crate::graph::knowledge::Contradiction;
use crate::graph::mpdag::Inadmissible;

/// The essential graph of a DAG.
///
/// # Errors
/// If the arcs are not those of a DAG.
pub fn essential_graph(n: usize, arcs: &[(usize, usize)]) -> Result<Plain, Error> {
    check_arcs(n, arcs)?;
    let dag = Dag::from_arcs(n, arcs);
    let order = dag.order().ok_or(Error::Cycle)?;
    Ok(Graph::from_dag(&dag, &order, None).edges())
}

/// # Errors
/// If the graph is not essential.
pub fn check_essential(n: usize, graph: &Plain) -> Result<(), Error> {
    Graph::from_edges(n, graph).map(|_| ())
}

/// The arcs of the canonical DAG of a class; under knowledge, of the admissible DAG that follows it as far as
/// possible.
///
/// # Errors
/// If the graph is not essential, or not admissible.
pub fn extension(n: usize, graph: &Plain, knowledge: Option<&Statements>) -> Result<Edges, Error> {
    let graph = Graph::from_edges(n, graph)?;
    let dag = match knowledge {
        None => graph.extension(),
        Some(known) => Mpdag::new(&graph, &Knowledge::new(n, known)?)?.extension(&graph),
    };
    Ok(dag.arcs())
}

/// Why no network is admissible; `None` if some are.
///
/// # Errors
/// If the statements do not fit the number of variables.
pub fn contradiction(n: usize, knowledge: &Statements) -> Result<Option<Contradiction>, Error> {
    match Knowledge::new(n, knowledge) {
        Ok(_) => Ok(None),
        Err(Error::Contradiction(why)) => Ok(Some(why)),
        Err(error) => Err(error),
    }
}

/// Why a model is not admissible; `None` if it is.
///
/// # Errors
/// If the graph is not essential, or the statements are contradictory.
pub fn inadmissible(n: usize, graph: &Plain, knowledge: &Statements) -> Result<Option<Inadmissible>, Error> {
    Ok(Mpdag::new(&Graph::from_edges(n, graph)?, &Knowledge::new(n, knowledge)?).err())
}

/// The arcs that all admissible DAGs of a class share, and the edges on which they differ.
///
/// # Errors
/// If the graph is not essential, or not admissible.
pub fn mpdag(n: usize, graph: &Plain, knowledge: &Statements) -> Result<Plain, Error> {
    let mpdag = Mpdag::new(&Graph::from_edges(n, graph)?, &Knowledge::new(n, knowledge)?)?;
    Ok(mpdag.graph.edges())
}
