//! `B` as the draw needs it: how many members there are, and which of them tie at a rank.
//!
//! If `k` is near 1, the best member is nearly always drawn, and most targets cannot have it. So `B` is listed
//! only if another rank is needed, or if each member must be checked.

use super::{Deletion, Frontier, Insertion, Moves, Target};
use crate::boundary::{Neighbour, Operator};

/// A member of `B`, by its place in the [`Frontier`] it comes from.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The level of its gain (see [`Terms::level`](crate::score::terms::Terms::level)).
    pub level: i64,
    y: u32,
    /// The place among the moves into the target that improve the score, insertions first.
    at: u32,
}

/// `B`, and the memory to list it in.
#[derive(Debug)]
pub struct Better {
    moves: Moves,
    len: usize,
    members: Vec<Member>,
    is_listed: bool,
    levels: Vec<i64>,
}

impl Better {
    /// For the given moves; with nothing in it.
    pub fn new(moves: Moves) -> Self {
        Self { moves, len: 0, members: Vec::new(), is_listed: true, levels: Vec::new() }
    }

    /// `|B|`.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no neighbour scores higher.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<const W: usize> Target<W> {
    /// The insertion at a place, unless there is a deletion.
    fn insertion(&self, at: u32) -> Option<&Insertion> {
        let at = at as usize;
        self.smaller.get(at).or_else(|| self.larger.get(at - self.smaller.len()))
    }

    fn insertions(&self) -> usize {
        self.smaller.len() + self.larger.len()
    }

    /// Updates the best insertion.
    pub(super) fn note_insertions(&mut self) {
        let levels = self.smaller.iter().chain(&self.larger).map(|&(_, _, level)| level);
        self.best[0] = levels.fold(i64::MIN, i64::max);
    }

    /// Updates the best deletion.
    pub(super) fn note_deletions(&mut self) {
        self.best[1] = self.deletions.iter().fold(i64::MIN, |best, deletion| best.max(deletion.level));
    }

    /// The highest level.
    fn best(&self, moves: Moves) -> i64 {
        match moves {
            Moves::All => self.best[0].max(self.best[1]),
            Moves::Insertions => self.best[0],
            Moves::Deletions => self.best[1],
        }
    }

    /// The number of members.
    fn number(&self, moves: Moves) -> usize {
        match moves {
            Moves::All => self.insertions() + self.deletions.len(),
            Moves::Insertions => self.insertions(),
            Moves::Deletions => self.deletions.len(),
        }
    }

    /// Adds the members whose target `y` this is.
    fn list(&self, y: usize, moves: Moves, members: &mut Vec<Member>) {
        let y = y as u32;
        if moves != Moves::Deletions {
            members.extend((0..).zip(&self.smaller).map(|(at, &(_, _, level))| Member { level, y, at }));
            let places = (self.smaller.len() as u32..).zip(&self.larger);
            members.extend(places.map(|(at, &(_, _, level))| Member { level, y, at }));
        }
        if moves != Moves::Insertions {
            let places = (self.insertions() as u32..).zip(&self.deletions);
            members.extend(places.map(|(at, &Deletion { level, .. })| Member { level, y, at }));
        }
    }
}

impl<const W: usize> Frontier<'_, '_, W> {
    /// Finds `B`.
    pub fn find(&self, better: &mut Better) {
        better.is_listed = self.at.model.asks() || self.banned.is_some();
        better.len = if better.is_listed {
            self.collect(better.moves, &mut better.members);
            better.members.len()
        } else {
            self.at.targets.iter().map(|target| target.number(better.moves)).sum()
        };
    }

    /// The members of `B` that tie with the one of the given rank, 0 being the best, in no particular order.
    pub fn tied(&self, better: &mut Better, rank: usize) -> Vec<Neighbour<W>> {
        let Better { moves, ref mut members, ref mut is_listed, ref mut levels, .. } = *better;
        let level = if rank == 0 && !*is_listed {
            let best = self.at.targets.iter().map(|target| target.best(moves)).fold(i64::MIN, i64::max);
            members.clear();
            for (y, target) in self.at.targets.iter().enumerate().filter(|(_, t)| t.best(moves) == best) {
                target.list(y, moves, members);
            }
            best
        } else {
            if !*is_listed {
                self.collect(moves, members);
                *is_listed = true;
            }
            levels.clear();
            levels.extend(members.iter().map(|member| member.level));
            *levels.select_nth_unstable_by(rank, |a, b| b.cmp(a)).1
        };
        members.iter().filter(|member| member.level == level).map(|member| self.neighbour(member)).collect()
    }

    /// Fills `members` with those of `B`, each once, in no particular order. Only now is each checked against
    /// required and forbidden arcs, since that can depend on the whole graph.
    pub fn collect(&self, moves: Moves, members: &mut Vec<Member>) {
        members.clear();
        for (y, target) in self.at.targets.iter().enumerate() {
            target.list(y, moves, members);
        }
        if self.at.model.asks() {
            members.retain(|member| self.at.model.admits(&self.neighbour(member)));
        }
        if let Some(pair) = self.banned {
            members.retain(|member| !self.joins(member, pair));
        }
    }

    /// Whether the member is an insertion between the two nodes.
    fn joins(&self, member: &Member, (a, b): (usize, usize)) -> bool {
        let neighbour = self.neighbour(member);
        let Neighbour { x, y, .. } = neighbour;
        neighbour.is_insertion() && ((x, y) == (a, b) || (x, y) == (b, a))
    }

    /// The neighbour that a member of `B` stands for.
    pub fn neighbour(&self, member: &Member) -> Neighbour<W> {
        let y = member.y as usize;
        let target = &self.at.targets[y];
        match target.insertion(member.at) {
            Some(&(x, at, _)) => {
                let given = self.at.model.graph.parents[y] | target.insertions[at as usize].clique;
                Neighbour { operator: Operator::Insert, x: x as usize, y, given }
            }
            None => {
                let &Deletion { x, given, .. } = &target.deletions[member.at as usize - target.insertions()];
                Neighbour { operator: Operator::Delete, x, y, given }
            }
        }
    }
}
