//! Set functions: the seam between the engine and the kinds of data.
//!
//! A score-equivalent criterion on a table is a function `F` of sets of variables (see
//! [`Terms`](super::terms::Terms)). [`SetFunction`] is such a function on given data, shared by all
//! threads; a [`Worker`] computes its values for one thread, and a [`Survey`] those of very many
//! sets in order, for the exact search. Nothing outside this trait knows what the data are. The engine
//! calls a worker once for all sources of a target and a conditioning set, never for a value that
//! is in the cache.

use std::sync::Arc;

use super::bounds::{Bounds, Measure};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// A set function on a table.
///
/// `F(S)` is a pure function of the set and the data: the same bits on every thread, and in
/// any order. It may be `−∞` where a set is inadmissible (its model cannot be estimated, or its penalty
/// overflows); then it is so for every superset too, so that a gain, which the largest set decides, is
/// always a number. It is never NaN and never `+∞`.
pub trait SetFunction<const W: usize>: Send + Sync {
    /// Number of variables.
    fn variables(&self) -> usize;

    /// Whether the variable has more than one state or value, so that an edge to it can gain anything.
    fn varies(&self, v: usize) -> bool;

    /// `τ`: what rounding cannot tell from zero in a gain. See [`Terms::level`](super::terms::Terms::level).
    fn tolerance(&self) -> f64;

    /// One that computes values, with the buffers that this needs.
    fn worker(&self) -> Box<dyn Worker<W> + '_>;

    /// One that computes the values of very many sets.
    fn survey(&self) -> Box<dyn Survey<W> + '_>;

    /// Number of sources that are worth handing to another thread that is awake.
    fn portion(&self) -> usize {
        32
    }

    /// An upper bound on the score of a family. By default 0, the logarithm of a probability; densities have
    /// no such bound.
    fn perfect(&self) -> f64 {
        0.0
    }

    /// The rules by which families can be left out of an exact search, found on some threads.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    fn bounds(&self, threads: usize, stop: &Stop) -> Result<Bounds, Stopped>;

    /// The sources whose edge to `y` may raise the score given `C`, judged by `F(C)` and `F(C ∪ y)` alone. No source
    /// whose gain exceeds `τ` may be left out.
    fn promising(&self, _given: VarSet<W>, _y: usize, _terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        sources
    }

    /// The smallest set of variables met so far that is inadmissible because some of them are functions of
    /// the others, and of several such sets the first.
    fn dependent(&self) -> Option<Vec<usize>> {
        None
    }
}

impl<const W: usize, T: SetFunction<W> + ?Sized> SetFunction<W> for Arc<T> {
    fn variables(&self) -> usize {
        (**self).variables()
    }

    fn varies(&self, v: usize) -> bool {
        (**self).varies(v)
    }

    fn tolerance(&self) -> f64 {
        (**self).tolerance()
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        (**self).worker()
    }

    fn survey(&self) -> Box<dyn Survey<W> + '_> {
        (**self).survey()
    }

    fn portion(&self) -> usize {
        (**self).portion()
    }

    fn perfect(&self) -> f64 {
        (**self).perfect()
    }

    fn bounds(&self, threads: usize, stop: &Stop) -> Result<Bounds, Stopped> {
        (**self).bounds(threads, stop)
    }

    fn promising(&self, given: VarSet<W>, y: usize, terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        (**self).promising(given, y, terms, sources)
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        (**self).dependent()
    }
}

/// Computes values of a set function, for one thread.
pub trait Worker<const W: usize>: Send {
    /// `F(S)`.
    fn term(&mut self, set: VarSet<W>) -> f64;

    /// Fills in `F(C ∪ {x, y})`, and `F(C ∪ x)` where it is not known, for all given sources `x`. They come
    /// together because what they share, the target `y` and the conditioning set `C`, is most of the
    /// work.
    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]);
}

/// A source `x` of [`Worker::join`].
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The variable.
    pub x: usize,
    /// `F(C ∪ x)`, if it was known before.
    pub known: Option<f64>,
    /// `F(C ∪ x)`, whether or not it was; to be filled in if not.
    pub margin: f64,
    /// `F(C ∪ {x, y})`, to be filled in.
    pub joint: f64,
}

impl Source {
    /// With only the known term filled in.
    pub fn new(x: usize, known: Option<f64>) -> Self {
        Self { x, known, margin: known.unwrap_or(f64::NEG_INFINITY), joint: f64::NEG_INFINITY }
    }
}

/// Computes the values of very many sets, for one thread: fastest in ascending order.
pub trait Survey<const W: usize>: Send {
    /// `F(S)`, the same bits as from a [`Worker`], and what the [`Bounds`] need to know of the set.
    fn measure(&mut self, set: VarSet<W>) -> Measure;
}
