//! Upper bounds on the score of a network from its families alone.
//!
//! In an acyclic network every set `C` of variables, a *cluster*, has a member whose parents are all
//! outside `C` [Jaakkola 2010]; and for every `k`, the first `k` members in the order of the network have fewer
//! than `k` parents in `C` each [Cussens 2011]. With `k = |C| − 1` that says that at most one member has all
//! others as parents. Let each cluster pay its weight `w(C) ≥ 0` to every member with fewer than `k` parents in
//! it. The members then receive at least `k w(C)`, so that for any network
//!
//! `score ≤ Σ_y max over P of [ s(y|P) + Σ { w(C) : y ∈ C, |P ∩ C| < k } ] − Σ_C k w(C)`.
//!
//! The bound holds whatever the weights; a linear programme finds good ones [Bartlett & Cussens 2017],
//! and need not be trusted. If the bound with a family `y | P` put in the place of the best one falls
//! below the score of a known network, no better network has that family.
//!
//! Families that were not evaluated count with their upper bounds. They receive what a family without parents
//! does, which is as much as any family can.

use super::{Choice, Families};
use crate::varset::VarSet;

/// A cluster that pays.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<const W: usize> {
    /// The variables.
    pub members: VarSet<W>,
    /// `k`: members with fewer parents in the cluster are paid; at least as many are.
    pub k: usize,
    /// The price paid to each of them.
    pub weight: f64,
}

/// Families with clusters that pay them.
pub struct Relaxation<'r, const W: usize> {
    families: &'r Families<W>,
    /// The clusters of each variable.
    clusters: Vec<Vec<Cluster<W>>>,
    spent: f64,
}

impl<'r, const W: usize> Relaxation<'r, W> {
    /// The relaxation with the given clusters; negative weights count as 0, and `k` is at most the number of
    /// members.
    pub fn new(families: &'r Families<W>, clusters: &[Cluster<W>]) -> Self {
        let mut of = vec![Vec::new(); families.of.len()];
        let mut spent = 0.0;
        for &Cluster { members, k, weight } in clusters.iter().filter(|cluster| cluster.weight > 0.0) {
            let k = k.min(members.len());
            spent += k as f64 * weight;
            members.iter().for_each(|y| of[y].push(Cluster { members, k, weight }));
        }
        Self { families, clusters: of, spent }
    }

    /// The score of a choice of `y` and what it is paid.
    fn worth(&self, y: usize, choice: &Choice<W>) -> f64 {
        let pays = |cluster: &&Cluster<W>| (choice.parents & cluster.members).len() < cluster.k;
        choice.score + self.clusters[y].iter().filter(pays).map(|cluster| cluster.weight).sum::<f64>()
    }

    fn most(&self, y: usize) -> f64 {
        let unknown = self
            .families
            .missing
            .as_ref()
            .map(|missing| Choice { parents: VarSet::EMPTY, score: missing.most[y] });
        let choices = self.families.of[y].iter().chain(&unknown);
        choices.map(|choice| self.worth(y, choice)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// No network scores more.
    pub fn upper_bound(&self) -> f64 {
        (0..self.families.of.len()).map(|y| self.most(y)).sum::<f64>() - self.spent
    }

    /// The families that a network with a score of at least `floor` can have.
    pub fn reduced(&self, floor: f64) -> Families<W> {
        let slack = self.upper_bound() - floor;
        let keep = |(y, choices): (usize, &Vec<Choice<W>>)| {
            // Without a bound for families that were not evaluated, any known one may be kept.
            let least = if slack.is_finite() { self.most(y) - slack } else { f64::NEG_INFINITY };
            choices.iter().filter(|choice| self.worth(y, choice) >= least).copied().collect()
        };
        let of = self.families.of.iter().enumerate().map(keep).collect();
        Families { of, missing: self.families.missing.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{Failure, Missing};

    /// Densities have no bound: a family that was not evaluated may score anything, so no known one is ruled out.
    #[test]
    fn without_a_bound_all_families_are_kept() {
        let choice = |score| Choice { parents: VarSet::<1>::EMPTY, score };
        let mut families = Families::new(vec![vec![choice(2.0), choice(-7.0)], vec![choice(1.0)]]);
        families.missing = Some(Missing { why: Failure::Memory, most: vec![f64::INFINITY, 1.0] });
        let relaxation = Relaxation::new(&families, &[]);
        assert_eq!(relaxation.upper_bound(), f64::INFINITY);
        assert_eq!(relaxation.reduced(3.0).of, families.of);
    }
}
