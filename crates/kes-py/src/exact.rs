//! The families that can be part of a best network.

use std::sync::atomic::{AtomicUsize, Ordering};

use kes_core::engine::exact::Cluster;
use kes_core::engine::{self, Constraints, Edges, Engine};
use kes_core::exact::{Failure, Limits};
use pyo3::prelude::*;

use crate::core_error;
use crate::native::watched;

#[pyclass(frozen, module = "kes._core")]
pub struct Families {
    inner: Box<dyn engine::Families>,
    /// Number of sets that were counted to find them.
    #[pyo3(get)]
    counted: usize,
}

impl Families {
    /// Finds the families of a problem.
    pub fn find(
        py: Python<'_>,
        engine: &dyn Engine,
        constraints: &Constraints,
        limits: Limits,
        on_progress: &Py<PyAny>,
    ) -> PyResult<Self> {
        let counted = AtomicUsize::new(0);
        let found = watched(py, report(on_progress, &counted), |stop| {
            engine.bits("an exact search", stop)?.families(constraints, limits, stop, &counted)
        })?;
        Ok(Self { inner: found.map_err(core_error)?, counted: counted.into_inner() })
    }

    fn check(&self, variables: impl IntoIterator<Item = usize>) -> PyResult<()> {
        let n = self.inner.sizes().len();
        match variables.into_iter().find(|&v| v >= n) {
            Some(v) => Err(core_error(kes_core::Error::UnknownVariable(v))),
            None => Ok(()),
        }
    }

    fn check_clusters(&self, clusters: &[Cluster]) -> PyResult<()> {
        self.check(clusters.iter().flat_map(|(members, ..)| members).copied())
    }
}

#[pymethods]
impl Families {
    #[getter]
    fn sizes(&self) -> Vec<usize> {
        self.inner.sizes()
    }

    #[getter]
    fn components(&self) -> Vec<Vec<usize>> {
        self.inner.components()
    }

    #[getter]
    fn lacking(&self) -> Option<&'static str> {
        self.inner.missing().map(|why| match why {
            Failure::Stopped => "time",
            Failure::Memory => "memory",
        })
    }

    fn choices(&self, y: usize) -> PyResult<Vec<(Vec<usize>, f64)>> {
        self.check([y])?;
        Ok(self.inner.choices(y))
    }

    #[pyo3(signature = (on_progress, *, n_jobs, memory_mb))]
    fn optimum(
        &self,
        py: Python<'_>,
        on_progress: Py<PyAny>,
        n_jobs: usize,
        memory_mb: usize,
    ) -> PyResult<Option<(Edges, f64)>> {
        let (limits, done) = (limits(n_jobs, memory_mb), AtomicUsize::new(0));
        let found = watched(py, report(&on_progress, &done), |stop| self.inner.optimum(limits, stop, &done))?;
        Ok(found.ok())
    }

    fn upper_bound(&self, py: Python<'_>, clusters: Vec<Cluster>) -> PyResult<f64> {
        self.check_clusters(&clusters)?;
        Ok(py.detach(|| self.inner.upper_bound(&clusters)))
    }

    fn reduced(&self, py: Python<'_>, clusters: Vec<Cluster>, floor: f64) -> PyResult<Self> {
        self.check_clusters(&clusters)?;
        Ok(Self { inner: py.detach(|| self.inner.reduced(&clusters, floor)), counted: self.counted })
    }
}

/// Reports progress to Python, and asks whether to continue.
pub fn report<'r>(
    on_progress: &'r Py<PyAny>,
    done: &'r AtomicUsize,
) -> impl FnMut(Python<'_>) -> PyResult<bool> + 'r {
    |py| on_progress.call1(py, (done.load(Ordering::Relaxed),))?.extract(py)
}

/// The memory and threads that a computation may use.
pub fn limits(n_jobs: usize, memory_mb: usize) -> Limits {
    Limits { bytes: memory_mb.saturating_mul(1 << 20), threads: n_jobs.max(1) }
}
