//! The engine for callers that do not know how wide the sets of a problem are.
//!
//! [`Engine`] and [`Families`] are implemented for every width of [`VarSet`](crate::varset::VarSet), and a width is
//! chosen once, by the number of variables. Variables, arcs and graphs are passed as plain lists (see [`plain`]).
//! Nothing here is generic for callers, so all widths are compiled with this crate.

pub mod exact;
pub mod graphs;
pub mod plain;
pub mod posterior;
mod table;
mod two;
mod width;

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

pub use exact::Families;
pub use plain::{Constraints, Edges, Graph, Move, Statements, check_number};
pub use table::{Table, numbers_suit_lists};

use crate::ends;
use crate::exact::{Failure, Limits};
use crate::improve::Origin;
use crate::posterior::{Exact, Prior, chain};
use crate::sampled::Sampling;
use crate::score::set_function::SetFunction;
use crate::stop::Stop;
use crate::{Error, with_width};
use width::ForWidth;

/// Defines a search, apart from the data.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Greediness, from 0 (SES) to 1 (GES).
    pub k: f64,
    /// With the number of the run, selects the random stream.
    pub seed: u64,
    /// First insertions only, then deletions only.
    pub two_phase: bool,
    /// The model in which every run starts; by default the smallest admissible one.
    pub start: Option<Graph>,
    /// The sampling of the boundary, if it is not searched completely.
    pub sampling: Option<Sampling>,
    /// The constraints on models.
    pub constraints: Constraints,
}

/// Defines the work of improving, apart from the data and the models.
#[derive(Clone, Debug)]
pub struct ImproveOptions {
    /// Number of tasks.
    pub tasks: usize,
    /// With the number of the task, selects the random stream.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// The constraints on models.
    pub constraints: Constraints,
}

/// A step of a run: the move, its gain, `|B|`, and the rank of the move in `B`, from 0.
#[derive(Clone, Debug)]
pub struct Step {
    /// The move.
    pub step: Move,
    /// Its gain.
    pub delta: f64,
    /// `|B|`.
    pub better: usize,
    /// Its rank in `B`, from 0.
    pub rank: usize,
}

/// A distinct end of runs.
pub type End = ends::End<Graph>;

/// New results of runs.
pub type Batch = ends::Batch<Graph>;

/// A model found by improving.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The essential graph.
    pub graph: Graph,
    /// The score.
    pub score: f64,
    /// Its origin, and the models it was made from.
    pub origin: Origin,
    /// The number of the task that found it.
    pub task: usize,
}

/// Searches on a set function, over sets of bits or over lists.
pub trait Engine: Send + Sync {
    /// The score of a DAG.
    ///
    /// # Errors
    /// If the arcs are not those of a DAG.
    fn score(&self, arcs: &[(usize, usize)]) -> Result<f64, Error>;

    /// The gain of a move.
    ///
    /// # Errors
    /// If it names an unknown variable, or one twice.
    fn delta(&self, step: &Move) -> Result<f64, Error>;

    /// For each model, whether it is admissible and no admissible neighbour scores higher.
    ///
    /// # Errors
    /// If a graph is not essential, or `stop` is raised.
    fn local_optima(
        &self,
        graphs: &[Graph],
        constraints: &Constraints,
        threads: usize,
        stop: &Stop,
    ) -> Result<Vec<bool>, Error>;

    /// The steps of a run, and its end.
    ///
    /// # Errors
    /// If the options cannot be used, or `stop` is raised.
    fn trace(&self, run: u64, options: &SearchOptions, stop: &Stop) -> Result<(Vec<Step>, Graph), Error>;

    /// Does runs on threads; see [`crate::runs::run_all`].
    ///
    /// # Errors
    /// If the options cannot be used.
    fn search(
        &self,
        runs: &[u64],
        options: &SearchOptions,
        threads: usize,
        pause: Duration,
        take: &mut dyn FnMut(Batch) -> bool,
    ) -> Result<(), Error>;

    /// Improves models; see [`crate::improve::improve`].
    ///
    /// # Errors
    /// If the options cannot be used, or a graph is not essential or not admissible.
    fn improve(
        &self,
        graphs: &[Graph],
        options: &ImproveOptions,
        pause: Duration,
        stop: &Stop,
        take: &mut dyn FnMut(Vec<Improved>, usize) -> bool,
    ) -> Result<(), Error>;

    /// The variables that are not constant.
    fn varying(&self) -> Vec<usize>;

    /// `τ`; see [`crate::score::terms::Terms::tolerance`].
    fn tolerance(&self) -> f64;

    /// The smallest set met so far in which some variables determine others linearly.
    fn dependent(&self) -> Option<Vec<usize>>;

    /// Number of terms in the cache that threads share; 0 if each remembers its own.
    fn cached(&self) -> usize;

    /// The engine on sets of bits for the same table, for `what` only that can do.
    ///
    /// # Errors
    /// If there are too many variables for sets of bits, or `stop` is raised while they are made.
    fn bits(&self, what: &str, stop: &Stop) -> Result<&dyn OnBits, Error>;
}

/// Methods that need sets of bits.
pub trait OnBits: Engine {
    /// All admissible neighbours of a model with their gains, best level first.
    ///
    /// # Errors
    /// If the graph is not essential or not admissible, or `stop` is raised.
    fn boundary(
        &self,
        graph: &Graph,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<Vec<(Move, f64)>, Error>;

    /// The families that can be part of a best network; see [`crate::exact::families::find`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn families(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Box<dyn Families>, Error>;

    /// Exact probabilities of arcs and ancestors; see [`crate::posterior::exact`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn posterior(
        &self,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        counted: &AtomicUsize,
    ) -> Result<Result<Exact, Failure>, Error>;

    /// Exact probabilities of everything, with few variables; see [`crate::posterior::enumerate::enumerate`].
    ///
    /// # Errors
    /// If the constraints cannot be used, or `stop` is raised.
    fn enumerate(
        &self,
        prior: Prior,
        constraints: &Constraints,
        stop: &Stop,
    ) -> Result<posterior::Everything, Error>;

    /// All admissible models close to the best, and whether these are all; see [`crate::exact::credible::credible`].
    ///
    /// # Errors
    /// If the constraints cannot be used.
    fn credible(
        &self,
        within: f64,
        most: usize,
        constraints: &Constraints,
        limits: Limits,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Result<posterior::Models, Failure>, Error>;

    /// Chains over models; see [`chain::chains`]. A chain has a start for each temperature.
    ///
    /// # Errors
    /// If the constraints cannot be used, a graph is not essential or not admissible, or `stop` is raised.
    fn chains(
        &self,
        starts: &[Vec<Graph>],
        listed: &[Graph],
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
        done: &AtomicUsize,
    ) -> Result<Vec<posterior::Found>, Error>;

    /// A good duration of the rounds of chains; see [`chain::pilot`].
    ///
    /// # Errors
    /// As [`OnBits::chains`].
    fn pilot(
        &self,
        start: &Graph,
        options: &chain::Options,
        knowledge: Option<&Statements>,
        stop: &Stop,
    ) -> Result<f64, Error>;
}

/// Additions to a criterion: the weight of every pair of variables, further weights of some, and the exogenous
/// variables, whose own families count nothing; see [`Weighted`](crate::score::prior::Weighted).
pub type Additions = (f64, Vec<(usize, usize, f64)>, Vec<usize>);

/// The engine on a table, with about `bytes` of memory for what it remembers.
///
/// # Errors
/// If there are too many variables.
pub(crate) fn on_bits(
    table: impl AllWidths + 'static,
    additions: Option<&Additions>,
    bytes: usize,
) -> Result<Box<dyn OnBits>, Error> {
    let n = plain::check_number(SetFunction::<1>::variables(&table))?;
    with_width!(n, W => Ok(ForWidth::<W>::boxed(table, additions, bytes)))
}

/// A set function of sets of every width.
pub(crate) trait AllWidths:
    SetFunction<1> + SetFunction<4> + SetFunction<12> + SetFunction<17> + SetFunction<64>
{
}

impl<T> AllWidths for T where
    T: SetFunction<1> + SetFunction<4> + SetFunction<12> + SetFunction<17> + SetFunction<64>
{
}
