//! Python bindings of `kes-core`: nothing but the border. `python/kes/_core.pyi` is its contract.

mod blocks;
mod criteria;
mod csv;
mod exact;
mod graphs;
mod knowledge;
mod native;
mod problem;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use kes_core::exact::subset_dp;
use kes_core::score::discrete::dataset::MAX_STATES;
use kes_core::varset::MAX_VARIABLES;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

pyo3::create_exception!(_core, CoreError, pyo3::exceptions::PyException);

/// An error of the core as Python sees it.
fn core_error(error: kes_core::Error) -> PyErr {
    CoreError::new_err(error.to_string())
}

/// Gets the functions of numpy ready: at their first use Python code is run, and if Ctrl-C ends that, they panic.
fn ready_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy")?;
    let hook = take_hook();
    set_hook(Box::new(|_| ()));
    let ready = catch_unwind(AssertUnwindSafe(|| drop(PyArray1::<u8>::zeros(py, 0, false))));
    set_hook(hook);
    ready.map_err(|_| PyKeyboardInterrupt::new_err(()))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ready_numpy(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add("CRITERIA", criteria::described(module.py())?)?;
    module.add("MAX_COMPONENT", subset_dp::MAX_COMPONENT)?;
    module.add("MAX_STATES", MAX_STATES)?;
    module.add("MAX_VARIABLES", MAX_VARIABLES)?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<exact::Families>()?;
    module.add_class::<csv::CsvColumn>()?;
    module.add_function(wrap_pyfunction!(criteria::penalty, module)?)?;
    module.add_function(wrap_pyfunction!(problem::level, module)?)?;
    module.add_function(wrap_pyfunction!(csv::parse_csv, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::essential_graph, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::check_essential, module)?)?;
    module.add_function(wrap_pyfunction!(knowledge::contradiction, module)?)?;
    module.add_function(wrap_pyfunction!(knowledge::inadmissible, module)?)?;
    module.add_function(wrap_pyfunction!(knowledge::mpdag, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::extension, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::boundary, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::apply, module)?)?;
    Ok(())
}
