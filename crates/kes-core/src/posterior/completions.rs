//! An upper bound on what the rest of a network can weigh: `R(S) ≥ g(S)`, the sum over all orders of the
//! variables outside `S` instead of over DAGs, so that each DAG counts once for each of its orders
//! [Koivisto & Sood 2004]:
//!
//! `R(V) = 1`,  `R(S) = Σ A_i(S) R(S ∪ i)` over `i ∉ S`.

use std::f64::consts::LN_2;
use std::sync::atomic::AtomicUsize;

use super::scaled::exponent;
use super::sums::{FamilySums, bits};
use crate::exact::pieces::Pieces;
use crate::stop::{Stop, Stopped};

/// The bound for all sets, as powers of two, and a lower bound on the weight of all networks.
pub(super) struct Completions {
    /// `R(S)` is `2^exponents[S]`, within a factor of `√2`.
    pub(super) exponents: Vec<i32>,
    /// The networks that agree with one good order weigh `2^base`, about.
    pub(super) base: i32,
}

impl Completions {
    /// # Errors
    /// If `stop` is raised.
    pub(super) fn new(
        sums: &FamilySums,
        high: usize,
        threads: usize,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Self, Stopped> {
        let n = sums.variables();
        let low = n - high;
        let logs = Pieces::new(low, high);
        logs.by_size(false, threads, stop, done, |piece| {
            let mut own = vec![f64::NEG_INFINITY; 1 << low];
            for inner in (0..1usize << low).rev() {
                if inner % (1 << 12) == 0 {
                    stop.check()?;
                }
                let set = piece << low | inner;
                own[inner] = if set == (1 << n) - 1 {
                    0.0
                } else {
                    let after = |i: usize| match i < low {
                        true => own[inner | 1 << i],
                        false => logs.piece(piece | 1 << (i - low))[inner],
                    };
                    log_sum(bits(!set & ((1 << n) - 1)).map(|i| log(sums, i, set) + after(i)))
                };
            }
            logs.keep(piece, own);
            Ok(())
        })?;
        let exponents = (0..1u32 << n).map(|set| exponent(logs.of(set))).collect();
        Ok(Self { exponents, base: exponent(good_order(sums, &logs)) })
    }
}

/// `ln A_i(S)`.
fn log(sums: &FamilySums, i: usize, set: usize) -> f64 {
    let sum = sums.of(i, set);
    if sum.mantissa == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::from(sum.exponent) * LN_2 + libm::log(sum.mantissa)
    }
}

/// `ln Σ e^x`.
fn log_sum(logs: impl Iterator<Item = f64>) -> f64 {
    let mut all = [f64::NEG_INFINITY; 32];
    let number = all.iter_mut().zip(logs).map(|(place, log)| *place = log).count();
    let largest = all[..number].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + libm::log(all[..number].iter().map(|log| libm::exp(log - largest)).sum())
}

/// The weight of the networks that agree with an order in which each variable is the one with the best
/// prospects.
fn good_order(sums: &FamilySums, logs: &Pieces) -> f64 {
    let n = sums.variables();
    let (mut set, mut weight) = (0, 0.0);
    while set != (1 << n) - 1 {
        let prospect = |i: usize| (log(sums, i, set) + logs.of((set | 1 << i) as u32), i);
        let all = bits(!set & ((1 << n) - 1)).map(prospect);
        let Some((_, next)) = all.reduce(|a, b| if b.0 > a.0 { b } else { a }) else { break };
        weight += log(sums, next, set);
        set |= 1 << next;
    }
    weight
}
