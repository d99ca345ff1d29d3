//! `B`: the neighbours of a model that score higher, kept up to date from move to move.
//!
//! The boundary is divided by target. The insertions into a target are enumerated again only when
//! its [`Frame`] or the adjacencies among its neighbours changed, its deletions only when its own
//! surroundings did. Their gains come from [`crate::gains`], which remembers them for all later runs.

use crate::boundary::{Frame, Model, Neighbour};
use crate::gains::Gains;
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
    /// The sources that would, if doubling were not looked at: what `better` depends on.
    sources: VarSet<W>,
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

/// A place to come back to.
pub struct Position<const W: usize> {
    model: Model<W>,
    targets: Vec<Target<W>>,
}

/// A model together with its improving neighbours.
pub struct Frontier<'g, 'a, const W: usize> {
    gains: &'g mut Gains<'a, W>,
    stop: &'g Stop,
    max_parents: Option<usize>,
    model: Model<W>,
    targets: Vec<Target<W>>,
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
        let mut frontier = Self { gains, stop, max_parents, model, targets: Vec::new(), banned: None };
        for y in 0..frontier.model.graph.len() {
            frontier.targets.push(Target {
                frame: frontier.model.frame(y),
                insertions: Vec::new(),
                better: Vec::new(),
                sources: VarSet::EMPTY,
                deletions: Vec::new(),
            });
            frontier.enumerate_insertions(y)?;
            frontier.sift_insertions(y);
            frontier.enumerate_deletions(y)?;
        }
        Ok(frontier)
    }

    /// The current model.
    pub fn model(&self) -> &Model<W> {
        &self.model
    }

    /// The score of the current model, from its canonical DAG.
    pub fn score(&mut self) -> f64 {
        self.gains.score(&self.model.essential())
    }

    /// The current position, to come back to: cheaper than to start there again.
    pub fn position(&self) -> Position<W> {
        Position { model: self.model.clone(), targets: self.targets.clone() }
    }

    /// Goes back to a position of this very search.
    pub fn return_to(&mut self, position: &Position<W>) {
        self.model.clone_from(&position.model);
        self.targets.clone_from(&position.targets);
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
        let changed = self.model.apply(neighbour);
        let pair = VarSet::single(neighbour.x).with(neighbour.y);
        for y in 0..self.targets.len() {
            let graph = &self.model.graph;
            let (parents, neighbours) = (graph.parents[y], graph.neighbours[y]);
            let frame = self.model.frame(y);
            let inside = pair.is_subset(&(parents | neighbours)) && pair.intersects(&neighbours);
            let other = inside || frame != self.targets[y].frame;
            if other {
                self.targets[y].frame = frame;
                self.enumerate_insertions(y)?;
            }
            if other || changed.intersects(&self.targets[y].sources) {
                self.sift_insertions(y);
            }
            if changed.contains(y) || inside {
                self.enumerate_deletions(y)?;
            }
        }
        Ok(())
    }

    fn enumerate_insertions(&mut self, y: usize) -> Result<(), Stopped> {
        let target = &mut self.targets[y];
        target.insertions.clear();
        let parents = self.model.graph.parents[y];
        self.model.insertions(&target.frame, self.max_parents, |clique, sources| {
            let row = self.gains.row(y, parents | clique, sources);
            target.insertions.push(Insertions { clique, sources, row });
            self.stop.check()
        })
    }

    /// Finds the insertions that improve the score. Whether one is doubled depends on its source too.
    fn sift_insertions(&mut self, y: usize) {
        let Target { insertions, better, sources, .. } = &mut self.targets[y];
        better.clear();
        *sources = VarSet::EMPTY;
        for (at, set) in insertions.iter().enumerate() {
            for &(x, level) in self.gains.improving(set.row) {
                let source = x as usize;
                if set.sources.contains(source) {
                    sources.insert(source);
                    if self.model.stands(source, y, set.clique) {
                        better.push((x, at as u32, level));
                    }
                }
            }
        }
    }

    fn enumerate_deletions(&mut self, y: usize) -> Result<(), Stopped> {
        let terms = self.gains.terms();
        let deletions = &mut self.targets[y].deletions;
        deletions.clear();
        self.model.deletions(y, |x, given| {
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
        for (y, target) in self.targets.iter().enumerate() {
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
        if self.model.asks() {
            better.retain(|member| self.model.admits(&self.neighbour(member)));
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
        let target = &self.targets[y];
        match member.place {
            Place::Insertion { x, at } => {
                let given = self.model.graph.parents[y] | target.insertions[at as usize].clique;
                Neighbour { insert: true, x: x as usize, y, given }
            }
            Place::Deletion { at } => {
                let &Deletion { x, given, .. } = &target.deletions[at as usize];
                Neighbour { insert: false, x, y, given }
            }
        }
    }
}
