//! Parts of the variables that can be solved one by one.
//!
//! Draw an arc from every variable that occurs in a choice of `y` to `y`. A directed cycle of a network
//! made of these choices stays within a strongly connected component of that graph. So each component
//! chooses its parents on its own, and parents in other components come free [Fan 2014].

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Choice, Families};
use crate::graph::components::strong_components;
use crate::varset::VarSet;

/// The strongly connected components of the choices, each before those that depend on it.
pub fn components<const W: usize>(families: &Families<W>) -> Vec<VarSet<W>> {
    let all = |choices: &Vec<Choice<W>>| VarSet::union(choices.iter().map(|choice| &choice.parents));
    strong_components(&families.of.iter().map(all).collect::<Vec<_>>())
}

/// The problem within a component, its variables numbered from 0.
pub struct Part<const W: usize> {
    /// The variables.
    pub members: Vec<usize>,
    /// The choices of each, as far as they concern the component: best first, no two alike.
    pub choices: Vec<Vec<(u32, f64)>>,
}

impl<const W: usize> Part<W> {
    /// The part of the problem that lies in `component`, which has at most 32 members.
    pub fn new(families: &Families<W>, component: VarSet<W>) -> Self {
        let members: Vec<usize> = component.iter().collect();
        let choices = members
            .iter()
            .map(|&y| {
                let mut seen: HashMap<u32, (), FxBuildHasher> = HashMap::default();
                let inner =
                    families.of[y].iter().map(|choice| (within(&members, choice.parents), choice.score));
                inner.filter(|&(set, _)| seen.insert(set, ()).is_none()).collect()
            })
            .collect();
        Self { members, choices }
    }

    /// The best choice of the `at`-th member when its parents in the component are among `allowed`.
    pub fn choose<'f>(&self, families: &'f Families<W>, at: usize, allowed: u32) -> Option<&'f Choice<W>> {
        let fits = |choice: &&Choice<W>| within(&self.members, choice.parents) & !allowed == 0;
        families.of[self.members[at]].iter().find(fits)
    }
}

/// A set by the places of its variables among `members`; others are left out.
pub(super) fn within<const W: usize>(members: &[usize], set: VarSet<W>) -> u32 {
    members.iter().enumerate().filter(|&(_, &v)| set.contains(v)).map(|(at, _)| 1 << at).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_those_they_depend_on() {
        let choice =
            |set: &[usize]| Choice { parents: set.iter().copied().collect::<VarSet<1>>(), score: 0.0 };
        let families = Families::new(vec![
            vec![choice(&[1, 4]), choice(&[])],
            vec![choice(&[0]), choice(&[])],
            vec![choice(&[0, 3])],
            vec![choice(&[])],
            vec![choice(&[3])],
        ]);
        let found = components(&families);
        let sets: Vec<Vec<usize>> = found.iter().map(|set| set.iter().collect()).collect();
        assert_eq!(sets, [vec![3], vec![4], vec![0, 1], vec![2]]);
        let part = Part::new(&families, found[2]);
        assert_eq!(part.choices, [vec![(0b10, 0.0), (0, 0.0)], vec![(0b01, 0.0), (0, 0.0)]]);
        assert_eq!(part.choose(&families, 0, 0), Some(&choice(&[])));
        assert_eq!(part.choose(&families, 0, 0b10), Some(&choice(&[1, 4])));
    }
}
