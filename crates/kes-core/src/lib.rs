//! k-greedy equivalence search (KES) over Markov equivalence classes of Bayesian networks
//! [Nielsen, Kočka, Peña, UAI 2003].
//!
//! The modules follow the way of the data: a table becomes a set function ([`score`]) whose terms are
//! kept; models are essential graphs ([`graph`]) with an inclusion boundary ([`boundary`]) whose members
//! have gains ([`gains`]); those that score higher ([`frontier`]) drive the search ([`search`]), which is
//! run many times ([`runs`]). [`sampled`] is the paper's own approximation of the boundary by covered arc reversals.
//! [`improve`] makes better models of good ones, and [`exact`] finds the best model of all for up to
//! about 25 variables, and bounds its score for more. [`posterior`] sums over all networks.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Implements [`Clone`] field by field, so that `clone_from` reuses the memory of the target, as the derived
/// one does not.
macro_rules! clone_fields {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl<const W: usize> Clone for $name<W> {
            fn clone(&self) -> Self {
                Self { $($field: self.$field.clone()),* }
            }

            fn clone_from(&mut self, other: &Self) {
                $(self.$field.clone_from(&other.$field);)*
            }
        }
    };
}

pub mod boundary;
pub mod ends;
pub mod engine;
pub mod error;
pub mod exact;
pub mod frontier;
pub mod gains;
pub mod graph;
pub mod improve;
pub mod inference;
mod order;
pub mod posterior;
pub mod rng;
pub mod runs;
pub mod sampled;
pub mod score;
pub mod search;
pub mod stop;
pub mod threads;
pub mod varset;
pub mod wide;

pub use error::Error;
