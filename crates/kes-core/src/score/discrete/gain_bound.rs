//! Edges that cannot gain anything, known before their cells are counted.
//!
//! With a likelihood less a penalty, the gain of an edge between `x` and `y` given `C` is
//!
//! ```text
//! N I(x; y | C) − p (r_x − 1)(r_y − 1) Π r_C,    I(x; y | C) ≤ min(H(y | C), H(x | C)) ≤ min(H(y | C), H(x)).
//! ```
//!
//! `N H(y | C)` is the difference of two terms that are known when the sources of a target are asked for, and
//! `N H(x)` never changes. On large networks half of all sources need not be counted; see
//! `docs/performance.md`. Entropies bound what parents can gain in exact search too [de Campos 2018].

use super::counts::Counter;
use super::criterion::Cells;
use super::dataset::Dataset;

/// Relative to the terms a gain is made of: more than all roundings of a gain and of its bound together.
const MARGIN: f64 = 1e-12;

/// An upper bound on the gain of an edge.
pub struct GainBound {
    penalty: f64,
    /// `N H(x)` of every variable.
    entropy: Vec<f64>,
    /// `N ln N`, the size of the terms.
    most: f64,
}

impl GainBound {
    /// For gains on given data with the given penalty for a free parameter.
    pub fn new(data: &Dataset, penalty: f64) -> Self {
        let mut counter = Counter::default();
        let spread = |units: u64| {
            let n = units as f64 * data.unit();
            if units == 0 { 0.0 } else { n * libm::log(n) }
        };
        let most = spread(data.total_units());
        let entropy = |x: usize| most - counter.count(data, &[x]).iter().map(|&n| spread(n)).sum::<f64>();
        let entropy = (0..data.variables()).map(entropy).collect();
        Self { penalty, entropy, most }
    }

    /// Tells whether the edge from a source to `y` may gain more than `least`, given `F(C)` and `F(C ∪ y)` and
    /// the cells of `C`.
    pub fn judge<'a>(
        &'a self,
        arity: &'a [usize],
        given: Cells,
        y: usize,
        (neither, target): (f64, f64),
        least: f64,
    ) -> impl Fn(usize) -> bool + 'a {
        let cells = self.penalty * given.number;
        let family = cells * arity[y] as f64;
        let left = (neither + cells) - (target + family); // N H(y | C)
        move |x: usize| {
            let margin = MARGIN * (self.most + family * arity[x] as f64);
            let price = cells * (arity[y] - 1) as f64 * (arity[x] - 1) as f64;
            !left.is_finite() || left.min(self.entropy[x]) + margin > price + least
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Table;
    use super::super::criterion::Criterion;
    use super::*;
    use crate::score::terms::Terms;
    use crate::varset::VarSet;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is left out gains nothing, by the gain itself; and on tables with rare states something
        /// is left out.
        #[test]
        fn nothing_that_gains_is_left_out(
            rows in prop::collection::vec((prop::collection::vec(0..12i32, 5), 1..40u32), 2..60),
            rare in 1..12i32,
            criterion in prop::sample::select(vec!["bic", "aic", "bdeu"]),
        ) {
            let arity = [2, 3, 2, 4, 2];
            let state = |v: usize, code: i32| if v == 4 { i32::from(code > 10) } else { (code / rare) % arity[v] };
            let columns: Vec<Vec<i32>> =
                (0..5).map(|v| rows.iter().map(|row| state(v, row.0[v])).collect()).collect();
            let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.1) / 3.0 + 1.0).collect();
            let data = Dataset::new(&slices, &arity.map(|r| r as usize), Some(&weights)).unwrap();
            let table = Table::new(data, Criterion::named(criterion, 1.0).unwrap()).unwrap();
            let terms: Terms<1> = Terms::new(table, 1 << 16);
            let mut worker = terms.worker();
            for y in 0..5 {
                for code in 0..32usize {
                    let given: VarSet<1> = (0..5).filter(|v| code >> v & 1 == 1 && *v != y).collect();
                    let sources = VarSet::first_n(5) - given.with(y);
                    let known = (terms.term(&mut *worker, given), terms.term(&mut *worker, given.with(y)));
                    let kept = terms.function().promising(given, y, known, sources);
                    prop_assert!(criterion != "bdeu" || kept == sources);
                    terms.gains(&mut *worker, y, given, sources - kept, |x, gain| {
                        assert!(gain <= terms.tolerance(), "{x} gains {gain} given {given:?}");
                    });
                }
            }
        }
    }

    /// A constant gains nothing; and given a variable, its copy tells nothing more about others.
    #[test]
    fn constants_and_what_is_determined_already_are_left_out() {
        let column = |f: fn(i32) -> i32| (0..200).map(f).collect::<Vec<i32>>();
        let columns = [column(|i| i % 2), column(|i| i % 2), column(|_| 0), column(|i| i / 7 % 2)];
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, &[2, 2, 2, 2], None).unwrap();
        let table = Table::new(data, Criterion::named("bic", 1.0).unwrap()).unwrap();
        let terms: Terms<1> = Terms::new(table, 1 << 16);
        let mut worker = terms.worker();
        let mut promising = |y: usize, given: VarSet<1>, sources: &[usize]| {
            let known = (terms.term(&mut *worker, given), terms.term(&mut *worker, given.with(y)));
            let sources = sources.iter().copied().collect();
            terms.function().promising(given, y, known, sources).iter().collect::<Vec<_>>()
        };
        assert_eq!(promising(0, VarSet::EMPTY, &[1, 2, 3]), [1, 3]);
        assert_eq!(promising(0, VarSet::single(1), &[2, 3]), []);
        assert_eq!(promising(2, VarSet::EMPTY, &[0, 1, 3]), []);
    }
}
