//! Scores as functions of variable sets: terms `F(S)` of a table, kept in one cache.

pub mod bounds;
pub mod cache;
pub mod discrete;
pub mod excluded;
pub mod gaussian;
mod key;
pub mod location;
mod pairs;
pub mod prior;
pub mod rows;
pub mod set_function;
pub mod terms;
