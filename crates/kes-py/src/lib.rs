//! Python bindings of `kes-core`: nothing but the border. `python/kes/_core.pyi` is its contract.

mod blocks;
mod criteria;
mod csv;
mod exact;
mod graphs;
mod knowledge;
mod native;
mod problem;

use kes_core::exact::order;
use kes_core::score::discrete::dataset::MAX_STATES;
use kes_core::varset::MAX_VARIABLES;
use pyo3::prelude::*;

pyo3::create_exception!(_core, CoreError, pyo3::exceptions::PyException);

/// An error of the core as Python sees it.
fn core_error(error: kes_core::Error) -> PyErr {
    CoreError::new_err(error.to_string())
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add("CRITERIA", criteria::described(module.py())?)?;
    module.add("MAX_COMPONENT", order::LARGEST)?;
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
