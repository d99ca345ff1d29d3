//! Errors of the core.
//!
//! They carry variables as numbers. [`Error::describe`] writes the message with the names that the caller
//! knows them by; without names they are "variable 0" and so on.

use std::fmt;

use crate::graph::knowledge::Contradiction;
use crate::graph::mpdag::Inadmissible;
use crate::stop::Stopped;

/// Input that cannot be used.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The table or its weights.
    Data(String),
    /// A column of the table; the text follows its name.
    Column(usize, String),
    /// A setting is out of range, or unknown.
    Setting(String),
    /// There are more variables than a [`VarSet`](crate::varset::VarSet) can hold.
    TooManyVariables(usize),
    /// A number that is not one of the variables.
    UnknownVariable(usize),
    /// An edge joins a variable to itself.
    SelfLoop(usize),
    /// Two variables are joined by more than one edge.
    JoinedTwice(usize, usize),
    /// A graph has a directed cycle.
    Cycle,
    /// A graph is not the essential graph of any class.
    NotEssential,
    /// A move is not in the inclusion boundary.
    NotANeighbour,
    /// More parents are required than allowed.
    TooManyRequired {
        /// The child.
        variable: usize,
        /// Its required parents.
        parents: Vec<usize>,
        /// The limit.
        max_parents: usize,
    },
    /// The data leave the parameters of a required family undetermined.
    NotEstimable {
        /// The child.
        variable: usize,
        /// Its required parents.
        parents: Vec<usize>,
    },
    /// No network is admissible.
    Contradiction(Contradiction),
    /// A model is not admissible.
    Inadmissible(Inadmissible),
    /// The work was stopped.
    Stopped,
}

impl Error {
    /// The variables that the error is about; the first is the one to look at.
    pub fn variables(&self) -> Vec<usize> {
        let ends = |arcs: &[(usize, usize)]| arcs.iter().flat_map(|&(a, b)| [a, b]).collect();
        match self {
            &Self::Column(v, _) | &Self::SelfLoop(v) => vec![v],
            &Self::JoinedTwice(a, b) => vec![a, b],
            Self::TooManyRequired { variable, parents, .. } | Self::NotEstimable { variable, parents } => {
                [&[*variable], parents.as_slice()].concat()
            }
            Self::Contradiction(why) => ends(why.arcs()),
            Self::Inadmissible(why) => ends(&[why.arc()]),
            _ => Vec::new(),
        }
    }

    /// The message, with the name of each variable.
    pub fn describe(&self, name: &dyn Fn(usize) -> String) -> String {
        let names = |variables: &[usize]| variables.iter().map(|&v| name(v)).collect::<Vec<_>>().join(", ");
        let arc = |&(a, b): &(usize, usize)| format!("{} → {}", name(a), name(b));
        let arcs = |arcs: &[(usize, usize)]| arcs.iter().map(arc).collect::<Vec<_>>().join(", ");
        match self {
            Self::Data(text) | Self::Setting(text) => text.clone(),
            Self::Column(v, text) => format!("{} {text}", name(*v)),
            Self::TooManyVariables(n) => {
                format!("there are {n} variables; up to {} are possible", crate::varset::MAX_VARIABLES)
            }
            Self::UnknownVariable(v) => format!("there is no variable {v}"),
            Self::SelfLoop(v) => format!("{} is joined to itself", name(*v)),
            Self::JoinedTwice(a, b) => format!("{} and {} are joined twice", name(*a), name(*b)),
            Self::Cycle => "the graph has a directed cycle".into(),
            Self::NotEssential => "the graph is not essential: some edge is directed that need not be, or \
                                   undirected that must have a direction"
                .into(),
            Self::NotANeighbour => "the move is not in the inclusion boundary of the graph".into(),
            Self::TooManyRequired { variable, parents, max_parents } => format!(
                "{} has {} required parents ({}); at most {max_parents} are allowed",
                name(*variable),
                parents.len(),
                names(parents)
            ),
            Self::NotEstimable { variable, parents } => format!(
                "{} with its required parents ({}) cannot be estimated from these data",
                name(*variable),
                names(parents)
            ),
            Self::Contradiction(Contradiction::Cycle(path)) => {
                format!("the required arcs {} form a cycle", arcs(path))
            }
            Self::Contradiction(Contradiction::Forbidden(both)) => {
                format!("required and forbidden at once: {}", arcs(both))
            }
            Self::Contradiction(Contradiction::Tiers(against)) => {
                format!("required against the tiers: {}", arcs(against))
            }
            Self::Inadmissible(why @ Inadmissible::Missing(..)) => {
                format!("the arc {} is required, but the model has no edge between the two", arc(&why.arc()))
            }
            Self::Inadmissible(why @ Inadmissible::Forbidden(..)) => format!(
                "the arc {} is forbidden (or its reverse required), but follows from the model",
                arc(&why.arc())
            ),
            Self::Stopped => "stopped".into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&|v| format!("variable {v}")))
    }
}

impl std::error::Error for Error {}

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<Contradiction> for Error {
    fn from(why: Contradiction) -> Self {
        Self::Contradiction(why)
    }
}

impl From<Inadmissible> for Error {
    fn from(why: Inadmissible) -> Self {
        Self::Inadmissible(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_variables_of_the_error() {
        let error = Error::TooManyRequired { variable: 2, parents: vec![0, 1], max_parents: 1 };
        assert_eq!(error.variables(), [2, 0, 1]);
        let named = error.describe(&|v| ["a", "b", "c"][v].into());
        assert_eq!(named, "c has 2 required parents (a, b); at most 1 are allowed");
        let missing = Error::from(Inadmissible::Missing(1, 0));
        assert_eq!(missing.variables(), [1, 0]);
        assert!(missing.to_string().starts_with("the arc variable 1 → variable 0 is required"));
    }
}
