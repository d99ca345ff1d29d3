//! All DAGs, one by one, where there are few variables: then everything is exact, under either prior.

use hashbrown::HashMap;

use super::tally::Tally;
use super::{Prior, varying};
use crate::graph::{Dag, EssentialGraph, Knowledge};
use crate::order;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// The largest number of variables for which all DAGs are visited: 29 281 of them, in 8 782 classes.
pub const MOST: usize = 5;

/// Probabilities of everything.
#[derive(Clone, Debug)]
pub struct Enumerated<const W: usize> {
    /// Of features.
    pub tally: Tally,
    /// Of classes, the largest first.
    pub classes: Vec<(EssentialGraph<W>, f64)>,
    /// The logarithm of the sum of `e^score` over all admissible DAGs, or over all admissible classes.
    pub log_sum: f64,
}

/// A class with the admissible DAGs found of it so far.
struct Class<const W: usize> {
    graph: EssentialGraph<W>,
    score: f64,
    dags: Vec<(Dag<W>, Vec<usize>)>,
}

/// Looks at all admissible DAGs of a problem in which at most [`MOST`] variables are not constant.
///
/// # Errors
/// If `stop` is raised.
pub fn enumerate<const W: usize>(
    terms: &Terms<W>,
    prior: Prior,
    max_parents: Option<usize>,
    knowledge: Option<&Knowledge<W>>,
    stop: &Stop,
) -> Result<Enumerated<W>, Stopped> {
    let n = terms.variables();
    let mut search = Search {
        terms,
        worker: terms.worker(),
        members: varying(terms),
        max_parents: max_parents.unwrap_or(n),
        knowledge,
        classes: Vec::new(),
        places: HashMap::new(),
        stop,
    };
    search.grow(&mut Dag::empty(n), 0)?;
    let classes = search.classes;
    let best = classes.iter().map(|class| class.score).fold(f64::NEG_INFINITY, f64::max);
    let mut tally = Tally::new(n);
    let mut weights: Vec<f64> = Vec::with_capacity(classes.len());
    for class in &classes {
        let own = libm::exp(class.score - best);
        let of_dag = match prior {
            Prior::Dags => own,
            Prior::Classes => own / class.dags.len() as f64,
        };
        class.dags.iter().for_each(|(dag, order)| tally.add(dag, order, of_dag));
        weights.push(of_dag * class.dags.len() as f64);
    }
    let total = tally.total;
    tally.normalise();
    let graphs = classes.into_iter().map(|class| class.graph);
    let mut classes: Vec<_> = graphs.zip(weights.iter().map(|weight| weight / total)).collect();
    order::sort_by(&mut classes, |a, b| b.1.total_cmp(&a.1));
    Ok(Enumerated { tally, classes, log_sum: best + libm::log(total) })
}

struct Search<'s, const W: usize> {
    terms: &'s Terms<W>,
    worker: Box<dyn Worker<W> + 's>,
    members: Vec<usize>,
    max_parents: usize,
    knowledge: Option<&'s Knowledge<W>>,
    classes: Vec<Class<W>>,
    places: HashMap<Vec<VarSet<W>>, usize>,
    stop: &'s Stop,
}

impl<const W: usize> Search<'_, W> {
    /// Gives parents to the variables from one on, in all ways.
    fn grow(&mut self, dag: &mut Dag<W>, at: usize) -> Result<(), Stopped> {
        self.stop.check()?;
        if at == self.members.len() {
            if let Some(order) = dag.order() {
                self.add(dag, order);
            }
            return Ok(());
        }
        let y = self.members[at];
        for bits in 0..1usize << self.members.len() {
            let inside = self.members.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
            let parents: VarSet<W> = inside.map(|(_, &v)| v).collect();
            if self.is_admissible(y, parents) {
                dag.parents[y] = parents;
                self.grow(dag, at + 1)?;
            }
        }
        dag.parents[y] = VarSet::EMPTY;
        Ok(())
    }

    fn is_admissible(&mut self, y: usize, parents: VarSet<W>) -> bool {
        let obeys = |known: &Knowledge<W>| {
            known.required(y).is_subset(&parents) && !known.forbidden(y).intersects(&parents)
        };
        !parents.contains(y)
            && parents.len() <= self.max_parents
            && self.knowledge.is_none_or(obeys)
            && self.terms.family(&mut *self.worker, y, parents) > f64::NEG_INFINITY
    }

    /// Puts a DAG into its class.
    fn add(&mut self, dag: &Dag<W>, order: Vec<usize>) {
        let graph = EssentialGraph::from_dag(dag, &order);
        let place = *self.places.entry(graph.key()).or_insert(self.classes.len());
        if place == self.classes.len() {
            let score = self.terms.score(&mut *self.worker, &graph.extension());
            self.classes.push(Class { graph, score, dags: Vec::new() });
        }
        self.classes[place].dags.push((dag.clone(), order));
    }
}
