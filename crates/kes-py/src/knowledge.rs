//! Background knowledge across the border.

use std::sync::Arc;

use kes_core::boundary::Model;
use kes_core::graph::knowledge::Contradiction;
use kes_core::graph::mpdag::Inadmissible;
use kes_core::graph::{EssentialGraph, Knowledge, Mpdag};
use kes_core::score::terms::Terms;
use kes_core::varset::VarSet;
use kes_core::{Error, with_width};
use pyo3::prelude::*;

use crate::graphs::{Edges, Graph, check_arcs, check_number, read_graph};
use crate::{CoreError, core_error};

/// The tier of each variable (or none), required and forbidden arcs.
pub type Known = (Option<Vec<Option<usize>>>, Edges, Edges);

/// Knowledge from Python.
fn read<const W: usize>(n: usize, known: &Known) -> PyResult<Result<Knowledge<W>, Contradiction>> {
    let (tiers, required, forbidden) = known;
    check_arcs(n, required)?;
    check_arcs(n, forbidden)?;
    let tiers = tiers.as_deref().unwrap_or_default();
    if !tiers.is_empty() && tiers.len() != n {
        return Err(CoreError::new_err(format!("{n} variables, but {} tiers", tiers.len())));
    }
    Ok(Knowledge::new(n, tiers, required, forbidden))
}

/// Knowledge from Python that some network obeys.
fn read_consistent<const W: usize>(n: usize, known: &Known) -> PyResult<Knowledge<W>> {
    read(n, known)?.map_err(|error| core_error(error.into()))
}

/// Knowledge from Python, if there is any, that leaves a limit on parents intact.
pub fn read_knowledge<const W: usize>(
    n: usize,
    known: Option<&Known>,
    max_parents: Option<usize>,
) -> PyResult<Option<Arc<Knowledge<W>>>> {
    let Some(known) = known else { return Ok(None) };
    let knowledge = read_consistent(n, known)?;
    let most = max_parents.unwrap_or(n);
    if let Some(y) = (0..n).find(|&y| knowledge.required(y).len() > most) {
        return Err(core_error(Error::Setting(format!(
            "node {y} has {} required parents; at most {most} are allowed",
            knowledge.required(y).len()
        ))));
    }
    Ok(Some(Arc::new(knowledge)))
}

/// The same for a search: the families that are required must have a score.
pub fn read_for_search<const W: usize>(
    terms: &Terms<W>,
    known: Option<&Known>,
    max_parents: Option<usize>,
) -> PyResult<Option<Arc<Knowledge<W>>>> {
    let n = terms.variables();
    let knowledge = read_knowledge(n, known, max_parents)?;
    let required = |y: usize| knowledge.as_ref().map_or(VarSet::EMPTY, |known| known.required(y));
    let mut worker = terms.worker();
    let mut fails = |y: &usize| terms.family(&mut *worker, *y, required(*y)) == f64::NEG_INFINITY;
    match (0..n).filter(|&y| !required(y).is_empty()).find(|y| fails(y)) {
        Some(y) => Err(CoreError::new_err(format!(
            "node {y} with its required parents {:?} cannot be estimated from these data",
            required(y)
        ))),
        None => Ok(knowledge),
    }
}

/// The restricted graph of an admissible model.
pub fn restrict<const W: usize>(n: usize, graph: &EssentialGraph<W>, known: &Known) -> PyResult<Mpdag<W>> {
    Mpdag::new(graph, &read_consistent(n, known)?).map_err(|error| core_error(error.into()))
}

/// A model from Python, or the smallest admissible one if none is given.
pub fn read_model<const W: usize>(
    n: usize,
    graph: Option<&Graph>,
    knowledge: Option<&Arc<Knowledge<W>>>,
) -> PyResult<Model<W>> {
    let graph = match (graph, knowledge) {
        (Some(graph), _) => read_graph(n, graph)?,
        (None, Some(known)) => known.start(),
        (None, None) => EssentialGraph::empty(n),
    };
    Model::under(graph, knowledge).map_err(|error| core_error(error.into()))
}

/// A graph from Python that must be admissible.
pub fn read_admissible<const W: usize>(
    n: usize,
    graph: &Graph,
    knowledge: Option<&Knowledge<W>>,
) -> PyResult<EssentialGraph<W>> {
    let graph = read_graph(n, graph)?;
    if let Some(Err(error)) = knowledge.map(|known| Mpdag::new(&graph, known)) {
        return Err(core_error(error.into()));
    }
    Ok(graph)
}

#[pyfunction]
pub fn contradiction(n: usize, knowledge: Known) -> PyResult<Option<(&'static str, Edges)>> {
    check_number(n)?;
    with_width!(n, W => {
        Ok(read::<W>(n, &knowledge)?.err().map(|error| match error {
            Contradiction::Cycle(arcs) => ("cycle", arcs),
            Contradiction::Forbidden(arcs) => ("forbidden", arcs),
            Contradiction::Tiers(arcs) => ("tiers", arcs),
        }))
    })
}

#[pyfunction]
pub fn inadmissible(
    n: usize,
    graph: Graph,
    knowledge: Known,
) -> PyResult<Option<(&'static str, (usize, usize))>> {
    check_number(n)?;
    with_width!(n, W => {
        let (graph, known) = (read_graph::<W>(n, &graph)?, read_consistent(n, &knowledge)?);
        Ok(Mpdag::new(&graph, &known).err().map(|error| match error {
            Inadmissible::Missing(x, y) => ("missing", (x, y)),
            Inadmissible::Forbidden(x, y) => ("forbidden", (x, y)),
        }))
    })
}

#[pyfunction]
pub fn mpdag(n: usize, graph: Graph, knowledge: Known) -> PyResult<Graph> {
    check_number(n)?;
    with_width!(n, W => {
        let mpdag = restrict(n, &read_graph::<W>(n, &graph)?, &knowledge)?;
        Ok((mpdag.directed(), mpdag.undirected()))
    })
}
