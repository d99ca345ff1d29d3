//! Sums over the families of a variable: `A_i(U) = Σ w(i | P)` over the admissible parent sets `P ⊆ U`, where
//! `w(i | P) = e^{s(i | P)}`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::scaled::{Scaled, log_add};
use super::varying;
use crate::graph::Knowledge;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::threads::{map, map_chunks};
use crate::varset::VarSet;

/// Sets per piece of work: few enough to be interrupted at once, enough to share partitions.
const PIECE: usize = 1 << 10;

/// `A_i(U)` of all variables `i` and sets `U` without `i`. Variables are numbered from 0 without the constant
/// ones, and sets are the bits of a number.
pub(super) struct FamilySums {
    /// The variables as the problem numbers them.
    pub(super) members: Vec<usize>,
    /// By variable and set, the bit of the variable taken out.
    mantissas: Vec<Vec<f64>>,
    exponents: Vec<Vec<i32>>,
    /// The logarithm that all sums of the variables were divided by.
    pub(super) log_scale: f64,
}

/// The families that count.
pub(super) struct Admissible<'k, const W: usize> {
    pub(super) max_parents: Option<usize>,
    pub(super) knowledge: Option<&'k Knowledge<W>>,
}

impl FamilySums {
    /// Memory for `n` variables, in bytes.
    pub(super) fn bytes(n: usize) -> f64 {
        let sets = libm::exp2(n as f64);
        n as f64 * sets / 2.0 * (size_of::<f64>() + size_of::<i32>()) as f64
    }

    /// The sums of all families. `counted` is kept at the number of sets counted so far.
    ///
    /// # Errors
    /// If `stop` is raised.
    pub(super) fn new<const W: usize>(
        terms: &Terms<W>,
        admissible: &Admissible<'_, W>,
        threads: usize,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Self, Stopped> {
        let members = varying(terms);
        let values = terms_of_all(terms, &members, threads, stop, counted)?;
        let of = |i: usize| Weights::new(&members, i, admissible);
        let sums = map(&mut vec![(); threads], members.len(), stop, |(), i| of(i).sums(&values, stop))?;
        let log_scale = sums.iter().map(|(_, _, best)| best).sum();
        let (mut mantissas, mut exponents) = (Vec::new(), Vec::new());
        for (own_mantissas, own_exponents, _) in sums {
            mantissas.push(own_mantissas);
            exponents.push(own_exponents);
        }
        Ok(Self { members, mantissas, exponents, log_scale })
    }

    /// Number of variables.
    pub(super) fn variables(&self) -> usize {
        self.members.len()
    }

    /// `A_i(U)`.
    #[inline]
    pub(super) fn of(&self, i: usize, set: usize) -> Scaled {
        let at = squeezed(set, i);
        Scaled { mantissa: self.mantissas[i][at], exponent: self.exponents[i][at] }
    }
}

/// The set without the bit of a variable that is not in it.
#[inline(always)]
fn squeezed(set: usize, i: usize) -> usize {
    let below = (1 << i) - 1;
    (set & below) | (set >> 1 & !below)
}

/// The inverse of [`squeezed`].
#[inline(always)]
fn spread(set: usize, i: usize) -> usize {
    let below = (1 << i) - 1;
    (set & below) | (set & !below) << 1
}

/// `F(S)` of all sets of some variables.
fn terms_of_all<const W: usize>(
    terms: &Terms<W>,
    members: &[usize],
    threads: usize,
    stop: &Stop,
    counted: &AtomicUsize,
) -> Result<Vec<f64>, Stopped> {
    let sets: Vec<u32> = (0..1 << members.len()).collect();
    let mut surveys: Vec<_> = (0..threads).map(|_| terms.function().survey()).collect();
    map_chunks(&mut surveys, &sets, PIECE, stop, |survey, sets| {
        counted.fetch_add(sets.len(), Ordering::Relaxed);
        let measure = |&set: &u32| {
            stop.check()?;
            let set: VarSet<W> = bits(set as usize).map(|i| members[i]).collect();
            Ok(survey.measure(set).term)
        };
        sets.iter().map(measure).collect()
    })
}

/// The members of a set.
pub(super) fn bits(mut set: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// The families of one variable.
struct Weights {
    i: usize,
    required: usize,
    forbidden: usize,
    most: u32,
}

impl Weights {
    fn new<const W: usize>(members: &[usize], i: usize, admissible: &Admissible<'_, W>) -> Self {
        let number = |set: VarSet<W>| -> usize {
            let inside = members.iter().enumerate().filter(|(_, v)| set.contains(**v));
            inside.map(|(at, _)| 1 << at).sum()
        };
        let known = admissible.knowledge;
        Self {
            i,
            required: known.map_or(0, |known| number(known.required(members[i]))),
            forbidden: known.map_or(0, |known| number(known.forbidden(members[i]))),
            most: admissible.max_parents.map_or(u32::MAX, |most| most.try_into().unwrap_or(u32::MAX)),
        }
    }

    /// `ln w(i | P)`.
    fn log_weight(&self, values: &[f64], parents: usize) -> f64 {
        let whole = values[parents | 1 << self.i];
        let is_admissible = parents & self.required == self.required
            && parents & self.forbidden == 0
            && parents.count_ones() <= self.most;
        if is_admissible && whole > f64::NEG_INFINITY { whole - values[parents] } else { f64::NEG_INFINITY }
    }

    /// The sums over all subsets, each divided by the largest weight, and the logarithm of that.
    fn sums(&self, values: &[f64], stop: &Stop) -> Result<(Vec<f64>, Vec<i32>, f64), Stopped> {
        let half = values.len() / 2;
        let weight = |at: usize| self.log_weight(values, spread(at, self.i));
        let mut sums: Vec<f64> = (0..half).map(weight).collect();
        let best = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sums.iter_mut().for_each(|sum| *sum -= best);
        let mut step = 1;
        while step < half {
            for pair in sums.chunks_exact_mut(2 * step) {
                stop.check()?;
                let (without, with) = pair.split_at_mut(step);
                with.iter_mut().zip(without).for_each(|(with, without)| *with = log_add(*with, *without));
            }
            step *= 2;
        }
        stop.check()?;
        let mut exponents = Vec::with_capacity(half);
        for sum in &mut sums {
            let scaled = Scaled::exp(*sum);
            *sum = scaled.mantissa;
            exponents.push(scaled.exponent);
        }
        Ok((sums, exponents, best))
    }
}
