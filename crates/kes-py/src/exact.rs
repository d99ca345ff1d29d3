//! The families that can be part of a best network, and what follows from them.

use std::sync::atomic::{AtomicUsize, Ordering};

use kes_core::exact::components::components;
use kes_core::exact::relaxation::{Cluster, Relaxation};
use kes_core::exact::subset_dp::optimum;
use kes_core::exact::{self, Failure, Limits, families};
use kes_core::score::terms::Terms;
use pyo3::prelude::*;

use crate::CoreError;
use crate::graphs::Edges;
use crate::knowledge::{Known, read_for_search};
use crate::native::watched;

/// A cluster from Python: its members, `k` and its weight.
type PyCluster = (Vec<usize>, usize, f64);

/// Families, whatever the width of their sets.
trait Choosing: Send + Sync {
    fn sizes(&self) -> Vec<usize>;
    fn components(&self) -> Vec<Vec<usize>>;
    fn choices(&self, y: usize) -> Vec<(Vec<usize>, f64)>;
    fn missing(&self) -> Option<Failure>;
    fn optimum(
        &self,
        py: Python<'_>,
        limits: Limits,
        on_progress: &Py<PyAny>,
    ) -> PyResult<Option<(Edges, f64)>>;
    fn upper_bound(&self, clusters: &[PyCluster]) -> f64;
    fn reduced(&self, clusters: &[PyCluster], floor: f64) -> Box<dyn Choosing>;
}

impl<const W: usize> Choosing for exact::Families<W> {
    fn sizes(&self) -> Vec<usize> {
        self.of.iter().map(Vec::len).collect()
    }

    fn components(&self) -> Vec<Vec<usize>> {
        components(self).iter().map(|component| component.iter().collect()).collect()
    }

    fn choices(&self, y: usize) -> Vec<(Vec<usize>, f64)> {
        self.of[y].iter().map(|choice| (choice.parents.iter().collect(), choice.score)).collect()
    }

    fn missing(&self) -> Option<Failure> {
        self.missing.as_ref().map(|missing| missing.why)
    }

    fn optimum(
        &self,
        py: Python<'_>,
        limits: Limits,
        on_progress: &Py<PyAny>,
    ) -> PyResult<Option<(Edges, f64)>> {
        let done = AtomicUsize::new(0);
        let found = watched(py, report(on_progress, &done), |stop| optimum(self, &limits, stop, &done))?;
        Ok(found.ok().map(|(dag, score)| (dag.arcs(), score)))
    }

    fn upper_bound(&self, clusters: &[PyCluster]) -> f64 {
        Relaxation::new(self, &read_clusters(clusters)).upper_bound()
    }

    fn reduced(&self, clusters: &[PyCluster], floor: f64) -> Box<dyn Choosing> {
        Box::new(Relaxation::new(self, &read_clusters(clusters)).reduced(floor))
    }
}

fn read_clusters<const W: usize>(clusters: &[PyCluster]) -> Vec<Cluster<W>> {
    let read = |(members, k, weight): &PyCluster| Cluster {
        members: members.iter().copied().collect(),
        k: *k,
        weight: *weight,
    };
    clusters.iter().map(read).collect()
}

/// Tells Python how much is done, and asks whether to go on.
fn report<'r>(
    on_progress: &'r Py<PyAny>,
    done: &'r AtomicUsize,
) -> impl FnMut(Python<'_>) -> PyResult<bool> + 'r {
    |py| on_progress.call1(py, (done.load(Ordering::Relaxed),))?.extract(py)
}

#[pyclass(frozen, module = "kes._core")]
pub struct Families {
    inner: Box<dyn Choosing>,
    /// Sets that were counted to find them.
    #[pyo3(get)]
    counted: usize,
}

/// Finds the families of `terms` that can be part of a best network.
pub fn find_families<const W: usize>(
    py: Python<'_>,
    terms: &Terms<W>,
    max_parents: Option<usize>,
    known: Option<&Known>,
    limits: Limits,
    on_progress: &Py<PyAny>,
) -> PyResult<Families> {
    let knowledge = read_for_search(terms, known, max_parents)?;
    let counted = AtomicUsize::new(0);
    let found = watched(py, report(on_progress, &counted), |stop| {
        families::find(terms, max_parents, knowledge.as_deref(), &limits, stop, &counted)
    })?;
    Ok(Families { inner: Box::new(found), counted: counted.into_inner() })
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
        self.inner.optimum(py, limits(n_jobs, memory_mb), &on_progress)
    }

    fn upper_bound(&self, py: Python<'_>, clusters: Vec<PyCluster>) -> PyResult<f64> {
        self.check_clusters(&clusters)?;
        Ok(py.detach(|| self.inner.upper_bound(&clusters)))
    }

    fn reduced(&self, py: Python<'_>, clusters: Vec<PyCluster>, floor: f64) -> PyResult<Self> {
        self.check_clusters(&clusters)?;
        Ok(Self { inner: py.detach(|| self.inner.reduced(&clusters, floor)), counted: self.counted })
    }
}

impl Families {
    fn check(&self, variables: impl IntoIterator<Item = usize>) -> PyResult<()> {
        let n = self.inner.sizes().len();
        match variables.into_iter().find(|&v| v >= n) {
            Some(v) => Err(CoreError::new_err(format!("there is no variable {v}: they are 0 to {}", n - 1))),
            None => Ok(()),
        }
    }

    fn check_clusters(&self, clusters: &[PyCluster]) -> PyResult<()> {
        self.check(clusters.iter().flat_map(|(members, ..)| members).copied())
    }
}

/// What a computation may use.
pub fn limits(n_jobs: usize, memory_mb: usize) -> Limits {
    Limits { bytes: memory_mb.saturating_mul(1 << 20), threads: n_jobs.max(1) }
}
