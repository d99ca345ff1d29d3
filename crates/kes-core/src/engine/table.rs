//! Tables under a criterion, whatever the kinds of their columns.

use crate::score::excluded::Excluded;
use crate::score::set_function::SetFunction;
use crate::score::{discrete, gaussian, location};

/// A table under one criterion.
pub trait Table:
    SetFunction<1> + SetFunction<4> + SetFunction<12> + SetFunction<17> + SetFunction<64>
{
    /// `N`, the sum of the weights.
    fn total(&self) -> f64;

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    fn fingerprint(&self) -> u128;

    /// The pairs of variables that no model joins.
    fn excluded(&self) -> Vec<Excluded> {
        Vec::new()
    }
}

impl Table for discrete::Table {
    fn total(&self) -> f64 {
        self.data().total()
    }

    fn fingerprint(&self) -> u128 {
        self.data().fingerprint()
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
}
