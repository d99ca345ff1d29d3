//! The sets of one size that were counted on the way to larger [families](super::families).

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::score::bounds::Measure;
use crate::varset::VarSet;

/// A family `y | P` that may still grow.
#[derive(Clone, Copy)]
pub(super) struct Family {
    /// See [`Bounds::gain_bound`](crate::score::bounds::Bounds::gain_bound).
    pub(super) gain_bound: f64,
    /// The best score of `y` with parents in `P`.
    pub(super) best: f64,
}

/// The sets of one size that were counted.
#[derive(Default)]
pub(super) struct Level<const W: usize> {
    pub(super) place: HashMap<VarSet<W>, u32, FxBuildHasher>,
    pub(super) sets: Vec<Counted<W>>,
    /// Of each set, the families of its open variables, in order.
    families: Vec<Family>,
}

pub(super) struct Counted<const W: usize> {
    pub(super) set: VarSet<W>,
    pub(super) measure: Measure,
    /// The variables `y` for which `y | T∖y` may grow.
    pub(super) open: VarSet<W>,
    first_family: u32,
}

impl<const W: usize> Level<W> {
    /// The set, if it was counted.
    pub(super) fn get(&self, set: VarSet<W>) -> Option<&Counted<W>> {
        self.place.get(&set).map(|&place| &self.sets[place as usize])
    }

    /// The family of `y` within a set, if it is open.
    #[inline]
    pub(super) fn family(&self, counted: &Counted<W>, y: usize) -> Option<&Family> {
        let before = VarSet::first_n(y);
        let rank = (counted.open & before).len();
        counted.open.contains(y).then(|| &self.families[counted.first_family as usize + rank])
    }

    /// Notes a set that was counted, with the families of its open variables, in order.
    pub(super) fn push(
        &mut self,
        set: VarSet<W>,
        measure: Measure,
        open: impl IntoIterator<Item = (usize, Family)>,
    ) {
        let first_family = self.families.len() as u32;
        let mut members = VarSet::EMPTY;
        for (y, family) in open {
            members.insert(y);
            self.families.push(family);
        }
        self.place.insert(set, self.sets.len() as u32);
        self.sets.push(Counted { set, measure, open: members, first_family });
    }
}
