//! Sorting of items that depend on the width of sets: only their numbers are compared and moved, so that sorting
//! is compiled once and not for each width.

use std::cmp::Ordering;

/// Sorts the items; equal ones stay in their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut order = sorted(items.len(), &|a, b| compare(&items[a], &items[b]));
    // Every cycle of the permutation is walked once, and its places are marked as filled.
    for start in 0..items.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start || from == at {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// The numbers below `n` in the order of what they stand for.
fn sorted(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<_> = (0..n).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same order as that of the standard library's stable sort.
        #[test]
        fn sorts_stably(keys in prop::collection::vec(0u8..20, 0..80)) {
            let mut items: Vec<_> = keys.into_iter().enumerate().collect();
            let mut expected = items.clone();
            expected.sort_by_key(|&(_, key)| key);
            sort_by(&mut items, |a, b| a.1.cmp(&b.1));
            prop_assert_eq!(items, expected);
        }
    }
}
