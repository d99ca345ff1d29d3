//! Background knowledge: arcs that a network must have, and arcs that it may not have.
//!
//! A DAG is *admissible* iff it has every required and no forbidden arc. Tiers forbid all arcs from
//! a later to an earlier tier, and all other knowledge of directions reduces to forbidden arcs as well.
//! A model is admissible iff some DAG of its class is; see [`super::mpdag`].
//!
//! # Levels
//! One part of the forbidden arcs costs a search nothing: those that a division of *all* variables into
//! consecutive tiers forbids (see [`super::essential`]). The finest such division follows from the
//! forbidden arcs. In the digraph of the arcs that are *not* forbidden, take the strongly connected
//! components in causal order: every arc against that order is forbidden, and a component cannot be
//! divided further. These components are the *levels*. Complete tiers become levels again, or more of
//! them; a root becomes a level before all others. Where both directions are forbidden, nothing is left to
//! direct: a class that the levels admit then obeys iff it does not join the pair. Such pairs are *barred*, and cost
//! nothing either. Other forbidden arcs and the required ones are checked neighbour by neighbour (see
//! [`crate::boundary`]).
//!
//! # Exogenous variables
//! Variables that a network may use as parents, but does not model (contexts of an experiment, earlier values of a
//! series), are a complete block before all others. Here they are roots: all arcs into them are forbidden. That is
//! the same search. The edges within the block are constant, no operator has them in its clique or on a path, and
//! of two admissible DAGs with the same edges both have the same v-structures `x → y ← z` between two of the block
//! and a modelled `y`, if it is complete none, if not all. So classes, boundaries and gains
//! correspond one to one (checked in `tests/oracle/test_exogenous.py`), and the block costs as much as its arcs
//! into modelled variables.

use std::collections::HashSet;

use super::components::strong_components;
use super::{Dag, EssentialGraph, Mpdag};
use crate::varset::VarSet;

/// Background knowledge about a network over `n` variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowledge<const W: usize> {
    /// `required[y]`: the nodes with a required arc into `y`.
    required: Vec<VarSet<W>>,
    /// `forbidden[y]`: the nodes with a forbidden arc into `y`; also where the reverse is required.
    forbidden: Vec<VarSet<W>>,
    /// The level of each node.
    level: Vec<usize>,
    /// `barred[y]`: the nodes of later levels than that of `y`, and those that are kept apart from it.
    barred: Vec<VarSet<W>>,
    /// Whether there is knowledge that levels and barred pairs do not express.
    has_arcs: bool,
}

/// Why no network is admissible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// Each arc is required, and the head of each is the tail of the next.
    Cycle(Vec<(usize, usize)>),
    /// These arcs are required and forbidden.
    Forbidden(Vec<(usize, usize)>),
    /// These arcs are required and lead from a later to an earlier tier.
    Tiers(Vec<(usize, usize)>),
}

impl Contradiction {
    /// The arcs, all of them required.
    pub fn arcs(&self) -> &[(usize, usize)] {
        match self {
            Self::Cycle(arcs) | Self::Forbidden(arcs) | Self::Tiers(arcs) => arcs,
        }
    }
}

impl<const W: usize> Knowledge<W> {
    /// The knowledge of `n` variables. `tiers` has the tier of each variable, or `None` where it may
    /// be before and after all others; empty, if there are no tiers. Arcs are `(from, to)`, between
    /// two different nodes below `n`.
    ///
    /// # Errors
    /// If no network is admissible: with a cycle of required arcs, or one that is forbidden too. If
    /// there is neither, the network with the required arcs alone is admissible.
    pub fn new(
        n: usize,
        tiers: &[Option<usize>],
        required: &[(usize, usize)],
        forbidden: &[(usize, usize)],
    ) -> Result<Self, Contradiction> {
        let against = |&(a, b): &(usize, usize)| matches!((tiers.get(a), tiers.get(b)), (Some(Some(a)), Some(Some(b))) if a > b);
        let wanted: HashSet<&(usize, usize)> = required.iter().collect();
        let both: HashSet<_> = forbidden.iter().filter(|arc| wanted.contains(arc)).collect();
        let both = |arc: &(usize, usize)| both.contains(arc);
        match chosen(required, against) {
            arcs if arcs.is_empty() => (),
            arcs => return Err(Contradiction::Tiers(arcs)),
        }
        match chosen(required, both) {
            arcs if arcs.is_empty() => (),
            arcs => return Err(Contradiction::Forbidden(arcs)),
        }
        let must = Dag::<W>::from_arcs(n, required);
        if must.order().is_none() {
            return Err(Contradiction::Cycle(cycle(&must)));
        }
        let mut may_not = Dag::from_arcs(n, forbidden).parents;
        required.iter().for_each(|&(a, b)| may_not[a].insert(b));
        for (y, tier) in tiers.iter().enumerate().filter(|(_, tier)| tier.is_some()) {
            may_not[y] |= (0..n).filter(|&x| tiers[x] > *tier).collect();
        }
        Ok(Self::with(must.parents, may_not))
    }

    fn with(required: Vec<VarSet<W>>, forbidden: Vec<VarSet<W>>) -> Self {
        let n = forbidden.len();
        let all = VarSet::first_n(n);
        let allowed: Vec<VarSet<W>> = (0..n).map(|y| all - forbidden[y].with(y)).collect();
        let (mut level, mut barred) = (vec![0; n], vec![VarSet::EMPTY; n]);
        let mut has_arcs = required.iter().any(|arcs| !arcs.is_empty());
        let mut later = all;
        for (at, component) in strong_components(&allowed).into_iter().enumerate() {
            later -= component;
            for y in component.iter() {
                let besides = forbidden[y] - later;
                let apart = besides.iter().filter(|&x| forbidden[x].contains(y)).collect();
                has_arcs |= besides != apart;
                (level[y], barred[y]) = (at, later | apart);
            }
        }
        Self { required, forbidden, level, barred, has_arcs }
    }

    /// The nodes with a required arc into `y`.
    pub fn required(&self, y: usize) -> VarSet<W> {
        self.required[y]
    }

    /// The nodes with a forbidden arc into `y`, among them those with a required arc from `y`.
    pub fn forbidden(&self, y: usize) -> VarSet<W> {
        self.forbidden[y]
    }

    /// The level of every node.
    pub fn levels(&self) -> &[usize] {
        &self.level
    }

    /// The nodes of later levels than that of `y`, and those between which and `y` both directions are
    /// forbidden: no edge of an admissible model leads from them to `y`.
    pub(crate) fn barred(&self, y: usize) -> VarSet<W> {
        self.barred[y]
    }

    /// Whether there is knowledge that levels and barred pairs do not express.
    pub(crate) fn has_arcs(&self) -> bool {
        self.has_arcs
    }

    /// Whether the DAG has every required and no forbidden arc.
    pub fn admits(&self, dag: &Dag<W>) -> bool {
        let mut families = dag.parents.iter().zip(self.required.iter().zip(&self.forbidden));
        families.all(|(parents, (must, may_not))| must.is_subset(parents) && !may_not.intersects(parents))
    }

    /// Whether some DAG of the class of this one is admissible.
    pub fn admits_class_of(&self, dag: &Dag<W>) -> bool {
        let essential = || dag.order().map(|order| EssentialGraph::from_dag(dag, &order));
        self.admits(dag) || essential().is_some_and(|graph| Mpdag::new(&graph, self).is_ok())
    }

    /// The smallest admissible model: that of the required arcs alone.
    pub fn start(&self) -> EssentialGraph<W> {
        let dag = Dag { parents: self.required.clone() };
        let order = dag.order().unwrap_or_else(|| unreachable!("the required arcs have no cycle"));
        EssentialGraph::from_dag(&dag, &order)
    }
}

/// The arcs that satisfy a predicate, sorted, without duplicates.
fn chosen(arcs: &[(usize, usize)], is: impl Fn(&(usize, usize)) -> bool) -> Vec<(usize, usize)> {
    let mut chosen: Vec<_> = arcs.iter().copied().filter(|arc| is(arc)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The arcs of a shortest directed cycle of a digraph that has one.
fn cycle<const W: usize>(digraph: &Dag<W>) -> Vec<(usize, usize)> {
    let children = digraph.children();
    let cycles = (0..children.len()).filter_map(|v| way(&children, v));
    cycles.min_by_key(Vec::len).unwrap_or_default()
}

/// The arcs of a shortest way from a node back to itself, breadth first.
fn way<const W: usize>(children: &[VarSet<W>], start: usize) -> Option<Vec<(usize, usize)>> {
    let mut before = vec![None; children.len()];
    let mut found = vec![start];
    let mut at = 0;
    while at < found.len() && before[start].is_none() {
        for child in children[found[at]].iter().filter(|&child| before[child].is_none()).collect::<Vec<_>>() {
            before[child] = Some(found[at]);
            found.push(child);
        }
        at += 1;
    }
    let mut arcs = vec![(before[start]?, start)];
    while arcs[arcs.len() - 1].0 != start {
        let head = arcs[arcs.len() - 1].0;
        arcs.push((before[head]?, head));
    }
    arcs.reverse();
    Some(arcs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(
        tiers: &[Option<usize>],
        required: &[(usize, usize)],
        forbidden: &[(usize, usize)],
    ) -> Result<Knowledge<1>, Contradiction> {
        Knowledge::new(4, tiers, required, forbidden)
    }

    #[test]
    fn a_contradiction_names_its_arcs() {
        let cycle = known(&[], &[(2, 1), (0, 1), (1, 3), (3, 2)], &[]);
        assert_eq!(cycle, Err(Contradiction::Cycle(vec![(1, 3), (3, 2), (2, 1)])));
        let message =
            crate::Error::from(Contradiction::Cycle(vec![(1, 3), (3, 1)])).describe(&|v| v.to_string());
        assert_eq!(message, "the required arcs 1 → 3, 3 → 1 form a cycle");
        let both = known(&[], &[(2, 1), (0, 1)], &[(1, 2), (0, 1)]);
        assert_eq!(both, Err(Contradiction::Forbidden(vec![(0, 1)])));
        let tiers = [Some(1), Some(0), None, Some(1)];
        assert_eq!(known(&tiers, &[(0, 2), (2, 1), (3, 1)], &[]), Err(Contradiction::Tiers(vec![(3, 1)])));
        assert!(known(&tiers, &[(1, 0), (0, 2)], &[]).is_ok());
    }

    /// Complete tiers are levels and nothing else; with a variable in no tier all may be a cycle.
    #[test]
    fn levels_are_the_tiers_that_all_variables_have() {
        let tiers = known(&[Some(7), Some(2), Some(7), Some(5)], &[], &[]).expect("no contradiction");
        assert_eq!(tiers.levels(), [2, 0, 2, 1]);
        assert!(!tiers.has_arcs());
        assert_eq!(tiers.barred(3), [0, 2].into_iter().collect());
        let partial = known(&[Some(0), Some(1), None, None], &[], &[]).expect("no contradiction");
        assert_eq!(partial.levels(), [0; 4]);
        assert!(partial.has_arcs());
    }

    /// Two roots are levels before all others, and apart from each other: no neighbour must be checked.
    #[test]
    fn roots_come_first() {
        let into = |y: usize| (0..4).filter(move |&x| x != y).map(move |x| (x, y));
        let roots = known(&[], &[], &into(1).chain(into(3)).collect::<Vec<_>>()).expect("no contradiction");
        assert_eq!(roots.levels()[0], roots.levels()[2]);
        assert!(roots.levels()[1].max(roots.levels()[3]) < roots.levels()[0]);
        assert!(roots.barred(1).contains(3) && roots.barred(3).contains(1));
        assert!(!roots.has_arcs());
    }
}
