//! Determinants of submatrices, by pivots.
//!
//! The factorisation `R = L D Lᵀ` of a correlation matrix has in `D` the *pivots*: what each column has of
//! variance that the columns before it do not explain. A row of `L` depends on the rows before it only,
//! so a factorisation can be continued from any row on, with the same bits as from the start.

/// A symmetric matrix with ones on its diagonal, row by row.
pub struct Matrix {
    size: usize,
    elements: Vec<f64>,
}

impl Matrix {
    /// The matrix of the elements `above(i, j)` for `i < j`.
    pub fn new(size: usize, above: impl Fn(usize, usize) -> f64) -> Self {
        let mut elements = vec![1.0; size * size];
        for j in 0..size {
            for i in 0..j {
                let element = above(i, j);
                elements[i * size + j] = element;
                elements[j * size + i] = element;
            }
        }
        Self { size, elements }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// An element.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.elements[i * self.size + j]
    }
}

/// The factors of a submatrix, in buffers that are used again.
#[derive(Default)]
pub struct Factors {
    columns: Vec<usize>,
    /// `L`, row by row, each up to the diagonal.
    lower: Vec<f64>,
    pivots: Vec<f64>,
    /// The row in work, before division by the pivots.
    row: Vec<f64>,
}

impl Factors {
    /// The columns factorised so far.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The pivots so far.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Forgets all but the first `count` columns.
    pub fn truncate(&mut self, count: usize) {
        self.columns.truncate(count);
        self.pivots.truncate(count);
        self.lower.truncate(count * count.saturating_sub(1) / 2);
    }

    /// Continues with a column of the matrix, whose diagonal is enlarged; returns its pivot. It is not
    /// less than the enlargement, whatever the rounding: what is enlarged has no negative pivots.
    #[inline]
    pub fn push(&mut self, matrix: &Matrix, column: usize, enlargement: f64) -> f64 {
        let Self { columns, lower, pivots, row } = self;
        row.clear();
        let mut pivot = 1.0 + enlargement;
        let elements = &matrix.elements[column * matrix.size..][..matrix.size];
        let mut start = 0;
        for (j, &other) in columns.iter().enumerate() {
            let products = row.iter().zip(&lower[start..start + j]).map(|(a, b)| a * b);
            row.push(elements[other] - products.sum::<f64>());
            start += j;
        }
        for (&element, &other) in row.iter().zip(pivots.iter()) {
            let factor = element / other;
            pivot -= element * factor;
            lower.push(factor);
        }
        let pivot = pivot.max(enlargement);
        columns.push(column);
        pivots.push(pivot);
        pivot
    }

    /// The logarithm of the determinant.
    pub fn ln_determinant(&self) -> f64 {
        // One logarithm for as many pivots as a product can hold.
        let mut sum = 0.0;
        let mut product = 1.0;
        for &pivot in &self.pivots {
            product *= pivot;
            if product < 1e-250 {
                sum += libm::log(product);
                product = 1.0;
            }
        }
        sum + libm::log(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Leibniz' sum over permutations.
    fn determinant(matrix: &Matrix, columns: &[usize]) -> f64 {
        fn expand(matrix: &Matrix, rows: &[usize], columns: &[usize]) -> f64 {
            let Some((&row, rows)) = rows.split_first() else { return 1.0 };
            (0..columns.len())
                .map(|at| {
                    let rest: Vec<usize> = [&columns[..at], &columns[at + 1..]].concat();
                    let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
                    sign * matrix.get(row, columns[at]) * expand(matrix, rows, &rest)
                })
                .sum()
        }
        expand(matrix, columns, columns)
    }

    proptest! {
        #[test]
        fn pivots_multiply_to_the_determinant(elements in prop::collection::vec(-0.19..0.19f64, 15)) {
            // Diagonally dominant, so positive definite.
            let matrix = Matrix::new(6, |i, j| elements[j * (j - 1) / 2 + i]);
            let mut factors = Factors::default();
            for columns in [vec![0, 1, 2, 3, 4, 5], vec![0, 1, 4], vec![0, 1, 4, 5], vec![], vec![2]] {
                let common = factors.columns().iter().zip(&columns).take_while(|(a, b)| a == b).count();
                factors.truncate(common);
                for &column in &columns[common..] {
                    factors.push(&matrix, column, 0.0);
                }
                let direct = determinant(&matrix, &columns).ln();
                prop_assert!((factors.ln_determinant() - direct).abs() < 1e-12);
                let mut afresh = Factors::default();
                for &column in &columns {
                    afresh.push(&matrix, column, 0.0);
                }
                prop_assert_eq!(afresh.pivots(), factors.pivots());
            }
        }
    }

    /// All correlations 1 and a diagonal of 1 + ε have the determinant `ε^(n−1) (n + ε)`: for 200 columns and
    /// ε = 2⁻²⁷ less than any number above 0.
    #[test]
    fn a_determinant_may_be_smaller_than_any_number() {
        let matrix = Matrix::new(200, |_, _| 1.0);
        let enlargement = libm::ldexp(1.0, -27);
        let mut factors = Factors::default();
        for column in 0..200 {
            assert!(factors.push(&matrix, column, enlargement) >= enlargement);
        }
        let direct = 199.0 * enlargement.ln() + (200.0 + enlargement).ln();
        assert!((factors.ln_determinant() - direct).abs() < 1e-5);
    }
}
