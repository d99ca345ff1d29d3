//! `B`: the neighbours of a model that score higher, kept up to date from move to move.
//!
//! The boundary is divided by target. The insertions into a target are enumerated again only when
//! its [`Frame`] or the adjacencies among its neighbours changed, its deletions only when its own
//! surroundings did. Their gains come from [`crate::gains`], which remembers them for all later runs.

mod better;

pub use better::{Better, Member};

use crate::boundary::{Change, Frame, Model, Neighbour};
use crate::gains::Gains;
use crate::graph::{Dag, EssentialGraph};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// The moves that are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// The whole boundary.
    All,
    /// Insertions only (the forward phase of the classical two-phase search).
    Insertions,
    /// Deletions only (its backward phase).
    Deletions,
}

/// The insertions with one target and one clique: a row of gains and the sources that are valid.
#[derive(Clone)]
struct Insertions<const W: usize> {
    clique: VarSet<W>,
    sources: VarSet<W>,
    row: usize,
}

/// A deletion that improves the score.
#[derive(Clone)]
struct Deletion<const W: usize> {
    x: usize,
    given: VarSet<W>,
    level: i64,
}

/// The part of the boundary with one target.
struct Target<const W: usize> {
    frame: Frame<W>,
    insertions: Vec<Insertions<W>>,
    /// Those that improve the score, each neighbour once: from smaller nodes, and from larger ones.
    smaller: Vec<Insertion>,
    larger: Vec<Insertion>,
    /// Those from larger nodes that are left out, as they are the same as insertions into these.
    doubles: Vec<Insertion>,
    deletions: Vec<Deletion<W>>,
    /// The highest level of an insertion, and of a deletion.
    best: [i64; 2],
}

/// An insertion that improves the score: its source, its place in [`Target::insertions`], and its level.
type Insertion = (u32, u32, i64);

/// A model with its improving neighbours, away from the gains they were found with: a place to go on
/// from, as long as these gains last.
#[derive(Clone)]
pub struct Position<const W: usize> {
    model: Model<W>,
    targets: Vec<Target<W>>,
    /// Of each target, the nodes that its frame depends on.
    watched: Vec<VarSet<W>>,
    /// Of each target, the larger sources of improving insertions, and those among [`Target::doubles`]: of these
    /// sources depends which are doubled.
    sources: Vec<VarSet<W>>,
    doubled: Vec<VarSet<W>>,
    /// The targets that were looked at again since the position was taken or returned to.
    moved: VarSet<W>,
    age: u64,
}

impl<const W: usize> Position<W> {
    /// When the rows were written that it refers to; see [`Gains::lasts`].
    pub(crate) fn age(&self) -> u64 {
        self.age
    }

    /// The targets with improving insertions from any of these nodes, as larger ones.
    fn targets_of(&self, nodes: VarSet<W>) -> VarSet<W> {
        let sources = &self.sources;
        if nodes.len() < W {
            let targets = |x: usize| (0..x).filter(move |&y| sources[y].contains(x));
            nodes.iter().flat_map(targets).collect()
        } else {
            (0..nodes.last().unwrap_or(0)).filter(|&y| sources[y].intersects(&nodes)).collect()
        }
    }
}

clone_fields!(Target { frame, insertions, smaller, larger, doubles, deletions, best });

impl<const W: usize> Target<W> {
    fn new(frame: Frame<W>) -> Self {
        let (insertions, deletions) = (Vec::new(), Vec::new());
        let (smaller, larger, doubles) = (Vec::new(), Vec::new(), Vec::new());
        Self { frame, insertions, smaller, larger, doubles, deletions, best: [i64::MIN; 2] }
    }
}

/// A model together with its improving neighbours.
pub struct Frontier<'g, 'a, const W: usize> {
    gains: &'g mut Gains<'a, W>,
    stop: &'g Stop,
    max_parents: Option<usize>,
    at: Position<W>,
    /// No edge may be inserted between these two.
    banned: Option<(usize, usize)>,
}

impl<'g, 'a, const W: usize> Frontier<'g, 'a, W> {
    /// Starts at a model. With a limit, only insertions with `|C| < max_parents` are admissible.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn new(
        gains: &'g mut Gains<'a, W>,
        model: Model<W>,
        max_parents: Option<usize>,
        stop: &'g Stop,
    ) -> Result<Self, Stopped> {
        gains.tidy();
        let n = model.graph.len();
        let at = Position {
            model,
            targets: Vec::with_capacity(n),
            watched: Vec::with_capacity(n),
            sources: vec![VarSet::EMPTY; n],
            doubled: vec![VarSet::EMPTY; n],
            moved: VarSet::EMPTY,
            age: gains.age(),
        };
        let mut frontier = Self { gains, stop, max_parents, at, banned: None };
        for y in 0..n {
            let frame = frontier.at.model.frame(y);
            frontier.at.watched.push(frame.watched(y));
            frontier.at.targets.push(Target::new(frame));
            frontier.enumerate_insertions(y)?;
            frontier.enumerate_deletions(y)?;
        }
        frontier.gains.share();
        frontier.evaluate_insertions(VarSet::first_n(n))?;
        Ok(frontier)
    }

    /// Resumes from where a search with the same gains and limit stopped, if its rows are still kept.
    pub fn go_on(
        gains: &'g mut Gains<'a, W>,
        at: Position<W>,
        max_parents: Option<usize>,
        stop: &'g Stop,
    ) -> Self {
        debug_assert_eq!(gains.age(), at.age, "rows that the position refers to were forgotten");
        Self { gains, stop, max_parents, at, banned: None }
    }

    /// Stops here, and returns the position.
    pub fn leave(self) -> Position<W> {
        self.at
    }

    /// The gains it uses.
    pub fn gains(&mut self) -> &mut Gains<'a, W> {
        self.gains
    }

    /// The current model.
    pub fn model(&self) -> &Model<W> {
        &self.at.model
    }

    /// The essential graph of the current model, tiered by the levels of the knowledge.
    pub fn graph(&self) -> &EssentialGraph<W> {
        &self.at.model.graph
    }

    /// The score of the current model, from its canonical DAG.
    pub fn score(&mut self) -> f64 {
        self.gains.score(&self.at.model.essential())
    }

    /// Saves the current position: going back to it is cheaper than starting there again.
    pub fn position(&mut self) -> Position<W> {
        self.at.moved = VarSet::EMPTY;
        self.at.clone()
    }

    /// Goes back to the saved position.
    pub fn return_to(&mut self, position: &Position<W>) {
        self.at.model.clone_from(&position.model);
        for y in self.at.moved.iter() {
            self.at.targets[y].clone_from(&position.targets[y]);
            self.at.watched[y] = position.watched[y];
            self.at.sources[y] = position.sources[y];
            self.at.doubled[y] = position.doubled[y];
        }
        self.at.moved = VarSet::EMPTY;
    }

    /// Bans the edge between two nodes, or lifts the ban.
    pub fn ban(&mut self, pair: Option<(usize, usize)>) {
        self.banned = pair;
    }

    /// The gain of moving to a neighbour.
    pub fn delta(&mut self, neighbour: &Neighbour<W>) -> f64 {
        self.gains.delta(neighbour)
    }

    /// Moves to a neighbour and enumerates again what the move touches.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn move_to(&mut self, neighbour: &Neighbour<W>) -> Result<(), Stopped> {
        let change = self.at.model.apply(neighbour);
        self.look_again(&change)
    }

    /// Goes to the model of any admissible DAG.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn jump(&mut self, dag: Dag<W>) -> Result<(), Stopped> {
        let change = self.at.model.jump(dag);
        self.look_again(&change)
    }

    /// Enumerates again what a step touched.
    fn look_again(&mut self, change: &Change<W>) -> Result<(), Stopped> {
        let mut anew = change.cliques;
        let is_near = |(y, watched): (usize, &VarSet<W>)| {
            change.near.contains(y) || !watched.intersects(&change.touched)
        };
        debug_assert!(self.at.watched.iter().enumerate().all(is_near));
        for y in change.near.iter() {
            if self.at.watched[y].intersects(&change.touched) {
                let Position { model, targets, watched, moved, .. } = &mut self.at;
                let frame = &mut targets[y].frame;
                if model.reframe(y, change.touched, frame) {
                    anew.insert(y);
                }
                watched[y] = frame.watched(y);
                moved.insert(y);
            }
        }
        for y in anew.iter() {
            self.enumerate_insertions(y)?;
        }
        self.gains.share();
        let meanwhile = self.look_at_others(change, anew); // even if this was stopped, shared work has to be collected
        self.evaluate_insertions(anew).and(meanwhile)
    }

    /// Enumerates again the deletions that a step touched, and sifts insertions that are not found anew.
    fn look_at_others(&mut self, change: &Change<W>, anew: VarSet<W>) -> Result<(), Stopped> {
        for y in (change.cliques | change.nodes).iter() {
            self.enumerate_deletions(y)?;
        }
        for y in (self.at.targets_of(change.nodes) - anew).iter() {
            self.sift_insertions(y, change.nodes & self.at.sources[y]);
        }
        Ok(())
    }

    fn enumerate_insertions(&mut self, y: usize) -> Result<(), Stopped> {
        let Position { model, targets, .. } = &mut self.at;
        let Target { frame, insertions, .. } = &mut targets[y];
        insertions.clear();
        let parents = model.graph.parents[y];
        model.insertions(frame, self.max_parents, |clique, sources| {
            let row = self.gains.row(y, parents | clique, sources);
            insertions.push(Insertions { clique, sources, row });
            self.stop.check()
        })
    }

    /// Finds the insertions into some targets that improve the score.
    fn evaluate_insertions(&mut self, into: VarSet<W>) -> Result<(), Stopped> {
        self.gains.evaluate(self.stop)?;
        for y in into.iter() {
            let Position { model, targets, sources, doubled, .. } = &mut self.at;
            let target = &mut targets[y];
            let Target { insertions, smaller, larger, doubles, .. } = target;
            [&mut *smaller, larger, doubles].into_iter().for_each(Vec::clear);
            (sources[y], doubled[y]) = (VarSet::EMPTY, VarSet::EMPTY);
            for (at, set) in insertions.iter().enumerate() {
                let twice = model.doubled(y, &set.clique);
                for &(x, level) in self.gains.improving(set.row) {
                    let (source, insertion) = (x as usize, (x, at as u32, level));
                    if !set.sources.contains(source) {
                        continue;
                    }
                    if source < y {
                        smaller.push(insertion);
                        continue;
                    }
                    sources[y].insert(source);
                    if twice.contains(source) {
                        doubled[y].insert(source);
                        doubles.push(insertion);
                    } else {
                        larger.push(insertion);
                    }
                }
            }
            target.note_insertions();
        }
        Ok(())
    }

    /// Finds the insertions from some larger nodes again: which of them are doubled depends on the source too. Of
    /// most nodes none was, and none can be.
    fn sift_insertions(&mut self, y: usize, from: VarSet<W>) {
        let Position { model, targets, doubled, moved, .. } = &mut self.at;
        let target = &mut targets[y];
        let Target { insertions, larger, doubles, .. } = target;
        let from = from.iter().filter(|&x| doubled[y].contains(x) || model.may_be_doubled(x, y));
        let from: VarSet<W> = from.collect();
        if from.is_empty() {
            return;
        }
        let is_sifted = |&(x, ..): &Insertion| from.contains(x as usize);
        let stands = |&(x, at, _): &Insertion| model.stands(x as usize, y, &insertions[at as usize].clique);
        let back: Vec<_> = doubles.extract_if(.., |it| is_sifted(it) && stands(it)).collect();
        let out: Vec<_> = larger.extract_if(.., |it| is_sifted(it) && !stands(it)).collect();
        if back.is_empty() && out.is_empty() {
            return;
        }
        larger.extend(back);
        doubles.extend(out);
        doubled[y] -= from;
        doubles.iter().filter(|it| is_sifted(it)).for_each(|&(x, ..)| doubled[y].insert(x as usize));
        moved.insert(y);
        target.note_insertions();
    }

    fn enumerate_deletions(&mut self, y: usize) -> Result<(), Stopped> {
        let terms = self.gains.terms();
        let Position { model, targets, .. } = &mut self.at;
        let deletions = &mut targets[y].deletions;
        deletions.clear();
        model.deletions(y, |x, given| {
            let gain = -terms.gain(&mut *self.gains.worker, x, y, given);
            if gain > terms.tolerance() {
                deletions.push(Deletion { x, given, level: terms.level(gain) });
            }
            self.stop.check()
        })?;
        targets[y].note_deletions();
        Ok(())
    }
}
