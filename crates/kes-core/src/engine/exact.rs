//! The families that can be part of a best network, and what follows from them.

use std::sync::atomic::AtomicUsize;

use super::plain::Edges;
use crate::exact::components::components;
use crate::exact::relaxation::{self, Relaxation};
use crate::exact::subset_dp::optimum;
use crate::exact::{self, Failure, Limits};
use crate::stop::Stop;

/// A cluster: its members, `k` and its weight; see [`relaxation::Cluster`].
pub type Cluster = (Vec<usize>, usize, f64);

/// The families of a problem.
pub trait Families: Send + Sync {
    /// Number of parent sets of each variable.
    fn sizes(&self) -> Vec<usize>;

    /// Variables that have to be decided together.
    fn components(&self) -> Vec<Vec<usize>>;

    /// The parent sets of a variable with their scores, best first.
    fn choices(&self, y: usize) -> Vec<(Vec<usize>, f64)>;

    /// Why some families are missing; `None` if none are.
    fn missing(&self) -> Option<Failure>;

    /// The arcs of a best network and its score.
    ///
    /// # Errors
    /// If families are missing, `stop` is raised, or it needs more memory than allowed.
    fn optimum(&self, limits: Limits, stop: &Stop, done: &AtomicUsize) -> Result<(Edges, f64), Failure>;

    /// A bound on the score of all networks.
    fn upper_bound(&self, clusters: &[Cluster]) -> f64;

    /// The families that a network with a score of at least `floor` can have.
    fn reduced(&self, clusters: &[Cluster], floor: f64) -> Box<dyn Families>;
}

impl<const W: usize> Families for exact::Families<W> {
    fn sizes(&self) -> Vec<usize> {
        self.of.iter().map(Vec::len).collect()
    }

    fn components(&self) -> Vec<Vec<usize>> {
        components(self).iter().map(|component| component.iter().collect()).collect()
    }

    fn choices(&self, y: usize) -> Vec<(Vec<usize>, f64)> {
        self.of[y].iter().map(|choice| (choice.parents.iter().collect(), choice.score)).collect()
    }

    fn missing(&self) -> Option<Failure> {
        self.missing.as_ref().map(|missing| missing.why)
    }

    fn optimum(&self, limits: Limits, stop: &Stop, done: &AtomicUsize) -> Result<(Edges, f64), Failure> {
        let (dag, score) = optimum(self, &limits, stop, done)?;
        Ok((dag.arcs(), score))
    }

    fn upper_bound(&self, clusters: &[Cluster]) -> f64 {
        Relaxation::new(self, &to_sets(clusters)).upper_bound()
    }

    fn reduced(&self, clusters: &[Cluster], floor: f64) -> Box<dyn Families> {
        Box::new(Relaxation::new(self, &to_sets(clusters)).reduced(floor))
    }
}

fn to_sets<const W: usize>(clusters: &[Cluster]) -> Vec<relaxation::Cluster<W>> {
    let cluster = |(members, k, weight): &Cluster| relaxation::Cluster {
        members: members.iter().copied().collect(),
        k: *k,
        weight: *weight,
    };
    clusters.iter().map(cluster).collect()
}
