//! Set functions of short lists: the seam between this engine and the kinds of data.
//!
//! The same as [`crate::score::set_function`], but for sets that are lists, and with one question more: which
//! edges to a target may gain anything at all. Of twenty thousand, a few dozen do.

use std::sync::Arc;

use super::list::List;
use crate::score::excluded::Excluded;
use crate::score::set_function::Source;
use crate::stop::{Stop, Stopped};

/// A set function on a table; the laws of [`SetFunction`](crate::score::set_function::SetFunction) hold.
pub trait Function: Send + Sync {
    /// Number of variables.
    fn variables(&self) -> usize;

    /// Whether the variable has more than one state or value.
    fn varies(&self, v: usize) -> bool;

    /// `τ`: what rounding cannot tell from zero in a gain.
    fn tolerance(&self) -> f64;

    /// `N`, the sum of the weights.
    fn total(&self) -> f64;

    /// A number that tells whether two tables are the same, whatever the order of their rows.
    fn fingerprint(&self) -> u128;

    /// One that computes values, for one thread.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// All variables, in the order in which to ask for the pairs of each with those after it.
    fn targets(&self) -> List {
        (0..self.variables() as u32).collect()
    }

    /// Prepares for questions about all pairs, on some threads.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    fn prepare(&self, _threads: usize, _stop: &Stop) -> Result<(), Stopped> {
        Ok(())
    }

    /// The pairs of variables that no model joins.
    fn excluded(&self) -> Vec<Excluded> {
        Vec::new()
    }

    /// The smallest set met so far that is inadmissible because some variables are functions of the others.
    fn dependent(&self) -> Option<Vec<usize>> {
        None
    }
}

impl<T: Function + ?Sized> Function for Arc<T> {
    fn variables(&self) -> usize {
        (**self).variables()
    }

    fn varies(&self, v: usize) -> bool {
        (**self).varies(v)
    }

    fn tolerance(&self) -> f64 {
        (**self).tolerance()
    }

    fn total(&self) -> f64 {
        (**self).total()
    }

    fn fingerprint(&self) -> u128 {
        (**self).fingerprint()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        (**self).worker()
    }

    fn targets(&self) -> List {
        (**self).targets()
    }

    fn prepare(&self, threads: usize, stop: &Stop) -> Result<(), Stopped> {
        (**self).prepare(threads, stop)
    }

    fn excluded(&self) -> Vec<Excluded> {
        (**self).excluded()
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        (**self).dependent()
    }
}

/// Computes values of a set function, for one thread.
pub trait Worker: Send {
    /// `F(S)`.
    fn term(&mut self, set: &[u32]) -> f64;

    /// Adds to `hopeful`, in ascending order, all wanted variables outside `C` and `y` whose edge to `y`
    /// given `C` may gain more than `least`, where `terms` are `F(C)` and `F(C ∪ y)`. None that does may be left out.
    fn hopeful(
        &mut self,
        y: u32,
        given: &[u32],
        terms: (f64, f64),
        least: f64,
        is_wanted: &dyn Fn(u32) -> bool,
        hopeful: &mut List,
    );

    /// Fills in `F(C ∪ x)` and `F(C ∪ {x, y})` for all given sources `x`.
    fn join(&mut self, given: &[u32], y: u32, sources: &mut [Source]);
}
