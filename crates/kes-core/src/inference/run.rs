//! Running a plan for one row after the other.

use super::kernel::{Axis, log_sum, multiply_add};
use super::plan::{Plan, Source};
use super::{Failure, Model};
use crate::stop::Stop;

/// Tables whose largest cell is smaller, or larger than the inverse, are scaled by a power of two.
const SMALL: f64 = f64::from_bits((1023 - 64) << 52);
/// Cells that are smaller, but not 0, may vanish in the next product: it takes logarithms to go on.
const TINY: f64 = f64::from_bits((1023 - 500) << 52);

/// Why a row cannot be done with plain probabilities.
enum Trouble {
    /// Some cells are too small beside others.
    Underflow,
    Failure(Failure),
}

/// Memory for a plan.
pub struct Runner<'m> {
    model: &'m Model,
    plan: &'m Plan,
    logs: bool,
    buffers: Vec<Vec<f64>>,
    exponents: Vec<i64>,
    offsets: Vec<usize>,
    has_constants: bool,
}

impl<'m> Runner<'m> {
    /// Memory for running `plan`; `logs` to calculate with logarithms.
    pub fn new(model: &'m Model, plan: &'m Plan, logs: bool) -> Self {
        Self {
            model,
            plan,
            logs,
            buffers: plan.buffers.iter().map(|_| Vec::new()).collect(),
            exponents: vec![0; plan.buffers.len()],
            offsets: vec![0; plan.inputs.len()],
            has_constants: false,
        }
    }

    /// Runs all steps with the observed states given by `code`, and returns whether they are possible; see
    /// [`Self::log_result`] and [`Self::result`] for the results.
    ///
    /// # Errors
    /// If `stop` is raised.
    pub fn run(&mut self, code: &impl Fn(usize) -> usize, stop: &Stop) -> Result<bool, Failure> {
        match self.forward(code, stop) {
            Ok(possible) => Ok(possible),
            Err(Trouble::Failure(failure)) => Err(failure),
            Err(Trouble::Underflow) => {
                let mut exact = Self::new(self.model, self.plan, true);
                let possible = exact.run(code, stop)?;
                // A later row may well do without logarithms, but they are never wrong.
                *self = exact;
                Ok(possible)
            }
        }
    }

    fn forward(&mut self, code: &impl Fn(usize) -> usize, stop: &Stop) -> Result<bool, Trouble> {
        for (offset, input) in self.offsets.iter_mut().zip(&self.plan.inputs) {
            *offset = input.observed.iter().map(|&(v, stride)| code(v) * stride).sum();
        }
        for step in &self.plan.steps {
            if step.constant && self.has_constants {
                continue;
            }
            stop.check().map_err(|stopped| Trouble::Failure(stopped.into()))?;
            let mut out = std::mem::take(&mut self.buffers[step.out]);
            out.clear();
            out.resize(self.plan.buffers[step.out], 0.0);
            self.calculate(&mut out, step.a, step.b, &step.axes);
            let exponent = self.scale(&mut out)?;
            self.buffers[step.out] = out;
            let Some(exponent) = exponent else {
                return Ok(false); // the constants may be incomplete
            };
            self.exponents[step.out] = exponent + self.exponent(step.a) + self.exponent(step.b);
        }
        self.has_constants = true;
        Ok(true)
    }

    fn calculate(&self, out: &mut [f64], a: Source, b: Source, axes: &[Axis]) {
        let (left, right) = (self.table(a), self.table(b));
        if self.logs {
            log_sum(out, self.logarithms(a, left), self.logarithms(b, right), axes);
        } else {
            multiply_add(out, left, right, axes);
        }
    }

    fn table(&self, source: Source) -> &[f64] {
        match source {
            Source::One => &[1.0],
            Source::Input(i) => &self.model.factors[self.plan.inputs[i].factor].table[self.offsets[i]..],
            Source::Buffer(i) => &self.buffers[i],
        }
    }

    fn logarithms<'t>(&self, source: Source, table: &'t [f64]) -> impl Fn(usize) -> f64 + 't {
        let is_probability = match source {
            Source::One => true,
            Source::Input(_) => !self.model.logs,
            Source::Buffer(_) => false,
        };
        move |i| if is_probability { table[i].ln() } else { table[i] }
    }

    fn exponent(&self, source: Source) -> i64 {
        if let Source::Buffer(i) = source { self.exponents[i] } else { 0 }
    }

    /// Scales a table so that its largest cell is near 1, and returns the power of two; none if all are 0.
    fn scale(&self, table: &mut [f64]) -> Result<Option<i64>, Trouble> {
        if self.logs {
            let possible = table.iter().any(|&cell| cell > f64::NEG_INFINITY);
            return Ok(possible.then_some(0));
        }
        let (mut largest, mut smallest) = (0.0_f64, f64::INFINITY);
        for &cell in table.iter() {
            largest = largest.max(cell);
            smallest = smallest.min(if cell > 0.0 { cell } else { f64::INFINITY });
        }
        if largest == 0.0 {
            return Ok(None);
        }
        let mut exponent = 0;
        if !(SMALL..=1.0 / SMALL).contains(&largest) {
            exponent = (largest.to_bits() >> 52) as i64 - 1023;
            let factor = 2.0_f64.powi(-exponent as i32);
            table.iter_mut().for_each(|cell| *cell *= factor);
            smallest *= factor;
        }
        if smallest < TINY { Err(Trouble::Underflow) } else { Ok(Some(exponent)) }
    }

    /// The logarithm of the product of all results, which are numbers, after a run.
    pub fn log_result(&self) -> f64 {
        let log = |&i: &usize| {
            let number = self.buffers[i][0];
            let log = if self.logs { number } else { number.ln() };
            log + self.exponents[i] as f64 * std::f64::consts::LN_2
        };
        self.plan.results.iter().map(log).sum()
    }

    /// Writes the distribution of the variable that is kept, after a run.
    pub fn result(&self, distribution: &mut [f64]) {
        for &i in &self.plan.results {
            normalise(distribution, &self.buffers[i], self.logs);
        }
    }

    /// The distributions of all hidden variables after a run, by differentiating the result with respect to
    /// the factors [Darwiche 2003]: the steps are undone in reverse, each by two steps of the same kind.
    ///
    /// # Errors
    /// If `stop` is raised.
    pub fn marginals(
        &mut self,
        code: &impl Fn(usize) -> usize,
        stop: &Stop,
    ) -> Result<Vec<(usize, Vec<f64>)>, Failure> {
        match self.backward(stop) {
            Ok(found) => Ok(found),
            Err(Trouble::Failure(failure)) => Err(failure),
            Err(Trouble::Underflow) => {
                *self = Self::new(self.model, self.plan, true);
                self.run(code, stop)?;
                self.marginals(code, stop)
            }
        }
    }

    fn backward(&self, stop: &Stop) -> Result<Vec<(usize, Vec<f64>)>, Trouble> {
        let one = if self.logs { 0.0 } else { 1.0 };
        let mut of_buffers: Vec<Vec<f64>> = self.plan.buffers.iter().map(|_| vec![one]).collect();
        let mut of_inputs: Vec<Vec<f64>> = self.plan.inputs.iter().map(|_| Vec::new()).collect();
        for step in self.plan.steps.iter().rev() {
            stop.check().map_err(|stopped| Trouble::Failure(stopped.into()))?;
            let above = std::mem::take(&mut of_buffers[step.out]);
            for (own, other, swap) in [(step.a, step.b, false), (step.b, step.a, true)] {
                let cells = match own {
                    Source::One => continue,
                    Source::Input(_) => self.table(own).len(),
                    Source::Buffer(i) => self.plan.buffers[i],
                };
                let turned: Vec<Axis> = step
                    .axes
                    .iter()
                    .map(|&Axis { size, a, b, out }| {
                        let (own, other) = if swap { (b, a) } else { (a, b) };
                        Axis { size, a: out, b: other, out: own }
                    })
                    .collect();
                let mut derivative = vec![0.0; cells];
                let table = self.table(other);
                if self.logs {
                    let above = |i: usize| above[i];
                    log_sum(&mut derivative, above, self.logarithms(other, table), &turned);
                } else {
                    multiply_add(&mut derivative, &above, table, &turned);
                }
                self.scale(&mut derivative)?;
                match own {
                    Source::Input(i) => of_inputs[i] = derivative,
                    Source::Buffer(i) => of_buffers[i] = derivative,
                    Source::One => (),
                }
            }
        }
        let found = self.plan.inputs.iter().enumerate().filter_map(|(i, input)| {
            let own = *self.model.factors[input.factor].scope.last()?;
            let mut marginal = vec![0.0; self.model.states[own]];
            let axes: Vec<Axis> = input
                .hidden
                .iter()
                .map(|&(v, stride)| Axis {
                    size: self.model.states[v],
                    a: stride,
                    b: stride,
                    out: usize::from(v == own),
                })
                .collect();
            if !input.hidden.iter().any(|&(v, _)| v == own) {
                return None; // observed
            }
            let (source, derivative) = (Source::Input(i), &of_inputs[i]);
            let mut sums = marginal.clone();
            if self.logs {
                let table = self.table(source);
                log_sum(&mut sums, self.logarithms(source, table), |i| derivative[i], &axes);
            } else {
                multiply_add(&mut sums, self.table(source), derivative, &axes);
            }
            normalise(&mut marginal, &sums, self.logs);
            Some((own, marginal))
        });
        Ok(found.collect())
    }
}

/// Scales numbers, or their logarithms, to a sum of 1.
fn normalise(distribution: &mut [f64], table: &[f64], logs: bool) {
    let top = table.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (p, &cell) in distribution.iter_mut().zip(table) {
        *p = if logs { (cell - top).exp() } else { cell / top };
    }
    let sum: f64 = distribution.iter().sum();
    distribution.iter_mut().for_each(|p| *p /= sum);
}
