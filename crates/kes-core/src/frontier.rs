//! `B`: the neighbours of a model that score higher, kept up to date from move to move.
//!
//! The boundary is divided by target. The insertions into a target are enumerated again only when
//! its [`Frame`] or the adjacencies among its neighbours changed, its deletions only when its own
//! surroundings did. Their gains come from [`crate::gains`], which remembers them for all later runs.

use crate::boundary::{Change, Frame, Model, Neighbour};
use crate::gains::Gains;
use crate::graph::{Dag, EssentialGraph};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Which moves are looked at.
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
#[derive(Clone)]
struct Target<const W: usize> {
    frame: Frame<W>,
    insertions: Vec<Insertions<W>>,
    /// `(x, place in insertions, level)` of those that improve the score, each neighbour once.
    better: Vec<(u32, u32, i64)>,
    deletions: Vec<Deletion<W>>,
}

/// A member of `B`, by its place in the [`Frontier`] it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The level of its gain (see [`Terms::level`](crate::score::terms::Terms::level)).
    pub level: i64,
    y: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Insertion { x: u32, at: u32 },
    Deletion { at: u32 },
}

/// A model with its improving neighbours, away from the gains they were found with: a place to go on
/// from, as long as these gains last.
#[derive(Clone)]
pub struct Position<const W: usize> {
    model: Model<W>,
    targets: Vec<Target<W>>,
    /// Of each target, the nodes that its frame depends on.
    watched: Vec<VarSet<W>>,
    /// Of each target, the sources that would improve the score if doubling were not looked at: what
    /// [`Target::better`] depends on besides.
    sources: Vec<VarSet<W>>,
}

/// A model together with its improving neighbours.
pub struct Frontier<'g, 'a, const W: usize> {
    gains: &'g mut Gains<'a, W>,
    stop: &'g Stop,
    max_parents: Option<usize>,
    at: Position<W>,
    /// The targets that were looked at again since the position was last taken or returned to.
    moved: VarSet<W>,
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
        };
        let mut frontier = Self { gains, stop, max_parents, at, moved: VarSet::EMPTY, banned: None };
        for y in 0..n {
            let frame = frontier.at.model.frame(y);
            frontier.at.watched.push(frame.watched(y));
            let (insertions, better, deletions) = (Vec::new(), Vec::new(), Vec::new());
            frontier.at.targets.push(Target { frame, insertions, better, deletions });
            frontier.enumerate_insertions(y)?;
            frontier.sift_insertions(y);
            frontier.enumerate_deletions(y)?;
        }
        Ok(frontier)
    }

    /// Goes on from where a search with the same gains and the same limit left off.
    pub fn go_on(
        gains: &'g mut Gains<'a, W>,
        at: Position<W>,
        max_parents: Option<usize>,
        stop: &'g Stop,
    ) -> Self {
        Self { gains, stop, max_parents, at, moved: VarSet::EMPTY, banned: None }
    }

    /// Leaves off.
    pub fn leave(self) -> Position<W> {
        self.at
    }

    /// The gains it looks at.
    pub fn gains(&mut self) -> &mut Gains<'a, W> {
        self.gains
    }

    /// The current model.
    pub fn model(&self) -> &Model<W> {
        &self.at.model
    }

    /// The essential graph of the current model, tiered by the levels of what is known.
    pub fn graph(&self) -> &EssentialGraph<W> {
        &self.at.model.graph
    }

    /// The score of the current model, from its canonical DAG.
    pub fn score(&mut self) -> f64 {
        self.gains.score(&self.at.model.essential())
    }

    /// The current position, to come back to: cheaper than to start there again.
    pub fn position(&mut self) -> Position<W> {
        self.moved = VarSet::EMPTY;
        self.at.clone()
    }

    /// Goes back to the position last taken.
    pub fn return_to(&mut self, position: &Position<W>) {
        self.at.model.clone_from(&position.model);
        for y in self.moved.iter() {
            self.at.targets[y].clone_from(&position.targets[y]);
            self.at.watched[y] = position.watched[y];
            self.at.sources[y] = position.sources[y];
        }
        self.moved = VarSet::EMPTY;
    }

    /// Forbids to join two nodes, or nothing any more.
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
        for y in 0..self.at.targets.len() {
            let framed = self.at.watched[y].intersects(&change.touched) && {
                let Position { model, targets, watched, .. } = &mut self.at;
                let frame = &mut targets[y].frame;
                let changed = model.reframe(y, change.touched, frame);
                watched[y] = frame.watched(y);
                self.moved.insert(y);
                changed
            };
            let cliques = change.cliques.contains(y);
            if framed || cliques {
                self.enumerate_insertions(y)?;
            }
            if framed || cliques || change.nodes.intersects(&self.at.sources[y]) {
                self.sift_insertions(y);
                self.moved.insert(y);
            }
            if cliques || change.nodes.contains(y) {
                self.enumerate_deletions(y)?;
            }
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

    /// Finds the insertions that improve the score. Whether one is doubled depends on its source too.
    fn sift_insertions(&mut self, y: usize) {
        let Position { model, targets, sources, .. } = &mut self.at;
        let Target { insertions, better, .. } = &mut targets[y];
        better.clear();
        sources[y] = VarSet::EMPTY;
        for (at, set) in insertions.iter().enumerate() {
            for &(x, level) in self.gains.improving(set.row) {
                let source = x as usize;
                if set.sources.contains(source) {
                    sources[y].insert(source);
                    if model.stands(source, y, set.clique) {
                        better.push((x, at as u32, level));
                    }
                }
            }
        }
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
        })
    }

    /// Fills `better` with the improving neighbours, each once, in no particular order. Whether an arc
    /// is known that rules a neighbour out is asked only now: it can depend on all of the graph.
    pub fn collect(&self, moves: Moves, better: &mut Vec<Member>) {
        better.clear();
        for (y, target) in self.at.targets.iter().enumerate() {
            let y = y as u32;
            if moves != Moves::Deletions {
                let insertion = |&(x, at, level): &_| Member { level, y, place: Place::Insertion { x, at } };
                better.extend(target.better.iter().map(insertion));
            }
            if moves != Moves::Insertions {
                let deletion = |(at, d): (usize, &Deletion<W>)| Member {
                    level: d.level,
                    y,
                    place: Place::Deletion { at: at as u32 },
                };
                better.extend(target.deletions.iter().enumerate().map(deletion));
            }
        }
        if self.at.model.asks() {
            better.retain(|member| self.at.model.admits(&self.neighbour(member)));
        }
        if let Some(pair) = self.banned {
            better.retain(|member| !self.joins(member, pair));
        }
    }

    /// Is the member an insertion between the two nodes?
    fn joins(&self, member: &Member, (a, b): (usize, usize)) -> bool {
        let y = member.y as usize;
        matches!(member.place, Place::Insertion { x, .. } if (x as usize, y) == (a, b) || (x as usize, y) == (b, a))
    }

    /// The neighbour that a member of `B` stands for.
    pub fn neighbour(&self, member: &Member) -> Neighbour<W> {
        let y = member.y as usize;
        let target = &self.at.targets[y];
        match member.place {
            Place::Insertion { x, at } => {
                let given = self.at.model.graph.parents[y] | target.insertions[at as usize].clique;
                Neighbour { insert: true, x: x as usize, y, given }
            }
            Place::Deletion { at } => {
                let &Deletion { x, given, .. } = &target.deletions[at as usize];
                Neighbour { insert: false, x, y, given }
            }
        }
    }
}
