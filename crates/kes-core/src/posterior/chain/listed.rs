//! Models that a chain can hop between.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::boundary::Model;
use crate::graph::Dag;
use crate::varset::VarSet;

/// Distinct models with their scores: a walker at one of them can hop to any other.
pub(super) struct Listed<const W: usize> {
    models: Vec<(Dag<W>, f64)>,
    places: HashMap<Vec<VarSet<W>>, usize, FxBuildHasher>,
}

impl<const W: usize> Listed<W> {
    /// The models of some DAGs, each with its score.
    pub(super) fn new(models: impl IntoIterator<Item = (Model<W>, Dag<W>, f64)>) -> Self {
        let mut listed = Self { models: Vec::new(), places: HashMap::default() };
        for (model, dag, score) in models {
            let place = listed.models.len();
            if *listed.places.entry(model.graph.key()).or_insert(place) == place {
                listed.models.push((dag, score));
            }
        }
        listed
    }

    /// Number of models.
    pub(super) fn len(&self) -> usize {
        self.models.len()
    }

    /// The place of a model, if it is listed.
    pub(super) fn place(&self, model: &Model<W>) -> Option<usize> {
        if self.models.is_empty() { None } else { self.places.get(&model.graph.key()).copied() }
    }

    /// An admissible DAG of a listed model, and its score.
    pub(super) fn get(&self, place: usize) -> (&Dag<W>, f64) {
        let (dag, score) = &self.models[place];
        (dag, *score)
    }
}
