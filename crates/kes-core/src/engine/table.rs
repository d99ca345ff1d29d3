//! Tables under a criterion, whatever the kinds of their columns.

use super::{Additions, Engine, on};
use crate::Error;
use crate::score::excluded::Excluded;
use crate::score::set_function::SetFunction;
use crate::score::{discrete, gaussian, location};

/// A table under one criterion.
pub trait Table:
    Sized + SetFunction<1> + SetFunction<4> + SetFunction<12> + SetFunction<17> + SetFunction<64>
{
    /// `N`, the sum of the weights.
    fn total(&self) -> f64;

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    fn fingerprint(&self) -> u128;

    /// The pairs of variables that no model joins.
    fn excluded(&self) -> Vec<Excluded> {
        Vec::new()
    }

    /// The engine on this table, with about `bytes` of memory for what it remembers.
    ///
    /// It has no default: a generic function would be compiled by callers, and the engine with it.
    ///
    /// # Errors
    /// If there are too many variables.
    fn engine(self, additions: Option<&Additions>, bytes: usize) -> Result<Box<dyn Engine>, Error>;
}

impl Table for discrete::Table {
    fn total(&self) -> f64 {
        self.data().total()
    }

    fn fingerprint(&self) -> u128 {
        self.data().fingerprint()
    }

    fn engine(self, additions: Option<&Additions>, bytes: usize) -> Result<Box<dyn Engine>, Error> {
        on(self, additions, bytes)
    }
}

impl Table for gaussian::Table {
    fn total(&self) -> f64 {
        self.moments().total
    }

    fn fingerprint(&self) -> u128 {
        self.moments().fingerprint
    }

    fn excluded(&self) -> Vec<Excluded> {
        gaussian::Table::excluded(self)
    }

    fn engine(self, additions: Option<&Additions>, bytes: usize) -> Result<Box<dyn Engine>, Error> {
        on(self, additions, bytes)
    }
}

impl Table for location::Table {
    fn total(&self) -> f64 {
        location::Table::total(self)
    }

    fn fingerprint(&self) -> u128 {
        location::Table::fingerprint(self)
    }

    fn excluded(&self) -> Vec<Excluded> {
        location::Table::excluded(self)
    }

    fn engine(self, additions: Option<&Additions>, bytes: usize) -> Result<Box<dyn Engine>, Error> {
        on(self, additions, bytes)
    }
}
