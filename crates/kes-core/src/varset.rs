//! A set of variables as machine words: the key of everything.
//!
//! `VarSet<1>` is one machine word and serves up to 64 variables; wider sets are a few words, still
//! `Copy` and without allocation. [`with_width!`](crate::with_width) picks the width once per problem.

use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub, SubAssign};

/// The largest number of variables that a [`VarSet`] chosen by `with_width!` can hold.
pub const MAX_VARIABLES: usize = 4096;

/// A set of variable indices below `64 * W`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VarSet<const W: usize>([u64; W]);

impl<const W: usize> VarSet<W> {
    /// The empty set.
    pub const EMPTY: Self = Self([0; W]);

    /// The set `{v}`.
    #[inline]
    pub fn single(v: usize) -> Self {
        Self::EMPTY.with(v)
    }

    /// The set `{0, ..., n-1}`.
    pub fn first_n(n: usize) -> Self {
        let mut set = Self::EMPTY;
        set.0[..n / 64].fill(u64::MAX);
        if !n.is_multiple_of(64) {
            set.0[n / 64] = (1 << (n % 64)) - 1;
        }
        set
    }

    /// The union of some sets.
    #[inline]
    pub fn union<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::EMPTY;
        sets.into_iter().for_each(|set| all |= *set);
        all
    }

    /// Whether `v` is a member.
    #[inline]
    pub fn contains(&self, v: usize) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }

    /// Adds `v`.
    #[inline]
    pub fn insert(&mut self, v: usize) {
        self.0[v / 64] |= 1 << (v % 64);
    }

    /// Removes `v`.
    #[inline]
    pub fn remove(&mut self, v: usize) {
        self.0[v / 64] &= !(1 << (v % 64));
    }

    /// The set with `v` added.
    #[inline]
    #[must_use]
    pub fn with(mut self, v: usize) -> Self {
        self.insert(v);
        self
    }

    /// The set with `v` removed.
    #[inline]
    #[must_use]
    pub fn without(mut self, v: usize) -> Self {
        self.remove(v);
        self
    }

    /// Whether it has no members.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// Number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether all members are in `other` too.
    #[inline]
    pub fn is_subset(&self, other: &Self) -> bool {
        (0..W).fold(0, |others, i| others | (self.0[i] & !other.0[i])) == 0
    }

    /// Whether the two sets share a member.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        (0..W).fold(0, |shared, i| shared | (self.0[i] & other.0[i])) != 0
    }

    /// The smallest member.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        let word = self.0.iter().position(|&w| w != 0)?;
        Some(64 * word + self.0[word].trailing_zeros() as usize)
    }

    /// The largest member.
    #[inline]
    pub fn last(&self) -> Option<usize> {
        let word = self.0.iter().rposition(|&w| w != 0)?;
        Some(64 * word + 63 - self.0[word].leading_zeros() as usize)
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(&self) -> Members<W> {
        Members { words: self.0, at: 0 }
    }
}

impl<const W: usize> Hash for VarSet<W> {
    /// Word by word: the derived hash would add a length prefix on the hottest path.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        for &word in &self.0 {
            state.write_u64(word);
        }
    }
}

// All words are visited, each once: that is faster than stopping early or moving sets around.
impl<const W: usize> BitOr for VarSet<W> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        let mut all = Self::EMPTY;
        for i in 0..W {
            all.0[i] = self.0[i] | other.0[i];
        }
        all
    }
}

impl<const W: usize> BitAnd for VarSet<W> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        let mut all = Self::EMPTY;
        for i in 0..W {
            all.0[i] = self.0[i] & other.0[i];
        }
        all
    }
}

impl<const W: usize> Sub for VarSet<W> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let mut all = Self::EMPTY;
        for i in 0..W {
            all.0[i] = self.0[i] & !other.0[i];
        }
        all
    }
}

impl<const W: usize> BitOrAssign for VarSet<W> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        for i in 0..W {
            self.0[i] |= other.0[i];
        }
    }
}

impl<const W: usize> SubAssign for VarSet<W> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        for i in 0..W {
            self.0[i] &= !other.0[i];
        }
    }
}

impl<const W: usize> FromIterator<usize> for VarSet<W> {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Self {
        let mut set = Self::EMPTY;
        members.into_iter().for_each(|v| set.insert(v));
        set
    }
}

impl<const W: usize> std::fmt::Debug for VarSet<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Iterator over the members of a [`VarSet`].
#[derive(Clone)]
pub struct Members<const W: usize> {
    words: [u64; W],
    at: usize,
}

impl<const W: usize> Iterator for Members<W> {
    type Item = usize;
    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.at < W {
            let word = &mut self.words[self.at];
            if *word != 0 {
                let v = 64 * self.at + word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(v);
            }
            self.at += 1;
        }
        None
    }
}

/// Calls `$body` with the type-level constant `$width` set to the narrowest set that holds `$n`
/// variables. This is the only place where widths are chosen: few, since each is compiled by itself.
#[macro_export]
macro_rules! with_width {
    ($words:literal, $width:ident => $body:expr, fixed) => {{
        const $width: usize = $words;
        $body
    }};
    ($n:expr, $width:ident => $body:expr) => {{
        match $n {
            0..=64 => $crate::with_width!(1, $width => $body, fixed),
            65..=256 => $crate::with_width!(4, $width => $body, fixed),
            257..=768 => $crate::with_width!(12, $width => $body, fixed),
            769..=1088 => $crate::with_width!(17, $width => $body, fixed),
            _ => $crate::with_width!(64, $width => $body, fixed),
        }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The operations agree with those of the standard library's ordered set.
        #[test]
        fn behaves_like_a_set(a in prop::collection::btree_set(0usize..200, 0..30),
                              b in prop::collection::btree_set(0usize..200, 0..30)) {
            let (s, t): (VarSet<4>, VarSet<4>) = (a.iter().copied().collect(), b.iter().copied().collect());
            let members = |s: VarSet<4>| s.iter().collect::<BTreeSet<_>>();
            prop_assert_eq!(members(s), a.clone());
            prop_assert_eq!(members(s | t), &a | &b);
            prop_assert_eq!(members(s & t), &a & &b);
            prop_assert_eq!(members(s - t), &a - &b);
            prop_assert_eq!(s.len(), a.len());
            prop_assert_eq!(s.is_subset(&t), a.is_subset(&b));
            prop_assert_eq!(s.intersects(&t), !a.is_disjoint(&b));
            prop_assert_eq!(s.first(), a.first().copied());
            prop_assert_eq!(s.last(), a.last().copied());
            prop_assert_eq!(s.is_empty(), a.is_empty());
            prop_assert_eq!(members(VarSet::first_n(a.len() * 8)), (0..a.len() * 8).collect());
        }
    }

    #[test]
    fn the_narrowest_set_is_one_machine_word() {
        assert_eq!(size_of::<VarSet<1>>(), size_of::<u64>());
    }
}
