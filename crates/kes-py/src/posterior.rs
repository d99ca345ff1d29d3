//! Probabilities over models.

use std::sync::atomic::AtomicUsize;

use kes_core::engine::{Constraints, Engine, Graph};
use kes_core::exact::Limits;
use kes_core::posterior::chain::Options;
use kes_core::posterior::{Prior, bytes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::exact::report;
use crate::named_tuples::{CHAIN, EVERYTHING, EXACT};
use crate::native::{interruptible, watched};
use crate::options::{Known, statements};
use crate::{CoreError, core_error};

/// The name of chains in messages.
const CHAINS: &str = "a posterior by chains";

/// The memory that exact probabilities of n variables need.
#[pyfunction]
pub fn posterior_bytes(n: usize) -> f64 {
    bytes(n)
}

fn prior(name: &str) -> PyResult<Prior> {
    match name {
        "dags" => Ok(Prior::Dags),
        "classes" => Ok(Prior::Classes),
        _ => Err(CoreError::new_err(format!("there is no prior {name}"))),
    }
}

/// Exact probabilities of arcs and ancestors; nothing, if time or memory do not suffice.
pub fn exact<'py>(
    py: Python<'py>,
    engine: &dyn Engine,
    constraints: &Constraints,
    limits: Limits,
    on_progress: &Py<PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let counted = AtomicUsize::new(0);
    let found = watched(py, report(on_progress, &counted), |stop| {
        engine.bits("an exact posterior", stop)?.posterior(constraints, limits, stop, &counted)
    })?;
    let make = |found: kes_core::posterior::Exact| {
        EXACT.make(
            py,
            (found.arcs, found.ancestors, found.log_sum, found.dropped, found.rounding, found.mismatch),
        )
    };
    found.map_err(core_error)?.ok().map(make).transpose()
}

/// Probabilities of everything, from all DAGs.
pub fn enumerate<'py>(
    py: Python<'py>,
    engine: &dyn Engine,
    name: &str,
    constraints: &Constraints,
) -> PyResult<Bound<'py, PyAny>> {
    let prior = prior(name)?;
    let found = interruptible(py, |stop| {
        engine.bits("an exact posterior", stop)?.enumerate(prior, constraints, stop)
    })?;
    let found = found.map_err(core_error)?;
    EVERYTHING.make(
        py,
        (found.arcs, found.ancestors, found.blankets, found.v_structures, found.classes, found.log_sum),
    )
}

/// The options of chains, all of which must be given.
pub fn chain_options(options: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let missing = |name: &str| PyTypeError::new_err(format!("the option {name} is missing"));
    let get = |name: &str| {
        let found = options.map(|options| options.get_item(name)).transpose()?.flatten();
        found.ok_or_else(|| missing(name))
    };
    Ok(Options {
        prior: prior(&get("prior")?.extract::<String>()?)?,
        betas: get("betas")?.extract()?,
        seed: get("seed")?.extract()?,
        duration: get("duration")?.extract()?,
        rounds: get("rounds")?.extract()?,
        before: get("before")?.extract()?,
        blocks: get("blocks")?.extract()?,
        max_parents: get("max_parents")?.extract()?,
        threads: get("n_jobs")?.extract::<usize>()?.max(1),
    })
}

/// A good duration of the rounds of chains; nothing, if it is stopped.
pub fn pilot(
    py: Python<'_>,
    engine: &dyn Engine,
    start: &Graph,
    options: &Options,
    knowledge: Option<Known>,
    on_progress: &Py<PyAny>,
) -> PyResult<Option<f64>> {
    let (done, known) = (AtomicUsize::new(0), knowledge.map(statements));
    let found = watched(py, report(on_progress, &done), |stop| {
        engine.bits(CHAINS, stop)?.pilot(start, options, known.as_ref(), stop)
    })?;
    match found {
        Err(kes_core::Error::Stopped) => Ok(None),
        found => Ok(Some(found.map_err(core_error)?)),
    }
}

/// Lets chains go on; nothing of them, if they are stopped.
pub fn chains<'py>(
    py: Python<'py>,
    engine: &dyn Engine,
    (starts, listed): (&[Vec<Graph>], &[Graph]),
    options: &Options,
    knowledge: Option<Known>,
    on_progress: &Py<PyAny>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (done, known) = (AtomicUsize::new(0), knowledge.map(statements));
    let found = watched(py, report(on_progress, &done), |stop| {
        engine.bits(CHAINS, stop)?.chains(starts, listed, options, known.as_ref(), stop, &done)
    })?;
    let found = match found {
        Err(kes_core::Error::Stopped) => Vec::new(),
        found => found.map_err(core_error)?,
    };
    let make = |chain: kes_core::engine::posterior::Found| {
        CHAIN.make(
            py,
            (
                chain.edges,
                chain.arcs,
                chain.ancestors,
                chain.blankets,
                chain.v_structures,
                chain.classes,
                chain.state,
                chain.jumps,
            ),
        )
    };
    found.into_iter().map(make).collect()
}
