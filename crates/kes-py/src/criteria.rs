//! Descriptions of the criteria, for Python.

use kes_core::score::discrete::criterion::{CRITERIA, Criterion};
use kes_core::score::gaussian::criterion as gaussian;
use kes_core::score::location::criterion as location;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::core_error;
use crate::named_tuples::CRITERION;

/// Name, title, names of the parameters, kinds of tables and model of every criterion.
pub fn described(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    let describe = |name: &str, title: &str, parameters: &[&str], kinds: &[&str], model: &str| {
        CRITERION.make(py, (name, title, PyTuple::new(py, parameters)?, PyTuple::new(py, kinds)?, model))
    };
    let discrete =
        CRITERIA.iter().map(|c| describe(c.name, c.title, c.parameters, &["discrete"], "multinomial"));
    let mixed =
        location::CRITERIA.iter().map(|c| describe(c.name, c.title, &["penalty"], &["mixed"], "location"));
    let others =
        gaussian::CRITERIA.iter().map(|c| describe(c.name, c.title, c.parameters, c.kinds, "gaussian"));
    PyTuple::new(py, discrete.chain(mixed).chain(others).collect::<PyResult<Vec<_>>>()?)
}

#[pyfunction]
pub fn penalty(criterion: &str, cases: f64) -> PyResult<Option<f64>> {
    let criterion = Criterion::named(criterion, 1.0).map_err(core_error)?;
    Ok(criterion.description.penalty.map(|penalty| penalty(cases)))
}
