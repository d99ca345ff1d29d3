//! Sets of variables as short lists in ascending order.
//!
//! Among twenty thousand variables, a set of bits has 2 500 bytes, while the parents or neighbours of a
//! node are a handful. Every operation here takes time proportional to the number of members.

use std::cmp::Ordering;

/// A set of variables: its members in ascending order.
pub type List = Vec<u32>;

/// Below this length, a linear search is faster than a binary one.
const SHORT: usize = 16;

/// Whether `v` is a member.
#[inline]
pub fn has(set: &[u32], v: u32) -> bool {
    if set.len() < SHORT { set.contains(&v) } else { set.binary_search(&v).is_ok() }
}

/// Adds `v`.
pub fn add(set: &mut List, v: u32) {
    if let Err(at) = set.binary_search(&v) {
        set.insert(at, v);
    }
}

/// Removes `v`.
pub fn remove(set: &mut List, v: u32) {
    if let Ok(at) = set.binary_search(&v) {
        set.remove(at);
    }
}

/// The set with `v` added.
pub fn with(set: &[u32], v: u32) -> List {
    let at = set.partition_point(|&member| member < v);
    let mut all = Vec::with_capacity(set.len() + 1);
    all.extend_from_slice(&set[..at]);
    all.push(v);
    all.extend(set[at..].iter().filter(|&&member| member != v));
    all
}

/// The set with `v` removed.
pub fn without(set: &[u32], v: u32) -> List {
    set.iter().copied().filter(|&member| member != v).collect()
}

/// The members of either set.
pub fn union(a: &[u32], b: &[u32]) -> List {
    let mut all = [a, b].concat();
    tidy(&mut all);
    all
}

/// The members of both sets.
pub fn intersection(a: &[u32], b: &[u32]) -> List {
    a.iter().copied().filter(|&v| has(b, v)).collect()
}

/// The members of the first set that are not in the second.
pub fn difference(a: &[u32], b: &[u32]) -> List {
    a.iter().copied().filter(|&v| !has(b, v)).collect()
}

/// Whether all members of the first set are in the second.
pub fn is_subset(a: &[u32], b: &[u32]) -> bool {
    a.len() <= b.len() && a.iter().all(|&v| has(b, v))
}

/// Whether the two sets share a member.
pub fn intersects(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|&v| has(b, v))
}

/// Makes a set of any list.
pub fn tidy(list: &mut List) {
    list.sort_unstable();
    list.dedup();
}

/// The order of [`VarSet`](crate::varset::VarSet): by their words of 64 bits, from the first one on. One of
/// several tied neighbours is drawn in this order, so what a seed means depends on it.
pub fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let place = match (a.first(), b.first()) {
            (None, None) => return Ordering::Equal,
            (Some(v), None) | (None, Some(v)) => v / 64,
            (Some(v), Some(u)) => v.min(u) / 64,
        };
        match word(&mut a, place).cmp(&word(&mut b, place)) {
            Ordering::Equal => (),
            unequal => return unequal,
        }
    }
}

/// Removes the members in the first word of 64 bits, and returns the word.
fn word(list: &mut &[u32], place: u32) -> u64 {
    let count = list.iter().take_while(|&&v| v / 64 == place).count();
    let (first, rest) = list.split_at(count);
    *list = rest;
    first.iter().fold(0, |word, v| word | 1 << (v % 64))
}

/// Marked nodes. All marks are cleared in constant time.
#[derive(Clone, Debug)]
pub struct Marks {
    stamp: Vec<u32>,
    clock: u32,
}

impl Marks {
    /// For `n` nodes, none of them marked.
    pub fn new(n: usize) -> Self {
        Self { stamp: vec![0; n], clock: 1 }
    }

    /// Forgets all marks.
    pub fn clear(&mut self) {
        self.clock = self.clock.checked_add(1).unwrap_or_else(|| {
            self.stamp.fill(0);
            1
        });
    }

    /// Marks a node; returns whether it was not marked before.
    #[inline]
    pub fn insert(&mut self, v: u32) -> bool {
        std::mem::replace(&mut self.stamp[v as usize], self.clock) != self.clock
    }

    /// Whether a node is marked.
    #[inline]
    pub fn contains(&self, v: u32) -> bool {
        self.stamp[v as usize] == self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varset::VarSet;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The operations agree with those of the standard library's ordered set, and the order with that of bit sets.
        #[test]
        fn behaves_like_a_set(a in prop::collection::btree_set(0u32..200, 0..30),
                              b in prop::collection::btree_set(0u32..200, 0..30), v in 0u32..200) {
            let list = |set: &BTreeSet<u32>| set.iter().copied().collect::<List>();
            let bits = |set: &BTreeSet<u32>| set.iter().map(|&v| v as usize).collect::<VarSet<4>>();
            let (s, t) = (list(&a), list(&b));
            prop_assert_eq!(union(&s, &t), list(&(&a | &b)));
            prop_assert_eq!(intersection(&s, &t), list(&(&a & &b)));
            prop_assert_eq!(difference(&s, &t), list(&(&a - &b)));
            prop_assert_eq!(is_subset(&s, &t), a.is_subset(&b));
            prop_assert_eq!(intersects(&s, &t), !a.is_disjoint(&b));
            prop_assert_eq!(has(&s, v), a.contains(&v));
            prop_assert_eq!(with(&s, v), list(&(&a | &BTreeSet::from([v]))));
            prop_assert_eq!(without(&s, v), list(&(&a - &BTreeSet::from([v]))));
            prop_assert_eq!(compare(&s, &t), bits(&a).cmp(&bits(&b)));
            let mut both = s.clone();
            add(&mut both, v);
            prop_assert_eq!(&both, &with(&s, v));
            remove(&mut both, v);
            prop_assert_eq!(both, without(&s, v));
        }
    }
}
