//! Gains of insertions, row by row, remembered from run to run.
//!
//! A *row* belongs to a target `y` and a conditioning set `C`: the gains `Δ(x, y | C)` of all sources `x`
//! asked for so far, of which only those that raise the score are kept. Which sources are valid changes
//! from move to move and from run to run, but a gain never does, so a row is evaluated source by source,
//! each once as long as there is room, and all sources that are new are counted in one pass over the data.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::boundary::Neighbour;
use crate::graph::EssentialGraph;
use crate::score::evaluate::Worker;
use crate::score::terms::Terms;
use crate::varset::VarSet;

/// What one thread knows of gains, with what it needs to find out more. It outlives the runs of the thread.
pub struct Gains<'a, const W: usize> {
    terms: &'a Terms<W>,
    /// For computing terms.
    pub worker: Box<dyn Worker<W> + 'a>,
    index: HashMap<(usize, VarSet<W>), usize, FxBuildHasher>,
    rows: Vec<Row<W>>,
    bytes: usize,
    limit: usize,
}

struct Row<const W: usize> {
    /// The sources asked for so far.
    evaluated: VarSet<W>,
    /// `(x, level of the gain)` where the gain is more than rounding.
    improving: Vec<(u32, i64)>,
}

impl<'a, const W: usize> Gains<'a, W> {
    /// No gains yet; about `limit` bytes of them will be kept from run to run.
    pub fn new(terms: &'a Terms<W>, limit: usize) -> Self {
        Self { terms, worker: terms.worker(), index: HashMap::default(), rows: Vec::new(), bytes: 0, limit }
    }

    /// The terms that the gains are made of.
    pub fn terms(&self) -> &'a Terms<W> {
        self.terms
    }

    /// The score of a model, from its canonical DAG.
    pub fn score(&mut self, graph: &EssentialGraph<W>) -> f64 {
        self.terms.score(&mut *self.worker, &graph.extension())
    }

    /// The gain of moving to a neighbour.
    pub fn delta(&mut self, neighbour: &Neighbour<W>) -> f64 {
        self.terms.delta(&mut *self.worker, neighbour)
    }

    /// Is there no room for more? A search holds on to its rows, so that there can be only where none goes on.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > self.limit
    }

    /// Makes room, if need be.
    pub(crate) fn tidy(&mut self) {
        if self.is_full() {
            self.index.clear();
            self.rows.clear();
            self.bytes = 0;
        }
    }

    /// `(x, level of the gain)` of the sources of a row whose gain is more than rounding.
    #[inline]
    pub(crate) fn improving(&self, row: usize) -> &[(u32, i64)] {
        &self.rows[row].improving
    }

    /// The row of `(y, given)` with at least the gains of `sources` evaluated.
    pub(crate) fn row(&mut self, y: usize, given: VarSet<W>, sources: VarSet<W>) -> usize {
        let Self { terms, worker, index, rows, bytes, .. } = self;
        let at = *index.entry((y, given)).or_insert_with(|| {
            *bytes += 2 * size_of::<(usize, VarSet<W>, Row<W>)>();
            rows.push(Row { evaluated: VarSet::EMPTY, improving: Vec::new() });
            rows.len() - 1
        });
        let row = &mut rows[at];
        let new = sources - row.evaluated;
        if !new.is_empty() {
            let before = row.improving.capacity();
            terms.improving(&mut **worker, y, given, new, |x, gain| {
                row.improving.push((x as u32, terms.level(gain)));
            });
            row.evaluated |= new;
            *bytes += (row.improving.capacity() - before) * size_of::<(u32, i64)>();
        }
        at
    }
}
