//! Exact inference in discrete networks, by variable elimination.
//!
//! A question is pruned first: variables that are neither asked about nor have observed descendants are *barren*,
//! and what the observed variables separate from the question does not bear on it. The rest is planned once
//! ([`plan`]), in a good order ([`order`]), and run for all rows in which the same variables are observed
//! ([`run`]). No table is built before the size of all is known.

mod kernel;
mod order;
mod plan;
mod question;
mod run;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::Error;
use crate::stop::{Stop, Stopped};
pub use question::Observations;
use question::Question;
use run::Runner;

/// Cells of all tables of a question together: 1 GB.
const MOST_CELLS: usize = 1 << 27;
/// Products that a row may take: some seconds.
const MOST_PRODUCTS: f64 = (1_u64 << 32) as f64;

/// Why a question has no answer.
#[derive(Debug, PartialEq)]
pub enum Failure {
    /// The work was stopped.
    Stopped,
    /// It would take more products than [`Effort`] allows.
    Long,
    /// The tables would be too large.
    TooLarge {
        /// The variables of the largest table.
        variables: Vec<usize>,
        /// Number of variables to sum over.
        hidden: usize,
    },
}

impl From<Stopped> for Failure {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// Limits on the work for a question.
pub struct Effort<'s> {
    /// Raised to stop the work.
    pub stop: &'s Stop,
    /// Products at most; infinite for no limit.
    pub products: f64,
}

/// A table over some variables, the last of which changes fastest.
#[derive(Debug)]
pub struct Factor {
    /// The variables; of a conditional distribution, the parents and then the variable itself.
    pub scope: Vec<usize>,
    /// Probabilities, or logarithms.
    pub table: Vec<f64>,
}

/// A product of factors over discrete variables.
#[derive(Debug)]
pub struct Model {
    states: Vec<usize>,
    factors: Vec<Factor>,
    /// The factors that mention each variable.
    of_variable: Vec<Vec<usize>>,
    /// Whether each factor is a distribution of its last variable, and each variable the last of one factor.
    directed: bool,
    logs: bool,
}

impl Model {
    /// A Bayesian network: factor `v` is the distribution of variable `v`, which its scope ends with.
    ///
    /// # Errors
    /// If a factor does not fit the variables.
    pub fn network(states: Vec<usize>, factors: Vec<Factor>) -> Result<Self, Error> {
        let own = |(v, factor): (usize, &Factor)| factor.scope.last() == Some(&v);
        if factors.len() != states.len() || !factors.iter().enumerate().all(own) {
            return Err(Error::Data("a network needs a distribution of each variable".into()));
        }
        Self::new(states, factors, true, false)
    }

    /// Any product of factors, whose cells may be logarithms.
    ///
    /// # Errors
    /// If a factor does not fit the variables.
    pub fn product(states: Vec<usize>, factors: Vec<Factor>, logs: bool) -> Result<Self, Error> {
        Self::new(states, factors, false, logs)
    }

    fn new(states: Vec<usize>, factors: Vec<Factor>, directed: bool, logs: bool) -> Result<Self, Error> {
        let mut of_variable = vec![Vec::new(); states.len()];
        for (f, factor) in factors.iter().enumerate() {
            let mut cells = 1_usize;
            for (i, &v) in factor.scope.iter().enumerate() {
                if v >= states.len() || factor.scope[..i].contains(&v) {
                    return Err(Error::Data("a factor mentions a variable twice, or an unknown one".into()));
                }
                cells = cells.saturating_mul(states[v]);
                of_variable[v].push(f);
            }
            if cells != factor.table.len() || factor.table.iter().any(|cell| cell.is_nan()) {
                return Err(Error::Data("a factor lacks numbers for some configurations".into()));
            }
        }
        Ok(Self { states, factors, of_variable, directed, logs })
    }

    /// Number of states of each variable.
    pub fn states(&self) -> &[usize] {
        &self.states
    }

    /// The distribution of `target` in each row given what is observed there, row after row; NaN where that is
    /// impossible. If `strict`, observations that do not bear on the target are checked too, unless that would take
    /// tables that are too large.
    ///
    /// # Errors
    /// If the tables would be too large, or the effort does not suffice.
    pub fn posteriors(
        &self,
        target: usize,
        observations: Observations<'_>,
        strict: bool,
        effort: &Effort<'_>,
    ) -> Result<Vec<f64>, Failure> {
        let size = self.states[target];
        let mut result = vec![f64::NAN; observations.rows * size];
        let blanket = if strict { Vec::new() } else { self.blanket(target) };
        for (columns, rows) in observations.patterns(&blanket, target) {
            let question = Question::new(self, observations, &columns, Some(target));
            let factors = question.component(target);
            let plan = question.plan(&factors, Some(target), rows.len(), effort)?;
            let mut runner = Runner::new(self, &plan, self.logs);
            let mut done = Done::default();
            let bearing = if strict { columns } else { question.observed_in(&factors) };
            for row in rows {
                if let Some(same) = done.same(observations, &bearing, row) {
                    result.copy_within(same * size..(same + 1) * size, row * size);
                } else if runner.run(&question.reader(row), effort.stop)?
                    && (!strict || question.is_rest_possible(&factors, row, effort)?)
                {
                    runner.result(&mut result[row * size..(row + 1) * size]);
                }
            }
        }
        Ok(result)
    }

    /// The logarithm of the probability of what is observed in each row; minus infinity where it is impossible.
    ///
    /// # Errors
    /// If the tables would be too large, or the effort does not suffice.
    pub fn log_evidence(
        &self,
        observations: Observations<'_>,
        effort: &Effort<'_>,
    ) -> Result<Vec<f64>, Failure> {
        let mut result = vec![f64::NEG_INFINITY; observations.rows];
        for (columns, rows) in observations.patterns(&[], usize::MAX) {
            let question = Question::new(self, observations, &columns, None);
            let (settled, open) = question.split((0..self.factors.len()).collect());
            let plan = question.plan(&open, None, rows.len(), effort)?;
            let mut runner = Runner::new(self, &plan, self.logs);
            let mut done = Done::default();
            for row in rows {
                if let Some(same) = done.same(observations, &columns, row) {
                    result[row] = result[same];
                } else if runner.run(&question.reader(row), effort.stop)? {
                    result[row] = question.log_settled(&settled, row) + runner.log_result();
                }
            }
        }
        Ok(result)
    }

    /// The distributions of all variables given the observations in the only row; none if these are impossible.
    /// That of an observed variable is left empty.
    ///
    /// # Errors
    /// If the tables would be too large, or the effort does not suffice.
    pub fn marginals(
        &self,
        observations: Observations<'_>,
        effort: &Effort<'_>,
    ) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        let columns: Vec<usize> = (0..observations.variables.len()).collect();
        let mut question = Question::new(self, observations, &columns, None);
        question.ask_for_all();
        let (settled, open) = question.split((0..self.factors.len()).collect());
        let plan = question.plan(&open, None, 3, effort)?;
        let mut runner = Runner::new(self, &plan, self.logs);
        let code = question.reader(0);
        if question.log_settled(&settled, 0) == f64::NEG_INFINITY || !runner.run(&code, effort.stop)? {
            return Ok(None);
        }
        let mut result = vec![Vec::new(); self.states.len()];
        for (v, marginal) in runner.marginals(&code, effort.stop)? {
            result[v] = marginal;
        }
        Ok(Some(result))
    }

    /// The variables that share a factor with one, and the one itself.
    fn blanket(&self, target: usize) -> Vec<usize> {
        let mut blanket: Vec<usize> =
            self.of_variable[target].iter().flat_map(|&f| self.factors[f].scope.iter().copied()).collect();
        blanket.sort_unstable();
        blanket.dedup();
        blanket
    }
}

/// Rows that were done, by the states of the variables that decide.
#[derive(Default)]
struct Done(HashMap<Vec<i32>, usize, FxBuildHasher>);

impl Done {
    /// An earlier row with the same states, if there is one; otherwise this one is kept for later rows.
    fn same(&mut self, observations: Observations<'_>, columns: &[usize], row: usize) -> Option<usize> {
        let key = columns.iter().map(|&i| observations.code(i, row)).collect();
        let first = *self.0.entry(key).or_insert(row);
        (first != row).then_some(first)
    }
}
