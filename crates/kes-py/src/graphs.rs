//! Functions of graphs alone.

use kes_core::engine::{Edges, Graph, graphs};
use kes_core::graph::knowledge::Contradiction;
use kes_core::graph::mpdag::Inadmissible;
use pyo3::prelude::*;

use crate::core_error;
use crate::native::interruptible;
use crate::options::{Known, Triple, constraints, read_move, statements, write_move};

#[pyfunction]
pub fn essential_graph(n: usize, arcs: Edges) -> PyResult<Graph> {
    graphs::essential_graph(n, &arcs).map_err(core_error)
}

#[pyfunction]
pub fn check_essential(n: usize, graph: Graph) -> PyResult<()> {
    graphs::check_essential(n, &graph).map_err(core_error)
}

#[pyfunction]
#[pyo3(signature = (n, graph, knowledge=None))]
pub fn extension(n: usize, graph: Graph, knowledge: Option<Known>) -> PyResult<Edges> {
    graphs::extension(n, &graph, knowledge.map(statements).as_ref()).map_err(core_error)
}

#[pyfunction]
#[pyo3(signature = (n, graph, max_parents, knowledge=None))]
pub fn boundary(
    py: Python<'_>,
    n: usize,
    graph: Graph,
    max_parents: Option<usize>,
    knowledge: Option<Known>,
) -> PyResult<Vec<Triple>> {
    let constraints = constraints(max_parents, knowledge);
    let found = interruptible(py, |stop| graphs::boundary(n, &graph, &constraints, stop))?;
    Ok(found.map_err(core_error)?.into_iter().map(write_move).collect())
}

#[pyfunction]
pub fn apply(n: usize, graph: Graph, triple: Triple) -> PyResult<Graph> {
    graphs::apply(n, &graph, &read_move(triple)).map_err(core_error)
}

#[pyfunction]
pub fn contradiction(n: usize, knowledge: Known) -> PyResult<Option<(&'static str, Edges)>> {
    let found = graphs::contradiction(n, &statements(knowledge)).map_err(core_error)?;
    Ok(found.map(|why| match why {
        Contradiction::Cycle(arcs) => ("cycle", arcs),
        Contradiction::Forbidden(arcs) => ("forbidden", arcs),
        Contradiction::Tiers(arcs) => ("tiers", arcs),
    }))
}

#[pyfunction]
pub fn inadmissible(
    n: usize,
    graph: Graph,
    knowledge: Known,
) -> PyResult<Option<(&'static str, (usize, usize))>> {
    let found = graphs::inadmissible(n, &graph, &statements(knowledge)).map_err(core_error)?;
    Ok(found.map(|why| match why {
        Inadmissible::Missing(..) => ("missing", why.arc()),
        Inadmissible::Forbidden(..) => ("forbidden", why.arc()),
    }))
}

#[pyfunction]
pub fn mpdag(n: usize, graph: Graph, knowledge: Known) -> PyResult<Graph> {
    graphs::mpdag(n, &graph, &statements(knowledge)).map_err(core_error)
}
