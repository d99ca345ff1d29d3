//! Evaluates terms of a Gaussian table by Cholesky factors of correlation matrices.

use super::cholesky::Factors;
use super::table::{Table, dependence_threshold};
use crate::score::bounds::Measure;
use crate::score::set_function::{Source, Survey, Worker};
use crate::varset::VarSet;

/// Computes terms. What the next set shares with the last one, as far as the first columns go, is
/// kept: sources come in ascending order.
pub(super) struct Evaluating<'t> {
    table: &'t Table,
    joint: Factoring,
    margin: Factoring,
}

impl<'t> Evaluating<'t> {
    pub(super) fn new(table: &'t Table) -> Self {
        Self { table, joint: Factoring::default(), margin: Factoring::default() }
    }
}

impl<const W: usize> Worker<W> for Evaluating<'_> {
    fn term(&mut self, set: VarSet<W>) -> f64 {
        self.joint.term(self.table, set)
    }

    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]) {
        for source in sources {
            let with_x = given.with(source.x);
            source.joint = self.joint.term(self.table, with_x.with(y));
            if source.known.is_none() {
                source.margin = self.margin.term(self.table, with_x);
            }
        }
    }
}

impl<const W: usize> Survey<W> for Evaluating<'_> {
    fn measure(&mut self, set: VarSet<W>) -> Measure {
        Measure { term: self.joint.term(self.table, set), detail: 0.0 }
    }
}

/// Factorises one set after the other.
#[derive(Default)]
struct Factoring {
    factors: Factors,
    columns: Vec<usize>,
}

impl Factoring {
    /// `F(S)`.
    fn term<const W: usize>(&mut self, table: &Table, set: VarSet<W>) -> f64 {
        let Self { factors, columns } = self;
        let blocks = &table.moments.blocks;
        columns.clear();
        let mut embedded = 0;
        for v in set.iter() {
            columns.extend(blocks[v].clone());
            embedded += usize::from(!blocks[v].is_empty());
        }
        // In the order of the columns, whatever the numbers of their variables: that order alone decides
        // the bits.
        columns.sort_unstable();
        let always_defined = table.enlargement > 0.0;
        if !always_defined && embedded > 1 && 2.0 * columns.len() as f64 >= table.moments.total {
            return f64::NEG_INFINITY;
        }
        let threshold = if always_defined { 0.0 } else { dependence_threshold(columns.len()) };
        let common = factors.columns().iter().zip(&*columns).take_while(|(a, b)| a == b).count();
        factors.truncate(common);
        let mut regular = factors.pivots().iter().all(|&pivot| pivot >= threshold);
        for &column in &columns[common..] {
            if !regular {
                break;
            }
            regular = factors.push(&table.moments.correlations, column, table.enlargement) >= threshold;
        }
        if !regular {
            factors.truncate(0);
            table.dependent.note(set.iter().filter(|&v| !blocks[v].is_empty()));
            return f64::NEG_INFINITY;
        }
        let value = table.function.value(columns, factors.ln_determinant());
        libm::rint(value / table.quantum) * table.quantum
    }
}
