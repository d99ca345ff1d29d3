//! Models as graphs: directed acyclic graphs, the essential graphs of their classes, and background
//! knowledge.

pub mod class_size;
pub mod components;
pub mod dag;
pub mod essential;
pub mod knowledge;
pub mod mpdag;
mod relabel;

pub use dag::Dag;
pub use essential::EssentialGraph;
pub use knowledge::Knowledge;
pub use mpdag::Mpdag;
