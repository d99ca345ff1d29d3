//! Plans: variable elimination as a list of steps, which serve all rows with the same observed variables.
//!
//! Tables have their variables in elimination order, so a table belongs to the *bucket* of its first one
//! [Dechter 1999]. Eliminating a variable multiplies its bucket and sums over it; the result goes to the bucket of
//! its own first variable. The variable that is summed over is the outermost axis of a step, so inner loops
//! run over neighbouring cells.

use super::kernel::{Axis, cells, push};
use super::order::{Graph, find};
use super::{Failure, MOST_CELLS, MOST_PRODUCTS, Model};

/// The source of a table of a step.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The number 1.
    One,
    /// A factor of the model, at the observed states: an index of [`Plan::inputs`].
    Input(usize),
    /// The result of another step: an index of [`Plan::buffers`].
    Buffer(usize),
}

/// A factor of the model, with some variables observed.
pub struct Input {
    /// The factor.
    pub factor: usize,
    /// Observed variables and their strides.
    pub observed: Vec<(usize, usize)>,
    /// Other variables and their strides.
    pub hidden: Vec<(usize, usize)>,
}

impl Input {
    /// Factor `f` of a model.
    pub fn new(model: &Model, f: usize, is_observed: &[bool]) -> Self {
        let (mut observed, mut hidden) = (Vec::new(), Vec::new());
        let mut stride = 1;
        for &v in model.factors[f].scope.iter().rev() {
            let members = if is_observed[v] { &mut observed } else { &mut hidden };
            members.push((v, stride));
            stride *= model.states[v];
        }
        Self { factor: f, observed, hidden }
    }
}

/// Multiply two tables, and sum over variables that the result does not have.
pub struct Step {
    /// The first table.
    pub a: Source,
    /// The second table.
    pub b: Source,
    /// The buffer of the result.
    pub out: usize,
    /// The variables of both.
    pub axes: Vec<Axis>,
    /// Whether the result is the same in all rows.
    pub constant: bool,
}

/// Steps that sum a product of factors over its hidden variables, but for one that may be kept.
#[derive(Default)]
pub struct Plan {
    /// Factors with hidden variables.
    pub inputs: Vec<Input>,
    /// Cells of each buffer.
    pub buffers: Vec<usize>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Buffers whose product is the answer: numbers, or one table over the variable that is kept.
    pub results: Vec<usize>,
    /// Products that all steps take.
    pub cost: f64,
}

/// A table on its way through the buckets; its variables go by their ranks in the order, ascending.
struct Table {
    source: Source,
    scope: Vec<usize>,
    strides: Vec<usize>,
    cells: usize,
    constant: bool,
}

impl Plan {
    /// A plan for the product of `factors`, all of which have hidden variables.
    ///
    /// # Errors
    /// If the tables would be too large.
    pub fn new(
        model: &Model,
        factors: &[usize],
        is_observed: &[bool],
        kept: Option<usize>,
    ) -> Result<Self, Failure> {
        let inputs: Vec<Input> = factors.iter().map(|&f| Input::new(model, f, is_observed)).collect();
        let mut hidden: Vec<usize> =
            inputs.iter().flat_map(|input| input.hidden.iter().map(|&(v, _)| v)).collect();
        hidden.sort_unstable();
        hidden.dedup();
        let place = |v: usize| hidden.binary_search(&v).unwrap_or_default();
        let mut graph = Graph::new(hidden.len());
        for input in &inputs {
            let members: Vec<usize> = input.hidden.iter().map(|&(v, _)| place(v)).collect();
            graph.join(&members);
        }
        let sizes: Vec<usize> = hidden.iter().map(|&v| model.states[v]).collect();
        let order = find(&graph, &sizes, kept.map(place));
        let too_large = || Failure::TooLarge {
            variables: order.largest.iter().map(|&v| hidden[v]).collect(),
            hidden: hidden.len(),
        };
        if order.total > MOST_PRODUCTS {
            return Err(too_large());
        }
        let mut rank = vec![hidden.len(); hidden.len()];
        order.variables.iter().enumerate().for_each(|(i, &v)| rank[v] = i);
        let mut states: Vec<usize> = order.variables.iter().map(|&v| sizes[v]).collect();
        if let Some(kept) = kept.map(place) {
            rank[kept] = states.len();
            states.push(sizes[kept]);
        }
        let mut plan = Self::default();
        let mut buckets: Vec<Vec<Table>> = states.iter().map(|_| Vec::new()).collect();
        for (i, input) in inputs.iter().enumerate() {
            let mut members: Vec<(usize, usize)> =
                input.hidden.iter().map(|&(v, stride)| (rank[place(v)], stride)).collect();
            members.sort_unstable();
            let (scope, strides): (Vec<_>, Vec<_>) = members.into_iter().unzip();
            buckets[scope[0]].push(Table {
                source: Source::Input(i),
                cells: scope.iter().map(|&r| states[r]).product(),
                scope,
                strides,
                constant: input.observed.is_empty(),
            });
        }
        plan.inputs = inputs;
        for first in 0..states.len() {
            let is_kept = first == order.variables.len();
            let Some(table) = plan.multiply(std::mem::take(&mut buckets[first]), &states, !is_kept) else {
                continue;
            };
            match table.scope.first() {
                Some(&next) if !is_kept => buckets[next].push(table),
                _ => plan.results.push(plan.buffers.len() - 1),
            }
        }
        if plan.buffers.iter().sum::<usize>() > MOST_CELLS {
            return Err(too_large());
        }
        Ok(plan)
    }

    /// Multiplies a bucket, small tables first, and sums over its variable with the last.
    fn multiply(&mut self, mut bucket: Vec<Table>, states: &[usize], sum: bool) -> Option<Table> {
        bucket.sort_by_key(|table| table.cells);
        let mut tables = bucket.into_iter();
        let mut product = tables.next()?;
        let mut last = tables.next();
        while let Some(table) = last.take() {
            last = tables.next();
            let summed = sum && last.is_none();
            product = self.step(&product, Some(&table), states, summed);
            if summed {
                return Some(product);
            }
        }
        Some(self.step(&product, None, states, sum))
    }

    fn step(&mut self, a: &Table, b: Option<&Table>, states: &[usize], sum: bool) -> Table {
        let stride =
            |table: &Table, r: usize| table.scope.binary_search(&r).map_or(0, |member| table.strides[member]);
        let mut scope: Vec<usize> = a.scope.iter().chain(b.iter().flat_map(|b| &b.scope)).copied().collect();
        scope.sort_unstable();
        scope.dedup();
        let kept = usize::from(sum);
        let mut strides = vec![1; scope.len() - kept];
        for i in (0..strides.len().saturating_sub(1)).rev() {
            strides[i] = strides[i + 1] * states[scope[kept + i + 1]];
        }
        let mut axes = Vec::with_capacity(scope.len());
        for (i, &r) in scope.iter().enumerate() {
            let out = if i < kept { 0 } else { strides[i - kept] };
            let (a, b) = (stride(a, r), b.map_or(0, |b| stride(b, r)));
            push(&mut axes, Axis { size: states[r], a, b, out });
        }
        let cells_out: usize = scope[kept..].iter().map(|&r| states[r]).product();
        self.cost += cells(&axes);
        self.buffers.push(cells_out);
        let constant = a.constant && b.is_none_or(|b| b.constant);
        let (out, source) = (self.buffers.len() - 1, b.map_or(Source::One, |b| b.source));
        self.steps.push(Step { a: a.source, b: source, out, axes, constant });
        scope.drain(..kept);
        Table { source: Source::Buffer(out), scope, strides, cells: cells_out, constant }
    }
}
