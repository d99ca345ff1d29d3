//! The posterior distribution over networks: exact probabilities of arcs, edges and ancestors.
//!
//! With a prior that is uniform over DAGs, or a product over families, a DAG weighs `Π w(i | Pa(i))`, where
//! `w(i | P) = e^{s(i | P)}` is a difference of two terms of the set function. The sum `Z` over all DAGs comes from
//! smaller ones [Tian & He 2009]. Let `A_i(U)` be the sum of `w(i | P)` over the admissible `P ⊆ U`. A DAG over `S`
//! has a sink; those in which all of `T` are sinks weigh `f(S∖T) Π A_i(S∖T)`, so by inclusion and exclusion
//!
//! `f(S) = Σ (−1)^{|T|+1} f(S∖T) Π_{i ∈ T} A_i(S∖T)` over `∅ ≠ T ⊆ S`,  and `Z = f(V)`.
//!
//! The same steps from the other end, `g(U) = Σ (−1)^{|T|+1} Π A_i(U) g(U ∪ T)`, give the weight of all ways to add the
//! variables outside `U` to a network over `U`, and `g(∅) = Z` once more: a check that a mistake does not survive.
//! Both together give the probability of every arc and ancestor (see [`backward`]).
//!
//! [`enumerate`] visits every DAG if there are few variables, and [`chain`] samples models if there are many.
//!
//! There are `3^n` pairs of `S` and `T`. Those that cannot matter are left out: [`completions`] bounds what a set can
//! still become, and the weight of all that is left out is bounded and reported.
//!
//! # Rounding
//! A relative error in `f(S)` changes `Z` by the probability that no arc leads into `S`, which is at most 1. So errors add
//! up, however large the terms that cancel in `f(S)` are: all of them together are at most the sum of all terms without
//! their signs, times the precision of a number.

mod backward;
pub mod chain;
mod completions;
pub mod enumerate;
mod forward;
mod scaled;
mod sums;
pub mod tally;

use std::sync::atomic::AtomicUsize;

use crate::exact::{Failure, Limits};
use crate::graph::Knowledge;
use crate::score::terms::Terms;
use crate::stop::Stop;
use backward::backward;
use completions::Completions;
use forward::forward;
use sums::{Admissible, FamilySums};

/// Terms below this part of all networks are left out.
const CUT: f64 = 8.9e-16; // 2^-50
/// Variables that make pieces for the threads: `2^HIGH` of them.
const HIGH: usize = 6;
/// Variables in a piece at least.
const LOW: usize = 6;
/// Number of passes over all sets: to count them, to bound them, and to sum in both directions.
pub const PASSES: usize = 4;
/// The most variables: sets are numbers of 32 bits, and a recursion has as many steps.
pub const MAX_VARIABLES: usize = 30;

/// Exact probabilities of arcs and ancestors, for all pairs of variables.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The probability of the arc from `a` to `b`, at `a * n + b`.
    pub arcs: Vec<f64>,
    /// The probability of a directed path from `a` to `b`.
    pub ancestors: Vec<f64>,
    /// `ln Z`, the logarithm of the sum of `e^score` over all admissible DAGs.
    pub log_sum: f64,
    /// A bound on the probability of the networks that were left out.
    pub dropped: f64,
    /// A bound on the error by rounding.
    pub rounding: f64,
    /// The relative difference between the two ways to sum all networks.
    pub mismatch: f64,
}

/// The objects with equal prior probability, apart from the set function's prior of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// All admissible DAGs.
    Dags,
    /// All classes with an admissible DAG.
    Classes,
}

/// Memory for `n` variables that are not constant, in bytes.
pub fn bytes(n: usize) -> f64 {
    // The terms, the bounds with their logarithms, and the sums of both directions.
    FamilySums::bytes(n) + 36.0 * libm::exp2(n as f64)
}

/// The variables of a problem that are not constant: the others have no edges.
pub fn varying<const W: usize>(terms: &Terms<W>) -> Vec<usize> {
    (0..terms.variables()).filter(|&v| terms.function().varies(v)).collect()
}

/// The probabilities under a prior that is uniform over the admissible DAGs with at most `max_parents` parents
/// each, but for what the set function says of edges. The sets that are finished are added to `done`,
/// each of them once in each of the [`PASSES`].
///
/// # Errors
/// If `stop` is raised, or more memory is needed than allowed.
pub fn exact<const W: usize>(
    terms: &Terms<W>,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
    limits: &Limits,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<Exact, Failure> {
    let n = varying(terms).len();
    if n > MAX_VARIABLES || bytes(n) > limits.bytes as f64 {
        return Err(Failure::Memory);
    }
    let admissible = Admissible { max_parents, knowledge };
    let sums = FamilySums::new(terms, &admissible, limits.threads, stop, done)?;
    let high = n.saturating_sub(LOW).min(HIGH);
    let completions = Completions::new(&sums, high, limits.threads, stop, done)?;
    let forward = forward(&sums, &completions, high, limits.threads, stop, done)?;
    let (shares, again) = backward(&sums, &completions, &forward, limits.threads, stop, done)?;
    let total = forward.sums.of((1u32 << n) - 1);
    let all = terms.variables();
    let mut exact = Exact {
        arcs: vec![0.0; all * all],
        ancestors: vec![0.0; all * all],
        log_sum: constant_part(terms)
            + sums.log_scale
            + libm::log(total)
            + f64::from(completions.base) * std::f64::consts::LN_2,
        dropped: forward.dropped,
        rounding: shares.absolute * f64::EPSILON,
        mismatch: (again - 1.0).abs(),
    };
    for (i, &a) in sums.members.iter().enumerate() {
        for (j, &b) in sums.members.iter().enumerate().filter(|(j, _)| *j != i) {
            exact.arcs[a * all + b] = shares.arcs[i * n + j].clamp(0.0, 1.0);
            exact.ancestors[a * all + b] = (1.0 - shares.apart[i * n + j]).clamp(0.0, 1.0);
        }
    }
    Ok(exact)
}

/// The score of the variables that do not vary, which have no parents.
fn constant_part<const W: usize>(terms: &Terms<W>) -> f64 {
    let mut worker = terms.worker();
    let constant = (0..terms.variables()).filter(|&v| !terms.function().varies(v));
    constant.map(|v| terms.family(&mut *worker, v, crate::varset::VarSet::EMPTY)).sum()
}
