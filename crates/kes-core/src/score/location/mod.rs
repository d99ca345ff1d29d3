//! Mixed tables: the location model [Olkin & Tate 1961], the homogeneous conditional Gaussian.
//!
//! The discrete variables of a set divide the cases into cells; within a cell the continuous ones are
//! normal, with means of the cell's own and one covariance for all cells. With the cells `c` of the
//! discrete part `D`, their counts `n_c` and number `r` (occupied or not), the `p` continuous columns
//! (one for a variable, or the polynomials of its normal scores), and
//! `W` their pooled within-cell covariance by maximum likelihood,
//!
//! ```text
//! F(S) = Σ n_c ln n_c − u r  −  N/2 · [ln det W + p ln 2πe] − λ u · (r p + p(p + 1)/2)
//! ```
//!
//! where a free parameter costs `u` (BIC: `½ ln N`, AIC: 1). This is a function of the set, so the
//! criterion is score equivalent. On discrete sets it is the multinomial criterion, on continuous sets
//! the Gaussian one; what these leave out or add cancels in differences.
//!
//! # Exact sums
//! `W` is what remains of the total covariation when the cells' own means are taken off:
//! `Σ w z_i z_j − Σ_c (s_ic/√n_c) (s_jc/√n_c)`, with the sums `s` of a cell. The columns are whole numbers
//! (see [`gaussian`](super::gaussian)), so their sums are exact, and every `s/√n` is rounded to a whole
//! number of 59 bits: neither the order of the rows nor that of the cells changes a bit.

mod cells;
pub mod criterion;
mod kept;
mod rows;
mod table;
mod wide;
mod worker;

pub use table::Table;
