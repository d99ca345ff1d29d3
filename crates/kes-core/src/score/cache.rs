//! The cache of set terms, shared by all threads and bounded in bytes.
//!
//! A set whose term is worth caching has few members, whatever the number of variables: sorted and packed
//! into two words they are a small [`Key`]. Keys and terms stand in one table of atomic words, in which
//! any number of threads read and insert without locks, and a row of gains is looked up
//! at once. A term that gets lost when two threads meet, or while the table grows, is counted again:
//! that costs time but changes no result.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::varset::VarSet;

/// Doors to the table: threads that use different ones do not hinder each other.
const DOORS: usize = 64;
/// Number of terms looked up at once.
pub const TOGETHER: usize = 32;
/// Slots of the first table.
const FIRST: usize = 1 << 10;
/// Marks a slot without a term. No term is NaN.
const UNKNOWN: u64 = u64::MAX;

/// From a set of variables to its term `F(S)`. When it is full it stops taking new terms.
pub struct Cache<const W: usize> {
    /// The same table behind every door.
    doors: Vec<RwLock<Arc<Table>>>,
    /// Held by the thread that makes a larger table.
    growing: Mutex<()>,
    /// The largest number of slots.
    most: usize,
    /// The terms of sets that have no key.
    others: RwLock<HashMap<VarSet<W>, f64, FxBuildHasher>>,
}

/// The members of a set in ascending order, as many bits each as the largest variable needs, and a one after
/// the last; or the set itself, if it is one word. Its lower word is never 0.
#[derive(Clone, Copy)]
struct Key<const W: usize>(u128);

impl<const W: usize> Key<W> {
    /// Bits of a member.
    const BITS: u32 = (64 * W - 1).ilog2() + 1;

    /// The key of a set, unless it has too many members.
    #[inline]
    fn new(set: &VarSet<W>) -> Option<Self> {
        let (mut key, mut end) = (0, 0);
        for v in set.iter() {
            if W == 1 {
                key |= 1 << v;
            } else if end + Self::BITS < u128::BITS {
                key |= (v as u128) << end;
                end += Self::BITS;
            } else {
                return None;
            }
        }
        if W > 1 {
            key |= 1 << end;
        }
        (key != 0).then_some(Self(key))
    }

    /// The key of the set with one more member.
    #[inline]
    fn with(self, v: usize) -> Option<Self> {
        if W == 1 {
            return Some(Self(self.0 | 1 << v));
        }
        let end = self.0.ilog2();
        let member = |at: u32| (self.0 >> at) as usize & ((1 << Self::BITS) - 1);
        let mut at = 0;
        while at < end && member(at) < v {
            at += Self::BITS;
        }
        let below = self.0 & ((1 << at) - 1);
        let above = self.0 >> at;
        (end + Self::BITS < u128::BITS).then(|| Self(below | (above << Self::BITS | v as u128) << at))
    }

    #[inline]
    fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }
}

/// Slots of a key and a term, looked through from the place that the key hashes to.
struct Table {
    slots: Vec<[AtomicU64; 3]>,
    taken: AtomicUsize,
}

impl Table {
    fn new(slots: usize) -> Self {
        let empty = || [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(UNKNOWN)];
        Self { slots: (0..slots).map(|_| empty()).collect(), taken: AtomicUsize::new(0) }
    }

    /// Whether there is room for `more` terms.
    #[inline]
    fn has_room(&self, more: usize) -> bool {
        self.taken.load(Ordering::Relaxed) + more <= self.slots.len() / 8 * 5
    }

    /// The first slot that is probed for a key.
    #[inline]
    fn home(&self, [low, high]: [u64; 2]) -> usize {
        let mixed = (low ^ high.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .wrapping_mul(0xd6e8_feb8_6659_fd93);
        let at = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        at as usize & (self.slots.len() - 1)
    }

    /// The slots in the order in which they are probed for a key.
    #[inline]
    fn from(&self, key: [u64; 2]) -> impl Iterator<Item = &[AtomicU64; 3]> {
        let (before, after) = self.slots.split_at(self.home(key));
        after.iter().chain(before)
    }

    /// The term of a key. A thread that sees a term sees the whole key before it.
    #[inline]
    fn get(&self, key: [u64; 2]) -> Option<f64> {
        for [low, high, term] in self.from(key) {
            match low.load(Ordering::Relaxed) {
                0 => return None,
                known if known == key[0] => {
                    let term = term.load(Ordering::Acquire);
                    if term != UNKNOWN && high.load(Ordering::Relaxed) == key[1] {
                        return Some(f64::from_bits(term));
                    }
                }
                _ => (),
            }
        }
        None
    }

    /// Takes the first slot that is free, unless the key, or one that is just coming in and may be it, has
    /// one before.
    #[inline]
    fn put(&self, key: [u64; 2], value: f64) {
        if !self.has_room(1) {
            return;
        }
        for [low, high, term] in self.from(key) {
            match low.compare_exchange(0, key[0], Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    high.store(key[1], Ordering::Relaxed);
                    term.store(value.to_bits(), Ordering::Release);
                    self.taken.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Err(known) if known == key[0] => {
                    let is_same =
                        term.load(Ordering::Acquire) == UNKNOWN || high.load(Ordering::Relaxed) == key[1];
                    if is_same {
                        return;
                    }
                }
                Err(_) => (),
            }
        }
    }

    /// A larger table with the same terms.
    fn enlarged(&self, slots: usize) -> Self {
        let larger = Self::new(slots);
        for [low, high, term] in &self.slots {
            let (key, term) = (low.load(Ordering::Relaxed), term.load(Ordering::Acquire));
            if key != 0 && term != UNKNOWN {
                larger.put([key, high.load(Ordering::Relaxed)], f64::from_bits(term));
            }
        }
        larger
    }
}

impl<const W: usize> Cache<W> {
    /// A cache that uses at most about `bytes`, and half as much besides while it grows.
    pub fn new(bytes: usize) -> Self {
        let most = 1 << (bytes / size_of::<[AtomicU64; 3]>()).max(8).ilog2();
        let table = Arc::new(Table::new(most.min(FIRST)));
        let doors = (0..DOORS).map(|_| RwLock::new(table.clone())).collect();
        Self { doors, growing: Mutex::default(), most, others: RwLock::default() }
    }

    /// The term of a set, if it is known.
    #[inline]
    pub fn get(&self, set: &VarSet<W>) -> Option<f64> {
        match Key::new(set) {
            // A poisoned lock means that another thread panicked; what it guards is still whole.
            Some(key) => self.door().read().unwrap_or_else(PoisonError::into_inner).get(key.words()),
            None => self.others.read().unwrap_or_else(PoisonError::into_inner).get(set).copied(),
        }
    }

    /// Remembers the term of a set. Two threads may count the same set: both get the same term.
    pub fn put(&self, set: VarSet<W>, term: f64) {
        self.open(1).put(&set, Key::new(&set), term);
    }

    /// The cache for many lookups, with room for `more` terms as far as its bound allows.
    pub fn open(&self, more: usize) -> Open<'_, W> {
        let mut table = self.table();
        while !table.has_room(more) && table.slots.len() < self.most {
            self.enlarge(&table);
            table = self.table();
        }
        Open { cache: self, table }
    }

    fn table(&self) -> Arc<Table> {
        self.door().read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The door of this thread.
    #[inline]
    fn door(&self) -> &RwLock<Arc<Table>> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static DOOR: usize = NEXT.fetch_add(1, Ordering::Relaxed) % DOORS);
        &self.doors[DOOR.with(|&door| door)]
    }

    /// Replaces a table by one of twice the size, unless another thread has done so.
    fn enlarge(&self, table: &Arc<Table>) {
        let _one_at_a_time = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&self.table(), table) {
            let larger = Arc::new(table.enlarged(2 * table.slots.len()));
            for door in &self.doors {
                *door.write().unwrap_or_else(PoisonError::into_inner) = larger.clone();
            }
        }
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner).len();
        self.table().taken.load(Ordering::Relaxed) + others
    }

    /// Whether it holds no terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A cache while many terms are looked up, or put in.
pub struct Open<'c, const W: usize> {
    cache: &'c Cache<W>,
    table: Arc<Table>,
}

impl<const W: usize> Open<'_, W> {
    /// The terms of the sets with one more member than `base`.
    #[inline]
    pub fn around(&self, base: VarSet<W>) -> Around<'_, W> {
        Around { open: self, base, key: Key::new(&base) }
    }

    fn put(&self, set: &VarSet<W>, key: Option<Key<W>>, term: f64) {
        match key {
            Some(key) => self.table.put(key.words(), term),
            None => {
                let mut others = self.cache.others.write().unwrap_or_else(PoisonError::into_inner);
                let slot = size_of::<(VarSet<W>, f64)>() + 1;
                // At most half full after it has doubled, and no more than an eighth of the whole.
                if 2 * others.len() * slot < self.cache.most * size_of::<[AtomicU64; 3]>() / 8 {
                    others.insert(*set, term);
                }
            }
        }
    }
}

/// Terms of sets that have all but one member in common.
pub struct Around<'o, const W: usize> {
    open: &'o Open<'o, W>,
    base: VarSet<W>,
    key: Option<Key<W>>,
}

impl<const W: usize> Around<'_, W> {
    /// The terms of the sets with each of at most [`TOGETHER`] variables, where they are cached.
    #[inline]
    pub fn get(&self, variables: &[usize]) -> [Option<f64>; TOGETHER] {
        let keys = self.fetch(variables);
        let mut terms = [None; TOGETHER];
        for ((term, &key), &v) in terms.iter_mut().zip(&keys).zip(variables) {
            *term = match key {
                Some(key) => self.open.table.get(key.words()),
                None => self.open.cache.get(&self.base.with(v)),
            };
        }
        terms
    }

    /// Remembers the terms of the sets with each of at most [`TOGETHER`] variables.
    #[inline]
    pub fn put(&self, variables: &[usize], terms: &[f64]) {
        let keys = self.fetch(variables);
        for ((&v, &term), &key) in variables.iter().zip(terms).zip(&keys) {
            let set = self.base.with(v);
            self.open.put(&set, key.or_else(|| Key::new(&set)), term);
        }
    }

    /// The keys of the sets with each of some variables. A large table exceeds the caches of the processor, so all their
    /// slots are prefetched before the first is used.
    #[inline]
    fn fetch(&self, variables: &[usize]) -> [Option<Key<W>>; TOGETHER] {
        let table = &self.open.table;
        let (mut keys, mut homes) = ([None; TOGETHER], [0; TOGETHER]);
        for ((key, home), &v) in keys.iter_mut().zip(&mut homes).zip(variables) {
            *key = self.key.and_then(|key| key.with(v));
            *home = key.map_or(0, |key| table.home(key.words()));
        }
        let look = |home: usize, word: usize| table.slots[home][word].load(Ordering::Relaxed);
        black_box(homes[..variables.len()].iter().fold(0, |all, &home| all ^ look(home, 0) ^ look(home, 2)));
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Keys are made in two ways, and tell apart what sets do.
        #[test]
        fn the_key_of_a_set_does_not_depend_on_how_it_is_made(
            a in prop::collection::btree_set(0usize..256, 0..18),
            b in prop::collection::btree_set(0usize..256, 0..18),
            v in 0usize..256,
        ) {
            let (a, b): (VarSet<4>, VarSet<4>) = (a.into_iter().collect(), b.into_iter().collect());
            let key = |set: VarSet<4>| Key::new(&set).map(Key::words);
            let smaller = a.without(v);
            let made = Key::new(&smaller).and_then(|key| key.with(v)).map(Key::words);
            prop_assert_eq!(made, key(smaller.with(v)));
            prop_assert_eq!(key(a).is_some(), a.len() <= 15);
            prop_assert!(key(a).is_none_or(|key| key[0] != 0));
            prop_assert!(key(a).is_none() || (key(a) == key(b)) == (a == b));
        }
    }

    /// While the table grows and other threads insert the same terms, no wrong term is ever seen, and a term that
    /// was inserted without concurrency is found.
    #[test]
    fn threads_see_right_terms_or_none() {
        let cache = Cache::<1>::new(1 << 20);
        let set = |i: u64| -> VarSet<1> { (0..20).filter(|bit| i >> bit & 1 == 1).collect() };
        let term = |i: u64| (i * i) as f64;
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || {
                    for i in (1..8000).map(|i| i * (thread + 1)) {
                        assert!(cache.get(&set(i)).is_none_or(|known| known == term(i)));
                        cache.put(set(i), term(i));
                    }
                });
            }
        });
        for i in 1..32_000 {
            assert!(cache.get(&set(i)).is_none_or(|known| known == term(i)));
        }
        let before = cache.len();
        assert!(before > 10_000, "{before}");
        cache.put(set(40_000), 1.0);
        assert_eq!((cache.get(&set(40_000)), cache.len()), (Some(1.0), before + 1));
    }

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
        for size in 0..19 {
            let base = set(size, 767).without(767);
            let found = cache.open(0).around(base).get(&(759..768).collect::<Vec<_>>());
            let known = (760..768).map(|last| Some((1000 * size + last) as f64));
            assert!(found[..9].iter().copied().eq([None].into_iter().chain(known)), "{found:?}");
        }
        assert_eq!(cache.get(&VarSet::EMPTY), None);
        assert_eq!(cache.len(), 19 * 8);
    }
}
