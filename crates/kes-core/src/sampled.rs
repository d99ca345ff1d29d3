//! The paper's own way to the boundary: random members of it, by covered arc reversals on a DAG
//! [Nielsen 2003, section 4.1; Castelo & Kočka 2003].
//!
//! A DAG represents the model. Reversing a covered arc (`Pa(y) = Pa(x) ∪ {x}` for `x → y`) leads to
//! another DAG of the class; after several reversals a random pair of nodes is joined or separated.
//! Every member of the boundary comes up with positive probability, some more often than others,
//! some repeatedly. To see a share `k` of the boundary, `k* |IB|` members are drawn, with
//! `1 − exp(−k*) = k`, and `|IB|` is taken to be `n (n−1)`.
//!
//! Each reversal flips a parity: with a fixed even number of them per draw, part of the boundary
//! could not be reached. So their number is drawn as well, and the walk goes on from draw to draw.

use crate::boundary::{Neighbour, Operator};
use crate::gains::Gains;
use crate::graph::{Dag, EssentialGraph};
use crate::rng::Stream;
use crate::search::{Settings, Step};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// `k*` for `k = 1`, where the formula would ask for infinity; the paper's value.
const GREEDIEST: f64 = 20.0;

/// The options of the sampled neighbourhood.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// Maximum number of covered arc reversals before each draw.
    pub reversals: usize,
    /// A run ends after this many iterations in a row without improvement. By default as many as make
    /// about `20 n (n−1)` draws.
    pub failures: Option<usize>,
}

/// `k*`: the number of draws with repetition, per member, that see a share `k` of the members on average.
pub fn draws_per_member(k: f64) -> f64 {
    (-libm::log1p(-k)).min(GREEDIEST)
}

/// Does one run on sampled neighbours and returns the model in which it ends. That model need not
/// be a local optimum. `visit` sees every step; its `better` counts draws, not models.
///
/// # Errors
/// If `stop` is raised meanwhile.
pub fn run<const W: usize>(
    gains: &mut Gains<'_, W>,
    settings: &Settings<W>,
    sampling: Sampling,
    run: u64,
    stop: &Stop,
    mut visit: impl FnMut(Step<W>),
) -> Result<EssentialGraph<W>, Stopped> {
    let mut stream = Stream::new(settings.seed, run);
    let mut walk = Walk::new(settings.start.graph.extension());
    let mut best_walk = walk.clone();
    let n = settings.start.graph.len();
    let members = n * (n - 1);
    let draws = (draws_per_member(settings.k) * members as f64).round().max(1.0) as usize;
    let enough = (GREEDIEST * members as f64 / draws as f64).ceil() as usize;
    let patience = sampling.failures.unwrap_or(enough).max(1);
    let terms = gains.terms();
    let mut failures = 0;
    while failures < patience && members > 0 {
        stop.check()?;
        let mut best: Option<Step<W>> = None;
        let mut better = 0;
        for _ in 0..draws {
            let neighbour = walk.draw(sampling.reversals, &mut stream);
            let is_full = settings.max_parents.is_some_and(|limit| neighbour.given.len() >= limit);
            if neighbour.is_insertion() && is_full {
                continue;
            }
            let delta = gains.delta(&neighbour);
            if delta > terms.tolerance()
                && settings
                    .start
                    .knowledge()
                    .is_none_or(|known| known.admits_class_of(&walk.after(&neighbour)))
            {
                better += 1;
                // Of tied neighbours the first drawn is kept, which is a random one.
                if best.as_ref().is_none_or(|best| terms.level(delta) > terms.level(best.delta)) {
                    best = Some(Step { neighbour, delta, better, rank: 0 });
                    best_walk.clone_from(&walk);
                }
            }
        }
        match best {
            Some(step) => {
                failures = 0;
                std::mem::swap(&mut walk, &mut best_walk);
                walk.change(&step.neighbour);
                visit(Step { better, ..step });
            }
            None => failures += 1,
        }
    }
    Ok(walk.essential_graph())
}

/// A walk through the DAGs of a class.
#[derive(Debug, PartialEq, Eq)]
pub struct Walk<const W: usize> {
    dag: Dag<W>,
    children: Vec<VarSet<W>>,
    /// The descendant matrix: row `v` has the proper descendants of `v`.
    descendants: Vec<VarSet<W>>,
    /// The covered arc into each node. There is one at most: two parents whose families are both
    /// `Pa(y)` would be each other's parents.
    covered: Vec<Option<usize>>,
    /// The nodes that have one.
    heads: VarSet<W>,
}

// Every new best draw is copied.
clone_fields!(Walk { dag, children, descendants, covered, heads });

impl<const W: usize> Walk<W> {
    /// Starts at a DAG.
    pub fn new(dag: Dag<W>) -> Self {
        let n = dag.parents.len();
        let children = dag.children();
        let mut walk = Self {
            dag,
            children,
            descendants: vec![VarSet::EMPTY; n],
            covered: vec![None; n],
            heads: VarSet::EMPTY,
        };
        let order = walk.order();
        for &v in order.iter().rev() {
            walk.follow_children(v);
        }
        order.iter().for_each(|&v| walk.find_covered(v));
        walk
    }

    fn order(&self) -> Vec<usize> {
        self.dag.order().unwrap_or_else(|| unreachable!("the walk stays among acyclic graphs"))
    }

    /// The DAG that the walk is at.
    pub fn dag(&self) -> &Dag<W> {
        &self.dag
    }

    /// The class that the walk is in.
    pub fn essential_graph(&self) -> EssentialGraph<W> {
        EssentialGraph::from_dag(&self.dag, &self.order())
    }

    /// A random member of the boundary: up to `reversals` covered arc reversals, then a random pair.
    pub fn draw(&mut self, reversals: usize, stream: &mut Stream) -> Neighbour<W> {
        for _ in 0..stream.below(reversals + 1) {
            self.reverse_random_covered_arc(stream);
        }
        let n = self.dag.parents.len();
        let x = stream.below(n);
        let other = stream.below(n - 1);
        let y = if other < x { other } else { other + 1 };
        let parents = &self.dag.parents;
        if parents[y].contains(x) {
            Neighbour { operator: Operator::Delete, x, y, given: parents[y].without(x) }
        } else if parents[x].contains(y) {
            Neighbour { operator: Operator::Delete, x: y, y: x, given: parents[x].without(y) }
        } else if self.descendants[y].contains(x) {
            Neighbour { operator: Operator::Insert, x: y, y: x, given: parents[x] } // the other way round would be a cycle
        } else {
            Neighbour { operator: Operator::Insert, x, y, given: parents[y] }
        }
    }

    /// The DAG of a neighbour drawn from the current DAG.
    fn after(&self, neighbour: &Neighbour<W>) -> Dag<W> {
        let &Neighbour { operator, x, y, .. } = neighbour;
        let mut dag = self.dag.clone();
        match operator {
            Operator::Insert => dag.parents[y].insert(x),
            Operator::Delete => dag.parents[y].remove(x),
        }
        dag
    }

    /// Moves to a neighbour drawn from the current DAG.
    pub fn change(&mut self, neighbour: &Neighbour<W>) {
        let &Neighbour { operator, x, y, .. } = neighbour;
        let mut above: VarSet<W> =
            (0..self.descendants.len()).filter(|&v| v == x || self.descendants[v].contains(x)).collect();
        if operator == Operator::Insert {
            self.dag.parents[y].insert(x);
            self.children[x].insert(y);
            let below = self.descendants[y].with(y);
            above.iter().for_each(|v| self.descendants[v] |= below);
        } else {
            self.dag.parents[y].remove(x);
            self.children[x].remove(y);
            // Children first: of the rows left, one whose children have been done.
            while let Some(v) = above.iter().find(|&v| !self.children[v].intersects(&above)) {
                self.follow_children(v);
                above.remove(v);
            }
        }
        self.find_covered(y);
        self.children[y].iter().for_each(|v| self.find_covered(v));
    }

    fn reverse_random_covered_arc(&mut self, stream: &mut Stream) {
        let count = self.heads.len();
        if count == 0 {
            return;
        }
        let head = self.heads.iter().nth(stream.below(count));
        if let Some((x, y)) = head.and_then(|y| self.covered[y].map(|x| (x, y))) {
            self.reverse(x, y);
        }
    }

    /// Reverses the covered arc `x → y`. With `P` the parents of `x`, those of `y` were `P ∪ {x}`;
    /// now `P` are those of `y` and `P ∪ {y}` those of `x`. All else follows without a search.
    fn reverse(&mut self, x: usize, y: usize) {
        let above = self.dag.parents[x];
        self.dag.parents[y] = above;
        self.dag.parents[x] = above.with(y);
        self.children[x].remove(y);
        let (of_x, of_y) = (self.children[x], self.children[y]);
        self.children[y].insert(x);
        // Every node that reached x or y from above reached both, so only these two rows change.
        self.descendants[y] = self.descendants[x].without(y).with(x);
        self.follow_children(x);
        // The arc into y that is covered now is the one into x that was.
        self.cover(y, self.covered[x]);
        self.cover(x, Some(y));
        for v in (of_x & of_y).iter() {
            if self.covered[v] == Some(y) {
                self.cover(v, Some(x)); // x and its parents are what y and its parents were
            }
        }
        for v in (of_x - of_y).iter() {
            if self.covered[v] == Some(x) {
                self.cover(v, None); // x has the parent y, which v has not
            }
        }
        for v in (of_y - of_x).iter() {
            if self.dag.parents[v] == above.with(y) {
                self.cover(v, Some(y));
            }
        }
    }

    /// Notes the descendants of `v`, given those of its children.
    fn follow_children(&mut self, v: usize) {
        let children = self.children[v];
        self.descendants[v] = children.iter().fold(children, |all, child| all | self.descendants[child]);
    }

    /// Finds the covered arc into `y`.
    fn find_covered(&mut self, y: usize) {
        let parents = self.dag.parents[y];
        let tail = parents.iter().find(|&x| self.dag.parents[x].with(x) == parents);
        self.cover(y, tail);
    }

    /// Notes the covered arc into `y`.
    fn cover(&mut self, y: usize, tail: Option<usize>) {
        self.covered[y] = tail;
        match tail {
            Some(_) => self.heads.insert(y),
            None => self.heads.remove(y),
        }
    }
}
