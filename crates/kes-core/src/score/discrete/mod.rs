//! Tables of discrete variables: their rows, the counts of their cells, and the criteria made of counts.

pub mod counts;
pub mod criterion;
pub mod dataset;
