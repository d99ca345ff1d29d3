//! Strongly connected components: sets of nodes that all reach each other.
//!
//! [Tarjan 1972]: follow arcs depth first and number the nodes as they are found. A node from which no
//! node with a smaller number is reached that still lacks a component is the first of its own, which
//! are all found since. Every node and every arc is looked at once. The way back is kept in a list
//! and not on the stack, however long a path may be.

use crate::varset::{Members, VarSet};

/// The strongly connected components of the digraph in which node `v` has the parents `parents[v]`,
/// each before those that depend on it.
pub fn strong_components<const W: usize>(parents: &[VarSet<W>]) -> Vec<VarSet<W>> {
    const UNSEEN: usize = 0;
    const PLACED: usize = usize::MAX; // already in a component: irrelevant to nodes found later
    let mut components = Vec::new();
    // The number of each node, then the smallest number known to be reached from it.
    let mut lowest = vec![UNSEEN; parents.len()];
    let mut found: Vec<usize> = Vec::new(); // without a component, in the order of their numbers
    let mut path: Vec<(usize, usize, Members<W>)> = Vec::new(); // node, its number, parents to look at
    let mut number = UNSEEN;
    for start in 0..parents.len() {
        let mut next = (lowest[start] == UNSEEN).then_some(start);
        loop {
            if let Some(v) = next.take() {
                number += 1;
                lowest[v] = number;
                found.push(v);
                path.push((v, number, parents[v].iter()));
            }
            let Some((v, own, above)) = path.last_mut() else { break };
            match above.next() {
                Some(u) if lowest[u] == UNSEEN => next = Some(u),
                Some(u) => lowest[*v] = lowest[*v].min(lowest[u]),
                None => {
                    let (v, own) = (*v, *own);
                    path.pop();
                    if let Some(&(below, ..)) = path.last() {
                        lowest[below] = lowest[below].min(lowest[v]);
                    }
                    if lowest[v] == own {
                        let first = found.iter().rposition(|&u| u == v).unwrap_or(0);
                        components.push(found.drain(first..).inspect(|&u| lowest[u] = PLACED).collect());
                    }
                }
            }
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Two nodes are in one component iff each is reached from the other, by the closure of all
        /// arcs; and no component comes before one that it depends on.
        #[test]
        fn they_are_those_of_the_transitive_closure(
            n in 1..12usize,
            arcs in prop::collection::vec((0..12usize, 0..12usize), 0..30),
        ) {
            let mut parents = vec![VarSet::<1>::EMPTY; n];
            arcs.iter().filter(|(x, y)| x.max(y) < &n).for_each(|&(x, y)| parents[y].insert(x));
            let mut above: Vec<VarSet<1>> = (0..n).map(|v| parents[v].with(v)).collect();
            for middle in 0..n {
                let more = above[middle];
                above.iter_mut().filter(|set| set.contains(middle)).for_each(|set| *set |= more);
            }
            let components = strong_components(&parents);
            let mut before = VarSet::EMPTY;
            for component in &components {
                let first = component.first().expect("not empty");
                let expected: VarSet<1> = above[first].iter().filter(|&u| above[u].contains(first)).collect();
                prop_assert_eq!(*component, expected);
                before |= *component;
                prop_assert!(above[first].is_subset(&before), "{:?} in {:?}", component, components);
            }
            prop_assert_eq!(before, VarSet::first_n(n));
            prop_assert_eq!(components.iter().map(VarSet::len).sum::<usize>(), n);
        }
    }

    /// A path and a cycle through all of 4 096 nodes.
    #[test]
    fn long_ways_are_no_danger() {
        let mut parents: Vec<VarSet<64>> =
            (0..4096usize).map(|v| v.checked_sub(1).into_iter().collect()).collect();
        let apart: Vec<VarSet<64>> = (0..4096).map(VarSet::single).collect();
        assert_eq!(strong_components(&parents), apart);
        parents[0].insert(4095);
        assert_eq!(strong_components(&parents), [VarSet::first_n(4096)]);
    }
}
