//! Dynamic programming over the subsets of a component.
//!
//! The subsets are visited in the order of their numbers, which puts every subset before its
//! supersets. Seen as a tree, it decides one variable after the other, the last one first: out, then
//! in. Along the way the choices of every variable shrink: those that need a variable left out are
//! dropped, and of those that differ in decided variables only, the best remains. With [`BLOCK`]
//! variables to go, a table per variable says what it scores at best with each set of parents allowed.
//!
//! Nothing but `best(S)` is stored, 8 bytes a set. The network is found by going back from the whole set.

use std::sync::atomic::AtomicUsize;

use super::components::{Part, components};
use super::pieces::Pieces;
use super::{Choice, Failure, Families, Limits};
use crate::graph::Dag;
use crate::stop::{Stop, Stopped};

/// Variables whose subsets are done at once, with tables.
const BLOCK: usize = 9;
/// Variables that make tasks for the threads: `2^TASKS` of them at most.
const TASKS: usize = 8;
/// The largest component, whatever the memory: sets are numbers of 32 bits.
pub const MAX_COMPONENT: usize = 31;

/// The best network that the choices permit, and its score as the sum of their scores.
///
/// # Errors
/// If families are missing, `stop` is raised, or a component is too large for the memory allowed; see
/// [`bytes`].
pub fn optimum<const W: usize>(
    families: &Families<W>,
    limits: &Limits,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<(Dag<W>, f64), Failure> {
    if let Some(missing) = &families.missing {
        return Err(missing.why);
    }
    let mut dag = Dag::empty(families.of.len());
    let mut score = 0.0;
    for component in components(families) {
        if component.len() > MAX_COMPONENT || bytes(component.len()) > limits.bytes {
            return Err(Failure::Memory);
        }
        let part = Part::new(families, component);
        let best = best_scores(&part, limits.threads, stop, done)?;
        for (y, choice) in trace_back(families, &part, &best) {
            dag.parents[y] = choice.parents;
            score += choice.score;
        }
    }
    Ok((dag, score))
}

/// Memory for a component of `size` variables.
pub fn bytes(size: usize) -> usize {
    size_of::<f64>().checked_shl(size as u32).unwrap_or(usize::MAX)
}

/// `best(S)` of all subsets. A task is a set of the highest variables; it needs the tasks of its subsets, so
/// they are done by size.
pub(super) fn best_scores<const W: usize>(
    part: &Part<W>,
    threads: usize,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<Pieces, Stopped> {
    let size = part.members.len();
    let high = size.saturating_sub(BLOCK).min(TASKS);
    let low = size - high;
    let best = Pieces::new(low, high);
    let all = Choices::new(part);
    best.by_size(true, threads, stop, done, |high| {
        let mut choices = all.clone();
        for v in (low..size).rev() {
            choices = choices.decide(v, high >> (v - low) & 1 == 1);
        }
        let mut task = Task { best: &best, high, found: Vec::with_capacity(1 << low), stop };
        task.visit(&choices, low, 0)?;
        best.keep(high, task.found);
        Ok(())
    })?;
    Ok(best)
}

/// The choices of the variables that are in the set or undecided, over undecided variables.
#[derive(Clone)]
struct Choices {
    of: Vec<(usize, Vec<(u32, f64)>)>,
}

impl Choices {
    fn new<const W: usize>(part: &Part<W>) -> Self {
        Self { of: part.choices.iter().cloned().enumerate().collect() }
    }

    /// The choices that remain when `v` is in, or out of, the set.
    fn decide(&self, v: usize, is_in: bool) -> Self {
        let bit = 1u32 << v;
        let remaining = |(y, choices): &(usize, Vec<(u32, f64)>)| {
            let mut kept: Vec<(u32, f64)> = Vec::with_capacity(choices.len());
            if !is_in {
                kept.extend(choices.iter().filter(|(set, _)| set & bit == 0));
            } else if choices.iter().all(|(set, _)| set & bit == 0) {
                kept.extend_from_slice(choices);
            } else {
                for &(set, score) in choices {
                    let set = set & !bit;
                    // Best first: what follows a subset of itself is never chosen.
                    if !kept.iter().any(|(earlier, _)| earlier & !set == 0) {
                        kept.push((set, score));
                    }
                }
            }
            (*y, kept)
        };
        Self { of: self.of.iter().filter(|(y, _)| is_in || *y != v).map(remaining).collect() }
    }
}

/// The subsets whose highest variables are given.
struct Task<'t> {
    best: &'t Pieces,
    high: usize,
    /// `best(S)` so far, by the number of `S` in its lower variables.
    found: Vec<f64>,
    stop: &'t Stop,
}

impl Task<'_> {
    /// Visits the subsets that contain `middle` and any of the variables below `undecided`.
    fn visit(&mut self, choices: &Choices, undecided: usize, middle: usize) -> Result<(), Stopped> {
        if undecided <= BLOCK {
            self.stop.check()?;
            self.block(choices, undecided, middle);
            return Ok(());
        }
        let v = undecided - 1;
        self.visit(&choices.decide(v, false), v, middle)?;
        self.visit(&choices.decide(v, true), v, middle | 1 << v)
    }

    /// The subsets of the lowest variables together with `middle`: tables, then the recursion.
    fn block(&mut self, choices: &Choices, undecided: usize, middle: usize) {
        let size = 1 << undecided;
        let mut best = vec![f64::NEG_INFINITY; size];
        if self.high == 0 && middle == 0 {
            best[0] = 0.0;
        }
        let mut table = vec![f64::NEG_INFINITY; size];
        let mut inner: Vec<(usize, Vec<f64>)> = Vec::with_capacity(undecided);
        for (y, choices) in &choices.of {
            table.fill(f64::NEG_INFINITY);
            for &(set, score) in choices.iter().rev() {
                table[set as usize] = score;
            }
            best_of_subsets(&mut table);
            if *y < undecided {
                inner.push((*y, table.clone()));
                continue;
            }
            let without = match 1 << y {
                bit if *y < self.best.low => &self.found[middle ^ bit..][..size],
                bit => &self.best.piece(self.high ^ (bit >> self.best.low))[middle..][..size],
            };
            for ((best, without), score) in best.iter_mut().zip(without).zip(&table) {
                *best = larger(*best, without + score);
            }
        }
        for set in 1..size {
            for (y, table) in inner.iter().filter(|(y, _)| set >> y & 1 == 1) {
                let rest = set ^ 1 << y;
                best[set] = larger(best[set], best[rest] + table[rest]);
            }
        }
        self.found.extend_from_slice(&best);
    }
}

/// From the score of each set as a choice to that of the best choice within it.
fn best_of_subsets(table: &mut [f64]) {
    let mut half = 1;
    while half < table.len() {
        for pair in table.chunks_exact_mut(2 * half) {
            let (without, with) = pair.split_at_mut(half);
            with.iter_mut().zip(without).for_each(|(with, without)| *with = larger(*with, *without));
        }
        half *= 2;
    }
}

/// The larger of two numbers that are not NaN: one instruction, other than `f64::max`.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The families of a best network over the whole component.
fn trace_back<'f, const W: usize>(
    families: &'f Families<W>,
    part: &Part<W>,
    best: &Pieces,
) -> Vec<(usize, &'f Choice<W>)> {
    let mut chosen = Vec::new();
    let mut set = u32::MAX >> (32 - part.members.len());
    while set != 0 {
        let sinks = (0..part.members.len()).filter(|at| set >> at & 1 == 1);
        let options = sinks.filter_map(|at| {
            let rest = set ^ 1 << at;
            part.choose(families, at, rest).map(|choice| (best.of(rest) + choice.score, at, choice))
        });
        let Some((_, at, choice)) = options.reduce(|a, b| if b.0 > a.0 { b } else { a }) else { break };
        chosen.push((part.members[at], choice));
        set ^= 1 << at;
    }
    chosen
}
