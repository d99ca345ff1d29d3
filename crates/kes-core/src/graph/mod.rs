//! Models as graphs: directed acyclic graphs, the essential graphs of their classes, and what
//! background knowledge leaves of them.

pub mod components;
pub mod dag;
pub mod essential;
pub mod knowledge;
mod relabel;
pub mod restricted;

pub use dag::Dag;
pub use essential::EssentialGraph;
pub use knowledge::Knowledge;
pub use restricted::Restricted;
