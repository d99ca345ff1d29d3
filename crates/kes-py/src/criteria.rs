//! The criteria that there are, for Python to read instead of knowing them by name.

use kes_core::score::discrete::criterion::{CRITERIA, Criterion, Description};
use kes_core::score::gaussian::criterion as gaussian;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::core_error;

/// Of every criterion: name, title, names of its parameters, kinds of tables it takes, and whether
/// there is a rule by which families can be left out of an exact search.
pub fn described(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    let describe = |criterion: &Description| {
        let parameters = PyTuple::new(py, criterion.parameters)?;
        let kinds = PyTuple::new(py, ["discrete"])?;
        (criterion.name, criterion.title, parameters, kinds, criterion.has_rules).into_pyobject(py)
    };
    let describe_gaussian = |criterion: &gaussian::Description| {
        let parameters = PyTuple::new(py, criterion.parameters)?;
        let kinds = PyTuple::new(py, criterion.kinds)?;
        (criterion.name, criterion.title, parameters, kinds, false).into_pyobject(py)
    };
    let all = CRITERIA.into_iter().map(describe).chain(gaussian::CRITERIA.into_iter().map(describe_gaussian));
    PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

#[pyfunction]
pub fn penalty(criterion: &str, cases: f64) -> PyResult<Option<f64>> {
    let criterion = Criterion::named(criterion, 1.0).map_err(core_error)?;
    Ok(criterion.description.penalty.map(|penalty| penalty(cases)))
}
