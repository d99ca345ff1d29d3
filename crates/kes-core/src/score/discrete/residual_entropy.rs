//! Residual entropy: the part of a variable's entropy that all other variables leave unexplained.

use super::dataset::Dataset;
use crate::rng::scramble;
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// `H(y | V∖y)` of every `y`, with `taken` cases of the most frequent state of `y` left out of each cell.
/// Rounded down: an entropy that is too large would make the bounds too sharp.
pub fn residual_entropies(
    data: &Dataset,
    taken: u64,
    threads: usize,
    stop: &Stop,
) -> Result<Vec<f64>, Stopped> {
    // A row is identified by the sum of a number for each of its states; without y, by the rest of that sum.
    let number = |v: usize, row: usize| scramble((v as u64) << 16 | u64::from(data.codes(v).at(row)));
    let mut sums = vec![0u64; data.units().len()];
    for v in 0..data.variables() {
        stop.check()?;
        sums.iter_mut().enumerate().for_each(|(row, sum)| *sum = sum.wrapping_add(number(v, row)));
    }
    let loss = |cell: &[usize], y: usize| {
        let mut counts = vec![0; data.arity()[y]];
        cell.iter().for_each(|&row| counts[usize::from(data.codes(y).at(row))] += data.units()[row]);
        if let Some(most) = counts.iter_mut().max() {
            *most -= taken;
        }
        let sizes: Vec<f64> = counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * data.unit()).collect();
        let all: f64 = sizes.iter().sum();
        sizes.iter().map(|n| n * libm::log(all / n)).sum::<f64>()
    };
    map(&mut vec![Vec::new(); threads], data.variables(), stop, |rows: &mut Vec<(u64, usize)>, y| {
        rows.clear();
        rows.extend(sums.iter().enumerate().map(|(row, sum)| (sum.wrapping_sub(number(y, row)), row)));
        rows.sort_unstable();
        let mut sum = 0.0;
        for alike in rows.chunk_by(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
            let mut left: Vec<usize> = alike.iter().map(|&(_, row)| row).collect();
            while let Some(&first) = left.first() {
                // Rows with the same sum are in the same cell, apart from hash collisions.
                let same = |v: usize, row: usize| v == y || data.codes(v).at(row) == data.codes(v).at(first);
                let (cell, others): (Vec<usize>, Vec<usize>) =
                    left.iter().partition(|&&row| (0..data.variables()).all(|v| same(v, row)));
                sum += loss(&cell, y);
                left = others;
            }
        }
        Ok(sum * (1.0 - 1e-9))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// `H(y | V∖y)` by its definition, over the cells of the other variables.
        #[test]
        fn losses_are_conditional_entropies(rows in prop::collection::vec((0..3i32, 0..2i32, 0..4i32), 1..60)) {
            let columns = [0, 1, 2].map(|v| rows.iter().map(|&(a, b, c)| [a, b, c][v]).collect::<Vec<i32>>());
            let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
            let data = Dataset::new(&slices, &[3, 2, 4], None).unwrap();
            let found = residual_entropies(&data, 0, 2, &Stop::default()).unwrap();
            for (y, found) in found.into_iter().enumerate() {
                let (mut cells, mut joint) = (BTreeMap::<_, f64>::new(), BTreeMap::<_, f64>::new());
                for row in rows.iter().map(|&(a, b, c)| [a, b, c]) {
                    let others: Vec<i32> = (0..3).filter(|&v| v != y).map(|v| row[v]).collect();
                    *cells.entry(others.clone()).or_default() += 1.0;
                    *joint.entry((others, row[y])).or_default() += 1.0;
                }
                let expected: f64 = joint.iter().map(|((others, _), n)| n * (cells[others] / n).ln()).sum();
                prop_assert!((found - expected).abs() < 1e-6 && found <= expected);
            }
        }
    }

    #[test]
    fn what_no_parents_can_explain_is_left() {
        // Given b, a is 3:1 where b = 0 and known where b = 1; given a, b is 3:2 where a = 0.
        let (a, b) = ([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]);
        let data = Dataset::new(&[&a, &b], &[2, 2], None).unwrap();
        let entropy = |m: f64, n: f64| m * ((m + n) / m).ln() + n * ((m + n) / n).ln();
        let stop = Stop::default();
        let cases =
            [(0, [entropy(3.0, 1.0), entropy(3.0, 2.0)]), (1, [entropy(2.0, 1.0), entropy(2.0, 2.0)])];
        for (taken, expected) in cases {
            let found = residual_entropies(&data, taken, 2, &stop).unwrap();
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        }
        stop.raise();
        assert_eq!(residual_entropies(&data, 0, 2, &stop), Err(Stopped));
    }
}
