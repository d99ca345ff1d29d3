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

use super::key::Key;
use super::pairs::{Pairs, Row};
use crate::varset::VarSet;

/// Doors to the table: threads that use different ones do not hinder each other.
const DOORS: usize = 64;
/// Number of terms looked up at once.
pub const TOGETHER: usize = 32;
/// The square of all pairs is kept if it takes no larger part of the memory than one of so many.
const PART_FOR_PAIRS: usize = 8;
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
    /// The terms of pairs, if there are more than a few variables.
    pairs: Pairs,
    /// The terms of sets that have no key.
    others: RwLock<HashMap<VarSet<W>, f64, FxBuildHasher>>,
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
    /// one before; returns whether it did.
    #[inline]
    fn put(&self, key: [u64; 2], value: f64) -> bool {
        for [low, high, term] in self.from(key) {
            match low.compare_exchange(0, key[0], Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    high.store(key[1], Ordering::Relaxed);
                    term.store(value.to_bits(), Ordering::Release);
                    return true;
                }
                Err(known) if known == key[0] => {
                    let is_same =
                        term.load(Ordering::Acquire) == UNKNOWN || high.load(Ordering::Relaxed) == key[1];
                    if is_same {
                        return false;
                    }
                }
                Err(_) => (),
            }
        }
        false
    }

    /// A larger table with the same terms.
    fn enlarged(&self, slots: usize) -> Self {
        let mut larger = Self::new(slots);
        let mut taken = 0;
        for [low, high, term] in &self.slots {
            let (low, term) = (low.load(Ordering::Relaxed), term.load(Ordering::Acquire));
            if low != 0 && term != UNKNOWN {
                larger.put_new([low, high.load(Ordering::Relaxed)], term);
                taken += 1;
            }
        }
        larger.taken = AtomicUsize::new(taken);
        larger
    }

    /// The same as [`Table::put`] for a key that has no slot, while no other thread can see the table.
    #[inline]
    fn put_new(&mut self, key: [u64; 2], value: u64) {
        let mut at = self.home(key);
        while *self.slots[at][0].get_mut() != 0 {
            at = (at + 1) % self.slots.len();
        }
        self.slots[at] = [key[0], key[1], value].map(AtomicU64::new);
    }
}

impl<const W: usize> Cache<W> {
    /// A cache that uses at most about `bytes`, an eighth for pairs, and half as much besides while it grows.
    pub fn new(variables: usize, bytes: usize) -> Self {
        let pairs = Pairs::new(if W > 1 { variables } else { 0 }, bytes / PART_FOR_PAIRS);
        let most = 1 << (bytes / size_of::<[AtomicU64; 3]>()).max(8).ilog2();
        let table = Arc::new(Table::new(most.min(FIRST)));
        let doors = (0..DOORS).map(|_| RwLock::new(table.clone())).collect();
        Self { doors, growing: Mutex::default(), most, pairs, others: RwLock::default() }
    }

    /// The term of a set, if it is known.
    #[inline]
    pub fn get(&self, set: &VarSet<W>) -> Option<f64> {
        if let Some((row, other)) = self.pairs.of(set) {
            return row.get(other);
        }
        match Key::new(set) {
            // A poisoned lock means that another thread panicked; what it guards is still whole.
            Some(key) => self.door().read().unwrap_or_else(PoisonError::into_inner).get(key.words()),
            None => self.others.read().unwrap_or_else(PoisonError::into_inner).get(set).copied(),
        }
    }

    /// Remembers the term of a set. Two threads may count the same set: both get the same term.
    pub fn put(&self, set: VarSet<W>, term: f64) {
        match self.pairs.of(&set) {
            Some((row, other)) => row.put(other, term),
            None => {
                let open = self.open(1);
                let new = open.put(&set, Key::new(&set), term);
                open.table.taken.fetch_add(usize::from(new), Ordering::Relaxed);
            }
        }
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
        self.table().taken.load(Ordering::Relaxed) + others + self.pairs.len()
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
        let mut members = base.iter();
        let alone = members.next().filter(|_| members.next().is_none());
        let row = alone.and_then(|v| self.cache.pairs.row(v));
        Around { open: self, base, key: Key::new(&base), row }
    }

    /// Whether a slot was taken.
    #[inline]
    fn put(&self, set: &VarSet<W>, key: Option<Key<W>>, term: f64) -> bool {
        match key {
            Some(key) => self.table.has_room(1) && self.table.put(key.words(), term),
            None => {
                let mut others = self.cache.others.write().unwrap_or_else(PoisonError::into_inner);
                let slot = size_of::<(VarSet<W>, f64)>() + 1;
                // At most half full after it has doubled, and no more than an eighth of the whole.
                if 2 * others.len() * slot < self.cache.most * size_of::<[AtomicU64; 3]>() / 8 {
                    others.insert(*set, term);
                }
                false
            }
        }
    }
}

/// Terms of sets that have all but one member in common.
pub struct Around<'o, const W: usize> {
    open: &'o Open<'o, W>,
    base: VarSet<W>,
    key: Option<Key<W>>,
    /// If all but that member is a single variable, and pairs have a place of their own.
    row: Option<Row<'o>>,
}

impl<const W: usize> Around<'_, W> {
    /// The terms of the sets with each of at most [`TOGETHER`] variables, where they are cached.
    #[inline]
    pub fn get(&self, variables: &[usize]) -> [Option<f64>; TOGETHER] {
        let mut terms = [None; TOGETHER];
        if let Some(row) = self.row {
            terms.iter_mut().zip(variables).for_each(|(term, &v)| *term = row.get(v));
            return terms;
        }
        let keys = self.fetch(variables);
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
        if let Some(row) = self.row {
            variables.iter().zip(terms).for_each(|(&v, &term)| row.put(v, term));
            return;
        }
        let keys = self.fetch(variables);
        let mut taken = 0;
        for ((&v, &term), &key) in variables.iter().zip(terms).zip(&keys) {
            let set = self.base.with(v);
            taken += usize::from(self.open.put(&set, key.or_else(|| Key::new(&set)), term));
        }
        self.open.table.taken.fetch_add(taken, Ordering::Relaxed);
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

    /// While the table grows and other threads insert the same terms, no wrong term is ever seen, and a term that
    /// was inserted without concurrency is found.
    #[test]
    fn threads_see_right_terms_or_none() {
        let cache = Cache::<1>::new(20, 1 << 20);
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
        let cache = Cache::<1>::new(12, 64 * 17 * 16);
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
        for room in [1 << 24, 1 << 26] {
            // Without a square of all pairs, and with one.
            told_apart(&Cache::new(768, room));
        }
    }

    fn told_apart(cache: &Cache<12>) {
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
