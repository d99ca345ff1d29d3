//! All models whose score is close to the best.
//!
//! The networks within `δ` of the best are found by taking sink after sink away from the whole set of variables: what the
//! rest can score at best is known exactly from [`subset_dp`](super::subset_dp), so that every step leads to a network within `δ`, but for
//! the rule below. Components of the families are independent of each other and share `δ`.
//!
//! Each network is found once, by one of its orders: the sink taken is always the one with the largest number.
//! So when `y` is taken, none of the larger variables that are left is a sink. Each of them must have a child, which is `y`
//! or is taken later, before it can be taken itself.

use std::sync::atomic::AtomicUsize;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::components::{Part, components, within};
use super::families::find_within;
use super::pieces::Pieces;
use super::subset_dp::{MAX_COMPONENT, best_scores, bytes};
use super::{Choice, Failure, Families, Limits};
use crate::graph::{Dag, EssentialGraph, Knowledge};
use crate::order;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Networks to visit, of one component or of all, for each model that may be found.
const PER_MODEL: usize = 1000;

/// Models with their scores, best first.
#[derive(Clone, Debug)]
pub struct Credible<const W: usize> {
    /// The models.
    pub models: Vec<(EssentialGraph<W>, f64)>,
    /// Are these all?
    pub complete: bool,
}

/// The admissible models whose score is at most `within` below the best, as long as there are no more than `most`. If
/// there are more, or `stop` is raised, it is not complete. Sets that are finished are added to `done`.
///
/// # Errors
/// If more memory is needed than allowed, or `stop` is raised before networks are looked for.
#[expect(clippy::too_many_arguments, reason = "as for families, and two numbers")]
pub fn credible<const W: usize>(
    terms: &Terms<W>,
    within: f64,
    most: usize,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
    limits: &Limits,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<Credible<W>, Failure> {
    // Scores of a class differ by rounding from DAG to DAG.
    let slack = within + terms.variables() as f64 * terms.tolerance();
    let families = find_within(terms, slack, max_parents, knowledge, limits, stop, done);
    if let Some(missing) = &families.missing {
        return Err(missing.why);
    }
    let families = &without_constants(terms, families);
    let mut complete = true;
    let mut parts = Vec::new();
    for component in components(families) {
        if component.len() > MAX_COMPONENT || bytes(component.len()) > limits.bytes {
            return Err(Failure::Memory);
        }
        let part = Part::new(families, component);
        let best = best_scores(&part, limits.threads, stop, done)?;
        let mut search = Search::new(families, &part, &best, slack, most.saturating_mul(PER_MODEL), stop);
        complete &= search.take(u32::MAX >> (32 - part.members.len()), 0, 0.0).is_ok();
        order::sort_by(&mut search.found, |a, b| a.loss.total_cmp(&b.loss));
        parts.push(search.found);
    }
    let (found, worker) = (HashMap::default(), terms.worker());
    let mut merge = Merge { terms, parts: &parts, slack, most, looks: 0, found, worker, stop };
    complete &= merge.join(0, &mut Dag::empty(terms.variables()), 0.0).is_ok();
    let mut models: Vec<_> = merge.found.into_values().collect();
    let by_score = |a: &(EssentialGraph<W>, f64), b: &(EssentialGraph<W>, f64)| {
        terms.level(b.1).cmp(&terms.level(a.1)).then_with(|| a.0.key().cmp(&b.0.key()))
    };
    order::sort_by(&mut models, by_score);
    let best = models.first().map_or(f64::NEG_INFINITY, |model| model.1);
    models.retain(|model| model.1 >= best - within - terms.tolerance());
    if models.len() > most {
        complete = false;
        models.truncate(most);
    }
    Ok(Credible { models, complete })
}

/// The families without edges to constant variables, which change no score.
fn without_constants<const W: usize>(terms: &Terms<W>, mut families: Families<W>) -> Families<W> {
    let varying: VarSet<W> = (0..terms.variables()).filter(|&v| terms.function().varies(v)).collect();
    for (y, choices) in families.of.iter_mut().enumerate() {
        let allowed = if varying.contains(y) { varying } else { VarSet::EMPTY };
        choices.retain(|choice| choice.parents.is_subset(&allowed));
    }
    families
}

/// The families of a component, and what they lose against the best.
struct Network<const W: usize> {
    loss: f64,
    families: Vec<(usize, VarSet<W>)>,
}

/// The search for the networks of a component.
struct Search<'s, const W: usize> {
    /// Of each member, the parents within the component, the score, and all parents; best first.
    choices: Vec<Vec<(u32, Choice<W>)>>,
    members: &'s [usize],
    best: &'s Pieces,
    slack: f64,
    most: usize,
    stop: &'s Stop,
    path: Vec<(usize, VarSet<W>)>,
    found: Vec<Network<W>>,
}

impl<'s, const W: usize> Search<'s, W> {
    fn new(
        families: &Families<W>,
        part: &'s Part<W>,
        best: &'s Pieces,
        slack: f64,
        most: usize,
        stop: &'s Stop,
    ) -> Self {
        let inner = |choice: &Choice<W>| (within(&part.members, choice.parents), *choice);
        let choices = part.members.iter().map(|&y| families.of[y].iter().map(inner).collect()).collect();
        let (path, found) = (Vec::new(), Vec::new());
        Self { choices, members: &part.members, best, slack, most, stop, path, found }
    }

    /// Takes the sinks of a set away in all ways, after so much was lost; those in `must` need a child first.
    fn take(&mut self, set: u32, must: u32, lost: f64) -> Result<(), Stopped> {
        self.stop.check()?;
        if set == 0 {
            if self.found.len() == self.most {
                return Err(Stopped);
            }
            self.found.push(Network { loss: lost, families: self.path.clone() });
            return Ok(());
        }
        let whole = self.best.of(set);
        for at in (0..self.members.len()).filter(|at| (set & !must) >> at & 1 == 1) {
            let rest = set & !(1 << at);
            let larger = rest & (u32::MAX << at);
            let room = whole - self.best.of(rest);
            let mut next = 0;
            while let Some(&(inner, choice)) = self.choices[at].get(next) {
                next += 1;
                let lost = lost + (room - choice.score);
                if lost > self.slack {
                    break; // best first
                }
                if inner & !rest == 0 {
                    self.path.push((self.members[at], choice.parents));
                    let taken = self.take(rest, (must | larger) & !inner, lost);
                    self.path.pop();
                    taken?;
                }
            }
        }
        Ok(())
    }
}

/// Puts the networks of the components together.
struct Merge<'m, const W: usize> {
    terms: &'m Terms<W>,
    parts: &'m [Vec<Network<W>>],
    slack: f64,
    most: usize,
    looks: usize,
    found: HashMap<Vec<VarSet<W>>, (EssentialGraph<W>, f64), FxBuildHasher>,
    worker: Box<dyn Worker<W> + 'm>,
    stop: &'m Stop,
}

impl<const W: usize> Merge<'_, W> {
    /// Chooses a network of each component from one on, after so much was lost.
    fn join(&mut self, at: usize, dag: &mut Dag<W>, lost: f64) -> Result<(), Stopped> {
        self.stop.check()?;
        let parts = self.parts;
        let Some(part) = parts.get(at) else {
            return self.add(dag);
        };
        for network in part {
            let lost = lost + network.loss;
            if lost > self.slack {
                break;
            }
            network.families.iter().for_each(|&(y, parents)| dag.parents[y] = parents);
            self.join(at + 1, dag, lost)?;
        }
        Ok(())
    }

    fn add(&mut self, dag: &Dag<W>) -> Result<(), Stopped> {
        self.looks += 1;
        let order = dag.order().unwrap_or_else(|| unreachable!("sinks were taken away one by one"));
        let graph = EssentialGraph::from_dag(dag, &order);
        let key = graph.key();
        if !self.found.contains_key(&key) {
            if self.found.len() > self.most {
                return Err(Stopped);
            }
            let score = self.terms.score(&mut *self.worker, &graph.extension());
            self.found.insert(key, (graph, score));
        }
        if self.looks >= self.most.saturating_mul(PER_MODEL) { Err(Stopped) } else { Ok(()) }
    }
}
