//! A discrete table of very many columns, as a set function of short lists.
//!
//! The terms are those of [`Table`], counted by the same code from the same bitmaps.

use super::Table;
use super::counts::Counter;
use crate::score::set_function::{SetFunction, Source};
use crate::wide::function::{Function, Worker};
use crate::wide::list::{self, List};

impl Function for Table {
    fn variables(&self) -> usize {
        self.data().variables()
    }

    fn varies(&self, v: usize) -> bool {
        self.data().arity()[v] > 1
    }

    fn tolerance(&self) -> f64 {
        SetFunction::<1>::tolerance(self)
    }

    fn total(&self) -> f64 {
        self.data().total()
    }

    fn fingerprint(&self) -> u128 {
        self.data().fingerprint()
    }

    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(Counting { table: self, counter: Counter::default() })
    }
}

/// Counts cells and makes terms of the counts.
struct Counting<'t> {
    table: &'t Table,
    counter: Counter,
}

fn members(set: &[u32]) -> impl Iterator<Item = usize> {
    set.iter().map(|&v| v as usize)
}

impl Worker for Counting<'_> {
    fn term(&mut self, set: &[u32]) -> f64 {
        let &mut Self { table, ref mut counter } = self;
        let all: Vec<usize> = members(set).collect();
        table.function().value(table.cells_of(members(set)), counter.count(table.data(), &all))
    }

    fn hopeful(
        &mut self,
        y: u32,
        given: &[u32],
        terms: (f64, f64),
        least: f64,
        is_wanted: &dyn Fn(u32) -> bool,
        hopeful: &mut List,
    ) {
        let table = self.table;
        let others =
            (0..table.data().variables() as u32).filter(|&x| x != y && !list::has(given, x) && is_wanted(x));
        match table.gain_bound() {
            Some(bound) => {
                let cells = table.cells_of(members(given));
                let may_gain = bound.judge(table.data().arity(), cells, y as usize, terms, least);
                hopeful.extend(others.filter(|&x| may_gain(x as usize)));
            }
            None => hopeful.extend(others),
        }
    }

    fn join(&mut self, given: &[u32], y: u32, sources: &mut [Source]) {
        let &mut Self { table, ref mut counter } = self;
        let base: Vec<usize> = members(given).collect();
        counter.count_each(table.data(), &base, y as usize, sources, &mut |source, counts| {
            let with_x = list::with(given, source.x as u32);
            let with_both = list::with(&with_x, y);
            source.joint = table.function().value(table.cells_of(members(&with_both)), &counts.joint);
            source.margin = table.function().value(table.cells_of(members(&with_x)), &counts.margin);
        });
    }
}
