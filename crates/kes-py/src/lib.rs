//! Python bindings of `kes-core`: nothing but the border. `python/kes/_core.pyi` is its contract.

mod columns;
mod criteria;
mod csv;
mod exact;
mod graphs;
mod inference;
mod named_tuples;
mod native;
mod options;
mod posterior;
mod problem;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use kes_core::exact::subset_dp;
use kes_core::posterior::enumerate;
use kes_core::score::discrete::dataset::MAX_STATES;
use kes_core::score::gaussian::legendre;
use kes_core::varset::MAX_VARIABLES;
use numpy::PyArray1;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use named_tuples::{CHAIN, CRITERION, EVERYTHING, EXACT, IMPROVED, STEP};

pyo3::create_exception!(_core, CoreError, pyo3::exceptions::PyException);

/// An error of the core as Python sees it: the message with numbers of variables, and a template of it with
/// the variables to fill in.
fn core_error(error: kes_core::Error) -> PyErr {
    let variables = error.variables();
    let escaped = |text: &str| text.replace('{', "{{").replace('}', "}}");
    // Names stand in for the variables that no message contains, and become the fields of the template.
    let mark = |v: usize| format!("\u{0}{}\u{0}", variables.iter().position(|&u| u == v).unwrap_or(0));
    let marked = escaped(&error.describe(&mark));
    let field = |(at, part): (usize, &str)| if at % 2 == 1 { format!("{{{part}}}") } else { part.into() };
    let template: String = marked.split('\u{0}').enumerate().map(field).collect();
    let raised = CoreError::new_err(error.to_string());
    Python::attach(|py| {
        let value = raised.value(py);
        let set = value.setattr("template", template).and_then(|()| value.setattr("variables", variables));
        set.map_or_else(|failed| failed, |()| raised.clone_ref(py))
    })
}

/// Loads the functions of numpy: their first use runs Python code, and they panic if Ctrl-C interrupts it.
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
    let core_error = module.py().get_type::<CoreError>();
    core_error.setattr("template", module.py().None())?;
    core_error.setattr("variables", PyTuple::empty(module.py()))?;
    module.add("CoreError", core_error)?;
    for named in [&CHAIN, &CRITERION, &EVERYTHING, &EXACT, &IMPROVED, &STEP] {
        let made = named.of(module.py())?;
        module.add(made.name()?, made)?;
    }
    module.add("CRITERIA", criteria::described(module.py())?)?;
    module.add("MAX_COMPONENT", subset_dp::MAX_COMPONENT)?;
    module.add("MAX_DEGREE", legendre::MAX_DEGREE)?;
    module.add("MAX_STATES", MAX_STATES)?;
    module.add("SCORE_CLIP", legendre::CLIP)?;
    module.add("MAX_VARIABLES", MAX_VARIABLES)?;
    module.add("MAX_ENUMERATED", enumerate::MOST)?;
    module.add("MAX_EXACT", kes_core::posterior::MAX_VARIABLES)?;
    module.add("EXACT_PASSES", kes_core::posterior::PASSES)?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<exact::Families>()?;
    module.add_class::<csv::CsvColumn>()?;
    module.add_class::<inference::Inference>()?;
    module.add("TooLargeError", module.py().get_type::<inference::TooLargeError>())?;
    module.add_function(wrap_pyfunction!(columns::polynomials, module)?)?;
    module.add_function(wrap_pyfunction!(criteria::penalty, module)?)?;
    module.add_function(wrap_pyfunction!(posterior::posterior_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(problem::level, module)?)?;
    module.add_function(wrap_pyfunction!(csv::parse_csv, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::essential_graph, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::check_essential, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::contradiction, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::inadmissible, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::mpdag, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::extension, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::boundary, module)?)?;
    module.add_function(wrap_pyfunction!(graphs::apply, module)?)?;
    Ok(())
}
