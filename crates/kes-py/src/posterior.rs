//! Probabilities over models.

use std::sync::atomic::AtomicUsize;

use kes_core::engine::{Constraints, Engine};
use kes_core::exact::Limits;
use kes_core::posterior::{Prior, bytes};
use pyo3::prelude::*;

use crate::exact::report;
use crate::named_tuples::{EVERYTHING, EXACT};
use crate::native::{interruptible, watched};
use crate::{CoreError, core_error};

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
        engine.posterior(constraints, limits, stop, &counted)
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
    let found = interruptible(py, |stop| engine.enumerate(prior, constraints, stop))?;
    let found = found.map_err(core_error)?;
    EVERYTHING.make(
        py,
        (found.arcs, found.ancestors, found.blankets, found.v_structures, found.classes, found.log_sum),
    )
}
