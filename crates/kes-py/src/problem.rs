//! A coded table under one criterion, and the searches on it.

use kes_core::exact::Limits;
use kes_core::gains::Gains;
use kes_core::improve::check::local_optima;
use kes_core::improve::{self, Effort, Found, Origin};
use kes_core::runs::{self, Batch};
use kes_core::sampled::Sampling;
use kes_core::score::discrete::Table;
use kes_core::score::discrete::criterion::Criterion;
use kes_core::score::discrete::dataset::{Codes, Dataset};
use kes_core::score::gaussian;
use kes_core::score::set_function::SetFunction;
use kes_core::score::terms::{self, Terms};
use kes_core::search::{Settings, Step};
use kes_core::stop::{Stop, Stopped};
use kes_core::with_width;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::exact::{Families, find_families, limits};
use crate::graphs::{
    Edges, Graph, Triple, check_number, read_dag, read_graph, read_triple, write_graph, write_triple,
};
use crate::knowledge::{Known, read_admissible, read_for_search, read_knowledge, read_model};
use crate::native::{PAUSE, contained, interruptible};
use crate::{CoreError, core_error};

/// A model for Python: graph, score, is it a local optimum.
type Ended = (Graph, f64, bool);
/// An improved model for Python: graph, score, how it came about, from which others, in which task.
type Improved = (Graph, f64, &'static str, Vec<usize>, usize);
/// A step for Python: triple, delta, |B|, rank.
type Traced = (Triple, f64, usize, usize);

/// What defines a search, before the width of its sets is known.
struct Options {
    k: f64,
    seed: u64,
    max_parents: Option<usize>,
    two_phase: bool,
    start: Option<Graph>,
    sampled: Option<(usize, Option<usize>)>,
    knowledge: Option<Known>,
}

impl Options {
    fn settings<const W: usize>(&self, terms: &Terms<W>) -> PyResult<Settings<W>> {
        let knowledge = read_for_search(terms, self.knowledge.as_ref(), self.max_parents)?;
        let start = read_model(terms.variables(), self.start.as_ref(), knowledge.as_ref())?;
        let &Self { k, seed, max_parents, two_phase, sampled, .. } = self;
        let sampling = sampled.map(|(reversals, failures)| Sampling { reversals, failures });
        Ok(Settings { k, seed, max_parents, two_phase, start, sampling })
    }
}

/// What bounds the work of improving, before the width of its sets is known.
struct Work {
    tasks: usize,
    seed: u64,
    max_parents: Option<usize>,
    threads: usize,
    knowledge: Option<Known>,
}

impl Work {
    fn effort<const W: usize>(&self, terms: &Terms<W>) -> PyResult<Effort<W>> {
        let &Self { tasks, seed, max_parents, threads, .. } = self;
        let knowledge = read_for_search(terms, self.knowledge.as_ref(), max_parents)?;
        Ok(Effort { tasks, seed, max_parents, knowledge, threads })
    }
}

/// The terms, whatever the width of their sets.
trait Engine: Send + Sync {
    fn score(&self, arcs: &Edges) -> PyResult<f64>;
    fn delta(&self, triple: &Triple) -> PyResult<f64>;
    fn boundary(
        &self,
        py: Python<'_>,
        graph: &Graph,
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
    ) -> PyResult<Vec<(Triple, f64)>>;
    fn local_optima(
        &self,
        py: Python<'_>,
        graphs: &[Graph],
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
        n_jobs: usize,
    ) -> PyResult<Vec<bool>>;
    fn trace(&self, py: Python<'_>, run: u64, options: &Options) -> PyResult<(Vec<Traced>, Graph)>;
    fn search(
        &self,
        py: Python<'_>,
        runs: &[u64],
        on_batch: &Py<PyAny>,
        n_jobs: usize,
        options: &Options,
    ) -> PyResult<()>;
    fn improve(&self, py: Python<'_>, graphs: &[Graph], on_batch: &Py<PyAny>, work: &Work) -> PyResult<()>;
    fn families(
        &self,
        py: Python<'_>,
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
        limits: Limits,
        on_progress: &Py<PyAny>,
    ) -> PyResult<Families>;
    fn tolerance(&self) -> f64;
    fn dependent(&self) -> Option<Vec<usize>>;
    fn cached(&self) -> usize;
}

/// Bytes for what each search remembers besides the terms.
struct Shared<const W: usize> {
    terms: Terms<W>,
    gains_bytes: usize,
}

impl<const W: usize> Shared<W> {
    /// The engine on a set function: three quarters of the memory for the terms, a quarter for the rows of
    /// gains of a search.
    fn engine(function: impl SetFunction<W> + 'static, cache_mb: usize) -> Box<dyn Engine> {
        let quarter = cache_mb * (1 << 20) / 4;
        Box::new(Self { terms: Terms::new(function, 3 * quarter), gains_bytes: quarter })
    }

    fn variables(&self) -> usize {
        self.terms.variables()
    }

    /// Work that needs gains, with Ctrl-C watched.
    fn with_gains<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Gains<'_, W>, &Stop) -> Result<T, Stopped> + Send,
    ) -> PyResult<T> {
        let result = interruptible(py, |stop| work(&mut Gains::new(&self.terms, self.gains_bytes), stop))?;
        result.map_err(|Stopped| CoreError::new_err("stopped"))
    }
}

impl<const W: usize> Engine for Shared<W> {
    fn score(&self, arcs: &Edges) -> PyResult<f64> {
        let dag = read_dag(self.variables(), arcs)?;
        dag.order().ok_or_else(|| CoreError::new_err("the arcs have a directed cycle"))?;
        Ok(self.terms.score(&mut *self.terms.worker(), &dag))
    }

    fn delta(&self, triple: &Triple) -> PyResult<f64> {
        let neighbour = read_triple(self.variables(), triple)?;
        Ok(self.terms.delta(&mut *self.terms.worker(), &neighbour))
    }

    fn boundary(
        &self,
        py: Python<'_>,
        graph: &Graph,
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
    ) -> PyResult<Vec<(Triple, f64)>> {
        let known = read_knowledge(self.variables(), knowledge, max_parents)?;
        let model = read_model(self.variables(), Some(graph), known.as_ref())?;
        let valued = interruptible(py, |stop| {
            let neighbours = model.boundary_until(max_parents, stop)?;
            let deltas = self.terms.deltas(&mut *self.terms.worker(), &neighbours, stop)?;
            let mut valued: Vec<_> = neighbours.iter().zip(deltas).collect();
            // By level, not by value: which of two tied gains rounding makes larger is an accident.
            let level = |delta: f64| terms::level(delta, self.terms.tolerance());
            valued.sort_by(|&(_, a), &(_, b)| level(b).total_cmp(&level(a)));
            Ok(valued.into_iter().map(|(neighbour, delta)| (write_triple(neighbour), delta)).collect())
        })?;
        valued.map_err(|Stopped| CoreError::new_err("stopped"))
    }

    fn local_optima(
        &self,
        py: Python<'_>,
        graphs: &[Graph],
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
        n_jobs: usize,
    ) -> PyResult<Vec<bool>> {
        let known = read_knowledge(self.variables(), knowledge, max_parents)?;
        let read = |graph| read_graph(self.variables(), graph);
        let graphs = graphs.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let local = interruptible(py, |stop| {
            let (terms, bytes) = (&self.terms, self.gains_bytes);
            local_optima(terms, &graphs, known.as_ref(), max_parents, n_jobs, bytes, stop)
        })?;
        local.map_err(|Stopped| CoreError::new_err("stopped"))
    }

    fn trace(&self, py: Python<'_>, run: u64, options: &Options) -> PyResult<(Vec<Traced>, Graph)> {
        let settings = options.settings(&self.terms)?;
        let (steps, end) = self.with_gains(py, |gains, stop| runs::trace(gains, &settings, run, stop))?;
        let write = |step: &Step<W>| (write_triple(&step.neighbour), step.delta, step.better, step.rank);
        Ok((steps.iter().map(write).collect(), write_graph(&end)))
    }

    fn search(
        &self,
        py: Python<'_>,
        runs: &[u64],
        on_batch: &Py<PyAny>,
        n_jobs: usize,
        options: &Options,
    ) -> PyResult<()> {
        let settings = options.settings(&self.terms)?;
        let mut result = Ok(());
        let take = |batch| {
            let handed = Python::attach(|py| hand_over(py, on_batch, &batch, result.is_err()));
            handed.unwrap_or_else(|error| {
                result = Err(error);
                false
            })
        };
        py.detach(|| {
            contained(|| {
                runs::run_all(&self.terms, &settings, runs, n_jobs, self.gains_bytes, PAUSE, take);
            })
        })?;
        result
    }

    fn improve(&self, py: Python<'_>, graphs: &[Graph], on_batch: &Py<PyAny>, work: &Work) -> PyResult<()> {
        let effort = work.effort(&self.terms)?;
        let read = |graph| read_admissible(self.variables(), graph, effort.knowledge.as_deref());
        let given = graphs.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let mut failure = None;
        let take = |found: &[Found<W>], done: usize| {
            let found: Vec<Improved> = found.iter().map(write_found).collect();
            let handed = Python::attach(|py| on_batch.call1(py, (found, done))?.extract::<bool>(py));
            handed.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        };
        interruptible(py, |stop| {
            improve::improve(&self.terms, &given, &effort, self.gains_bytes, PAUSE, stop, take);
        })?;
        failure.map_or(Ok(()), Err)
    }

    fn families(
        &self,
        py: Python<'_>,
        max_parents: Option<usize>,
        knowledge: Option<&Known>,
        limits: Limits,
        on_progress: &Py<PyAny>,
    ) -> PyResult<Families> {
        find_families(py, &self.terms, max_parents, knowledge, limits, on_progress)
    }

    fn tolerance(&self) -> f64 {
        self.terms.tolerance()
    }

    fn cached(&self) -> usize {
        self.terms.cached()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.terms.function().dependent()
    }
}

/// A model found by improving, for Python.
fn write_found<const W: usize>(found: &Found<W>) -> Improved {
    let (how, from) = match found.origin {
        Origin::Given => ("given", vec![]),
        Origin::Recombined(a, b) => ("recombined", vec![a, b]),
        Origin::Refined(a) => ("refined", vec![a]),
        Origin::Perturbed(a) => ("perturbed", vec![a]),
        Origin::Ordered(a) => ("ordered", vec![a]),
    };
    (write_graph(&found.graph), found.score, how, from, found.task)
}

/// Gives a batch to Python, then looks for Ctrl-C. After an error, whatever still comes in is handed
/// over as well, so that nothing found is lost, but nothing can fail any more.
fn hand_over<const W: usize>(
    py: Python<'_>,
    on_batch: &Py<PyAny>,
    batch: &Batch<W>,
    failed: bool,
) -> PyResult<bool> {
    let (runs, numbers): (Vec<u64>, Vec<usize>) = batch.runs.iter().copied().unzip();
    let ends: Vec<Ended> =
        batch.ends.iter().map(|end| (write_graph(&end.graph), end.score, end.is_local_optimum)).collect();
    let answer = on_batch.call1(py, (runs, numbers, ends)).and_then(|answer| answer.extract::<bool>(py));
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

#[pyclass(frozen, module = "kes._core")]
pub struct Problem {
    engine: Box<dyn Engine>,
    #[pyo3(get)]
    total_weight: f64,
    fingerprint: u128,
    #[pyo3(get)]
    twins: Vec<(usize, usize)>,
}

/// A column from Python: numbers, or codes of states.
#[derive(FromPyObject)]
enum PyColumn<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Codes(PyReadonlyArray1<'py, i32>),
}

impl PyColumn<'_> {
    fn column(&self) -> PyResult<gaussian::Column<'_>> {
        Ok(match self {
            Self::Numbers(numbers) => gaussian::Column::Numbers(numbers.as_slice().map_err(not_contiguous)?),
            Self::Codes(codes) => gaussian::Column::Codes(codes.as_slice().map_err(not_contiguous)?),
        })
    }
}

/// A column of codes from Python, in the bytes that its states need, or as any integers.
#[derive(FromPyObject)]
enum PyCodes<'py> {
    Bytes(PyReadonlyArray1<'py, u8>),
    Words(PyReadonlyArray1<'py, u16>),
    Integers(PyReadonlyArray1<'py, i32>),
}

impl PyCodes<'_> {
    fn codes(&self) -> PyResult<Codes<'_>> {
        Ok(match self {
            Self::Bytes(codes) => Codes::Bytes(codes.as_slice().map_err(not_contiguous)?),
            Self::Words(codes) => Codes::Words(codes.as_slice().map_err(not_contiguous)?),
            Self::Integers(codes) => Codes::Integers(codes.as_slice().map_err(not_contiguous)?),
        })
    }
}

fn not_contiguous(_: impl Sized) -> PyErr {
    CoreError::new_err("columns, codes and weights must be contiguous")
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (columns, cardinalities, weights, criterion, ess, cache_mb))]
    fn new(
        py: Python<'_>,
        columns: Vec<PyCodes<'_>>,
        cardinalities: Vec<usize>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        criterion: &str,
        ess: f64,
        cache_mb: usize,
    ) -> PyResult<Self> {
        let n = columns.len();
        check_number(n)?;
        let codes = columns.iter().map(PyCodes::codes).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(not_contiguous)?;
        let criterion = Criterion::named(criterion, ess).map_err(core_error)?;
        let table = |stop: &Stop| Table::new(Dataset::of(&codes, &cardinalities, weights, stop)?, criterion);
        let table = interruptible(py, table)?.map_err(core_error)?;
        let total_weight = table.data().total();
        let fingerprint = table.data().fingerprint();
        let engine = with_width!(n, W => Shared::<W>::engine(table, cache_mb));
        Ok(Self { engine, total_weight, fingerprint, twins: Vec::new() })
    }

    #[staticmethod]
    #[pyo3(signature = (columns, order, weights, criterion, penalty, cache_mb, n_jobs))]
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
    ) -> PyResult<Self> {
        let n = columns.len();
        check_number(n)?;
        let columns = columns.iter().map(PyColumn::column).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.as_ref().map(|w| w.as_slice()).transpose().map_err(not_contiguous)?;
        let criterion = gaussian::criterion::Criterion::named(criterion, penalty).map_err(core_error)?;
        let moments = |stop: &Stop| gaussian::Moments::new(&columns, &order, weights, n_jobs, stop);
        let moments = interruptible(py, moments)?.map_err(core_error)?;
        let (total_weight, fingerprint) = (moments.total, moments.fingerprint);
        let table = gaussian::Table::new(moments, criterion);
        let twins = py.detach(|| table.twins());
        let engine = with_width!(n, W => Shared::<W>::engine(table, cache_mb));
        Ok(Self { engine, total_weight, fingerprint, twins })
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
    fn tolerance(&self) -> f64 {
        self.engine.tolerance()
    }

    #[getter]
    fn cached_terms(&self) -> usize {
        self.engine.cached()
    }

    fn score(&self, arcs: Edges) -> PyResult<f64> {
        self.engine.score(&arcs)
    }

    fn delta(&self, triple: Triple) -> PyResult<f64> {
        self.engine.delta(&triple)
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
        self.engine.boundary(py, &graph, max_parents, knowledge.as_ref())
    }

    #[pyo3(signature = (graph, max_parents, knowledge=None))]
    fn is_local_optimum(
        &self,
        py: Python<'_>,
        graph: Graph,
        max_parents: Option<usize>,
        knowledge: Option<Known>,
    ) -> PyResult<bool> {
        let local = self.engine.local_optima(py, &[graph], max_parents, knowledge.as_ref(), 1)?;
        Ok(local == [true])
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
        self.engine.local_optima(py, &graphs, max_parents, knowledge.as_ref(), n_jobs)
    }

    #[pyo3(signature = (run, *, k, seed, max_parents, two_phase, start, sampled, knowledge=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn trace(
        &self,
        py: Python<'_>,
        run: u64,
        k: f64,
        seed: u64,
        max_parents: Option<usize>,
        two_phase: bool,
        start: Option<Graph>,
        sampled: Option<(usize, Option<usize>)>,
        knowledge: Option<Known>,
    ) -> PyResult<(Vec<Traced>, Graph)> {
        self.engine.trace(py, run, &Options { k, seed, max_parents, two_phase, start, sampled, knowledge })
    }

    #[pyo3(signature = (runs, on_batch, *, n_jobs, k, seed, max_parents, two_phase, start, sampled, knowledge=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
    fn search(
        &self,
        py: Python<'_>,
        runs: Vec<u64>,
        on_batch: Py<PyAny>,
        n_jobs: usize,
        k: f64,
        seed: u64,
        max_parents: Option<usize>,
        two_phase: bool,
        start: Option<Graph>,
        sampled: Option<(usize, Option<usize>)>,
        knowledge: Option<Known>,
    ) -> PyResult<()> {
        self.engine.search(
            py,
            &runs,
            &on_batch,
            n_jobs,
            &Options { k, seed, max_parents, two_phase, start, sampled, knowledge },
        )
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
        let limits = limits(n_jobs, memory_mb);
        self.engine.families(py, max_parents, knowledge.as_ref(), limits, &on_progress)
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
        let work = Work { tasks, seed, max_parents, threads: n_jobs, knowledge };
        self.engine.improve(py, &graphs, &on_batch, &work)
    }
}
