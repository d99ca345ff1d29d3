//! Variables that no model joins because some determine others: the pairs, and the smallest set met.

use std::sync::{Mutex, PoisonError};

/// A pair of variables that no model joins, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excluded {
    /// One variable; the determining one if only one determines the other.
    pub x: usize,
    /// The other variable.
    pub y: usize,
    /// Why no model joins them.
    pub why: Why,
}

/// Why no model joins two variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Each determines the other: they are one variable written twice.
    Twins,
    /// The first determines the second, which has no density given the first.
    Determined,
    /// Some of their indicators determine each other, as those of a row that has a rare state of both.
    Collinear,
    /// Together they have too many cells or columns for the cases.
    TooLarge,
}

impl Why {
    /// The reason as a word.
    pub fn name(self) -> &'static str {
        match self {
            Why::Twins => "twins",
            Why::Determined => "determined",
            Why::Collinear => "collinear",
            Why::TooLarge => "too large",
        }
    }
}

/// The smallest set met so far in which some variables determine others, and of several such the first.
#[derive(Default)]
pub struct Dependent(Mutex<Option<Vec<usize>>>);

impl Dependent {
    /// The set, by its variables.
    pub fn set(&self) -> Option<Vec<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of a set in which some variables determine others.
    pub fn note(&self, set: impl Iterator<Item = usize>) {
        let set: Vec<usize> = set.collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|known| (set.len(), &set) < (known.len(), known)) {
            *known = Some(set);
        }
    }
}
