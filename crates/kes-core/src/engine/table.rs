//! Tables under a criterion, whatever the kinds of their columns, and which engine suits them.

use std::sync::Arc;

use super::two::Two;
use super::{Additions, AllWidths, Engine, on_bits};
use crate::Error;
use crate::score::excluded::Excluded;
use crate::score::{discrete, gaussian, location};
use crate::stop::Stop;
use crate::varset::MAX_VARIABLES;
use crate::wide;
use crate::wide::function::Function;

/// Edges that noise alone may give a variable: with more, paths lead from everywhere to everywhere, and following them in
/// lists takes longer than keeping sets of reachable nodes.
const OF_NOISE: f64 = 1.0;
/// With fewer variables, searches by lists are no faster (measured): of numbers, and of states.
const MANY: [usize; 2] = [512, 1088];

/// A table under one criterion.
pub trait Table: Sized {
    /// `N`, the sum of the weights.
    fn total(&self) -> f64;

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    fn fingerprint(&self) -> u128;

    /// The pairs of variables that no model joins.
    fn excluded(&self) -> Vec<Excluded> {
        Vec::new()
    }

    /// The engine on this table, with about `bytes` of memory for what it remembers: with sets that are lists or not,
    /// or as suits the table.
    ///
    /// It has no default: a generic function would be compiled by callers, and the engine with it.
    ///
    /// # Errors
    /// If there are too many variables for sets of bits.
    fn engine(
        self,
        additions: Option<&Additions>,
        bytes: usize,
        lists: Option<bool>,
    ) -> Result<Box<dyn Engine>, Error>;
}

impl Table for discrete::Table {
    fn total(&self) -> f64 {
        self.data().total()
    }

    fn fingerprint(&self) -> u128 {
        self.data().fingerprint()
    }

    fn engine(
        self,
        additions: Option<&Additions>,
        bytes: usize,
        lists: Option<bool>,
    ) -> Result<Box<dyn Engine>, Error> {
        let number = self.data().variables();
        let mut states = self.data().arity().to_vec();
        states.sort_unstable();
        let pair = states.get(number / 2).map_or(1.0, |&r| (r.max(2) - 1) as f64);
        let suits = suits_lists(number, MANY[1], pair * pair, self.price(), additions);
        either(self, additions, bytes, lists.unwrap_or(suits))
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

    fn engine(
        self,
        additions: Option<&Additions>,
        bytes: usize,
        _lists: Option<bool>,
    ) -> Result<Box<dyn Engine>, Error> {
        Ok(on_bits(self, additions, bytes)?)
    }
}

impl Table for gaussian::WideTable {
    fn total(&self) -> f64 {
        Function::total(self)
    }

    fn fingerprint(&self) -> u128 {
        Function::fingerprint(self)
    }

    fn excluded(&self) -> Vec<Excluded> {
        Function::excluded(self)
    }

    fn engine(
        self,
        additions: Option<&Additions>,
        bytes: usize,
        lists: Option<bool>,
    ) -> Result<Box<dyn Engine>, Error> {
        if lists == Some(false) {
            return Ok(on_bits(self.with_all(&Stop::default())?, additions, bytes)?);
        }
        let (number, table) = (self.variables(), Arc::new(self));
        let of_lists = wide::engine::on(Box::new(Arc::clone(&table)), additions, bytes);
        if number > MAX_VARIABLES {
            return Ok(of_lists);
        }
        let additions = additions.cloned();
        Ok(Two::boxed(of_lists, move |stop| on_bits(table.with_all(stop)?, additions.as_ref(), bytes)))
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

    fn engine(
        self,
        additions: Option<&Additions>,
        bytes: usize,
        lists: Option<bool>,
    ) -> Result<Box<dyn Engine>, Error> {
        let many = self.variables() > MAX_VARIABLES;
        either(self, additions, bytes, lists.unwrap_or(many))
    }
}

/// The engine on a table that is a set function of sets of bits and of lists.
fn either(
    table: impl AllWidths + Function + 'static,
    additions: Option<&Additions>,
    bytes: usize,
    lists: bool,
) -> Result<Box<dyn Engine>, Error> {
    if !lists {
        return Ok(on_bits(table, additions, bytes)?);
    }
    let (number, table) = (Function::variables(&table), Arc::new(table));
    let of_lists = wide::engine::on(Box::new(Arc::clone(&table)), additions, bytes);
    if number > MAX_VARIABLES {
        return Ok(of_lists);
    }
    let additions = additions.cloned();
    Ok(Two::boxed(of_lists, move |_| on_bits(Arc::clone(&table), additions.as_ref(), bytes)))
}

/// Whether searches on numbers should go over lists, given what an edge costs.
pub fn numbers_suit_lists(variables: usize, price: f64, additions: Option<&Additions>) -> bool {
    suits_lists(variables, MANY[0], 1.0, price, additions)
}

/// Whether searches on a table should go over lists. With many variables they should, unless the noise gives many
/// edges: the number that gain by chance more than the parameters of an edge and its prior cost.
///
/// The gain of an edge by chance is half of a χ² variable, with as many degrees of freedom as the edge has parameters
/// [Wilson & Hilferty 1931].
fn suits_lists(
    variables: usize,
    many: usize,
    parameters: f64,
    price: f64,
    additions: Option<&Additions>,
) -> bool {
    if variables > MAX_VARIABLES || variables <= many {
        return variables > MAX_VARIABLES;
    }
    let needed = 2.0 * (parameters * price - additions.map_or(0.0, |(common, ..)| *common));
    let spread = 2.0 / (9.0 * parameters);
    let deviation = (libm::cbrt(needed.max(0.0) / parameters) - (1.0 - spread)) / libm::sqrt(spread);
    0.5 * libm::erfc(deviation / std::f64::consts::SQRT_2) * (variables as f64) < OF_NOISE
}
