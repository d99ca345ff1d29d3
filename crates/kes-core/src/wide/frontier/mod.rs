//! `B`: the neighbours of a model that score higher, kept up to date from move to move; see [`crate::frontier`].

mod better;

pub use better::Better;

use super::gains::Gains;
use super::list::{self, List, Marks};
use super::model::{Change, Model, Neighbour};
use crate::stop::{Stop, Stopped};
use better::Summary;

/// A deletion that improves the score.
#[derive(Clone, Debug)]
struct Deletion {
    x: u32,
    given: List,
    level: i64,
}

/// The part of the boundary with one target.
#[derive(Clone, Debug, Default)]
struct Target {
    /// The cliques among the neighbours, each with the number of its row of gains.
    cliques: Vec<(List, u32)>,
    /// The insertions that are valid and improve the score, each neighbour once: source, clique, level.
    insertions: Vec<(u32, u32, i64)>,
    deletions: Vec<Deletion>,
}

/// A model with its improving neighbours, away from the gains they were found with.
#[derive(Clone)]
pub struct Position {
    model: Model,
    targets: Vec<Target>,
    summaries: Vec<Summary>,
    /// The parents and neighbours of each node, when the insertions from it were last checked.
    seen: Vec<(List, List)>,
    /// The targets that were looked at again since the position was taken or returned to.
    moved: Vec<bool>,
    age: u64,
}

impl Position {
    /// The age of the rows that it refers to; see [`Gains::lasts`].
    pub fn age(&self) -> u64 {
        self.age
    }
}

/// For each node, the smaller targets whose rows contain it, and perhaps others.
#[derive(Clone, Default)]
pub struct Occurrences {
    targets: Vec<List>,
    /// The rows that were entered.
    rows: Vec<bool>,
}

/// A model together with its improving neighbours.
pub struct Frontier<'g, 'a> {
    gains: &'g mut Gains<'a>,
    stop: &'g Stop,
    max_parents: Option<usize>,
    at: Position,
    occurrences: Occurrences,
    scratch: Scratch,
}

/// Memory to follow paths in.
struct Scratch {
    reached: Marks,
    around: Marks,
    wanted: Marks,
    queue: List,
}

impl<'g, 'a> Frontier<'g, 'a> {
    /// Starts at a model. With a limit, only insertions with `|C| < max_parents` are admissible.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(
        gains: &'g mut Gains<'a>,
        model: Model,
        max_parents: Option<usize>,
        stop: &'g Stop,
    ) -> Result<Self, Stopped> {
        gains.tidy();
        let n = model.graph.len();
        let seen = model.graph.parents.iter().cloned().zip(model.graph.neighbours.iter().cloned()).collect();
        let at = Position {
            model,
            targets: vec![Target::default(); n],
            summaries: vec![Summary::NONE; n],
            seen,
            moved: vec![false; n],
            age: gains.age(),
        };
        let occurrences = Occurrences { targets: vec![List::new(); n], rows: Vec::new() };
        let mut frontier = Self::go_on(gains, (at, occurrences), max_parents, stop);
        for y in 0..n as u32 {
            frontier.enumerate(y)?;
            frontier.sift(y);
        }
        Ok(frontier)
    }

    /// Resumes from where a search with the same gains and limit stopped, if its rows are still kept.
    pub fn go_on(
        gains: &'g mut Gains<'a>,
        (at, occurrences): (Position, Occurrences),
        max_parents: Option<usize>,
        stop: &'g Stop,
    ) -> Self {
        let n = at.targets.len();
        let marks = || Marks::new(n);
        let scratch = Scratch { reached: marks(), around: marks(), wanted: marks(), queue: List::new() };
        Self { gains, stop, max_parents, at, occurrences, scratch }
    }

    /// Stops here, and returns the position.
    pub fn leave(self) -> (Position, Occurrences) {
        (self.at, self.occurrences)
    }

    /// The gains it uses.
    pub fn gains(&mut self) -> &mut Gains<'a> {
        self.gains
    }

    /// The current model.
    pub fn model(&self) -> &Model {
        &self.at.model
    }

    /// Whether a neighbour of the current model is admissible.
    pub fn admits(&mut self, neighbour: &Neighbour) -> bool {
        self.at.model.admits(neighbour)
    }

    /// Saves the current position.
    pub fn position(&mut self) -> Position {
        self.at.moved.fill(false);
        self.at.clone()
    }

    /// Goes back to the saved position.
    pub fn return_to(&mut self, position: &Position) {
        self.at.model.clone_from(&position.model);
        for y in 0..self.at.targets.len() {
            if std::mem::take(&mut self.at.moved[y]) {
                self.at.targets[y].clone_from(&position.targets[y]);
                self.at.summaries[y] = position.summaries[y];
                self.at.seen[y].clone_from(&position.seen[y]);
            }
        }
    }

    /// Moves to a neighbour and enumerates again what the move touches.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn move_to(&mut self, neighbour: &Neighbour) -> Result<(), Stopped> {
        let Change { nodes, cliques } = self.at.model.apply(neighbour);
        let anew = list::union(&nodes, &cliques);
        let mut again = self.touched_by_paths(&nodes);
        again.extend(self.touched_by_doubling(&nodes));
        list::tidy(&mut again);
        for &y in &anew {
            self.enumerate(y)?;
        }
        for y in list::union(&anew, &again) {
            self.sift(y);
        }
        Ok(())
    }

    /// The targets with a source to which a path may have appeared or disappeared: paths lead from the target to a
    /// changed node, and from a changed node to the source.
    fn touched_by_paths(&mut self, nodes: &[u32]) -> List {
        let Self { gains, at, scratch, .. } = self;
        let (mut below, mut above) = (List::new(), List::new());
        at.model.reach(nodes, false, &mut scratch.wanted, &mut below);
        at.model.reach(nodes, true, &mut scratch.reached, &mut above);
        let is_below = |&(x, _): &(u32, i64)| scratch.wanted.contains(x);
        above.retain(|&y| {
            at.targets[y as usize].cliques.iter().any(|&(_, row)| gains.improving(row).iter().any(is_below))
        });
        above
    }

    /// The targets with a source whose insertion became one in both directions, or ceased to be.
    fn touched_by_doubling(&mut self, nodes: &[u32]) -> List {
        let Self { at, occurrences, .. } = self;
        let Position { model, seen, moved, .. } = at;
        let graph = &model.graph;
        let mut touched = List::new();
        for &x in nodes {
            let at = x as usize;
            let new = (&graph.parents[at], &graph.neighbours[at]);
            let old = (&seen[at].0, &seen[at].1);
            if new != old {
                for &y in &occurrences.targets[at] {
                    let (parents, neighbours) = (&graph.parents[y as usize], &graph.neighbours[y as usize]);
                    let shared = |(its_parents, its_neighbours): (&List, &List)| {
                        (parents == its_parents).then(|| list::intersection(neighbours, its_neighbours))
                    };
                    if shared(old) != shared(new) {
                        touched.push(y);
                    }
                }
            }
            seen[at].0.clone_from(&graph.parents[at]);
            seen[at].1.clone_from(&graph.neighbours[at]);
            moved[at] = true;
        }
        touched
    }

    /// Enumerates the cliques of a target, with their rows, and its deletions.
    fn enumerate(&mut self, y: u32) -> Result<(), Stopped> {
        let Self { gains, stop, max_parents, at, occurrences, .. } = self;
        let Position { model, targets, moved, .. } = at;
        let target = &mut targets[y as usize];
        let (parents, neighbours) = (&model.graph.parents[y as usize], &model.graph.neighbours[y as usize]);
        moved[y as usize] = true;
        target.cliques.clear();
        let limit = max_parents.unwrap_or(usize::MAX);
        if let Some(room) = limit.checked_sub(parents.len() + 1) {
            model.graph.for_each_clique(neighbours, room, &mut |clique| {
                let row = gains.row(y, &list::union(parents, clique));
                occurrences.enter(y, row, gains.improving(row));
                target.cliques.push((clique.to_vec(), row));
                stop.check()
            })?;
        }
        target.deletions.clear();
        let terms = gains.terms();
        model.deletions(y, |x, given| {
            let gain = -gains.gain(x, y, given);
            if gain > terms.tolerance() {
                target.deletions.push(Deletion { x, given: given.to_vec(), level: terms.level(gain) });
            }
            stop.check()
        })
    }

    /// Finds the insertions into a target that are valid and represent their neighbour.
    fn sift(&mut self, y: u32) {
        let Self { gains, at, scratch, .. } = self;
        let Position { model, targets, summaries, moved, .. } = at;
        let Scratch { reached, around, wanted, queue } = scratch;
        let target = &mut targets[y as usize];
        target.insertions.clear();
        moved[y as usize] = true;
        // First the sources that are reached at all: mostly none are, and no clique needs a search of its own.
        wanted.clear();
        let mut left = 0;
        for &(_, row) in &target.cliques {
            left += gains.improving(row).iter().filter(|&&(x, _)| wanted.insert(x)).count();
        }
        reached.clear();
        if left > 0 {
            model.follow(y, &[], reached, queue, |v| {
                left -= usize::from(wanted.contains(v));
                left == 0
            });
        }
        for (at, (clique, row)) in (0..).zip(&target.cliques) {
            let row = gains.improving(*row);
            let mut left = row.iter().filter(|&&(x, _)| reached.contains(x)).count();
            let mut ends = &*reached;
            if left > 0 && !clique.is_empty() {
                model.follow(y, clique, around, queue, |v| {
                    left -= usize::from(row.binary_search_by_key(&v, |&(x, _)| x).is_ok());
                    left == 0
                });
                ends = around;
            }
            let is_valid = |&&(x, _): &&(u32, i64)| {
                !ends.contains(x) && model.is_open(x, y) && model.stands(x, y, clique)
            };
            target.insertions.extend(row.iter().filter(is_valid).map(|&(x, level)| (x, at, level)));
        }
        summaries[y as usize] = Summary::of(target);
    }
}

impl Occurrences {
    /// Notes the sources of a row.
    fn enter(&mut self, y: u32, row: u32, improving: &[(u32, i64)]) {
        let row = row as usize;
        if self.rows.len() <= row {
            self.rows.resize(row + 1, false);
        }
        if !std::mem::replace(&mut self.rows[row], true) {
            for &(x, _) in improving.iter().filter(|&&(x, _)| x > y) {
                let targets = &mut self.targets[x as usize];
                if targets.last() != Some(&y) {
                    targets.push(y);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Statements;
    use crate::frontier::Moves;
    use crate::score::discrete::{Table, criterion::Criterion, dataset::Dataset};
    use crate::wide::gains::Terms;
    use crate::wide::graph::Graph;
    use crate::wide::knowledge::Knowledge;

    #[test]
    fn checking_members_one_by_one_can_be_stopped() {
        let codes: Vec<i32> = (0..40).map(|row| row % 2).collect();
        let data = Dataset::new(&[codes.as_slice(); 3], &[2; 3], None).unwrap();
        let table = Table::new(data, Criterion::named("bic", 1.0).unwrap()).unwrap();
        let (terms, stop) = (Terms::new(Box::new(table), None), Stop::default());
        let statements = Statements { forbidden: vec![(2, 0)], ..Statements::default() };
        let knowledge = std::sync::Arc::new(Knowledge::new(3, &statements).unwrap());
        let model = Model::under(Graph::empty(3), Some(&knowledge)).unwrap();
        let mut gains = Gains::new(&terms, 1 << 20, 1, &stop).unwrap();
        let mut frontier = Frontier::new(&mut gains, model, None, &stop).unwrap();
        assert_eq!(frontier.find(Moves::All).map(|better| better.len()), Ok(3));
        stop.raise();
        assert!(frontier.find(Moves::All).is_err());
    }
}
