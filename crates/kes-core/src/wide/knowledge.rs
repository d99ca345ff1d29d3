//! Background knowledge about very many variables: tiers by their numbers, arcs by lists.
//!
//! See [`crate::graph::knowledge`] for what it means. Tiers forbid half of all arcs, so the tier of each variable
//! is kept instead of the arcs. Levels cost a search nothing. They are the tiers, if all variables have one, with the
//! variables into which every arc is forbidden before all others, and those out of which every arc is forbidden after
//! them. Finer levels may exist, but any will do: what they do not express is checked neighbour by neighbour.

use super::graph::{Dag, Graph};
use super::list::{self, List};
use crate::Error;
use crate::engine::plain::{Statements, check_arcs};
use crate::graph::knowledge::Contradiction;
use std::collections::HashSet;

/// Background knowledge about a network over `n` variables.
#[derive(Clone, Debug)]
pub struct Knowledge {
    required: Dag,
    /// `forbidden[y]`: the nodes with a forbidden arc into `y`, but for those that tiers forbid.
    forbidden: Vec<List>,
    tiers: Vec<Option<usize>>,
    level: Vec<u32>,
    /// The nodes kept apart from each node.
    apart: Vec<List>,
    has_arcs: bool,
}

impl Knowledge {
    /// The knowledge of `n` variables.
    ///
    /// # Errors
    /// If the statements do not fit the number of variables, or no network is admissible.
    pub fn new(n: usize, statements: &Statements) -> Result<Self, Error> {
        let Statements { tiers, required, forbidden, .. } = statements;
        check_arcs(n, required)?;
        check_arcs(n, forbidden)?;
        if !tiers.is_empty() && tiers.len() != n {
            return Err(Error::Setting(format!("there are {n} variables, but {} tiers", tiers.len())));
        }
        let must = Dag::from_arcs(n, required);
        let mut may_not = vec![List::new(); n];
        forbidden.iter().for_each(|&(from, to)| may_not[to].push(from as u32));
        required.iter().for_each(|&(from, to)| may_not[from].push(to as u32));
        may_not.iter_mut().for_each(list::tidy);
        let mut known = Self {
            required: must,
            forbidden: may_not,
            tiers: tiers.clone(),
            level: Vec::new(),
            apart: Vec::new(),
            has_arcs: false,
        };
        known.check(forbidden)?;
        known.level = known.levels_of_all();
        known.apart = (0..n as u32).map(|y| known.apart_from(y)).collect();
        known.has_arcs = !required.is_empty() || known.has_other_arcs();
        Ok(known)
    }

    /// # Errors
    /// If the required arcs have a cycle, or some of them are forbidden.
    fn check(&self, forbidden: &[(usize, usize)]) -> Result<(), Contradiction> {
        let arcs = self.required.arcs();
        let against = |&(a, b): &(usize, usize)| self.is_against_tiers(a as u32, b as u32);
        let required: HashSet<&(usize, usize)> = arcs.iter().collect();
        let both: HashSet<_> = forbidden.iter().filter(|arc| required.contains(arc)).collect();
        let both = |arc: &(usize, usize)| both.contains(arc);
        let chosen = |is: &dyn Fn(&(usize, usize)) -> bool| {
            arcs.iter().copied().filter(|arc| is(arc)).collect::<Vec<_>>()
        };
        match (chosen(&against), chosen(&both)) {
            (arcs, _) if !arcs.is_empty() => Err(Contradiction::Tiers(arcs)),
            (_, arcs) if !arcs.is_empty() => Err(Contradiction::Forbidden(arcs)),
            _ if self.required.order().is_none() => Err(Contradiction::Cycle(self.cycle())),
            _ => Ok(()),
        }
    }

    /// The arcs of a shortest cycle of required arcs; there must be one.
    fn cycle(&self) -> Vec<(usize, usize)> {
        let ways = (0..self.forbidden.len() as u32).filter_map(|v| self.way_back(v));
        ways.min_by_key(Vec::len).unwrap_or_default()
    }

    /// The arcs of a shortest directed path from a node back to itself, breadth first.
    fn way_back(&self, start: u32) -> Option<Vec<(usize, usize)>> {
        let mut before = hashbrown::HashMap::new();
        let mut found = vec![start];
        let mut at = 0;
        while at < found.len() && !before.contains_key(&start) {
            for &child in &self.required.children[found[at] as usize] {
                if !before.contains_key(&child) {
                    before.insert(child, found[at]);
                    found.push(child);
                }
            }
            at += 1;
        }
        let mut arcs = vec![(*before.get(&start)? as usize, start as usize)];
        while arcs[arcs.len() - 1].0 != start as usize {
            let head = arcs[arcs.len() - 1].0;
            arcs.push((*before.get(&(head as u32))? as usize, head));
        }
        arcs.reverse();
        Some(arcs)
    }

    /// The level of every node: first those into which every arc from the others is forbidden, last those out of which
    /// every arc is, and the tiers of the rest, if all of them have one.
    fn levels_of_all(&self) -> Vec<u32> {
        let n = self.forbidden.len();
        let mut out_of = vec![0; n];
        self.forbidden.iter().flatten().for_each(|&x| out_of[x as usize] += 1);
        let is_root = |v: usize| n > 1 && self.forbidden[v].len() == n - 1;
        let is_leaf = |v: usize| n > 1 && out_of[v] == n - 1;
        let rest: Vec<usize> = (0..n).filter(|&v| !is_root(v) && !is_leaf(v)).collect();
        let tier = |v: usize| self.tiers.get(v).copied().flatten();
        let is_complete = rest.iter().all(|&v| tier(v).is_some());
        let mut numbers: Vec<usize> = rest.iter().filter_map(|&v| tier(v)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of_rest = |v: usize| match tier(v) {
            Some(tier) if is_complete => numbers.partition_point(|&number| number < tier) as u32,
            _ => 0,
        };
        let (mut first, mut last) = (0, numbers.len() as u32 + n as u32);
        // Two roots, or two leaves, are never joined, so their order does not matter.
        let level = |v: usize| {
            if is_root(v) {
                first += 1;
                first - 1
            } else if is_leaf(v) {
                last += 1;
                last
            } else {
                n as u32 + of_rest(v)
            }
        };
        (0..n).map(level).collect()
    }

    /// The nodes that may not be joined to `y` in either direction.
    fn apart_from(&self, y: u32) -> List {
        let explicit = self.forbidden[y as usize].iter().copied();
        // One direction may be forbidden by tiers, the other by a list, on either side.
        explicit.filter(|&x| self.forbids(y, x)).collect()
    }

    /// Whether there are forbidden arcs that neither the levels nor nodes kept apart express.
    fn has_other_arcs(&self) -> bool {
        let is_other = |x: u32, y: u32| self.level[x as usize] <= self.level[y as usize] && !self.bars(x, y);
        let listed = (0..).zip(&self.forbidden).any(|(y, all)| all.iter().any(|&x| is_other(x, y)));
        listed || {
            // By tiers: every node must be of a later level than all nodes of earlier tiers.
            let mut tiered: Vec<(usize, u32)> = self
                .tiers
                .iter()
                .zip(&self.level)
                .filter_map(|(tier, &level)| tier.map(|tier| (tier, level)))
                .collect();
            tiered.sort_unstable();
            let mut highest_before = None;
            let mut chunks =
                tiered.chunk_by(|a, b| a.0 == b.0).map(|chunk| (chunk[0].1, chunk[chunk.len() - 1].1));
            !chunks.all(|(lowest, highest)| {
                let is_later = highest_before.is_none_or(|before| lowest > before);
                highest_before = highest_before.max(Some(highest));
                is_later
            })
        }
    }

    fn is_against_tiers(&self, from: u32, to: u32) -> bool {
        let tier = |v: u32| self.tiers.get(v as usize).copied().flatten();
        matches!((tier(from), tier(to)), (Some(from), Some(to)) if from > to)
    }

    /// Whether an arc is forbidden, if only because its reverse is required.
    pub fn forbids(&self, from: u32, to: u32) -> bool {
        self.is_against_tiers(from, to) || list::has(&self.forbidden[to as usize], from)
    }

    /// Whether an arc is required.
    pub fn requires(&self, from: u32, to: u32) -> bool {
        list::has(&self.required.parents[to as usize], from)
    }

    /// The nodes with a required arc into `y`.
    pub fn required(&self, y: u32) -> &[u32] {
        &self.required.parents[y as usize]
    }

    /// The level of every node.
    pub fn levels(&self) -> &[u32] {
        &self.level
    }

    /// Whether levels, or nodes kept apart, rule out every edge from `x` to `y`.
    #[inline]
    pub fn bars(&self, x: u32, y: u32) -> bool {
        self.level[x as usize] > self.level[y as usize]
            || list::has(&self.apart[y as usize], x)
            || list::has(&self.apart[x as usize], y)
    }

    /// Whether there is knowledge that the levels do not express.
    pub fn has_arcs(&self) -> bool {
        self.has_arcs
    }

    /// The smallest admissible model: that of the required arcs alone.
    pub fn start(&self) -> Graph {
        let order = self.required.order().unwrap_or_else(|| unreachable!("the required arcs have no cycle"));
        Graph::from_dag(&self.required, &order, None)
    }
}
