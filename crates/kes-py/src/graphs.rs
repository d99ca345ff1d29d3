//! Graphs across the border: index lists in, index lists out.

use kes_core::boundary::{Model, Neighbour, Operator};
use kes_core::graph::{Dag, EssentialGraph};
use kes_core::varset::{MAX_VARIABLES, VarSet};
use kes_core::{Error, with_width};
use pyo3::prelude::*;

use crate::knowledge::{Known, read_knowledge, read_model, restrict};
use crate::native::interruptible;
use crate::{CoreError, core_error};

/// Pairs of node indices.
pub type Edges = Vec<(usize, usize)>;
/// Directed and undirected edges.
pub type Graph = (Edges, Edges);
/// (is it an insertion, x, y, conditioning set).
pub type Triple = (bool, usize, usize, Vec<usize>);

/// Are there not too many variables?
pub fn check_number(n: usize) -> PyResult<()> {
    if n > MAX_VARIABLES {
        return Err(CoreError::new_err(format!(
            "there are {n} variables; up to {MAX_VARIABLES} are possible"
        )));
    }
    Ok(())
}

/// A graph from Python.
pub fn read_graph<const W: usize>(n: usize, graph: &Graph) -> PyResult<EssentialGraph<W>> {
    EssentialGraph::from_edges(n, &graph.0, &graph.1).map_err(core_error)
}

/// Does every arc join two nodes?
pub fn check_arcs(n: usize, arcs: &Edges) -> PyResult<()> {
    if let Some(&(a, b)) = arcs.iter().find(|&&(a, b)| a >= n || b >= n || a == b) {
        return Err(core_error(Error::Graph(format!(
            "the arc ({a}, {b}) does not join two of the {n} nodes"
        ))));
    }
    Ok(())
}

/// A DAG from Python.
pub fn read_dag<const W: usize>(n: usize, arcs: &Edges) -> PyResult<Dag<W>> {
    check_arcs(n, arcs)?;
    Ok(Dag::from_arcs(n, arcs))
}

/// A graph for Python.
pub fn write_graph<const W: usize>(graph: &EssentialGraph<W>) -> Graph {
    (graph.directed(), graph.undirected())
}

/// A neighbour for Python.
pub fn write_triple<const W: usize>(neighbour: &Neighbour<W>) -> Triple {
    let (operator, x, y, given) = neighbour.triple();
    (operator == Operator::Insert, x, y, given.iter().collect())
}

/// A neighbour from Python.
pub fn read_triple<const W: usize>(n: usize, triple: &Triple) -> PyResult<Neighbour<W>> {
    let &(insert, x, y, ref given) = triple;
    if x.max(y) >= n || x == y || given.iter().any(|&v| v >= n || v == x || v == y) {
        return Err(CoreError::new_err("the triple names a node that does not exist, or one twice"));
    }
    let operator = if insert { Operator::Insert } else { Operator::Delete };
    let given: VarSet<W> = given.iter().copied().collect();
    Ok(Neighbour { operator, x: x.min(y), y: x.max(y), given })
}

#[pyfunction]
pub fn essential_graph(n: usize, arcs: Edges) -> PyResult<Graph> {
    check_number(n)?;
    with_width!(n, W => {
        let dag = read_dag::<W>(n, &arcs)?;
        let order = dag.order().ok_or_else(|| CoreError::new_err("the arcs have a directed cycle"))?;
        Ok(write_graph(&EssentialGraph::from_dag(&dag, &order)))
    })
}

#[pyfunction]
pub fn check_essential(n: usize, graph: Graph) -> PyResult<()> {
    check_number(n)?;
    with_width!(n, W => read_graph::<W>(n, &graph).map(|_| ()))
}

#[pyfunction]
#[pyo3(signature = (n, graph, knowledge=None))]
pub fn extension(n: usize, graph: Graph, knowledge: Option<Known>) -> PyResult<Edges> {
    check_number(n)?;
    with_width!(n, W => {
        let graph = read_graph::<W>(n, &graph)?;
        let dag = match knowledge {
            None => graph.extension(),
            Some(known) => restrict(n, &graph, &known)?.extension(&graph),
        };
        Ok(dag.arcs())
    })
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
    check_number(n)?;
    with_width!(n, W => {
        let known = read_knowledge::<W>(n, knowledge.as_ref(), max_parents)?;
        let model = read_model(n, Some(&graph), known.as_ref())?;
        let neighbours = interruptible(py, |stop| model.boundary_until(max_parents, stop))?;
        Ok(neighbours.iter().flatten().map(write_triple).collect())
    })
}

#[pyfunction]
pub fn apply(n: usize, graph: Graph, triple: Triple) -> PyResult<Graph> {
    check_number(n)?;
    with_width!(n, W => {
        let mut model = Model::new(read_graph::<W>(n, &graph)?);
        let Neighbour { operator, x, y, given } = read_triple::<W>(n, &triple)?;
        let neighbour = (model.between(operator, x, y, None).into_iter())
            .find(|neighbour| neighbour.given == given)
            .ok_or_else(|| CoreError::new_err("the triple is not in the inclusion boundary of the graph"))?;
        model.apply(&neighbour);
        Ok(write_graph(&model.graph))
    })
}
