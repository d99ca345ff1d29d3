//! The engine for thousands of variables: sparse sets, and nothing that grows with the square of their number.
//!
//! Above a few thousand variables, sets of bits and sets of reachable nodes cost more than the search itself. Here
//! sets are short [lists](list), rows of [gains] hold only what improves the score, and paths are followed
//! [on demand](model). The boundary, the draw and the terms are those of the rest of this crate: where both engines
//! run, all results are equal to the bit.

pub mod engine;
pub mod frontier;
pub mod function;
pub mod gains;
pub mod graph;
pub mod graphs;
pub mod improve;
pub mod knowledge;
pub mod list;
pub mod model;
pub mod mpdag;
pub mod runs;
pub mod search;
