//! Gains of insertions, row by row: for a target and a conditioning set, all sources that raise the score.
//!
//! Unlike those of [`crate::gains`], rows cover all sources, whether they are valid at the moment or not: a bound
//! rules out nearly all variables in one pass, and few are left to be scored.

use std::sync::OnceLock;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::function::{Function, Worker};
use super::graph::{Dag, Graph};
use super::list::{self, List};
use super::model::Neighbour;
use crate::boundary::Operator;
use crate::score::prior::Prior;
use crate::score::set_function::Source;
use crate::score::terms::{gain, level};
use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// `(x, level of the gain)` of the sources whose gain is more than rounding, in ascending order.
pub type Row = Box<[(u32, i64)]>;

/// The most terms that a thread remembers.
const REMEMBERED: usize = 1 << 20;
/// Targets per piece of work on threads.
const TOGETHER: usize = 64;

/// A set function with a prior over adjacencies, and the gains of all pairs given nothing.
pub struct Terms {
    function: Box<dyn Function>,
    prior: Option<Prior>,
    tolerance: f64,
    pairs: OnceLock<Vec<Row>>,
}

impl Terms {
    /// The terms of a set function.
    pub fn new(function: Box<dyn Function>, prior: Option<Prior>) -> Self {
        let tolerance = function.tolerance();
        Self { function, prior, tolerance, pairs: OnceLock::new() }
    }

    /// The set function.
    pub fn function(&self) -> &dyn Function {
        &*self.function
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.function.variables()
    }

    /// `τ`; see [`crate::score::terms::Terms::tolerance`].
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn weight(&self, set: &[u32]) -> f64 {
        let members = || set.iter().map(|&v| v as usize);
        self.prior.as_ref().map_or(0.0, |prior| prior.of_members(members(), |v| list::has(set, v as u32)))
    }

    /// `F(S)`.
    fn term(&self, worker: &mut dyn Worker, set: &[u32]) -> f64 {
        worker.term(set) + self.weight(set)
    }

    /// The row of a target and a conditioning set, with the sources that are wanted.
    fn row(&self, worker: &mut dyn Worker, y: u32, given: &[u32], is_wanted: impl Fn(u32) -> bool) -> Row {
        let with_y = list::with(given, y);
        let own = (worker.term(given), worker.term(&with_y));
        let (neither, target) = (own.0 + self.weight(given), own.1 + self.weight(&with_y));
        let mut hopeful = List::new();
        let least = self.tolerance - self.prior.as_ref().map_or(0.0, Prior::common);
        worker.hopeful(y, given, own, least, &is_wanted, &mut hopeful);
        if let Some(prior) = &self.prior {
            let favoured = prior.favoured(y as usize).map(|x| x as u32);
            let extra: List = favoured.filter(|&x| !list::has(&with_y, x) && is_wanted(x)).collect();
            if !extra.is_empty() {
                hopeful.extend(extra);
                list::tidy(&mut hopeful);
            }
        }
        let mut sources: Vec<Source> = hopeful.iter().map(|&x| Source::new(x as usize, None)).collect();
        worker.join(given, y, &mut sources);
        let of = |source: &Source| {
            let x = source.x as u32;
            let with_x = list::with(given, x);
            let margin = source.margin + self.weight(&with_x);
            let joint = source.joint + self.weight(&list::with(&with_x, y));
            let gain = gain(joint, neither, margin, target);
            (gain > self.tolerance).then(|| (x, self.level(gain)))
        };
        sources.iter().filter_map(of).collect()
    }

    /// The gains of all pairs given nothing, found on some threads the first time.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn pairs(&self, threads: usize, stop: &Stop) -> Result<&[Row], Stopped> {
        if let Some(rows) = self.pairs.get() {
            return Ok(rows);
        }
        self.function.prepare(threads, stop)?;
        let n = self.variables();
        let targets = self.function.targets();
        let mut place = vec![0; n];
        (0..).zip(&targets).for_each(|(at, &y)| place[y as usize] = at);
        let mut workers: Vec<_> = (0..threads.max(1)).map(|_| self.function.worker()).collect();
        // A gain is the same for both directions, to the bit: each is computed once.
        let after = map(&mut workers, n.div_ceil(TOGETHER), stop, |worker, piece| {
            let row = |at: usize| {
                stop.check()?;
                let is_after = |x: u32| place[x as usize] > at;
                Ok(self.row(&mut **worker, targets[at], &[], is_after))
            };
            (piece * TOGETHER..n.min((piece + 1) * TOGETHER)).map(row).collect::<Result<Vec<Row>, Stopped>>()
        })?;
        let mut rows: Vec<Vec<(u32, i64)>> = vec![Vec::new(); n];
        for (&y, row) in targets.iter().zip(after.into_iter().flatten()) {
            row.iter().for_each(|&(x, level)| rows[x as usize].push((y, level)));
            rows[y as usize].extend(row);
        }
        rows.iter_mut().for_each(|row| row.sort_unstable());
        Ok(self.pairs.get_or_init(|| rows.into_iter().map(Vec::into_boxed_slice).collect()))
    }

    /// The level of a gain or score; see [`level`].
    pub fn level(&self, value: f64) -> i64 {
        level(value, self.tolerance) as i64
    }
}

/// The gains that one thread has computed, with the state for computing more.
pub struct Gains<'a> {
    terms: &'a Terms,
    worker: Box<dyn Worker + 'a>,
    /// Those given nothing come first, in the order of their targets.
    pairs: &'a [Row],
    index: HashMap<(u32, Box<[u32]>), u32, FxBuildHasher>,
    rows: Vec<Row>,
    known: HashMap<Box<[u32]>, f64, FxBuildHasher>,
    bytes: usize,
    limit: usize,
    /// Number of times that all rows were discarded.
    age: u64,
}

impl<'a> Gains<'a> {
    /// Only the gains of all pairs at first; about `limit` bytes will be kept from run to run.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(terms: &'a Terms, limit: usize, threads: usize, stop: &Stop) -> Result<Self, Stopped> {
        Ok(Self { pairs: terms.pairs(threads, stop)?, limit, ..Self::without_rows(terms) })
    }

    /// Gains of single moves, and scores, but no rows.
    pub fn without_rows(terms: &'a Terms) -> Self {
        Self {
            terms,
            worker: terms.function().worker(),
            pairs: &[],
            index: HashMap::default(),
            rows: Vec::new(),
            known: HashMap::default(),
            bytes: 0,
            limit: 0,
            age: 0,
        }
    }

    /// The terms that the gains are made of.
    pub fn terms(&self) -> &'a Terms {
        self.terms
    }

    /// Distinguishes rows written before and after room was made.
    pub fn age(&self) -> u64 {
        self.age
    }

    /// Whether rows of that age are still kept, and more may be added.
    pub fn lasts(&self, age: u64) -> bool {
        self.age == age && self.bytes <= self.limit
    }

    /// Makes room, if need be.
    pub fn tidy(&mut self) {
        if self.bytes > self.limit {
            (self.index, self.rows, self.bytes) = (HashMap::default(), Vec::new(), 0);
            self.age += 1;
        }
    }

    /// The number of the row of `(y, given)`.
    pub fn row(&mut self, y: u32, given: &[u32]) -> u32 {
        if given.is_empty() {
            return y;
        }
        let Self { terms, worker, pairs, index, rows, bytes, .. } = self;
        *index.entry((y, given.into())).or_insert_with(|| {
            let row = terms.row(&mut **worker, y, given, |_| true);
            *bytes += size_of_val(&*row) + 4 * given.len() + 64;
            rows.push(row);
            (pairs.len() + rows.len() - 1) as u32
        })
    }

    /// The sources of a row that raise the score.
    #[inline]
    pub fn improving(&self, row: u32) -> &[(u32, i64)] {
        let row = row as usize;
        self.pairs.get(row).unwrap_or_else(|| &self.rows[row - self.pairs.len()])
    }

    /// `F(S)`.
    fn term(&mut self, set: &[u32]) -> f64 {
        if let Some(&term) = self.known.get(set) {
            return term;
        }
        let term = self.terms.term(&mut *self.worker, set);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(set.into(), term);
        term
    }

    /// The gain of inserting an edge between `x` and `y` given `C`; of deleting it, the negative.
    pub fn gain(&mut self, x: u32, y: u32, given: &[u32]) -> f64 {
        let (with_x, with_y) = (list::with(given, x), list::with(given, y));
        let joint = self.term(&list::with(&with_x, y));
        let (neither, x, y) = (self.term(given), self.term(&with_x), self.term(&with_y));
        gain(joint, neither, x, y)
    }

    /// The gain of moving to a neighbour.
    pub fn delta(&mut self, neighbour: &Neighbour) -> f64 {
        let gain = self.gain(neighbour.x, neighbour.y, &neighbour.given);
        if neighbour.operator == Operator::Insert { gain } else { -gain }
    }

    /// The score of a family, `F(Pa(y) ∪ y) − F(Pa(y))`.
    pub fn family(&mut self, y: u32, parents: &[u32]) -> f64 {
        let whole = self.term(&list::with(parents, y));
        if whole == f64::NEG_INFINITY { whole } else { whole - self.term(parents) }
    }

    /// The score of a model, from its canonical DAG.
    pub fn score(&mut self, graph: &Graph) -> f64 {
        self.score_of_dag(&graph.extension())
    }

    /// The score of a DAG: the sum over its families.
    pub fn score_of_dag(&mut self, dag: &Dag) -> f64 {
        (0..).zip(&dag.parents).map(|(y, parents)| self.family(y, parents)).sum()
    }
}
