//! Tables of discrete variables: their rows, the counts of their cells, and the criteria made of counts.

mod counts;
pub mod criterion;
pub mod dataset;
mod distinct;
mod losses;
mod partition;
mod promise;
mod table;
mod vectors;

pub use table::Table;
