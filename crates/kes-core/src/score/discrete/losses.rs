//! What no parents can explain of a variable: the part of its entropy that all other variables leave.

use std::sync::atomic::{AtomicBool, Ordering};

use super::dataset::Dataset;

/// `H(y | V∖y)` of every `y`, with `taken` cases of the most frequent state of `y` left out of each cell;
/// nothing if `stop` is raised meanwhile. Never more than it is, whatever the rounding: otherwise the
/// bounds made of it would be too sharp.
pub fn least_losses(data: &Dataset, taken: u64, stop: &AtomicBool) -> Option<Vec<f64>> {
    let rows: Vec<usize> = (0..data.units().len()).collect();
    let loss = |y: usize| {
        let key =
            |row: usize| (0..data.variables()).filter(move |&v| v != y).map(move |v| data.codes(v)[row]);
        let mut rows = rows.clone();
        rows.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let cells = rows.chunk_by(|&a, &b| key(a).eq(key(b))).filter(|cell| cell.len() > 1);
        let loss = |cell: &[usize]| {
            let mut counts = vec![0; data.arity()[y]];
            cell.iter().for_each(|&row| counts[usize::from(data.codes(y)[row])] += data.units()[row]);
            if let Some(most) = counts.iter_mut().max() {
                *most -= taken;
            }
            let sizes: Vec<f64> =
                counts.iter().filter(|&&n| n > 0).map(|&n| n as f64 * data.unit()).collect();
            let all: f64 = sizes.iter().sum();
            sizes.iter().map(|n| n * libm::log(all / n)).sum::<f64>()
        };
        (!stop.load(Ordering::Relaxed)).then(|| cells.map(loss).sum::<f64>() * (1.0 - 1e-9))
    };
    (0..data.variables()).map(loss).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_parents_can_explain_is_left() {
        // Given b, a is 3:1 where b = 0 and known where b = 1; given a, b is 3:2 where a = 0.
        let (a, b) = ([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]);
        let data = Dataset::new(&[&a, &b], &[2, 2], None).unwrap();
        let entropy = |m: f64, n: f64| m * ((m + n) / m).ln() + n * ((m + n) / n).ln();
        let stop = AtomicBool::new(false);
        let cases =
            [(0, [entropy(3.0, 1.0), entropy(3.0, 2.0)]), (1, [entropy(2.0, 1.0), entropy(2.0, 2.0)])];
        for (taken, expected) in cases {
            let found = least_losses(&data, taken, &stop).unwrap();
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(least_losses(&data, 0, &stop), None);
    }
}
