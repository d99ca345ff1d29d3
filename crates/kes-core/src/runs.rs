//! Many runs on threads, and the models in which they end.

use std::time::Duration;

use crate::ends::{Batch, End, Ends, Unfinished};
use crate::frontier::{Frontier, Position};
use crate::gains::{Gains, Part, RowStore};
use crate::graph::EssentialGraph;
use crate::sampled;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::search::{self, Pick, Settings, Step};
use crate::stop::{Stop, Stopped};
use crate::threads::{share_out, with_helpers};
use crate::varset::VarSet;

/// The ends of runs, by the keys of their graphs.
type Results<const W: usize> = Ends<Vec<VarSet<W>>, EssentialGraph<W>>;

/// Does the runs `numbers` on `threads` threads; those that are left over help. The calling thread gets the
/// results every `pause`, and at the end; when `take` returns false the search stops.
pub fn run_all<const W: usize>(
    terms: &Terms<W>,
    settings: &Settings<W>,
    numbers: &[u64],
    threads: usize,
    store: &RowStore<W>,
    pause: Duration,
    mut take: impl FnMut(Batch<EssentialGraph<W>>) -> bool,
) {
    let running = threads.clamp(1, numbers.len().max(1));
    let idle = threads.saturating_sub(running);
    let (stop, results) = (Stop::default(), Results::default());
    let mut workers: Vec<_> = (0..idle).map(|_| terms.worker()).collect();
    let help =
        |worker: &mut Box<dyn Worker<W> + '_>, part: &mut Part<W>| part.evaluate(terms, &mut **worker, &stop);
    with_helpers(&mut workers, help, |helpers| {
        let gains = |rows| Gains::new(terms, store.limit / running).helped(helpers).knowing(rows);
        let comes_back = numbers.len() > running;
        let runner = |rows| Runner::new(gains(rows), comes_back);
        let mut states: Vec<_> = store.take(running).into_iter().map(runner).collect();
        let run = |runner: &mut Runner<'_, W>, at: usize| {
            let graph = runner.end_of_run(settings, numbers[at], &results, &stop)?;
            record(&results, numbers[at], graph, &mut runner.gains, settings, &stop)
        };
        let _ = share_out(&mut states, numbers.len(), &stop, run, pause, |_| {
            if !take(results.take()) {
                stop.raise();
            }
        });
        take(results.take());
        store.put_back(states.into_iter().filter_map(|runner| runner.gains.into_rows()));
    });
}

/// Per-thread state for runs: going back to the start costs as much as a run moved, while starting anew would
/// visit every target.
struct Runner<'a, const W: usize> {
    gains: Gains<'a, W>,
    /// Whether another run is likely, which makes it worth going back to the start.
    comes_back: bool,
    start: Option<Position<W>>,
    /// The end of the last run.
    left: Option<Position<W>>,
}

impl<'a, const W: usize> Runner<'a, W> {
    fn new(gains: Gains<'a, W>, comes_back: bool) -> Self {
        Self { gains, comes_back, start: None, left: None }
    }

    /// The model in which a run ends. If it is stopped, the results have the one that it had reached.
    fn end_of_run(
        &mut self,
        settings: &Settings<W>,
        run: u64,
        results: &Results<W>,
        stop: &Stop,
    ) -> Result<EssentialGraph<W>, Stopped> {
        let Self { gains, comes_back, start, left } = self;
        if let Some(sampling) = settings.sampling {
            return sampled::run(gains, settings, sampling, run, stop, |_| results.step());
        }
        let places = start.as_ref().zip(left.take()).filter(|(start, _)| gains.lasts(start.age()));
        let mut model = match places {
            Some((start, left)) => {
                let mut model = Frontier::go_on(gains, left, settings.max_parents, stop);
                model.return_to(start);
                model
            }
            None => {
                let mut model = Frontier::new(gains, settings.start.clone(), settings.max_parents, stop)?;
                *start = comes_back.then(|| model.position());
                model
            }
        };
        let mut has_moved = false;
        let end = search::run_from(&mut model, settings, run, |_, _| {
            has_moved = true;
            results.step();
        });
        if end.is_ok() {
            *left = Some(model.leave());
        } else if has_moved {
            let graph = model.model().essential();
            results.leave(Unfinished { run, score: gains.score(&graph), graph });
        }
        end
    }
}

/// Notes that `run` ended in `graph`.
fn record<const W: usize>(
    results: &Results<W>,
    run: u64,
    graph: EssentialGraph<W>,
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    stop: &Stop,
) -> Result<(), Stopped> {
    let Settings { start, max_parents, .. } = settings;
    results.record(run, graph.key(), || {
        let score = gains.score(&graph);
        let is_local_optimum = search::is_local_optimum(gains, &graph, start.knowledge(), *max_parents, stop)
            .inspect_err(|_| results.leave(Unfinished { run, graph: graph.clone(), score }))?;
        Ok(End { graph, score, is_local_optimum })
    })
}

/// The steps of a run, and its end.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn trace<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    run: u64,
    stop: &Stop,
) -> Result<(Vec<Step<W>>, EssentialGraph<W>), Stopped> {
    let mut steps = Vec::new();
    let end = match settings.sampling {
        None => search::run(gains, settings, run, stop, |model, Pick { neighbour, rank, better }| {
            steps.push(Step { neighbour, delta: model.delta(&neighbour), better, rank });
        })?,
        Some(sampling) => sampled::run(gains, settings, sampling, run, stop, |step| steps.push(step))?,
    };
    Ok((steps, end))
}
