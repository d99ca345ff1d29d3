//! Finding `B` among what the targets list, and those of its members that tie.

use super::{Deletion, Frontier, Target};
use crate::boundary::Operator;
use crate::frontier::Moves;
use crate::stop::Stopped;
use crate::wide::list;
use crate::wide::model::Neighbour;

/// Number of members of `B` of a target, insertions and deletions, and their highest levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Summary {
    number: [u32; 2],
    best: [i64; 2],
}

impl Summary {
    pub(super) const NONE: Self = Self { number: [0; 2], best: [i64::MIN; 2] };

    pub(super) fn of(target: &Target) -> Self {
        let insertion = target.insertions.iter().map(|it| it.2).max();
        let deletion = target.deletions.iter().map(|it| it.level).max();
        Self {
            number: [target.insertions.len() as u32, target.deletions.len() as u32],
            best: [insertion.unwrap_or(i64::MIN), deletion.unwrap_or(i64::MIN)],
        }
    }

    fn number(&self, moves: Moves) -> usize {
        self.number[kinds(moves)].iter().map(|&number| number as usize).sum()
    }

    fn best(&self, moves: Moves) -> i64 {
        self.best[kinds(moves)].iter().copied().fold(i64::MIN, i64::max)
    }
}

/// The places of insertions, deletions, or both.
fn kinds(moves: Moves) -> std::ops::Range<usize> {
    match moves {
        Moves::All => 0..2,
        Moves::Insertions => 0..1,
        Moves::Deletions => 1..2,
    }
}

/// A member of `B`: its level, its target, and its place among the insertions and deletions of that.
type Member = (i64, u32, u32);

/// `B`, as the draw needs it.
pub struct Better {
    len: usize,
    moves: Moves,
    /// All members, if each had to be checked.
    members: Option<Vec<Member>>,
}

impl Better {
    /// `|B|`.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no neighbour scores higher.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Frontier<'_, '_> {
    /// The improving neighbours that levels admit, in no particular order.
    pub fn neighbours(&self) -> impl Iterator<Item = Neighbour> {
        self.members(Moves::All, i64::MIN).into_iter().map(|member| self.neighbour(member))
    }

    /// Finds `B`: lists it if each member must be checked, else counts it.
    ///
    /// # Errors
    /// If `stop` is raised meanwhile.
    pub fn find(&mut self, moves: Moves) -> Result<Better, Stopped> {
        if self.at.model.asks() {
            let mut members = Vec::new();
            for member in self.members(moves, i64::MIN) {
                self.stop.check()?;
                let neighbour = self.neighbour(member);
                if self.at.model.admits(&neighbour) {
                    members.push(member);
                }
            }
            return Ok(Better { len: members.len(), moves, members: Some(members) });
        }
        let len = self.at.summaries.iter().map(|summary| summary.number(moves)).sum();
        Ok(Better { len, moves, members: None })
    }

    /// The members of `B` that tie with the one of the given rank, 0 being the best, in canonical order.
    pub fn tied(&self, better: &Better, rank: usize) -> Vec<Neighbour> {
        let listed;
        let members = match &better.members {
            Some(members) => members,
            None => {
                listed = self.members(better.moves, self.at_least(better.moves, rank));
                &listed
            }
        };
        let mut levels: Vec<i64> = members.iter().map(|member| member.0).collect();
        let level = *levels.select_nth_unstable_by(rank, |a, b| b.cmp(a)).1;
        let tied = members.iter().filter(|member| member.0 == level);
        let mut tied: Vec<Neighbour> = tied.map(|&member| self.neighbour(member)).collect();
        tied.sort_unstable_by(Neighbour::compare);
        tied
    }

    /// A lower bound on the level of the member of a given rank: the level of that rank among the best of all targets.
    fn at_least(&self, moves: Moves, rank: usize) -> i64 {
        let bests = self.at.summaries.iter().map(|summary| summary.best(moves));
        let mut bests: Vec<i64> = bests.filter(|&best| best > i64::MIN).collect();
        if rank < bests.len() { *bests.select_nth_unstable_by(rank, |a, b| b.cmp(a)).1 } else { i64::MIN }
    }

    /// The members of `B` with at least a given level.
    fn members(&self, moves: Moves, least: i64) -> Vec<Member> {
        let mut members = Vec::new();
        for (y, summary) in (0..).zip(&self.at.summaries) {
            if summary.best(moves) < least || summary.number(moves) == 0 {
                continue;
            }
            let target = &self.at.targets[y as usize];
            let insertions = target.insertions.iter().map(|it| it.2);
            let deletions = target.deletions.iter().map(|it| it.level);
            let levels = insertions.enumerate().filter(|_| moves != Moves::Deletions);
            let more = (target.insertions.len()..).zip(deletions).filter(|_| moves != Moves::Insertions);
            let all = levels.chain(more).filter(|&(_, level)| level >= least);
            members.extend(all.map(|(at, level)| (level, y, at as u32)));
        }
        members
    }

    /// The neighbour that a member of `B` stands for.
    fn neighbour(&self, (_, y, at): Member) -> Neighbour {
        let target = &self.at.targets[y as usize];
        match target.insertions.get(at as usize) {
            Some(&(x, clique, _)) => {
                let parents = &self.at.model.graph.parents[y as usize];
                let given = list::union(parents, &target.cliques[clique as usize].0);
                Neighbour { operator: Operator::Insert, x, y, given }
            }
            None => {
                let Deletion { x, given, .. } = &target.deletions[at as usize - target.insertions.len()];
                Neighbour { operator: Operator::Delete, x: *x, y, given: given.clone() }
            }
        }
    }
}
