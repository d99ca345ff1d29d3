//! Operations on graphs that need no data.

pub use crate::wide::graphs::{
    check_essential, contradiction, essential_graph, extension, inadmissible, mpdag,
};

use super::plain::{self, Constraints, Graph, Move};
use crate::boundary::{Model, Neighbour};
use crate::stop::Stop;
use crate::{Error, with_width};

/// The admissible neighbours of a model.
///
/// # Errors
/// If the graph is not essential or not admissible, or `stop` is raised.
pub fn boundary(n: usize, graph: &Graph, constraints: &Constraints, stop: &Stop) -> Result<Vec<Move>, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let known = constraints.knowledge::<W>(n)?;
        let model = Model::under(plain::essential(n, graph)?, known.as_ref())?;
        let neighbours = model.boundary_until(constraints.max_parents, stop)?;
        Ok(neighbours.iter().map(Move::from).collect())
    })
}

/// The model that a move leads to.
///
/// # Errors
/// If the graph is not essential, or the move not in its boundary.
pub fn apply(n: usize, graph: &Graph, step: &Move) -> Result<Graph, Error> {
    plain::check_number(n)?;
    with_width!(n, W => {
        let mut model = Model::new(plain::essential::<W>(n, graph)?);
        let Neighbour { operator, x, y, given } = step.neighbour(n)?;
        let mut all = model.between(operator, x, y, None).into_iter();
        let neighbour = all.find(|neighbour| neighbour.given == given).ok_or(Error::NotANeighbour)?;
        model.apply(&neighbour);
        Ok(plain::graph(&model.graph))
    })
}
