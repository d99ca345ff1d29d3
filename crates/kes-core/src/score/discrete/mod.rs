//! Tables of discrete variables: their rows, the counts of their cells, and the criteria made of counts.

mod bitmaps;
mod cells;
pub(super) mod counts;
pub mod criterion;
pub mod dataset;
mod distinct;
mod gain_bound;
mod partition;
mod residual_entropy;
mod simd;
mod table;
mod wide;

pub use table::Table;
