//! The backward sums `g(S)`, and with them the probabilities of arcs and ancestors.
//!
//! `w(U, T) = ± f(U) Π A_i(U) g(U ∪ T) / Z` over `i ∈ T` is the share of the step from `U` to `U ∪ T` in `Z`, with its
//! sign. With `E_i(U)` the sum of these over all `T` with `i`, and `E_ij(U)` over those with `i` and `j`:
//!
//! * `P(j → i) = Σ E_i(U) (1 − A_i(U∖j) / A_i(U))` over all `U` with `j` and without `i`. For each way to sum `Z` has
//!   exactly one factor `A_i(U)`, and what its families without `j` sum to is `A_i(U∖j)`.
//! * `P(i is no ancestor of j) = Σ (E_j(U) − E_ij(U))` over all `U` without `i` and `j`: the steps by which `j` comes
//!   before `i`. For any DAG, and more generally any partial order, the signs of all ways to add its
//!   elements in groups sum to 1. If `i` is no ancestor of `j`, adding `j < i` leaves a partial order, and the
//!   ways in which `j` comes first are those of that order; otherwise there is none.

use std::sync::atomic::AtomicUsize;

use super::CUT;
use super::completions::Completions;
use super::forward::{Candidate, Forward, Term};
use super::scaled::power;
use super::sums::{FamilySums, bits};
use crate::exact::pieces::Pieces;
use crate::stop::{Stop, Stopped};

/// Square matrices of sums over steps.
#[derive(Clone)]
pub(super) struct Shares {
    /// `arcs[j * n + i]`: the probability of `j → i`.
    pub(super) arcs: Vec<f64>,
    /// `apart[i * n + j]`: the probability that `i` is no ancestor of `j`.
    pub(super) apart: Vec<f64>,
    /// The sum of all steps without their signs: rounding errors are in proportion to it.
    pub(super) absolute: f64,
}

impl Shares {
    fn new(n: usize) -> Self {
        Self { arcs: vec![0.0; n * n], apart: vec![0.0; n * n], absolute: 0.0 }
    }

    fn add(&mut self, other: &Self) {
        self.arcs.iter_mut().zip(&other.arcs).for_each(|(sum, more)| *sum += more);
        self.apart.iter_mut().zip(&other.apart).for_each(|(sum, more)| *sum += more);
        self.absolute += other.absolute;
    }
}

/// The shares of all steps, and `g(∅) / Z`, which is 1 but for rounding and what was left out.
///
/// # Errors
/// If `stop` is raised.
pub(super) fn backward(
    sums: &FamilySums,
    completions: &Completions,
    forward: &Forward,
    threads: usize,
    stop: &Stop,
    done: &AtomicUsize,
) -> Result<(Shares, f64), Stopped> {
    let n = sums.variables();
    let low = forward.sums.low;
    let found = Pieces::new(low, n - low);
    let total = forward.sums.of((1u32 << n) - 1);
    let shares = found.by_size(false, threads, stop, done, |piece| {
        let mut pull = Pull {
            sums,
            completions,
            forward: &forward.sums,
            found: &found,
            total,
            piece,
            own: vec![0.0; 1 << low],
            shares: Shares::new(n),
            step: Step::new(n),
        };
        pull.all(stop)?;
        found.keep(piece, pull.own);
        Ok(pull.shares)
    })?;
    let mut all = Shares::new(n);
    shares.iter().for_each(|own| all.add(own));
    let start = power(completions.exponents[0] - completions.base) * found.of(0);
    Ok((all, start / total))
}

/// The sums of the steps from one set.
struct Step {
    n: usize,
    /// The variables that the current step adds.
    path: Vec<usize>,
    /// `E_i(U)`, and `E_ij(U)` at `i * n + j`.
    single: Vec<f64>,
    double: Vec<f64>,
    absolute: f64,
}

impl Step {
    fn new(n: usize) -> Self {
        let (single, double) = (vec![0.0; n], vec![0.0; n * n]);
        Self { n, path: Vec::new(), single, double, absolute: 0.0 }
    }

    /// Notes the sum of the steps that add the path, the last of it being `i`, and any later candidates.
    fn note(&mut self, i: usize, sum: f64) {
        self.single[i] += sum;
        for &j in &self.path {
            self.double[i * self.n + j] += sum;
        }
    }
}

/// The work for one piece.
struct Pull<'p> {
    sums: &'p FamilySums,
    completions: &'p Completions,
    forward: &'p Pieces,
    found: &'p Pieces,
    total: f64,
    piece: usize,
    own: Vec<f64>,
    shares: Shares,
    step: Step,
}

impl Pull<'_> {
    fn all(&mut self, stop: &Stop) -> Result<(), Stopped> {
        let (n, low) = (self.sums.variables(), self.found.low);
        for inner in (0..1usize << low).rev() {
            if inner % (1 << 8) == 0 {
                stop.check()?;
            }
            let set = self.piece << low | inner;
            let value = self.forward.piece(self.piece)[inner];
            if set == (1 << n) - 1 {
                self.own[inner] = 1.0;
            } else if value >= CUT {
                let share = self.pull(set, value);
                self.own[inner] = (share * self.total / value).max(0.0);
            }
        }
        Ok(())
    }

    /// The sum of all steps from a set, `f(U) g(U) / Z`.
    fn pull(&mut self, set: usize, value: f64) -> f64 {
        let (n, low) = (self.sums.variables(), self.found.low);
        self.step.single.fill(0.0);
        self.step.double.fill(0.0);
        let start = Term { mantissa: -value / self.total, exponent: -self.completions.exponents[set] };
        let outside = !set & ((1 << n) - 1);
        let inside = (1 << low) - 1;
        let sums = self.sums;
        let candidates = bits(outside & inside).map(|i| (i, Candidate::new(sums, i, set)));
        let candidates: Vec<_> = candidates.collect();
        let mut all = 0.0;
        let more = outside >> low;
        let mut above = 0usize;
        loop {
            all += self.pull_above(set, above << low, start, &candidates);
            if above == more {
                break;
            }
            above = above.wrapping_sub(more) & more; // the next subset
        }
        self.share(set);
        all
    }

    /// The sum of the steps that add `above`, and any of the candidates in the piece.
    fn pull_above(&mut self, set: usize, above: usize, start: Term, lower: &[(usize, Candidate)]) -> f64 {
        let mut term = start;
        let mut path = std::mem::take(&mut self.step.path);
        path.clear();
        for i in bits(above) {
            term = term.with(&Candidate::new(self.sums, i, set));
            path.push(i);
        }
        let grown = set | above;
        let found = self.found;
        let values = found.piece(grown >> found.low);
        // In the own piece, the sets after this one are found already.
        let own = std::mem::take(&mut self.own);
        let after = Values { all: if above == 0 { &own } else { values }, mask: (1 << found.low) - 1 };
        let mut sum = if above == 0 { 0.0 } else { self.value(grown, term, &after) };
        self.step.path = path;
        if above == 0 || sum.abs() >= CUT {
            let kept = |(_, candidate): &&(usize, Candidate)| {
                self.value(grown | candidate.bit, term.with(candidate), &after).abs() >= CUT
            };
            let candidates: Vec<_> = lower.iter().filter(kept).copied().collect();
            self.step.absolute = sum.abs();
            sum += self.extend(grown, term, &candidates, &after);
            self.shares.absolute += self.step.absolute;
            let path = std::mem::take(&mut self.step.path);
            for (at, &i) in path.iter().enumerate() {
                self.step.single[i] += sum;
                path[..at].iter().for_each(|&j| self.step.double[i * self.step.n + j] += sum);
            }
        } else {
            sum = 0.0;
        }
        self.own = own;
        sum
    }

    /// The sum of the steps with one candidate more, and with further ones after it.
    fn extend(&mut self, set: usize, term: Term, lower: &[(usize, Candidate)], after: &Values<'_>) -> f64 {
        let mut all = 0.0;
        for (at, (i, candidate)) in lower.iter().enumerate() {
            let (set, term) = (set | candidate.bit, term.with(candidate));
            let value = self.value(set, term, after);
            if value.abs() < CUT {
                continue;
            }
            self.step.absolute += value.abs();
            self.step.path.push(*i);
            let sum = value + self.extend(set, term, &lower[at + 1..], after);
            self.step.path.pop();
            self.step.note(*i, sum);
            all += sum;
        }
        all
    }

    /// `w(U, T)`.
    #[inline(always)]
    fn value(&self, set: usize, term: Term, after: &Values<'_>) -> f64 {
        term.mantissa * power(term.exponent + self.completions.exponents[set]) * after.all[set & after.mask]
    }

    /// Adds the steps from a set to the shares.
    fn share(&mut self, set: usize) {
        let n = self.sums.variables();
        let outside = !set & ((1 << n) - 1);
        let Step { single, double, .. } = &self.step;
        for i in bits(outside) {
            // Here i comes first: before all j that are neither in the set nor added with it.
            for j in bits(outside).filter(|&j| j != i) {
                let both = double[i * n + j] + double[j * n + i];
                self.shares.apart[j * n + i] += single[i] - both;
            }
            if single[i] == 0.0 {
                continue; // as all families may be
            }
            let whole = self.sums.of(i, set);
            for j in bits(set) {
                let without = self.sums.of(i, set & !(1 << j));
                let ratio = without.mantissa / whole.mantissa * power(without.exponent - whole.exponent);
                self.shares.arcs[j * n + i] += single[i] * (1.0 - ratio);
            }
        }
    }
}

/// The backward sums of a piece.
struct Values<'v> {
    all: &'v [f64],
    mask: usize,
}
