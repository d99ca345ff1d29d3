//! The terms of pairs of variables in a square, so that those of one variable with all others stand in a row.
//!
//! A greedy search begins with all pairs, and then asks for the neighbours of what it has joined: a third to a half
//! of all terms are of pairs, and so is every second one that is looked up given a single variable.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::varset::VarSet;

/// Marks a pair without a term. No term is NaN.
const UNKNOWN: u64 = u64::MAX;

/// From a pair of variables to its term `F({x, y})`, for any number of threads.
pub struct Pairs {
    side: usize,
    terms: Vec<AtomicU64>,
    known: AtomicUsize,
}

/// The terms of a variable with every other one.
#[derive(Clone, Copy)]
pub struct Row<'p> {
    pairs: &'p Pairs,
    variable: usize,
}

impl Pairs {
    /// Room for all pairs, or for none if that takes more than so many bytes.
    pub fn new(variables: usize, bytes: usize) -> Self {
        let side = if variables * variables * size_of::<u64>() <= bytes { variables } else { 0 };
        let terms = (0..side * side).map(|_| AtomicU64::new(UNKNOWN)).collect();
        Self { side, terms, known: AtomicUsize::new(0) }
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.known.load(Ordering::Relaxed)
    }

    /// The row of a variable, if there is room for pairs.
    #[inline]
    pub fn row(&self, variable: usize) -> Option<Row<'_>> {
        (variable < self.side).then_some(Row { pairs: self, variable })
    }

    /// If a set is a pair, and there is room for pairs: the row of its first variable, and the other one.
    #[inline]
    pub fn of<const W: usize>(&self, set: &VarSet<W>) -> Option<(Row<'_>, usize)> {
        let mut members = set.iter();
        let (first, second) = (self.row(members.next()?)?, members.next()?);
        members.next().is_none().then_some((first, second))
    }
}

impl Row<'_> {
    /// The term with another variable, if it is known.
    #[inline]
    pub fn get(self, other: usize) -> Option<f64> {
        let term = self.pairs.terms[self.variable * self.pairs.side + other].load(Ordering::Relaxed);
        (term != UNKNOWN).then(|| f64::from_bits(term))
    }

    /// Remembers the term with another variable. Two threads may do so at once: both have the same term.
    #[inline]
    pub fn put(self, other: usize, term: f64) {
        let Self { pairs: Pairs { side, terms, known }, variable } = self;
        if terms[variable * side + other].swap(term.to_bits(), Ordering::Relaxed) == UNKNOWN {
            terms[other * side + variable].store(term.to_bits(), Ordering::Relaxed);
            known.fetch_add(1, Ordering::Relaxed);
        }
    }
}
