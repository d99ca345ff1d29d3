//! A coded table under one criterion, and the searches on it.

use std::sync::atomic::AtomicUsize;

use kes_core::Error;
use kes_core::engine::{self, Additions, Batch, Engine, Graph, ImproveOptions, Improved};
use kes_core::improve::Origin;
use kes_core::score::discrete;
use kes_core::score::discrete::criterion::Criterion;
use kes_core::score::discrete::dataset::Dataset;
use kes_core::score::gaussian::{self, Column};
use kes_core::score::location;
use kes_core::score::terms;
use kes_core::stop::Stop;
use kes_core::varset::MAX_VARIABLES;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat};

use crate::columns::{PyCodes, PyColumn, contiguous};
use crate::exact::{Families, limits, report};
use crate::named_tuples::{IMPROVED, STEP};
use crate::native::{PAUSE, contained, interruptible, watched};
use crate::options::{Known, Triple, constraints, read_move, search_options, write_move};
use crate::posterior;
use crate::{CoreError, core_error};

/// With no more cases, no two numbers can be joined, which sets of bits say of every pair.
const FEW: f64 = 4.0;

#[pyclass(frozen, module = "kes._core")]
pub struct Problem {
    engine: Box<dyn Engine>,
    #[pyo3(get)]
    total_weight: f64,
    fingerprint: u128,
    #[pyo3(get)]
    excluded: Vec<(usize, usize, &'static str)>,
}

impl Problem {
    /// The problem of a table that `make` makes; Ctrl-C interrupts it.
    fn on<T: engine::Table + Send + Sync>(
        py: Python<'_>,
        additions: Option<&Additions>,
        cache_mb: usize,
        lists: Option<bool>,
        make: impl FnOnce(&Stop) -> Result<T, Error> + Send,
    ) -> PyResult<Self> {
        let table = interruptible(py, make)?.map_err(core_error)?;
        let facts = || (table.total(), table.fingerprint(), table.excluded());
        let (total_weight, fingerprint, excluded) = py.detach(facts);
        let excluded = excluded.into_iter().map(|pair| (pair.x, pair.y, pair.why.name())).collect();
        let engine = table.engine(additions, cache_mb << 20, lists).map_err(core_error)?;
        Ok(Self { engine, total_weight, fingerprint, excluded })
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (columns, cardinalities, weights, criterion, ess, cache_mb, additions=None, *, sparse=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python function")]
    fn new(
        py: Python<'_>,
        columns: Vec<PyCodes<'_>>,
        cardinalities: Vec<usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        criterion: &str,
        ess: f64,
        cache_mb: usize,
        additions: Option<Additions>,
        sparse: Option<bool>,
    ) -> PyResult<Self> {
        let codes = columns.iter().map(PyCodes::codes).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.as_ref().map(contiguous).transpose()?;
        let criterion = Criterion::named(criterion, ess).map_err(core_error)?;
        Self::on(py, additions.as_ref(), cache_mb, sparse, |stop| {
            discrete::Table::new(Dataset::of(&codes, &cardinalities, weights, stop)?, criterion)
        })
    }

    #[staticmethod]
    #[pyo3(signature = (columns, order, weights, criterion, penalty, cache_mb, n_jobs, additions=None, *, sparse=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python function")]
    fn gaussian(
        py: Python<'_>,
        columns: Vec<PyColumn<'_>>,
        order: Vec<usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        criterion: &str,
        penalty: f64,
        cache_mb: usize,
        n_jobs: usize,
        additions: Option<Additions>,
        sparse: Option<bool>,
    ) -> PyResult<Self> {
        let columns = columns.iter().map(PyColumn::column).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.as_ref().map(contiguous).transpose()?;
        let criterion = gaussian::criterion::Criterion::named(criterion, penalty).map_err(core_error)?;
        let cases = weights.map_or(columns.first().map_or(0, Column::len) as f64, |all| all.iter().sum());
        let suits = || {
            let plain = cases > FEW && columns.iter().all(Column::is_single);
            (plain || columns.len() > MAX_VARIABLES)
                && engine::numbers_suit_lists(columns.len(), criterion.price(cases), additions.as_ref())
        };
        if sparse.unwrap_or_else(suits) {
            return Self::on(py, additions.as_ref(), cache_mb, sparse, |stop| {
                gaussian::WideTable::new(&columns, &order, weights, criterion, n_jobs, stop)
            });
        }
        Self::on(py, additions.as_ref(), cache_mb, sparse, |stop| {
            let moments = gaussian::Moments::new(&columns, &order, weights, n_jobs, stop)?;
            Ok(gaussian::Table::new(moments, criterion))
        })
    }

    #[staticmethod]
    #[pyo3(signature = (columns, cardinalities, order, weights, criterion, penalty, cache_mb, n_jobs, additions=None, *, sparse=None))]
    #[expect(clippy::too_many_arguments, reason = "arguments of a Python function")]
    fn location(
        py: Python<'_>,
        columns: Vec<PyColumn<'_>>,
        cardinalities: Vec<usize>,
        order: Vec<usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        criterion: &str,
        penalty: f64,
        cache_mb: usize,
        n_jobs: usize,
        additions: Option<Additions>,
        sparse: Option<bool>,
    ) -> PyResult<Self> {
        let columns = columns.iter().map(PyColumn::column).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.as_ref().map(contiguous).transpose()?;
        let criterion = location::criterion::Criterion::named(criterion, penalty).map_err(core_error)?;
        Self::on(py, additions.as_ref(), cache_mb, sparse, |stop| {
            location::Table::new(&columns, &cardinalities, &order, weights, criterion, n_jobs, stop)
        })
    }

    #[getter]
    fn fingerprint(&self) -> String {
        format!("{:032x}", self.fingerprint)
    }

    #[getter]
    fn dependent(&self) -> Option<Vec<usize>> {
        self.engine.dependent()
    }

    #[getter]
    fn varying(&self) -> Vec<usize> {
        self.engine.varying()
    }

    #[getter]
    fn tolerance(&self) -> f64 {
        self.engine.tolerance()
    }

    #[getter]
    fn cached_terms(&self) -> usize {
        self.engine.cached()
    }

    fn score(&self, arcs: Vec<(usize, usize)>) -> PyResult<f64> {
        self.engine.score(&arcs).map_err(core_error)
    }

    fn delta(&self, triple: Triple) -> PyResult<f64> {
        self.engine.delta(&read_move(triple)).map_err(core_error)
    }

    fn level(&self, py: Python<'_>, value: f64) -> PyResult<Py<PyAny>> {
        level(py, value, self.engine.tolerance())
    }

    #[pyo3(signature = (graph, max_parents, knowledge=None))]
    fn boundary(
        &self,
        py: Python<'_>,
        graph: Graph,
        max_parents: Option<usize>,
        knowledge: Option<Known>,
    ) -> PyResult<Vec<(Triple, f64)>> {
        let constraints = constraints(max_parents, knowledge);
        let valued = interruptible(py, |stop| {
            self.engine.bits("the whole inclusion boundary", stop)?.boundary(&graph, &constraints, stop)
        })?;
        let write = |(step, delta)| (write_move(step), delta);
        Ok(valued.map_err(core_error)?.into_iter().map(write).collect())
    }

    #[pyo3(signature = (graph, max_parents, knowledge=None))]
    fn is_local_optimum(
        &self,
        py: Python<'_>,
        graph: Graph,
        max_parents: Option<usize>,
        knowledge: Option<Known>,
    ) -> PyResult<bool> {
        Ok(self.local_optima(py, vec![graph], max_parents, knowledge, 1)? == [true])
    }

    #[pyo3(signature = (graphs, max_parents, knowledge=None, *, n_jobs))]
    fn local_optima(
        &self,
        py: Python<'_>,
        graphs: Vec<Graph>,
        max_parents: Option<usize>,
        knowledge: Option<Known>,
        n_jobs: usize,
    ) -> PyResult<Vec<bool>> {
        let constraints = constraints(max_parents, knowledge);
        let local = interruptible(py, |stop| self.engine.local_optima(&graphs, &constraints, n_jobs, stop))?;
        local.map_err(core_error)
    }

    #[pyo3(signature = (run, **options))]
    fn trace<'py>(
        &self,
        py: Python<'py>,
        run: u64,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Graph)> {
        let options = search_options(options)?;
        let traced = interruptible(py, |stop| self.engine.trace(run, &options, stop))?;
        let (steps, end) = traced.map_err(core_error)?;
        let write =
            |step: engine::Step| STEP.make(py, (write_move(step.step), step.delta, step.better, step.rank));
        Ok((steps.into_iter().map(write).collect::<PyResult<_>>()?, end))
    }

    #[pyo3(signature = (runs, on_batch, *, n_jobs, **options))]
    fn search(
        &self,
        py: Python<'_>,
        runs: Vec<u64>,
        on_batch: Py<PyAny>,
        n_jobs: usize,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let options = search_options(options)?;
        if options.sampling.is_some() {
            let made =
                interruptible(py, |stop| self.engine.bits("the sampled neighbourhood", stop).map(drop))?;
            made.map_err(core_error)?;
        }
        let mut failure = None;
        let mut take = |batch| {
            let handed = Python::attach(|py| hand_over(py, &on_batch, batch, failure.is_some()));
            handed.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        };
        let done =
            py.detach(|| contained(|| self.engine.search(&runs, &options, n_jobs, PAUSE, &mut take)))?;
        done.map_err(core_error)?;
        failure.map_or(Ok(()), Err)
    }

    #[pyo3(signature = (on_progress, *, max_parents, n_jobs, memory_mb, knowledge=None))]
    fn families(
        &self,
        py: Python<'_>,
        on_progress: Py<PyAny>,
        max_parents: Option<usize>,
        n_jobs: usize,
        memory_mb: usize,
        knowledge: Option<Known>,
    ) -> PyResult<Families> {
        let constraints = constraints(max_parents, knowledge);
        Families::find(py, &*self.engine, &constraints, limits(n_jobs, memory_mb), &on_progress)
    }

    #[pyo3(signature = (on_progress, *, max_parents, n_jobs, memory_mb, knowledge=None))]
    fn posterior<'py>(
        &self,
        py: Python<'py>,
        on_progress: Py<PyAny>,
        max_parents: Option<usize>,
        n_jobs: usize,
        memory_mb: usize,
        knowledge: Option<Known>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let constraints = constraints(max_parents, knowledge);
        posterior::exact(py, &*self.engine, &constraints, limits(n_jobs, memory_mb), &on_progress)
    }

    #[pyo3(signature = (on_progress, *, within, most, max_parents, n_jobs, memory_mb, knowledge=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn credible(
        &self,
        py: Python<'_>,
        on_progress: Py<PyAny>,
        within: f64,
        most: usize,
        max_parents: Option<usize>,
        n_jobs: usize,
        memory_mb: usize,
        knowledge: Option<Known>,
    ) -> PyResult<Option<engine::posterior::Models>> {
        let constraints = constraints(max_parents, knowledge);
        let (limits, done) = (limits(n_jobs, memory_mb), AtomicUsize::new(0));
        let found = watched(py, report(&on_progress, &done), |stop| {
            self.engine.bits("a list of all models close to the best", stop)?.credible(
                within,
                most,
                &constraints,
                limits,
                stop,
                &done,
            )
        })?;
        Ok(found.map_err(core_error)?.ok())
    }

    #[pyo3(signature = (on_progress, starts, listed, knowledge=None, **options))]
    fn chains<'py>(
        &self,
        py: Python<'py>,
        on_progress: Py<PyAny>,
        starts: Vec<Vec<Graph>>,
        listed: Vec<Graph>,
        knowledge: Option<Known>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let options = posterior::chain_options(options)?;
        posterior::chains(py, &*self.engine, (&starts, &listed), &options, knowledge, &on_progress)
    }

    #[pyo3(signature = (on_progress, start, knowledge=None, **options))]
    fn pilot(
        &self,
        py: Python<'_>,
        on_progress: Py<PyAny>,
        start: Graph,
        knowledge: Option<Known>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<f64>> {
        let options = posterior::chain_options(options)?;
        posterior::pilot(py, &*self.engine, &start, &options, knowledge, &on_progress)
    }

    #[pyo3(signature = (prior, max_parents, knowledge=None))]
    fn enumerate<'py>(
        &self,
        py: Python<'py>,
        prior: &str,
        max_parents: Option<usize>,
        knowledge: Option<Known>,
    ) -> PyResult<Bound<'py, PyAny>> {
        posterior::enumerate(py, &*self.engine, prior, &constraints(max_parents, knowledge))
    }

    #[pyo3(signature = (graphs, on_batch, *, tasks, seed, max_parents, n_jobs, knowledge=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn improve(
        &self,
        py: Python<'_>,
        graphs: Vec<Graph>,
        on_batch: Py<PyAny>,
        tasks: usize,
        seed: u64,
        max_parents: Option<usize>,
        n_jobs: usize,
        knowledge: Option<Known>,
    ) -> PyResult<()> {
        let constraints = constraints(max_parents, knowledge);
        let options = ImproveOptions { tasks, seed, threads: n_jobs, constraints };
        let mut failure = None;
        let mut take = |found: Vec<Improved>, done: usize| {
            let handed = Python::attach(|py| {
                let found: PyResult<Vec<_>> = found.into_iter().map(|found| improved(py, found)).collect();
                on_batch.call1(py, (found?, done))?.extract::<bool>(py)
            });
            handed.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        };
        let done = interruptible(py, |stop| self.engine.improve(&graphs, &options, PAUSE, stop, &mut take))?;
        done.map_err(core_error)?;
        failure.map_or(Ok(()), Err)
    }
}

/// A model found by improving, for Python.
fn improved(py: Python<'_>, found: Improved) -> PyResult<Bound<'_, PyAny>> {
    let (origin, parents) = match found.origin {
        Origin::Given => ("given", vec![]),
        Origin::Recombined(a, b) => ("recombined", vec![a, b]),
        Origin::Refined(a) => ("refined", vec![a]),
        Origin::Perturbed(a) => ("perturbed", vec![a]),
        Origin::Ordered(a) => ("ordered", vec![a]),
    };
    IMPROVED.make(py, (found.graph, found.score, origin, parents, found.task))
}

/// Passes a batch to Python, then checks for Ctrl-C. After an error, later batches are passed on as well, so
/// that no result is lost, but their errors are ignored.
fn hand_over(py: Python<'_>, on_batch: &Py<PyAny>, batch: Batch, failed: bool) -> PyResult<bool> {
    let (runs, numbers): (Vec<u64>, Vec<usize>) = batch.runs.into_iter().unzip();
    let end = |end: engine::End| (end.graph, end.score, end.is_local_optimum);
    let unfinished = batch.unfinished.map(|reached| (reached.graph, reached.score));
    let ends: Vec<_> = batch.ends.into_iter().map(end).collect();
    let answer = on_batch
        .call1(py, (runs, numbers, ends, batch.steps, unfinished))
        .and_then(|answer| answer.extract::<bool>(py));
    if failed {
        return Ok(false);
    }
    let go_on = answer?;
    py.check_signals()?;
    Ok(go_on)
}

#[pyfunction]
pub fn level(py: Python<'_>, value: f64, tolerance: f64) -> PyResult<Py<PyAny>> {
    if value.is_nan() || !(tolerance > 0.0 && tolerance.is_finite()) {
        let problem = format!("the value {value} has no level with the tolerance {tolerance}");
        return Err(CoreError::new_err(problem));
    }
    let level = PyFloat::new(py, terms::level(value, tolerance));
    Ok(if level.value().is_finite() {
        level.call_method0("__int__")?.unbind()
    } else {
        level.into_any().unbind()
    })
}
