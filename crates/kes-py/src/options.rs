//! Options, knowledge and moves from Python.

use kes_core::boundary::Operator;
use kes_core::engine::{Constraints, Edges, Graph, Move, SearchOptions, Statements};
use kes_core::sampled::Sampling;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The tier of each variable (or none), required and forbidden arcs.
pub type Known = (Option<Vec<Option<usize>>>, Edges, Edges);
/// (is it an insertion, x, y, conditioning set).
pub type Triple = (bool, usize, usize, Vec<usize>);

pub fn statements((tiers, required, forbidden): Known) -> Statements {
    Statements { tiers: tiers.unwrap_or_default(), required, forbidden }
}

pub fn constraints(max_parents: Option<usize>, knowledge: Option<Known>) -> Constraints {
    Constraints { max_parents, knowledge: knowledge.map(statements) }
}

pub fn read_move((insert, x, y, given): Triple) -> Move {
    Move { operator: if insert { Operator::Insert } else { Operator::Delete }, x, y, given }
}

pub fn write_move(step: Move) -> Triple {
    (step.operator == Operator::Insert, step.x, step.y, step.given)
}

/// The keywords of a search.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Keywords {
    k: f64,
    seed: u64,
    max_parents: Option<usize>,
    two_phase: bool,
    start: Option<Graph>,
    sampled: Option<(usize, Option<usize>)>,
    #[pyo3(default)]
    knowledge: Option<Known>,
}

const KEYWORDS: [&str; 7] = ["k", "seed", "max_parents", "two_phase", "start", "sampled", "knowledge"];

/// Makes the definition of a search from its keywords.
pub fn search_options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<SearchOptions> {
    let Some(keywords) = keywords else {
        return Err(PyTypeError::new_err(format!("missing keywords: {}", KEYWORDS.join(", "))));
    };
    for keyword in keywords.keys() {
        let keyword: String = keyword.extract()?;
        if !KEYWORDS.contains(&keyword.as_str()) {
            return Err(PyTypeError::new_err(format!("unexpected keyword {keyword:?}")));
        }
    }
    let Keywords { k, seed, max_parents, two_phase, start, sampled, knowledge } = keywords.extract()?;
    let sampling = sampled.map(|(reversals, failures)| Sampling { reversals, failures });
    Ok(SearchOptions {
        k,
        seed,
        two_phase,
        start,
        sampling,
        constraints: constraints(max_parents, knowledge),
    })
}
