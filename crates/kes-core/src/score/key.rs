//! Small keys of sets of variables.

use crate::varset::VarSet;

/// The members of a set in ascending order, as many bits each as the largest variable needs, and a one after
/// the last; or the set itself, if it is one word. Its lower word is never 0.
#[derive(Clone, Copy)]
pub struct Key<const W: usize>(u128);

impl<const W: usize> Key<W> {
    /// Bits of a member.
    const BITS: u32 = (64 * W - 1).ilog2() + 1;

    /// The key of a set, unless it has too many members.
    #[inline]
    pub fn new(set: &VarSet<W>) -> Option<Self> {
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
    pub fn with(self, v: usize) -> Option<Self> {
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
    pub fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
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
}
