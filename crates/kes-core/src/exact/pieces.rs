//! A number for each subset of up to 31 variables, found piece by piece on threads.
//!
//! A piece holds the sets that share their highest variables. A recursion over subsets, or over supersets,
//! finds the pieces by the number of these: all pieces of one size at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::stop::{Stop, Stopped};
use crate::threads::map;

/// Numbers of all subsets, as far as they are found.
pub(crate) struct Pieces {
    found: Vec<OnceLock<Vec<f64>>>,
    /// The variables that differ within a piece.
    pub(crate) low: usize,
}

impl Pieces {
    /// For sets of `low + high` variables: `2^high` pieces.
    pub(crate) fn new(low: usize, high: usize) -> Self {
        Self { found: (0..1 << high).map(|_| OnceLock::new()).collect(), low }
    }

    /// The numbers of a piece; none, if it is not found yet.
    pub(crate) fn piece(&self, high: usize) -> &[f64] {
        self.found[high].get().map_or(&[], Vec::as_slice)
    }

    /// The number of a set whose piece is found.
    pub(crate) fn of(&self, set: u32) -> f64 {
        self.piece(set as usize >> self.low)[set as usize & ((1 << self.low) - 1)]
    }

    /// Keeps a piece, found by the only thread that looks for it.
    pub(crate) fn keep(&self, high: usize, piece: Vec<f64>) {
        let _ = self.found[high].set(piece);
    }

    /// Calls `work` for all pieces, the smallest sets first or the largest, and returns what it returns by
    /// the number of the piece. The sets that are finished are added to `done`.
    ///
    /// # Errors
    /// If `stop` is raised.
    pub(crate) fn by_size<T: Send>(
        &self,
        upwards: bool,
        threads: usize,
        stop: &Stop,
        done: &AtomicUsize,
        work: impl Fn(usize) -> Result<T, Stopped> + Sync,
    ) -> Result<Vec<T>, Stopped> {
        let high = self.found.len().trailing_zeros();
        let mut results: Vec<Option<T>> = self.found.iter().map(|_| None).collect();
        for size in 0..=high {
            let size = if upwards { size } else { high - size };
            let pieces: Vec<usize> =
                (0..self.found.len()).filter(|piece| piece.count_ones() == size).collect();
            let found = map(&mut vec![(); threads], pieces.len(), stop, |(), at| {
                let result = work(pieces[at])?;
                done.fetch_add(1 << self.low, Ordering::Relaxed);
                Ok::<_, Stopped>(result)
            })?;
            pieces.iter().zip(found).for_each(|(&piece, result)| results[piece] = Some(result));
        }
        Ok(results.into_iter().flatten().collect())
    }
}
