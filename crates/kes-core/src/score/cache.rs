//! The memory of set terms, shared by all threads and bounded in bytes.
//!
//! A set of hundreds of variables is a hundred bytes and more, of which a set with a term worth knowing
//! uses few: its members, sorted, are a smaller key, and comparing keys was a quarter of a cold run. Sets
//! that are small anyway, and those with too many members, are their own keys.

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

/// Tables rather than maps, so that a set is hashed only once per look-up.
struct Shard<const W: usize> {
    sets: HashTable<(VarSet<W>, f64)>,
    lists: HashTable<(List, f64)>,
}

/// Up to 16 members, each plus 1, in ascending order and followed by zeros, four in a word.
type List = [u64; 4];

/// What stands for a set in the cache.
enum Key<const W: usize> {
    Set(VarSet<W>),
    List(List),
}

impl<const W: usize> Key<W> {
    #[inline]
    fn new(set: &VarSet<W>) -> Self {
        if W <= size_of::<List>() / 8 {
            return Self::Set(*set);
        }
        let mut list = List::default();
        for (at, v) in set.iter().enumerate() {
            let Some(word) = list.get_mut(at / 4) else { return Self::Set(*set) };
            *word |= (v as u64 + 1) << (16 * (at % 4));
        }
        Self::List(list)
    }

    #[inline]
    fn hash(&self) -> u64 {
        match self {
            Self::Set(set) => FxBuildHasher.hash_one(set),
            Self::List(list) => FxBuildHasher.hash_one(list),
        }
    }
}

impl<const W: usize> Shard<W> {
    fn len(&self) -> usize {
        self.sets.len() + self.lists.len()
    }

    #[inline]
    fn find(&self, hash: u64, key: &Key<W>) -> Option<f64> {
        match key {
            Key::Set(set) => self.sets.find(hash, |(known, _)| known == set).map(|&(_, term)| term),
            Key::List(list) => self.lists.find(hash, |(known, _)| known == list).map(|&(_, term)| term),
        }
    }

    fn insert(&mut self, hash: u64, key: &Key<W>, term: f64) {
        match *key {
            Key::Set(set) => {
                self.sets.insert_unique(hash, (set, term), |(known, _)| FxBuildHasher.hash_one(known));
            }
            Key::List(list) => {
                self.lists.insert_unique(hash, (list, term), |(known, _)| FxBuildHasher.hash_one(known));
            }
        }
    }
}

impl<const W: usize> Cache<W> {
    /// A cache that uses at most about `bytes`.
    pub fn new(bytes: usize) -> Self {
        // A hash table doubles, is at most 7/8 full, and holds one more byte per bucket.
        let bucket = size_of::<(VarSet<W>, f64)>().min(size_of::<(List, f64)>()) + 1;
        let buckets = bytes / SHARDS / bucket;
        let shard_limit = if buckets < 2 { 0 } else { (1 << buckets.ilog2()) / 8 * 7 };
        let empty = || RwLock::new(Shard { sets: HashTable::new(), lists: HashTable::new() });
        Self { shards: (0..SHARDS).map(|_| empty()).collect(), shard_limit }
    }

    /// The shard that a hash belongs to; the tables themselves use its lowest and its highest bits.
    #[inline]
    fn shard(&self, hash: u64) -> &RwLock<Shard<W>> {
        &self.shards[(hash >> 40) as usize % SHARDS]
    }

    /// The term of a set, if it is known.
    #[inline]
    pub fn get(&self, set: &VarSet<W>) -> Option<f64> {
        let key = Key::new(set);
        let hash = key.hash();
        // A poisoned lock means that another thread panicked; its table is still whole.
        self.shard(hash).read().unwrap_or_else(PoisonError::into_inner).find(hash, &key)
    }

    /// Remembers the term of a set. Two threads may count the same set: both get the same term.
    pub fn put(&self, set: VarSet<W>, term: f64) {
        let key = Key::new(&set);
        let hash = key.hash();
        let mut shard = self.shard(hash).write().unwrap_or_else(PoisonError::into_inner);
        if shard.len() < self.shard_limit && shard.find(hash, &key).is_none() {
            shard.insert(hash, &key, term);
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

    /// Wide sets of every size, among them sets that share all but one member, each have their own term.
    #[test]
    fn wide_sets_are_told_apart_whatever_their_size() {
        let cache = Cache::<12>::new(1 << 24);
        let set =
            |size: usize, last: usize| -> VarSet<12> { (0..size).map(|i| 40 * i).chain([last]).collect() };
        for (size, last) in (0..19).flat_map(|size| (760..768).map(move |last| (size, last))) {
            cache.put(set(size, last), (1000 * size + last) as f64);
        }
        for (size, last) in (0..19).flat_map(|size| (760..768).map(move |last| (size, last))) {
            assert_eq!(cache.get(&set(size, last)), Some((1000 * size + last) as f64));
            assert_eq!(cache.get(&set(size, last).with(759)), None);
        }
        assert_eq!(cache.get(&VarSet::EMPTY), None);
        assert_eq!(cache.len(), 19 * 8);
    }
}
