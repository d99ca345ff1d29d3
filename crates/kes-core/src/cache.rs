//! The memory of set terms, shared by all threads and bounded in bytes.

use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::varset::VarSet;

const SHARDS: usize = 64;

/// From a set of variables to its term `F(S)`. When it is full it stops taking new terms, which
/// costs time but changes no result.
pub struct Cache<const W: usize> {
    shards: Vec<RwLock<HashMap<VarSet<W>, f64, FxBuildHasher>>>,
    shard_limit: usize,
}

impl<const W: usize> Cache<W> {
    /// A cache that uses at most about `bytes`.
    pub fn new(bytes: usize) -> Self {
        // A hash table doubles, is at most 7/8 full, and holds one more byte per bucket.
        let bucket = size_of::<(VarSet<W>, f64)>() + 1;
        let buckets = bytes / SHARDS / bucket;
        let shard_limit = if buckets < 2 { 0 } else { (1 << buckets.ilog2()) / 8 * 7 };
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), shard_limit }
    }

    #[inline]
    fn shard(&self, set: &VarSet<W>) -> &RwLock<HashMap<VarSet<W>, f64, FxBuildHasher>> {
        // The map itself uses the lowest and the highest bits of the hash.
        &self.shards[(FxBuildHasher.hash_one(set) >> 40) as usize % SHARDS]
    }

    /// The term of a set, if it is known.
    #[inline]
    pub fn get(&self, set: &VarSet<W>) -> Option<f64> {
        // A poisoned lock means that another thread panicked; its map is still whole.
        self.shard(set).read().unwrap_or_else(PoisonError::into_inner).get(set).copied()
    }

    /// Remembers the term of a set.
    pub fn put(&self, set: VarSet<W>, term: f64) {
        let mut shard = self.shard(&set).write().unwrap_or_else(PoisonError::into_inner);
        if shard.len() < self.shard_limit {
            shard.insert(set, term);
        }
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|s| s.read().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }

    /// Is no term known?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_cache_keeps_what_it_has_and_stays_within_its_bound() {
        let cache = Cache::<1>::new(64 * 17 * 16);
        for v in 0..4096usize {
            cache.put(VarSet::from_iter((0..12).filter(|bit| v >> bit & 1 == 1)), v as f64);
        }
        assert!(cache.len() <= 64 * 14);
        let kept = (0..4096usize).filter(|v| {
            let set = VarSet::from_iter((0..12).filter(|bit| v >> bit & 1 == 1));
            cache.get(&set).is_some_and(|term| {
                assert_eq!(term, *v as f64);
                true
            })
        });
        assert_eq!(kept.count(), cache.len());
    }
}
