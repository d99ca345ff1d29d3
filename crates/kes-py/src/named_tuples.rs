//! Results with more than a few fields: Python gets them as named tuples.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

/// A type of named tuples, made when it is first needed.
pub struct NamedTuple {
    name: &'static str,
    fields: &'static [&'static str],
    made: PyOnceLock<Py<PyType>>,
}

impl NamedTuple {
    const fn new(name: &'static str, fields: &'static [&'static str]) -> Self {
        Self { name, fields, made: PyOnceLock::new() }
    }

    /// The type.
    pub fn of<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let make = || {
            let made = py.import("collections")?.call_method1("namedtuple", (self.name, self.fields))?;
            made.setattr("__module__", "kes._core")?;
            Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
        };
        Ok(self.made.get_or_try_init(py, make)?.bind(py))
    }

    /// A value of the type.
    pub fn make<'py>(
        &self,
        py: Python<'py>,
        values: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.of(py)?.call1(values.into_pyobject(py)?)
    }
}

/// A criterion.
pub static CRITERION: NamedTuple =
    NamedTuple::new("Criterion", &["name", "title", "parameters", "kinds", "model"]);
/// Probabilities from all DAGs, one by one.
pub static EVERYTHING: NamedTuple =
    NamedTuple::new("Everything", &["arcs", "ancestors", "blankets", "v_structures", "classes", "log_sum"]);
/// Exact probabilities of arcs and ancestors.
pub static EXACT: NamedTuple =
    NamedTuple::new("Exact", &["arcs", "ancestors", "log_sum", "dropped", "rounding", "mismatch"]);
/// The results of a chain over models.
pub static CHAIN: NamedTuple = NamedTuple::new(
    "Chain",
    &["edges", "arcs", "ancestors", "blankets", "v_structures", "classes", "state", "jumps"],
);
/// A model found by improving.
pub static IMPROVED: NamedTuple =
    NamedTuple::new("Improved", &["graph", "score", "origin", "parents", "task"]);
/// A step of a run.
pub static STEP: NamedTuple = NamedTuple::new("Step", &["triple", "delta", "better", "rank"]);
