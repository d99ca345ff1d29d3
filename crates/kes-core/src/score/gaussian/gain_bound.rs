//! Edges that cannot gain anything, known before their terms are.
//!
//! The gain of an edge between `x` and `y` given `C` depends on the variance of `x` that `C`, and `C` with `y`, leave
//! unexplained: two pivots, for which the matrix of `C` and `y` is factorised once for all sources. That takes
//! a fraction of the time of computing two terms, and only a few of hundreds of sources can gain anything.
//! Terms are computed for those alone, so no bit of any gain changes.

use super::cholesky::{Factors, Matrix, SMALL};
use super::criterion::Function;
use super::moments::Moments;
use crate::varset::VarSet;

/// In units of `N`: far more than the rounding of a gain from pivots that are not small.
const MARGIN: f64 = 1e-6;

/// The factors of a conditioning set and a target, for all sources.
pub struct GainBound<'t> {
    moments: &'t Moments,
    function: &'t dyn Function,
    enlargement: f64,
    /// Of `C`.
    given: Factors,
    /// Of `C` and `y`.
    both: Factors,
}

impl<'t> GainBound<'t> {
    /// For a set and a target, unless some of their columns nearly depend on others.
    pub fn new<const W: usize>(
        moments: &'t Moments,
        function: &'t dyn Function,
        given: VarSet<W>,
        y: usize,
    ) -> Option<Self> {
        let enlargement = function.enlargement();
        let mut bound =
            Self { moments, function, enlargement, given: Factors::default(), both: Factors::default() };
        let Moments { blocks, correlations, .. } = moments;
        for column in given.iter().flat_map(|v| blocks[v].clone()) {
            push(&mut bound.given, correlations, column, enlargement)?;
            push(&mut bound.both, correlations, column, enlargement)?;
        }
        for column in blocks[y].clone() {
            push(&mut bound.both, correlations, column, enlargement)?;
        }
        Some(bound)
    }

    /// The sources whose edge to the target may gain something, where `terms` are `F(C)` and `F(C ∪ y)`.
    pub fn sift<const W: usize>(mut self, terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        if !(terms.0.is_finite() && terms.1.is_finite()) {
            return sources;
        }
        let (without, with) = (self.given.ln_determinant(), self.both.ln_determinant());
        let (given, both) = (self.given.columns().to_vec(), self.both.columns().to_vec());
        let Self { moments, function, .. } = self;
        let mut columns = Vec::new();
        let mut value = |set: &[usize], x: usize, ln_determinant: f64| {
            columns.clear();
            columns.extend(set.iter().copied().chain(moments.blocks[x].clone()));
            function.value(&columns, ln_determinant)
        };
        let hopeful = |&x: &usize| {
            let Some((margin, joint)) = self.pivots(x) else { return true };
            let margin = value(&given, x, without + libm::log(margin));
            let joint = value(&both, x, with + libm::log(joint));
            (joint + terms.0) - (margin + terms.1) > -MARGIN * moments.total
        };
        sources.iter().filter(hopeful).collect()
    }

    /// The products of the pivots of `x` given `C`, and given `C` and `y`, unless one of them is small.
    fn pivots(&mut self, x: usize) -> Option<(f64, f64)> {
        let Self { moments, enlargement, given, both, .. } = self;
        let block = moments.blocks[x].clone();
        if block.len() == 1 {
            let count = given.columns().len();
            let (first, all) = both.left(&moments.correlations, block.start, *enlargement, count);
            return (all >= SMALL).then_some((first, all));
        }
        let product = |factors: &mut Factors| {
            let count = factors.columns().len();
            let pivots =
                block.clone().map(|column| push(factors, &moments.correlations, column, *enlargement));
            let product = pivots.product::<Option<f64>>();
            factors.truncate(count);
            product
        };
        Some((product(given)?, product(both)?))
    }
}

/// Continues with a column, unless its pivot is small.
fn push(factors: &mut Factors, matrix: &Matrix, column: usize, enlargement: f64) -> Option<f64> {
    let pivot = factors.push(matrix, column, enlargement);
    (pivot >= SMALL).then_some(pivot)
}
