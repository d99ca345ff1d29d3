//! Determinants of submatrices, by pivots.
//!
//! The factorisation `R = L D Lᵀ` of a correlation matrix has the *pivots* in `D`: the variance of each column that
//! the columns before it leave unexplained. A row of `L` depends on the rows before it only,
//! so a factorisation can be continued from any row on, with the same bits as from the start.
//!
//! # Small pivots
//! A pivot `p` comes out as a difference of numbers near 1, and so with an error of `10⁻¹⁶/p` of itself: with
//! columns that nearly determine each other, more than a gain may be off. Below [`SMALL`] it is computed
//! anew. It is the least of `vᵀ R v` over all `v = (−β, 1)`, so an error in `β` costs no more than its square, and
//! `β` with its usual digits will do, if only `vᵀ R v` is computed with twice as many. For that the elements
//! of the matrix have 77 bits.

use super::double_double::DoubleDouble;

/// From its first pivot below this on, the pivots of a set are computed in the second way.
pub const SMALL: f64 = 1.0 / 256.0;

/// A symmetric matrix with ones on its diagonal, row by row.
pub struct Matrix {
    size: usize,
    elements: Vec<f64>,
    /// The rounding errors of the elements, with 24 bits.
    rest: Vec<f32>,
}

impl Matrix {
    /// The matrix of the elements `above(i, j)` for `i < j`.
    pub fn new(size: usize, above: impl Fn(usize, usize) -> DoubleDouble) -> Self {
        let mut elements = vec![1.0; size * size];
        let mut rest = vec![0.0; size * size];
        for j in 0..size {
            for i in 0..j {
                let element = above(i, j);
                for at in [i * size + j, j * size + i] {
                    elements[at] = element.high;
                    rest[at] = element.low as f32;
                }
            }
        }
        Self { size, elements, rest }
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

    /// An element with all its bits.
    #[inline]
    fn precise(&self, i: usize, j: usize) -> DoubleDouble {
        let at = i * self.size + j;
        DoubleDouble { high: self.elements[at], low: f64::from(self.rest[at]) }
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

    /// The rows of `L`, one after the other, each up to the diagonal.
    pub fn lower(&self) -> &[f64] {
        &self.lower
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
        if pivot < SMALL || pivots.iter().any(|&pivot| pivot < SMALL) {
            pivot = self.refined(matrix, column, enlargement);
        }
        let pivot = pivot.max(enlargement);
        self.columns.push(column);
        self.pivots.push(pivot);
        pivot
    }

    /// The variance of a column that the first `count` columns factorised so far, and all of them, leave unexplained:
    /// its pivots, if it came next, without the correction of small ones.
    #[inline]
    pub fn left(&mut self, matrix: &Matrix, column: usize, enlargement: f64, count: usize) -> (f64, f64) {
        let Self { columns, lower, pivots, row } = self;
        row.clear();
        let elements = &matrix.elements[column * matrix.size..][..matrix.size];
        let mut start = 0;
        for (j, &other) in columns.iter().enumerate() {
            let products = row.iter().zip(&lower[start..start + j]).map(|(a, b)| a * b);
            row.push(elements[other] - products.sum::<f64>());
            start += j;
        }
        let known = |range: std::ops::Range<usize>| -> f64 {
            row[range.clone()]
                .iter()
                .zip(&pivots[range])
                .map(|(element, pivot)| element * element / pivot)
                .sum()
        };
        let first = 1.0 + enlargement - known(0..count);
        (first, first - known(count..columns.len()))
    }

    /// The pivot of the column whose row of `L` was added last, as the least of a quadratic form.
    fn refined(&mut self, matrix: &Matrix, column: usize, enlargement: f64) -> f64 {
        let Self { columns, lower, row: coefficients, .. } = self;
        let size = columns.len();
        // Lᵀ β = the new row of L, from the last coefficient to the first.
        let start = |i: usize| i * i.saturating_sub(1) / 2;
        coefficients.clear();
        coefficients.extend_from_slice(&lower[start(size)..]);
        for i in (1..size).rev() {
            let (before, known) = coefficients.split_at_mut(i);
            before.iter_mut().zip(&lower[start(i)..]).for_each(|(b, l)| *b -= l * known[0]);
        }
        let diagonal = DoubleDouble::sum(1.0, enlargement);
        let mut pivot = diagonal;
        for (i, (&a, &beta)) in columns.iter().zip(&*coefficients).enumerate() {
            let target = matrix.precise(a, column);
            let mut explained = diagonal * beta.into() - (target + target);
            for (j, (&b, &other)) in columns.iter().zip(&*coefficients).enumerate() {
                if j != i {
                    explained = explained + matrix.precise(a, b) * other.into();
                }
            }
            pivot = pivot + explained * beta.into();
        }
        pivot.high
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
            let matrix = Matrix::new(6, |i, j| elements[j * (j - 1) / 2 + i].into());
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
        let matrix = Matrix::new(200, |_, _| 1.0.into());
        let enlargement = libm::ldexp(1.0, -27);
        let mut factors = Factors::default();
        for column in 0..200 {
            assert!(factors.push(&matrix, column, enlargement) >= enlargement);
        }
        let direct = 199.0 * enlargement.ln() + (200.0 + enlargement).ln();
        assert!((factors.ln_determinant() - direct).abs() < 1e-9);
    }

    /// Three columns: of the third, `p = (1 − a² − b² − c² + 2abc)/(1 − a²)`, in integers of 2⁻³⁰. It is tiny if
    /// `c` is nearly the largest possible.
    #[test]
    fn small_pivots_keep_their_digits() {
        let one = 1i128 << 30;
        for (a, b) in [(one / 3, one / 2), (one * 9 / 10, one * 8 / 10), (0, one * 7 / 10)] {
            let most = (a * b + ((one * one - a * a) * (one * one - b * b)).isqrt()) / one;
            for less in [1, 3, 1000] {
                let c = most - less;
                let numerator = one * (one * one - a * a - b * b - c * c) + 2 * a * b * c;
                let exact = numerator as f64 / (one as f64 * (one * one - a * a) as f64);
                let number = |x: i128| DoubleDouble::from(x as f64 / one as f64);
                let matrix = Matrix::new(3, |i, j| number([a, b, c][i + j - 1]));
                let mut factors = Factors::default();
                let found = (0..3).map(|column| factors.push(&matrix, column, 0.0)).fold(0.0, |_, p| p);
                assert!(exact < 1e-5 && (found / exact - 1.0).abs() < 1e-14, "{found} {exact}");
            }
        }
    }
}
