//! The cells met so far.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::cells::Cells;
use super::rows::Rows;

/// Bytes of cells that are kept; the oldest make room for new ones.
const KEPT: usize = 256 << 20;

/// The cells met so far, by their discrete variables in ascending order.
#[derive(Default)]
pub struct Kept {
    store: Mutex<Store>,
}

#[derive(Default)]
struct Store {
    cells: HashMap<Box<[u32]>, Arc<Cells>, FxBuildHasher>,
    /// The keys of `cells`, oldest first.
    ages: VecDeque<Box<[u32]>>,
    bytes: usize,
}

impl Kept {
    /// The cells of a set of discrete variables, in ascending order.
    pub fn of(&self, rows: &Rows, variables: &[u32]) -> Arc<Cells> {
        if let Some(known) = self.lock().cells.get(variables) {
            return Arc::clone(known);
        }
        let cells = Arc::new(match variables {
            [] => Cells::one(rows),
            [given @ .., last] => self.of(rows, given).divided(rows, *last as usize),
        });
        self.lock().add(variables, &cells, KEPT);
        cells
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Adds cells, unless another thread has; the oldest go until all take no more than `most` bytes.
    fn add(&mut self, variables: &[u32], cells: &Arc<Cells>, most: usize) {
        if self.cells.contains_key(variables) {
            return;
        }
        self.bytes += cells.bytes();
        while self.bytes > most
            && let Some(oldest) = self.ages.pop_front()
        {
            self.bytes -= self.cells.remove(&oldest).map_or(0, |cells| cells.bytes());
        }
        self.cells.insert(variables.into(), Arc::clone(cells));
        self.ages.push_back(variables.into());
    }
}
