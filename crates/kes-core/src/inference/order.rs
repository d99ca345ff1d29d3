//! Elimination orders: greedy, by the weight of the cliques or by the edges that they add.
//!
//! To sum over a variable joins all tables that mention it, so its neighbours in the interaction graph become
//! a clique. The cells of that clique are what the step costs. Finding the cheapest order is NP-hard;
//! taking the variable with the smallest clique next (*min-weight*) is fast and mostly good, taking the one whose
//! clique lacks the fewest edges (*min-fill*) is slower and better on wide networks [Kjærulff 1990].

/// Total cells above which the slower rule is tried as well.
const CHEAP: f64 = (1 << 14) as f64;

/// An order, and what it costs.
pub struct Order {
    /// The variables, first eliminated first.
    pub variables: Vec<usize>,
    /// Cells of all cliques together.
    pub total: f64,
    /// The members of the largest clique.
    pub largest: Vec<usize>,
}

/// The graph of variables that share a table.
#[derive(Clone)]
pub struct Graph {
    words: usize,
    rows: Vec<u64>,
}

impl Graph {
    /// A graph of `n` vertices without edges.
    pub fn new(n: usize) -> Self {
        let words = n.div_ceil(64);
        Self { words, rows: vec![0; n * words] }
    }

    /// Joins all members of a table.
    pub fn join(&mut self, members: &[usize]) {
        for &u in members {
            for &v in members.iter().filter(|&&v| v != u) {
                self.rows[u * self.words + v / 64] |= 1 << (v % 64);
            }
        }
    }

    fn row(&self, v: usize) -> &[u64] {
        &self.rows[v * self.words..(v + 1) * self.words]
    }

    /// Joins the neighbours of a vertex and takes it out; returns them.
    fn eliminate(&mut self, v: usize) -> Vec<usize> {
        let row = self.row(v).to_vec();
        let neighbours: Vec<usize> = bits(&row).collect();
        for &u in &neighbours {
            let own = &mut self.rows[u * self.words..(u + 1) * self.words];
            own.iter_mut().zip(&row).for_each(|(word, &more)| *word |= more);
            own[u / 64] &= !(1 << (u % 64));
            own[v / 64] &= !(1 << (v % 64));
        }
        neighbours
    }
}

fn bits(row: &[u64]) -> impl Iterator<Item = usize> + '_ {
    row.iter().enumerate().flat_map(|(i, &word)| {
        std::iter::successors(Some(word), |&left| Some(left & left.wrapping_sub(1)))
            .take_while(|&left| left != 0)
            .map(move |left| i * 64 + left.trailing_zeros() as usize)
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    Weight,
    Fill,
}

/// A good order for eliminating all vertices but those in `kept`; `sizes` are the variables' numbers of states.
pub fn find(graph: &Graph, sizes: &[usize], kept: Option<usize>) -> Order {
    let by_weight = greedy(graph.clone(), sizes, kept, Rule::Weight);
    if by_weight.total <= CHEAP {
        return by_weight;
    }
    let by_fill = greedy(graph.clone(), sizes, kept, Rule::Fill);
    if by_fill.total < by_weight.total { by_fill } else { by_weight }
}

fn greedy(mut graph: Graph, sizes: &[usize], kept: Option<usize>, rule: Rule) -> Order {
    let weights: Vec<f64> = sizes.iter().map(|&size| (size as f64).log2()).collect();
    let mut left: Vec<usize> = (0..sizes.len()).filter(|&v| Some(v) != kept).collect();
    let mut costs: Vec<(f64, f64)> = (0..sizes.len()).map(|v| cost(&graph, &weights, v, rule)).collect();
    let mut order = Order { variables: Vec::with_capacity(left.len()), total: 0.0, largest: Vec::new() };
    let mut peak = 0.0;
    while !left.is_empty() {
        // The first of equals, so that the order depends on the network alone.
        let best =
            (1..left.len()).fold(0, |best, i| if costs[left[i]] < costs[left[best]] { i } else { best });
        let v = left.remove(best);
        let neighbours = graph.eliminate(v);
        let cells: f64 = neighbours.iter().chain([&v]).map(|&u| sizes[u] as f64).product();
        order.total += cells;
        if cells > peak {
            peak = cells;
            order.largest = neighbours.iter().copied().chain([v]).collect();
        }
        order.variables.push(v);
        let mut outdated = vec![0; graph.words];
        for &u in &neighbours {
            outdated[u / 64] |= 1 << (u % 64);
            if rule == Rule::Fill {
                outdated.iter_mut().zip(graph.row(u)).for_each(|(word, &more)| *word |= more);
            }
        }
        for u in bits(&outdated) {
            costs[u] = cost(&graph, &weights, u, rule);
        }
    }
    order
}

/// The cost to minimise, and the rule for ties.
fn cost(graph: &Graph, weights: &[f64], v: usize, rule: Rule) -> (f64, f64) {
    let row = graph.row(v);
    let weight = weights[v] + bits(row).map(|u| weights[u]).sum::<f64>();
    if rule == Rule::Weight {
        return (weight, 0.0);
    }
    let absent: u32 = bits(row)
        .map(|u| {
            row.iter().zip(graph.row(u)).map(|(own, other)| (own & !other).count_ones()).sum::<u32>() - 1
        })
        .sum();
    (f64::from(absent), weight)
}
