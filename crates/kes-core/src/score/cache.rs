//! The memory of set terms, shared by all threads and bounded in bytes.

use std::hash::BuildHasher;
use std::sync::{PoisonError, RwLock};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::varset::VarSet;

const SHARDS: usize = 64;

/// From a set of variables to its term `F(S)`. When it is full it stops taking new terms, which
/// costs time but changes no result.
pub struct Cache<const W: usize> {
    shards: Vec<RwLock<Shard<W>>>,
    shard_limit: usize,
}

/// A table rather than a map, so that a set is hashed only once per look-up.
type Shard<const W: usize> = HashTable<(VarSet<W>, f64)>;

impl<const W: usize> Cache<W> {
    /// A cache that uses at most about `bytes`.
    pub fn new(bytes: usize) -> Self {
        // A hash table doubles, is at most 7/8 full, and holds one more byte per bucket.
        let bucket = size_of::<(VarSet<W>, f64)>() + 1;
        let buckets = bytes / SHARDS / bucket;
        let shard_limit = if buckets < 2 { 0 } else { (1 << buckets.ilog2()) / 8 * 7 };
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), shard_limit }
    }

    /// The hash of a set and the shard it belongs to; the table itself uses the lowest and the
    /// highest bits of the hash.
    #[inline]
    fn shard(&self, set: &VarSet<W>) -> (u64, &RwLock<Shard<W>>) {
        let hash = FxBuildHasher.hash_one(set);
        (hash, &self.shards[(hash >> 40) as usize % SHARDS])
    }

    /// The term of a set, if it is known.
    #[inline]
    pub fn get(&self, set: &VarSet<W>) -> Option<f64> {
        let (hash, shard) = self.shard(set);
        // A poisoned lock means that another thread panicked; its table is still whole.
        let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
        shard.find(hash, |(known, _)| known == set).map(|&(_, term)| term)
    }

    /// Remembers the term of a set. Two threads may count the same set: both get the same term.
    pub fn put(&self, set: VarSet<W>, term: f64) {
        let (hash, shard) = self.shard(&set);
        let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
        if shard.len() < self.shard_limit && shard.find(hash, |(known, _)| *known == set).is_none() {
            shard.insert_unique(hash, (set, term), |(known, _)| FxBuildHasher.hash_one(known));
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
