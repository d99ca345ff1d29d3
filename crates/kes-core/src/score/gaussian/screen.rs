//! All correlations, rounded, to tell which edges cannot gain anything.
//!
//! They are products of a matrix with its transpose, in blocks: with the exact sums of [`products`](super::products)
//! they would take eight times as long and three times the memory. They only decide which gains are worth
//! computing exactly, and the margin for their rounding is known, so they change no result. The product is that of
//! `ndarray`, which `numpy` brings along, and uses the vectors of the machine.

use std::sync::OnceLock;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

use super::on_demand::OnDemand;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// Columns per block.
pub const BLOCK: usize = 512;
/// More than the error of a correlation: rounding to 24 bits, and that of a product of `N` rows in 53.
const ROUNDING: f64 = 1e-7;

/// The correlations of all columns, in square blocks.
pub struct Screen {
    columns: usize,
    blocks: Vec<OnceLock<Box<[f32]>>>,
}

impl Screen {
    /// Computes all correlations on some threads.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(data: &OnDemand, threads: usize, stop: &Stop) -> Result<Self, Stopped> {
        let columns = data.columns();
        let side = columns.div_ceil(BLOCK);
        let screen = Self { columns, blocks: (0..side * side).map(|_| OnceLock::new()).collect() };
        let (plain, offsets) = standard(data, false);
        let weighted = data.is_weighted().then(|| standard(data, true).0);
        let first = weighted.as_ref().unwrap_or(&plain);
        let pairs: Vec<(usize, usize)> = (0..side).flat_map(|j| (0..=j).map(move |i| (i, j))).collect();
        let mut buffers = vec![vec![0.0; BLOCK * BLOCK]; threads.max(1)];
        map(&mut buffers, pairs.len(), stop, |buffer, piece| {
            let (i, j) = pairs[piece];
            let (a, b) = (rows(data, first, i), rows(data, &plain, j));
            let shape = (a.nrows(), b.nrows());
            let mut products = ArrayViewMut2::from_shape(shape, &mut buffer[..shape.0 * shape.1])
                .unwrap_or_else(|_| unreachable!("the buffer has that length"));
            general_mat_mul(1.0, &a, &b.t(), 0.0, &mut products);
            for ((row, column), product) in products.indexed_iter_mut() {
                *product -= offsets[i * BLOCK + row] * offsets[j * BLOCK + column];
            }
            let above = products.iter().map(|&r| r as f32).collect();
            let below = products.t().iter().map(|&r| r as f32).collect();
            if i != j {
                let _ = screen.blocks[j * side + i].set(below);
                let _ = screen.blocks[i * side + j].set(above);
            } else {
                let _ = screen.blocks[i * side + i].set(symmetric(above, a.nrows()));
            }
            Ok::<_, Stopped>(())
        })?;
        Ok(screen)
    }

    /// The number of blocks in a row.
    pub fn side(&self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// The correlations of a column with those of a block.
    #[inline]
    pub fn with_block(&self, column: usize, block: usize) -> &[f32] {
        let width = BLOCK.min(self.columns - block * BLOCK);
        let all = self.blocks[column / BLOCK * self.side() + block].get().map_or(&[][..], |block| block);
        &all[column % BLOCK * width..][..width]
    }

    /// The largest error of a correlation.
    pub fn margin(&self, rows: usize) -> f64 {
        ROUNDING + rows as f64 * f64::EPSILON
    }
}

/// The columns of a block, out of all columns one after the other.
fn rows<'v>(data: &OnDemand, all: &'v [f64], block: usize) -> ArrayView2<'v, f64> {
    let (start, end) = (block * BLOCK, data.columns().min((block + 1) * BLOCK));
    let numbers = &all[start * data.rows()..end * data.rows()];
    ArrayView2::from_shape((end - start, data.rows()), numbers)
        .unwrap_or_else(|_| unreachable!("there are as many numbers"))
}

/// All columns in standard form, one after the other, and what to take off their products.
fn standard(data: &OnDemand, with_weights: bool) -> (Vec<f64>, Vec<f64>) {
    let mut all = vec![0.0; data.columns() * data.rows()];
    let columns = all.chunks_exact_mut(data.rows().max(1)).enumerate();
    let offsets = columns.map(|(column, values)| data.standardise(column, with_weights, values)).collect();
    (all, offsets)
}

/// A block on the diagonal with the elements above it also below it.
fn symmetric(mut block: Box<[f32]>, side: usize) -> Box<[f32]> {
    for i in 0..side {
        for j in 0..i {
            block[i * side + j] = block[j * side + i];
        }
    }
    block
}
