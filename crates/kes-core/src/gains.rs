//! Gains of insertions, row by row, remembered from run to run.
//!
//! A *row* belongs to a target `y` and a conditioning set `C`: the gains `Δ(x, y | C)` of all sources `x`
//! requested so far; only those that raise the score are kept. Which sources are valid changes
//! from move to move and from run to run, but a gain never does, so a row is evaluated source by source,
//! each once as long as there is room, and all sources that are new are counted in one pass over the data.
//! Given nothing, `Δ(x, y) = Δ(y, x)`: such a pair is evaluated from one side only.
//! All rows that a move asks for are evaluated together, so that idle threads can help. Rows outlive a search
//! where there is room: the next one, from the same start, need not look at all pairs again.

use std::sync::{Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::boundary::Neighbour;
use crate::graph::EssentialGraph;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::threads::{Helpers, Shared};
use crate::varset::VarSet;

/// The gains that one thread has computed, with the state for computing more. It outlives the runs of the thread.
pub struct Gains<'a, const W: usize> {
    terms: &'a Terms<W>,
    /// For computing terms.
    pub worker: Box<dyn Worker<W> + 'a>,
    known: Rows<W>,
    /// Sources that were requested and are still to be evaluated.
    asked: Vec<Part<W>>,
    /// Requested sources whose gains are those of other rows.
    mirrored: Vec<Mirrored<W>>,
    /// Helper threads, and the work that they have started.
    helpers: Option<&'a Helpers<Part<W>>>,
    shared: Option<Shared<Part<W>>>,
    limit: usize,
    /// Number of times that all rows were discarded.
    age: u64,
}

/// Rows, apart from the means to compute more.
#[derive(Clone, Default)]
pub struct Rows<const W: usize> {
    index: HashMap<(usize, VarSet<W>), usize, FxBuildHasher>,
    rows: Vec<Row<W>>,
    /// The row of each variable given nothing.
    marginal: Vec<Option<usize>>,
    bytes: usize,
}

/// The rows that a search left for the next one, and the memory for those of a search.
pub struct RowStore<const W: usize> {
    /// Bytes that the rows of all threads may take.
    pub limit: usize,
    rows: Mutex<Rows<W>>,
}

impl<const W: usize> RowStore<W> {
    /// An empty one.
    pub fn new(limit: usize) -> Self {
        Self { limit, rows: Mutex::default() }
    }

    /// The rows for each of `threads` threads. They are not shared again until they are put back.
    pub(crate) fn take(&self, threads: usize) -> Vec<Rows<W>> {
        let rows = std::mem::take(&mut *self.rows.lock().unwrap_or_else(PoisonError::into_inner));
        let mut all = vec![rows.clone(); threads.saturating_sub(1)];
        all.push(rows);
        all
    }

    /// Keeps the most of what threads know.
    pub(crate) fn put_back(&self, rows: impl Iterator<Item = Rows<W>>) {
        if let Some(most) = rows.max_by_key(|rows| rows.bytes) {
            *self.rows.lock().unwrap_or_else(PoisonError::into_inner) = most;
        }
    }
}

#[derive(Clone)]
struct Row<const W: usize> {
    /// The sources requested so far.
    evaluated: VarSet<W>,
    /// `(x, level of the gain)` where the gain is more than rounding.
    improving: Vec<(u32, i64)>,
}

impl<'a, const W: usize> Gains<'a, W> {
    /// No gains yet; about `limit` bytes of them will be kept from run to run.
    pub fn new(terms: &'a Terms<W>, limit: usize) -> Self {
        Self {
            terms,
            worker: terms.worker(),
            known: Rows::default(),
            asked: Vec::new(),
            mirrored: Vec::new(),
            helpers: None,
            shared: None,
            limit,
            age: 0,
        }
    }

    /// The same, with helper threads, which compute the same values.
    pub fn helped(self, helpers: &'a Helpers<Part<W>>) -> Self {
        Self { helpers: Some(helpers), ..self }
    }

    /// The same with rows that were computed before, from the same terms.
    pub fn knowing(self, known: Rows<W>) -> Self {
        Self { known, ..self }
    }

    /// The rows computed so far; `None` if some of them are not evaluated, as the search was stopped.
    pub fn into_rows(self) -> Option<Rows<W>> {
        let is_complete = self.asked.is_empty() && self.mirrored.is_empty() && self.shared.is_none();
        is_complete.then_some(self.known)
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

    /// Whether there is no room for more. A search refers to its rows, so room can be made only between searches.
    pub(crate) fn is_full(&self) -> bool {
        self.known.bytes > self.limit
    }

    /// Distinguishes rows written before and after room was made.
    pub(crate) fn age(&self) -> u64 {
        self.age
    }

    /// Whether rows of that age are still kept, and more may be added.
    pub(crate) fn lasts(&self, age: u64) -> bool {
        self.age == age && !self.is_full()
    }

    /// Makes room, if need be.
    pub(crate) fn tidy(&mut self) {
        if self.is_full() {
            debug_assert!(self.shared.is_none(), "no thread works on discarded rows");
            self.known = Rows::default();
            self.asked.clear();
            self.mirrored.clear();
            self.age += 1;
        }
    }

    /// `(x, level of the gain)` of the sources of a row whose gain is more than rounding, in ascending order.
    #[inline]
    pub(crate) fn improving(&self, row: usize) -> &[(u32, i64)] {
        debug_assert!(self.shared.is_none(), "it is evaluated first");
        debug_assert!(self.asked.iter().all(|part| part.row != row), "it is evaluated first");
        debug_assert!(self.mirrored.iter().all(|mirrored| mirrored.row != row), "it is evaluated first");
        &self.known.rows[row].improving
    }

    /// The row of `(y, given)`, with the gains of `sources` evaluated from the next [`Gains::evaluate`] on.
    pub(crate) fn row(&mut self, y: usize, given: VarSet<W>, sources: VarSet<W>) -> usize {
        let Self { terms, known: Rows { index, rows, marginal, bytes }, asked, mirrored, .. } = self;
        let at = *index.entry((y, given)).or_insert_with(|| {
            *bytes += 2 * size_of::<(usize, VarSet<W>, Row<W>)>();
            rows.push(Row { evaluated: VarSet::EMPTY, improving: Vec::new() });
            rows.len() - 1
        });
        let mut new = sources - rows[at].evaluated;
        rows[at].evaluated |= new;
        if given.is_empty() && !new.is_empty() {
            marginal.resize(terms.variables(), None);
            marginal[y] = Some(at);
            let is_known = |&x: &usize| marginal[x].is_some_and(|row| rows[row].evaluated.contains(y));
            let known: VarSet<W> = new.iter().filter(is_known).collect();
            if !known.is_empty() {
                new -= known;
                mirrored.push(Mirrored { row: at, y, sources: known });
            }
        }
        if !new.is_empty() {
            asked.push(Part { row: at, y, given, sources: new, improving: Vec::new() });
        }
        at
    }

    /// Lets helpers start on the requested parts, if that is worthwhile; [`Gains::evaluate`] does the rest.
    pub(crate) fn share(&mut self) {
        let Self { terms, helpers, shared, asked, .. } = self;
        if let Some(helpers) = helpers.filter(|helpers| !helpers.is_empty())
            && let Some(parts) = divided(asked, terms.function().portion(), helpers.len() + 1)
        {
            debug_assert!(shared.is_none(), "what was shared is evaluated before more is");
            *shared = Some(helpers.share(parts));
            asked.retain(|part| part.sources.is_empty()); // evaluated before the last stop
        }
    }

    /// Evaluates the requested rows.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile; the rest is done in the next call.
    pub(crate) fn evaluate(&mut self, stop: &Stop) -> Result<(), Stopped> {
        let Self { terms, worker, shared, asked, .. } = self;
        if let Some(shared) = shared.take() {
            asked.extend(shared.finish(|part| part.evaluate(terms, &mut **worker, stop)));
        }
        while let Some(part) = asked.last_mut() {
            part.evaluate(terms, &mut **worker, stop);
            stop.check()?;
            let (row, mut found) = (part.row, std::mem::take(&mut part.improving));
            let improving = &mut self.known.rows[row].improving;
            let before = improving.capacity();
            improving.append(&mut found);
            self.known.bytes += (improving.capacity() - before) * size_of::<(u32, i64)>();
            asked.pop();
            if asked.last().is_none_or(|next| next.row != row) {
                improving.sort_unstable();
            }
        }
        self.mirror();
        Ok(())
    }

    /// Takes over gains of pairs from the rows of their other variables.
    fn mirror(&mut self) {
        let Self { known: Rows { rows, marginal, bytes, .. }, mirrored, .. } = self;
        // Nothing is taken from a row in its turn: of two rows, only the later one mirrors the earlier.
        let taken: Vec<_> = mirrored.drain(..).map(|part| (part.row, part.found(rows, marginal))).collect();
        for (row, mut found) in taken {
            let improving = &mut rows[row].improving;
            let before = improving.capacity();
            improving.append(&mut found);
            *bytes += (improving.capacity() - before) * size_of::<(u32, i64)>();
            improving.sort_unstable();
        }
    }
}

/// Some requested sources of a row given nothing. The gain of a pair is the same from both sides, to the bit, and these
/// were requested from the other side before.
struct Mirrored<const W: usize> {
    row: usize,
    y: usize,
    sources: VarSet<W>,
}

impl<const W: usize> Mirrored<W> {
    /// Those of the sources that raise the score.
    fn found(&self, rows: &[Row<W>], marginal: &[Option<usize>]) -> Vec<(u32, i64)> {
        let level = |x: usize| {
            let other = &rows[marginal[x]?].improving;
            let at = other.binary_search_by_key(&(self.y as u32), |&(y, _)| y).ok()?;
            Some((x as u32, other[at].1))
        };
        self.sources.iter().filter_map(level).collect()
    }
}

/// Some requested sources of a row and, once evaluated, those of them that raise the score.
pub struct Part<const W: usize> {
    row: usize,
    y: usize,
    given: VarSet<W>,
    /// The sources that are not evaluated yet.
    sources: VarSet<W>,
    improving: Vec<(u32, i64)>,
}

impl<const W: usize> Part<W> {
    /// Evaluates all sources, unless it is stopped.
    pub fn evaluate(&mut self, terms: &Terms<W>, worker: &mut dyn Worker<W>, stop: &Stop) {
        let Self { y, given, sources, improving, .. } = self;
        if !stop.is_raised() && !sources.is_empty() {
            let found = |x: usize, gain: f64| improving.push((x as u32, terms.level(gain)));
            terms.improving(worker, *y, *given, *sources, found);
            *sources = VarSet::EMPTY;
        }
    }
}

/// Splits the requests into parts for this many threads, each of at least `portion` sources or one row, if it is
/// worth waking them. More parts balance the load better.
fn divided<const W: usize>(asked: &[Part<W>], portion: usize, threads: usize) -> Option<Vec<Part<W>>> {
    let all: usize = asked.iter().map(|part| part.sources.len()).sum();
    if all < 8 * portion {
        return None;
    }
    let most = (16 * threads).div_ceil(asked.len());
    let mut parts = Vec::new();
    for part in asked {
        let number = part.sources.len();
        let size = number.div_ceil((number / portion).clamp(1, most));
        let mut left = part.sources.iter();
        loop {
            let sources: VarSet<W> = left.by_ref().take(size).collect();
            if sources.is_empty() {
                break;
            }
            parts.push(Part { sources, improving: Vec::new(), ..*part });
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::discrete::Table;
    use crate::score::discrete::criterion::Criterion;
    use crate::score::discrete::dataset::Dataset;
    use crate::threads::with_helpers;

    fn terms() -> Terms<1> {
        let rows = 300_000; // most of them distinct, so that a portion is one source
        let state = |v: i32, i: i32| (i % 7 * v + (i % 3).min(1) * (i / (v * v + 1))) % 3;
        let columns: Vec<Vec<i32>> = (0..14).map(|v| (0..rows).map(|i| state(v, i)).collect()).collect();
        let slices: Vec<&[i32]> = columns.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&slices, &[3; 14], None).unwrap();
        Terms::new(Table::new(data, Criterion::named("aic", 1.0).unwrap()).unwrap(), 1 << 20)
    }

    /// Asks for rows of different lengths, the second time for more of them.
    fn all_rows(gains: &mut Gains<'_, 1>, stop: &Stop) -> Result<Vec<Vec<(u32, i64)>>, Stopped> {
        let mut rows = Vec::new();
        for last in [9, 14] {
            rows.clear();
            for (y, given) in [(0, VarSet::EMPTY), (1, VarSet::single(2)), (2, [3, 4].into_iter().collect())]
            {
                rows.push(gains.row(y, given, (5..last - y).collect()));
            }
            gains.share();
            gains.evaluate(stop)?;
        }
        assert!(rows.iter().all(|&row| gains.improving(row).is_sorted()));
        Ok(rows.into_iter().map(|row| gains.improving(row).to_vec()).collect())
    }

    #[test]
    fn rows_are_left_to_the_next_search_unless_it_was_stopped() {
        let (terms, go_on, stop) = (terms(), Stop::default(), Stop::default());
        let store = RowStore::new(1 << 20);
        let mut first = Gains::new(&terms, store.limit);
        let alone = all_rows(&mut first, &go_on).unwrap();
        store.put_back(first.into_rows().into_iter());
        let all = store.take(2);
        assert!(store.take(1)[0].rows.is_empty(), "they are taken once");
        stop.raise(); // evaluates nothing any more
        for rows in all {
            let mut next = Gains::new(&terms, store.limit).knowing(rows);
            assert_eq!(all_rows(&mut next, &stop).as_ref(), Ok(&alone));
            next.row(3, VarSet::EMPTY, (5..14).collect());
            assert_eq!(next.evaluate(&stop), Err(Stopped));
            assert!(next.into_rows().is_none());
        }
    }

    #[test]
    fn helped_gains_are_those_of_one_thread_also_after_a_stop() {
        let go_on = Stop::default();
        let terms = terms();
        let alone = all_rows(&mut Gains::new(&terms, 1 << 20), &go_on).unwrap();
        assert!(alone.iter().map(Vec::len).sum::<usize>() > 10, "{alone:?}");
        for helpers in 0..4 {
            let mut workers: Vec<_> = (0..helpers).map(|_| terms.worker()).collect();
            let stop = Stop::default();
            let help = |worker: &mut Box<dyn Worker<1> + '_>, part: &mut Part<1>| {
                part.evaluate(&terms, &mut **worker, &stop);
            };
            with_helpers(&mut workers, help, |helpers| {
                let mut gains = Gains::new(&terms, 1 << 20).helped(helpers);
                gains.row(0, VarSet::EMPTY, (5..14).collect());
                gains.share();
                assert_eq!(gains.shared.is_some(), !helpers.is_empty());
                assert_eq!(all_rows(&mut gains, &stop).as_ref(), Ok(&alone));
                let mut stopped = Gains::new(&terms, 1 << 20).helped(helpers);
                stop.raise();
                assert_eq!(all_rows(&mut stopped, &stop), Err(Stopped));
                assert_eq!(all_rows(&mut stopped, &go_on).as_ref(), Ok(&alone));
            });
            let midway = Stop::default(); // raised when a helper has done its first part
            let help = |worker: &mut Box<dyn Worker<1> + '_>, part: &mut Part<1>| {
                part.evaluate(&terms, &mut **worker, &midway);
                midway.raise();
            };
            with_helpers(&mut workers, help, |helpers| {
                let mut stopped = Gains::new(&terms, 1 << 20).helped(helpers);
                let _ = all_rows(&mut stopped, &midway);
                assert_eq!(all_rows(&mut stopped, &go_on).as_ref(), Ok(&alone));
            });
        }
    }
}
