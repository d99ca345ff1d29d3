//! The forward sums `f(S)` over the DAGs of the variables of `S`.
//!
//! They are found by pushing: a set `U` whose sum is known adds its terms to all `U ∪ T`. A piece of the sets
//! takes what comes from smaller pieces in their order, so that sums do not depend on threads. What is
//! kept of `f(S)` is multiplied by the bound on its completions and divided by the weight of a good
//! order: then a term that is small is one that hardly any network needs.

use std::sync::atomic::AtomicUsize;

use super::CUT;
use super::completions::Completions;
use super::scaled::power;
use super::sums::{FamilySums, bits};
use crate::exact::pieces::Pieces;
use crate::stop::{Stop, Stopped};

/// Within `√2` of what a power of two stands for.
const SLACK: f64 = 1.5;

/// A variable that can be among the last ones: its bit, and `A_i(U)`.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) bit: usize,
    pub(super) mantissa: f64,
    pub(super) exponent: i32,
}

impl Candidate {
    pub(super) fn new(sums: &FamilySums, i: usize, set: usize) -> Self {
        let sum = sums.of(i, set);
        Self { bit: 1 << i, mantissa: sum.mantissa, exponent: sum.exponent }
    }
}

/// `f(U) Π A_i(U)` over some variables `i`, and its sign.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub(super) mantissa: f64,
    pub(super) exponent: i32,
}

impl Term {
    #[inline(always)]
    pub(super) fn with(self, candidate: &Candidate) -> Self {
        Self { mantissa: -self.mantissa * candidate.mantissa, exponent: self.exponent + candidate.exponent }
    }
}

/// The forward sums, scaled, and a bound on the weight of all that was left out, relative to that of all
/// networks.
pub(super) struct Forward {
    pub(super) sums: Pieces,
    pub(super) dropped: f64,
}

/// # Errors
/// If `stop` is raised.
pub(super) fn forward(
    sums: &FamilySums,
    completions: &Completions,
    high: usize,
    threads: usize,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<Forward, Stopped> {
    let low = sums.variables() - high;
    let found = Pieces::new(low, high);
    let dropped = found.by_size(true, threads, stop, done, |piece| {
        let mut push =
            Push { sums, completions, found: &found, piece, own: vec![0.0; 1 << low], dropped: 0.0 };
        push.all(stop)?;
        found.keep(piece, push.own);
        Ok(push.dropped)
    })?;
    let all = found.of((1u32 << sums.variables()) - 1);
    Ok(Forward { dropped: dropped.iter().sum::<f64>() / all, sums: found })
}

/// The work for one piece.
struct Push<'p> {
    sums: &'p FamilySums,
    completions: &'p Completions,
    found: &'p Pieces,
    piece: usize,
    own: Vec<f64>,
    dropped: f64,
}

impl Push<'_> {
    /// Takes the terms of all subsets, smaller pieces first.
    fn all(&mut self, stop: &Stop) -> Result<(), Stopped> {
        let (piece, low) = (self.piece, self.found.low);
        if piece == 0 {
            self.own[0] = power(self.completions.exponents[0] - self.completions.base);
        }
        let mut candidates = Vec::new();
        for from in (0..=piece).filter(|from| from & !piece == 0) {
            for inner in 0..1usize << low {
                if inner % (1 << 8) == 0 {
                    stop.check()?;
                }
                let is_own = from == piece;
                let value = if is_own { self.own[inner] } else { self.found.piece(from)[inner] };
                let set = from << low | inner;
                if value < CUT {
                    if is_own {
                        self.drop(value.abs(), set);
                    }
                    continue;
                }
                self.push(set, value, &mut candidates);
            }
        }
        Ok(())
    }

    /// Adds the terms of a set to those of its supersets in the piece.
    fn push(&mut self, set: usize, value: f64, candidates: &mut Vec<Candidate>) {
        let low = self.found.low;
        // With the sign of the empty set: each variable that is added changes it.
        let mut term = Term { mantissa: -value, exponent: -self.completions.exponents[set] };
        let above = self.piece << low & !set;
        for i in bits(above) {
            term = term.with(&Candidate::new(self.sums, i, set));
        }
        if above != 0 && !self.add(set | above, term) {
            return;
        }
        candidates.clear();
        let outside = !set & ((1 << low) - 1);
        candidates.extend(bits(outside).map(|i| Candidate::new(self.sums, i, set)));
        candidates.retain(|candidate| {
            let value = self.value(set | above | candidate.bit, term.with(candidate));
            let is_kept = value.abs() >= CUT;
            if !is_kept {
                self.drop(value.abs(), set | above | candidate.bit);
            }
            is_kept
        });
        self.extend(set | above, term, candidates);
    }

    /// Adds the terms with one candidate more, and with further ones after it.
    fn extend(&mut self, set: usize, term: Term, candidates: &[Candidate]) {
        for (at, candidate) in candidates.iter().enumerate() {
            let (set, term) = (set | candidate.bit, term.with(candidate));
            if self.add(set, term) {
                self.extend(set, term, &candidates[at + 1..]);
            }
        }
    }

    /// The term as it counts for its set.
    #[inline(always)]
    fn value(&self, set: usize, term: Term) -> f64 {
        term.mantissa * power(term.exponent + self.completions.exponents[set])
    }

    /// Adds a term, unless it is too small.
    #[inline(always)]
    fn add(&mut self, set: usize, term: Term) -> bool {
        let value = self.value(set, term);
        if value.abs() < CUT {
            self.drop(value.abs(), set);
            return false;
        }
        self.own[set & ((1 << self.found.low) - 1)] += value;
        true
    }

    /// Notes that a term, and those with more variables, are left out. A term with more variables `T` weighs
    /// no more than the orders that begin with `T` in ascending order. So each order of the rest counts
    /// at most once for every number of variables that it can begin with.
    #[inline]
    fn drop(&mut self, value: f64, set: usize) {
        let rest = self.sums.variables() - set.count_ones() as usize;
        self.dropped += SLACK * value * (rest + 1) as f64;
    }
}
