//! Questions: which variables are observed, and which factors bear on what is asked.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::plan::{Input, Plan};
use super::run::Runner;
use super::{Effort, Failure, Model};

/// Observed states in rows: that of the `i`-th variable in row `r` is `codes[i * rows + r]`.
#[derive(Clone, Copy)]
pub struct Observations<'o> {
    /// The variables.
    pub variables: &'o [usize],
    /// Their states; negative where they are missing.
    pub codes: &'o [i32],
    /// Number of rows.
    pub rows: usize,
}

impl Observations<'_> {
    /// The state of the `i`-th variable in a row.
    #[inline]
    pub fn code(&self, i: usize, row: usize) -> i32 {
        self.codes[i * self.rows + row]
    }

    /// Groups rows by the columns that are observed in them, the target's never being so. Where all of a Markov
    /// blanket is observed, nothing else is looked at.
    pub fn patterns(&self, blanket: &[usize], target: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
        let columns: Vec<usize> =
            (0..self.variables.len()).filter(|&i| self.variables[i] != target).collect();
        let near: Vec<usize> =
            columns.iter().copied().filter(|&i| blanket.contains(&self.variables[i])).collect();
        let is_complete = near.len() + 1 == blanket.len();
        let mut place: HashMap<Vec<usize>, usize, FxBuildHasher> = HashMap::default();
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        let mut seen = Vec::new();
        for row in 0..self.rows {
            let is_seen = |&i: &usize| self.code(i, row) >= 0;
            seen.clear();
            let looked_at = if is_complete && near.iter().all(is_seen) { &near } else { &columns };
            seen.extend(looked_at.iter().copied().filter(is_seen));
            match place.get(&seen) {
                Some(&group) => groups[group].1.push(row),
                None => {
                    place.insert(seen.clone(), groups.len());
                    groups.push((seen.clone(), vec![row]));
                }
            }
        }
        groups
    }
}

/// A question, for rows in which the same variables are observed.
pub struct Question<'m> {
    model: &'m Model,
    observations: Observations<'m>,
    /// The observed variables.
    pub is_observed: Vec<bool>,
    /// The column of each observed variable.
    column: Vec<usize>,
    /// The factors that are not barren.
    matters: Vec<bool>,
}

impl<'m> Question<'m> {
    /// A question about `asked`, or about what is observed only.
    pub fn new(
        model: &'m Model,
        observations: Observations<'m>,
        columns: &[usize],
        asked: Option<usize>,
    ) -> Self {
        let mut is_observed = vec![false; model.states.len()];
        let mut column = vec![usize::MAX; model.states.len()];
        for &i in columns {
            is_observed[observations.variables[i]] = true;
            column[observations.variables[i]] = i;
        }
        let mut matters = vec![!model.directed; model.factors.len()];
        if model.directed {
            let mut stack: Vec<usize> =
                columns.iter().map(|&i| observations.variables[i]).chain(asked).collect();
            while let Some(v) = stack.pop() {
                if !std::mem::replace(&mut matters[v], true) {
                    stack.extend(&model.factors[v].scope);
                }
            }
        }
        Self { model, observations, is_observed, column, matters }
    }

    /// A plan for some factors, to be run for a number of rows.
    ///
    /// # Errors
    /// If the tables would be too large, or the effort does not suffice.
    pub fn plan(
        &self,
        factors: &[usize],
        kept: Option<usize>,
        rows: usize,
        effort: &Effort<'_>,
    ) -> Result<Plan, Failure> {
        let plan = Plan::new(self.model, factors, &self.is_observed, kept)?;
        let is_long = plan.cost * rows as f64 > effort.products;
        if is_long { Err(Failure::Long) } else { Ok(plan) }
    }

    /// Asks about all variables, so that none is barren.
    pub fn ask_for_all(&mut self) {
        self.matters.fill(true);
    }

    /// The factors that bear on a hidden variable: those connected with it by hidden variables.
    pub fn component(&self, target: usize) -> Vec<usize> {
        let mut factors = Vec::new();
        let mut is_found = vec![false; self.model.factors.len()];
        let mut is_reached = vec![false; self.model.states.len()];
        is_reached[target] = true;
        let mut stack = vec![target];
        while let Some(v) = stack.pop() {
            for &f in &self.model.of_variable[v] {
                if !self.matters[f] || std::mem::replace(&mut is_found[f], true) {
                    continue;
                }
                factors.push(f);
                for &u in &self.model.factors[f].scope {
                    if !self.is_observed[u] && !std::mem::replace(&mut is_reached[u], true) {
                        stack.push(u);
                    }
                }
            }
        }
        factors.sort_unstable();
        factors
    }

    /// The columns of the observed variables of some factors.
    pub fn observed_in(&self, factors: &[usize]) -> Vec<usize> {
        let mut columns: Vec<usize> = factors
            .iter()
            .flat_map(|&f| &self.model.factors[f].scope)
            .filter(|&&v| self.is_observed[v])
            .map(|&v| self.column[v])
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Those of some factors that are not barren: the ones without hidden variables, and the others.
    pub fn split(&self, factors: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let is_settled = |&f: &usize| self.model.factors[f].scope.iter().all(|&v| self.is_observed[v]);
        factors.into_iter().filter(|&f| self.matters[f]).partition(is_settled)
    }

    /// Returns a function that gives the states of observed variables in a row.
    pub fn reader(&self, row: usize) -> impl Fn(usize) -> usize + '_ {
        move |v| self.observations.code(self.column[v], row) as usize
    }

    /// The logarithm of the product of factors without hidden variables.
    pub fn log_settled(&self, settled: &[usize], row: usize) -> f64 {
        let code = self.reader(row);
        let logarithm = |&f: &usize| {
            let input = Input::new(self.model, f, &self.is_observed);
            let at: usize = input.observed.iter().map(|&(v, stride)| code(v) * stride).sum();
            let cell = self.model.factors[f].table[at];
            if self.model.logs { cell } else { cell.ln() }
        };
        settled.iter().map(logarithm).sum()
    }

    /// Whether the observations that do not bear on the component of `factors` are possible. Where that would take
    /// tables that are too large, they are assumed to be.
    ///
    /// # Errors
    /// If the effort does not suffice.
    pub fn is_rest_possible(
        &self,
        factors: &[usize],
        row: usize,
        effort: &Effort<'_>,
    ) -> Result<bool, Failure> {
        let rest = (0..self.model.factors.len()).filter(|f| factors.binary_search(f).is_err()).collect();
        let (settled, open) = self.split(rest);
        if self.log_settled(&settled, row) == f64::NEG_INFINITY {
            return Ok(false);
        }
        let zero = if self.model.logs { f64::NEG_INFINITY } else { 0.0 };
        let has_zeros = |&f: &usize| self.model.factors[f].table.contains(&zero);
        let mut left = open;
        while let Some(&f) = left.first() {
            let hidden = self.model.factors[f].scope.iter().copied().find(|&v| !self.is_observed[v]);
            let component = hidden.map_or_else(Vec::new, |v| self.component(v));
            left.retain(|f| component.binary_search(f).is_err());
            if !component.iter().any(has_zeros) {
                continue; // without zeros nothing is impossible
            }
            match self.plan(&component, None, 1, effort) {
                Ok(plan) => {
                    if !Runner::new(self.model, &plan, self.model.logs).run(&self.reader(row), effort.stop)? {
                        return Ok(false);
                    }
                }
                Err(Failure::TooLarge { .. }) => (),
                Err(failure) => return Err(failure),
            }
        }
        Ok(true)
    }
}
