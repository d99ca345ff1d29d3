//! Models as graphs: directed acyclic graphs and the essential graphs of their classes.

pub mod components;
pub mod dag;
pub mod essential;

pub use dag::Dag;
pub use essential::EssentialGraph;
