//! Continuous tables, and mixed ones by the degenerate Gaussian: criteria of a covariance matrix.
//!
//! Every variable is *embedded* in columns of numbers (a continuous variable is its own column, a
//! discrete one becomes indicators of its states), whose correlations are computed once, exactly.
//! The criteria are functions of determinants of their submatrices: no row is ever touched again.

mod bge;
mod bic;
mod cholesky;
pub mod criterion;
mod double_double;
mod embedding;
mod fixed_point;
mod gain_bound;
pub mod legendre;
mod moments;
mod on_demand;
mod products;
mod screen;
mod table;
mod wide;
mod worker;

pub(super) use bic::LN_2PI_E;
pub(super) use cholesky::{Factors, Matrix, SMALL};
pub(super) use double_double::DoubleDouble;
pub use embedding::Column;
pub(super) use fixed_point::Scale;
pub use moments::Moments;
pub(super) use moments::{check_shape, hash_rows};
pub(super) use products::{Sums, Weights};
pub use table::Table;
pub(super) use table::{TOLERANCE, dependence_threshold, quantum};
pub use wide::WideTable;
