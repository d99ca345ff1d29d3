//! Exact inference in discrete networks.

use kes_core::inference::{Effort, Factor, Failure, Model, Observations};
use kes_core::stop::Stop;
use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::native::{contained, interruptible};
use crate::{CoreError, core_error};

pyo3::create_exception!(_core, TooLargeError, CoreError);

#[pyclass(frozen, module = "kes._core")]
pub struct Inference(Model);

/// Products for which no thread is started: a millisecond or two, too short to interrupt.
const SHORT: f64 = 1e6;

fn failure(failed: Failure) -> PyErr {
    match failed {
        Failure::Stopped | Failure::Long => PyKeyboardInterrupt::new_err(()),
        Failure::TooLarge { variables, hidden } => TooLargeError::new_err((variables, hidden)),
    }
}

#[pymethods]
impl Inference {
    #[new]
    #[pyo3(signature = (states, factors, *, directed=true, logarithms=false))]
    fn new(
        states: Vec<usize>,
        factors: Vec<(Vec<usize>, PyReadonlyArray1<'_, f64>)>,
        directed: bool,
        logarithms: bool,
    ) -> PyResult<Self> {
        let read = |(scope, table): (Vec<usize>, PyReadonlyArray1<'_, f64>)| Factor {
            scope,
            table: table.as_array().to_vec(),
        };
        let factors = factors.into_iter().map(read).collect();
        let model = if directed {
            Model::network(states, factors)
        } else {
            Model::product(states, factors, logarithms)
        };
        model.map(Self).map_err(core_error)
    }

    #[pyo3(signature = (target, observed, codes, *, strict=false))]
    fn posteriors<'py>(
        &self,
        py: Python<'py>,
        target: usize,
        observed: Vec<usize>,
        codes: PyReadonlyArray2<'py, i32>,
        strict: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if target >= self.0.states().len() {
            return Err(CoreError::new_err("unknown target"));
        }
        let rows = codes.shape()[1];
        let found = self
            .ask(py, &observed, &codes, |known, effort| self.0.posteriors(target, known, strict, effort))?;
        Ok(found.into_pyarray(py).reshape([rows, self.0.states()[target]])?.into_any())
    }

    fn log_evidence<'py>(
        &self,
        py: Python<'py>,
        observed: Vec<usize>,
        codes: PyReadonlyArray2<'py, i32>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found = self.ask(py, &observed, &codes, |known, effort| self.0.log_evidence(known, effort))?;
        Ok(found.into_pyarray(py))
    }

    fn marginals(
        &self,
        py: Python<'_>,
        observed: Vec<usize>,
        codes: PyReadonlyArray2<'_, i32>,
    ) -> PyResult<Option<Vec<Vec<f64>>>> {
        self.ask(py, &observed, &codes, |known, effort| self.0.marginals(known, effort))
    }
}

impl Inference {
    /// Checks observations and asks the model.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        observed: &[usize],
        codes: &PyReadonlyArray2<'_, i32>,
        work: impl Fn(Observations<'_>, &Effort<'_>) -> Result<T, Failure> + Send + Sync,
    ) -> PyResult<T> {
        let states = self.0.states();
        let rows = codes.shape()[1];
        let codes: Vec<i32> = codes.as_array().iter().copied().collect();
        let is_known = |(i, &v): (usize, &usize)| {
            let own = &codes[i * rows..(i + 1) * rows];
            v < states.len() && !observed[..i].contains(&v) && own.iter().all(|&code| code < states[v] as i32)
        };
        if codes.len() != observed.len() * rows || !observed.iter().enumerate().all(is_known) {
            return Err(CoreError::new_err("the observed states do not fit the variables"));
        }
        let observations = Observations { variables: observed, codes: &codes, rows };
        let short = Effort { stop: &Stop::default(), products: SHORT };
        let result = match py.detach(|| contained(|| work(observations, &short)))? {
            Err(Failure::Long) => {
                interruptible(py, |stop| work(observations, &Effort { stop, products: f64::INFINITY }))?
            }
            done => done,
        };
        result.map_err(failure)
    }
}
