//! The number of DAGs of a class, and a DAG drawn uniformly from it.
//!
//! The DAGs of a class are the ways to orient each chain component without a v-structure. Each such orientation
//! has one source. With the source given, the other edges are directed away from it as far as no new
//! v-structure forces, and what is left are smaller components of the same kind, again independent of each
//! other [He, Jia & Yu 2013]. So the number is a sum over sources of products, and a draw chooses source after
//! source. Knowledge rules out sources, and what they direct; it divides among the components, too.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Dag, EssentialGraph, Knowledge};
use crate::rng::Stream;
use crate::varset::VarSet;

/// Numbers of components that are remembered; beyond, all are forgotten.
const MOST: usize = 1 << 16;

/// The neighbours that each node of a component has in it, and the node itself.
type Component<const W: usize> = Vec<VarSet<W>>;

/// Counts and draws the admissible DAGs of classes.
pub struct ClassSizes<'k, const W: usize> {
    knowledge: Option<&'k Knowledge<W>>,
    known: HashMap<Component<W>, f64, FxBuildHasher>,
}

/// A component with its source chosen.
struct Rooted<const W: usize> {
    /// Nodes with the parents they get.
    parents: Vec<(usize, VarSet<W>)>,
    /// The remaining nodes.
    components: Vec<VarSet<W>>,
}

impl<'k, const W: usize> ClassSizes<'k, W> {
    /// With knowledge, only admissible DAGs count.
    pub fn new(knowledge: Option<&'k Knowledge<W>>) -> Self {
        Self { knowledge, known: HashMap::default() }
    }

    /// The logarithm of the number of DAGs of the class of a graph, be it tiered or not.
    pub fn log_size(&mut self, graph: &EssentialGraph<W>) -> f64 {
        components(graph, VarSet::first_n(graph.len()))
            .map(|component| libm::log(self.number(graph, component)))
            .sum()
    }

    /// A DAG of the class, each with the same probability.
    pub fn draw(&mut self, graph: &EssentialGraph<W>, stream: &mut Stream) -> Dag<W> {
        let mut dag = Dag { parents: graph.parents.clone() };
        let mut left: Vec<VarSet<W>> = components(graph, VarSet::first_n(graph.len())).collect();
        while let Some(component) = left.pop() {
            if component.len() < 2 {
                continue;
            }
            let sources: Vec<(Rooted<W>, f64)> =
                component.iter().filter_map(|source| self.with_source(graph, component, source)).collect();
            let all: f64 = sources.iter().map(|(_, number)| number).sum();
            let mut at = stream.uniform() * all;
            let mut chosen = sources.iter().filter(|(_, number)| *number > 0.0).peekable();
            while let Some((rooted, number)) = chosen.next() {
                at -= number;
                if at < 0.0 || chosen.peek().is_none() {
                    rooted.parents.iter().for_each(|&(v, parents)| dag.parents[v] |= parents);
                    left.extend(&rooted.components);
                    break;
                }
            }
        }
        dag
    }

    /// The number of orientations of a component.
    fn number(&mut self, graph: &EssentialGraph<W>, component: VarSet<W>) -> f64 {
        let nodes = component.len();
        let ends: usize = component.iter().map(|v| (graph.neighbours[v] & component).len()).sum();
        if self.knowledge.is_none() {
            if ends == 2 * (nodes - 1) {
                return nodes as f64; // a tree
            }
            if ends == nodes * (nodes - 1) {
                return (1..=nodes).map(|node| node as f64).product(); // complete
            }
        }
        if nodes == 1 {
            return 1.0;
        }
        let key: Component<W> = component.iter().map(|v| (graph.neighbours[v] & component).with(v)).collect();
        if let Some(&number) = self.known.get(&key) {
            return number;
        }
        let with = |source: usize| self.with_source(graph, component, source).map_or(0.0, |found| found.1);
        let number = component.iter().map(with).sum();
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(key, number);
        number
    }

    /// The component with a source, and the number of its orientations; nothing, if that is not admissible.
    fn with_source(
        &mut self,
        graph: &EssentialGraph<W>,
        component: VarSet<W>,
        source: usize,
    ) -> Option<(Rooted<W>, f64)> {
        let rooted = rooted(graph, component, source);
        if let Some(known) = self.knowledge {
            let allows = |&(v, parents): &(usize, VarSet<W>)| !known.forbidden(v).intersects(&parents);
            rooted.parents.iter().all(allows).then_some(())?;
        }
        let number = rooted.components.iter().map(|&part| self.number(graph, part)).product();
        Some((rooted, number))
    }
}

/// The parts of some nodes that edges connect within them.
fn components<const W: usize>(
    graph: &EssentialGraph<W>,
    mut nodes: VarSet<W>,
) -> impl Iterator<Item = VarSet<W>> {
    let all = VarSet::first_n(graph.len());
    std::iter::from_fn(move || {
        let component = graph.reach_within(nodes.first()?, all - nodes);
        nodes -= component;
        Some(component)
    })
}

/// Directs what follows from a source: away from it, and within each distance from it, `y → z` if `y` has a parent
/// that is not adjacent to `z`.
fn rooted<const W: usize>(graph: &EssentialGraph<W>, component: VarSet<W>, source: usize) -> Rooted<W> {
    let mut rooted = Rooted { parents: Vec::new(), components: Vec::new() };
    let mut last = VarSet::single(source);
    let mut left = component.without(source);
    while !left.is_empty() {
        let layer = VarSet::union(last.iter().map(|v| &graph.neighbours[v])) & left;
        left -= layer;
        let nodes: Vec<usize> = layer.iter().collect();
        let mut parents: Vec<VarSet<W>> = nodes.iter().map(|&v| graph.neighbours[v] & last).collect();
        let mut inside: Vec<VarSet<W>> = nodes.iter().map(|&v| graph.neighbours[v] & layer).collect();
        let mut changes = true;
        while changes {
            changes = false;
            for y in 0..nodes.len() {
                for z in (0..nodes.len()).filter(|&z| z != y) {
                    if inside[y].contains(nodes[z]) && !parents[y].is_subset(&graph.neighbours[nodes[z]]) {
                        inside[y].remove(nodes[z]);
                        inside[z].remove(nodes[y]);
                        parents[z].insert(nodes[y]);
                        changes = true;
                    }
                }
            }
        }
        rooted.components.extend(parts(&nodes, &inside));
        rooted.parents.extend(nodes.into_iter().zip(parents));
        last = layer;
    }
    rooted
}

/// The parts that edges connect, where `inside` has the neighbours of each node.
fn parts<const W: usize>(nodes: &[usize], inside: &[VarSet<W>]) -> Vec<VarSet<W>> {
    let mut parts: Vec<VarSet<W>> = Vec::new();
    for (&v, near) in nodes.iter().zip(inside) {
        let mut own = near.with(v);
        parts.retain(|part| {
            let is_other = !part.intersects(&own);
            if !is_other {
                own |= *part;
            }
            is_other
        });
        parts.push(own);
    }
    parts
}
