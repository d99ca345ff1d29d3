//! Exact search: the highest-scoring network, with proof.
//!
//! A score that is a sum over families is maximised by dynamic programming over sets of variables
//! [Koivisto & Sood 2004, Silander & Myllymäki 2006]: a network over `S` has a sink `y`, so
//!
//! `best(S) = max over y in S of best(S∖y) + max over P ⊆ S∖y of s(y | P)`.
//!
//! [`families`] finds all families that can matter, counting no more than the criterion's
//! [`bounds`](crate::score::bounds) leave open. [`components`] splits the variables where no best network can have a cycle
//! [Fan 2014], and [`subset_dp`] does the recursion on each part. For more variables than that,
//! [`relaxation`] has bounds on the score for which the families are enough. [`credible`] finds all models close to
//! the best.

pub mod components;
pub mod credible;
pub mod families;
mod level;
pub(crate) mod pieces;
pub mod relaxation;
pub mod subset_dp;

use crate::order;
use crate::stop::Stopped;
use crate::varset::VarSet;

/// A parent set that a variable may choose, with its score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice<const W: usize> {
    /// The parents.
    pub parents: VarSet<W>,
    /// The score of the family.
    pub score: f64,
}

/// For every variable, the parent sets that can be part of a best network, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Families<const W: usize> {
    /// The choices of each variable.
    pub of: Vec<Vec<Choice<W>>>,
    /// Bounds on families that were not evaluated, if there are any.
    pub missing: Option<Missing>,
}

/// Families that were not evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// Why not.
    pub why: Failure,
    /// Upper bounds on the score of each variable with parents that are not among its choices.
    pub most: Vec<f64>,
}

impl<const W: usize> Families<W> {
    /// These families, and no others.
    pub fn new(of: Vec<Vec<Choice<W>>>) -> Self {
        Self { of, missing: None }
    }

    /// Sorts the choices: best first, ties by their sets.
    pub(crate) fn sort(&mut self) {
        for choices in &mut self.of {
            order::sort_by(choices, |a, b| {
                b.score.total_cmp(&a.score).then_with(|| a.parents.cmp(&b.parents))
            });
        }
    }
}

/// Resources of a computation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Memory, approximately.
    pub bytes: usize,
    /// Threads.
    pub threads: usize,
}

/// Why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The computation was stopped.
    Stopped,
    /// The computation needs more memory than allowed.
    Memory,
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}
