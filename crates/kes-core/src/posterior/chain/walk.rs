//! A walker: a jump process over models that leaves the posterior as it is.
//!
//! From a model `M` it jumps to each neighbour `M'` at the rate `b(Δ)`, where `Δ` is the gain and `b(Δ) = 1 / (1 + e^{−Δ})`, so it
//! stays for a random time with the mean `1 / Σ b(Δ)` [Zanella 2020]. As `b(Δ) = e^Δ b(−Δ)`, as much probability flows
//! from `M` to `M'` as back, if models have probabilities in proportion to `e^score`: the posterior under a prior that
//! is uniform over classes. Every insertion is undone by its deletion, so this holds under knowledge and limits as
//! well. Good neighbours are found at once, and nothing is rejected.
//!
//! * **Prior uniform over DAGs.** A class weighs in proportion to its number of DAGs. A jump to a class with fewer is done
//!   only with the ratio of the two numbers as its probability.
//! * **Hops.** The models of a list, the local optima, are neighbours of each other, at rates of the same kind.
//! * **Temperature.** At the temperature `1/β`, scores are multiplied by `β`.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::listed::Listed;
use crate::boundary::{Change, Frame, Model, Neighbour, Operator};
use crate::graph::class_size::ClassSizes;
use crate::posterior::Prior;
use crate::rng::Stream;
use crate::score::set_function::Worker;
use crate::score::terms::Terms;
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Memory for rows of rates, in bytes.
const ROWS_BYTES: usize = 1 << 26;

/// Insertions with one target and one clique, each neighbour once, and the sum of their rates.
struct Insertions<const W: usize> {
    given: VarSet<W>,
    sources: VarSet<W>,
    rate: f64,
}

/// The neighbours with one target.
struct Target<const W: usize> {
    frame: Frame<W>,
    /// The nodes that the frame depends on.
    watched: VarSet<W>,
    insertions: Vec<Insertions<W>>,
    /// Sources that are larger than the target: of these depends which insertions are doubled.
    larger: VarSet<W>,
    deletions: Vec<(usize, VarSet<W>, f64)>,
    /// Of all of these.
    rate: f64,
}

/// The destination of a jump.
enum Jump<const W: usize> {
    Neighbour(Neighbour<W>),
    /// To a listed model.
    Hop(usize),
}

/// The state that all walkers share.
pub(super) struct Ground<'g, const W: usize> {
    pub(super) terms: &'g Terms<W>,
    pub(super) prior: Prior,
    pub(super) max_parents: Option<usize>,
    pub(super) listed: &'g Listed<W>,
    /// The variables that are not constant.
    pub(super) varying: VarSet<W>,
    pub(super) stop: &'g Stop,
}

/// A model with the rates of all jumps from it.
pub(super) struct Walk<'g, const W: usize> {
    ground: &'g Ground<'g, W>,
    worker: Box<dyn Worker<W> + 'g>,
    /// The inverse of the temperature.
    pub(super) beta: f64,
    /// The rates of sources for a target and a conditioning set; NaN where they are not known.
    rows: HashMap<(usize, VarSet<W>), Vec<f64>, FxBuildHasher>,
    model: Model<W>,
    targets: Vec<Target<W>>,
    score: f64,
    log_size: f64,
    place: Option<usize>,
    /// Number of jumps so far.
    pub(super) jumps: u64,
}

impl<'g, const W: usize> Walk<'g, W> {
    /// # Errors
    /// If it is stopped.
    pub(super) fn new(
        ground: &'g Ground<'g, W>,
        model: Model<W>,
        score: f64,
        beta: f64,
    ) -> Result<Self, Stopped> {
        let (worker, rows, targets) = (ground.terms.worker(), HashMap::default(), Vec::new());
        let (log_size, place) = (f64::NAN, None);
        let mut walk = Self { ground, worker, beta, rows, model, targets, score, log_size, place, jumps: 0 };
        walk.look_everywhere()?;
        Ok(walk)
    }

    /// Starts again at a model: what follows is the same as for a new walker.
    ///
    /// # Errors
    /// If it is stopped.
    pub(super) fn restart(&mut self, model: Model<W>, score: f64) -> Result<(), Stopped> {
        (self.model, self.score) = (model, score);
        self.look_everywhere()
    }

    /// The current model.
    pub(super) fn model(&self) -> &Model<W> {
        &self.model
    }

    /// Exchanges the models of two walkers with the probability that leaves both distributions as they are.
    ///
    /// # Errors
    /// If it is stopped.
    pub(super) fn exchange(&mut self, other: &mut Self, stream: &mut Stream) -> Result<(), Stopped> {
        let log_ratio = (self.beta - other.beta) * (other.score - self.score);
        if libm::log(1.0 - stream.uniform()) >= log_ratio {
            return Ok(());
        }
        std::mem::swap(&mut self.model, &mut other.model);
        std::mem::swap(&mut self.score, &mut other.score);
        self.look_everywhere()?;
        other.look_everywhere()
    }

    /// Walks for some time. `before` is called before every jump, with the time and the model that is left.
    ///
    /// # Errors
    /// If it is stopped.
    pub(super) fn walk(
        &mut self,
        duration: f64,
        stream: &mut Stream,
        sizes: &mut ClassSizes<'_, W>,
        mut before: impl FnMut(f64, &Model<W>),
    ) -> Result<(), Stopped> {
        let mut time = 0.0;
        loop {
            self.ground.stop.check()?;
            let hops = self.hop_rates();
            let hopping: f64 = hops.iter().sum();
            let total = self.targets.iter().map(|target| target.rate).sum::<f64>() + hopping;
            if total <= 0.0 {
                return Ok(()); // the only model
            }
            time -= libm::log(1.0 - stream.uniform()) / total;
            if time >= duration {
                return Ok(());
            }
            let chosen = self.choose(stream.uniform() * total, &hops);
            if let Some(jump) = chosen
                && self.is_let(&jump, stream, sizes)
            {
                before(time, &self.model);
                self.jump(&jump)?;
            }
        }
    }

    /// The rates of hops to all listed models, if this is one of them.
    fn hop_rates(&self) -> Vec<f64> {
        let Some(place) = self.place else { return Vec::new() };
        let listed = self.ground.listed;
        let rate = |to: usize| {
            if to == place { 0.0 } else { self.rate(listed.get(to).1 - self.score) / listed.len() as f64 }
        };
        (0..listed.len()).map(rate).collect()
    }

    /// `b(βΔ)`.
    #[inline]
    fn rate(&self, delta: f64) -> f64 {
        rate(self.beta, delta)
    }

    /// The jump at a place on the line of all rates.
    fn choose(&mut self, mut at: f64, hops: &[f64]) -> Option<Jump<W>> {
        for (to, rate) in hops.iter().enumerate() {
            at -= rate;
            if at < 0.0 {
                return Some(Jump::Hop(to));
            }
        }
        let last = self.targets.iter().rposition(|target| target.rate > 0.0)?;
        let mut y = 0;
        while y < last && (self.targets[y].rate <= 0.0 || at >= self.targets[y].rate) {
            at -= self.targets[y].rate;
            y += 1;
        }
        let target = &self.targets[y];
        for &(x, given, rate) in &target.deletions {
            at -= rate;
            if at < 0.0 {
                return Some(Jump::Neighbour(Neighbour { operator: Operator::Delete, x, y, given }));
            }
        }
        for insertions in &target.insertions {
            if at >= insertions.rate {
                at -= insertions.rate;
                continue;
            }
            let row = self.rows.get(&(y, insertions.given))?;
            for x in insertions.sources.iter() {
                at -= row[x];
                if at < 0.0 {
                    let given = insertions.given;
                    return Some(Jump::Neighbour(Neighbour { operator: Operator::Insert, x, y, given }));
                }
            }
        }
        None // only by rounding; skipping a jump is harmless
    }

    /// Is a jump done, as far as the sizes of the classes decide?
    fn is_let(&mut self, jump: &Jump<W>, stream: &mut Stream, sizes: &mut ClassSizes<'_, W>) -> bool {
        if self.ground.prior == Prior::Classes {
            return true;
        }
        if self.log_size.is_nan() {
            self.log_size = sizes.log_size(&self.model.graph);
        }
        let after = match jump {
            Jump::Neighbour(neighbour) => self.model.graph_after(neighbour),
            Jump::Hop(to) => {
                let mut other = self.model.clone();
                other.jump(self.ground.listed.get(*to).0.clone());
                other.graph
            }
        };
        let log_size = sizes.log_size(&after);
        let is_let = libm::log(1.0 - stream.uniform()) < log_size - self.log_size;
        if is_let {
            self.log_size = log_size;
        }
        is_let
    }

    fn jump(&mut self, jump: &Jump<W>) -> Result<(), Stopped> {
        self.jumps += 1;
        let change = match jump {
            Jump::Neighbour(neighbour) => {
                self.score += self.ground.terms.delta(&mut *self.worker, neighbour);
                self.model.apply(neighbour)
            }
            Jump::Hop(to) => {
                let (dag, score) = self.ground.listed.get(*to);
                self.score = score;
                self.model.jump(dag.clone())
            }
        };
        self.look_again(&change)?;
        self.place = self.ground.listed.place(&self.model);
        Ok(())
    }

    /// Finds the rates of all neighbours.
    fn look_everywhere(&mut self) -> Result<(), Stopped> {
        self.log_size = f64::NAN;
        self.place = self.ground.listed.place(&self.model);
        self.tidy();
        self.targets.clear();
        for y in 0..self.model.graph.len() {
            let frame = self.model.frame(y);
            let watched = frame.watched(y);
            let (insertions, deletions) = (Vec::new(), Vec::new());
            let larger = VarSet::EMPTY;
            self.targets.push(Target { frame, watched, insertions, larger, deletions, rate: 0.0 });
            self.look_at_insertions(y)?;
            self.look_at_deletions(y)?;
            self.sum(y);
        }
        Ok(())
    }

    /// Finds the rates that a jump changed; see [`crate::frontier`].
    fn look_again(&mut self, change: &Change<W>) -> Result<(), Stopped> {
        if self.rows.len() * self.model.graph.len() * size_of::<f64>() > ROWS_BYTES {
            let log_size = self.log_size;
            self.look_everywhere()?;
            self.log_size = log_size;
            return Ok(());
        }
        let n = self.model.graph.len();
        let (mut insertions, mut deletions) = (change.cliques, change.cliques | change.nodes);
        for (y, target) in self.targets.iter_mut().enumerate() {
            if change.near.contains(y) && target.watched.intersects(&change.touched) {
                if self.model.reframe(y, change.touched, &mut target.frame) {
                    insertions.insert(y);
                }
                target.watched = target.frame.watched(y);
            }
            if target.larger.intersects(&change.nodes) {
                insertions.insert(y);
            }
        }
        if self.model.asks() {
            (insertions, deletions) = (VarSet::first_n(n), VarSet::first_n(n));
        }
        for y in insertions.iter() {
            self.look_at_insertions(y)?;
        }
        for y in deletions.iter() {
            self.look_at_deletions(y)?;
        }
        (insertions | deletions).iter().for_each(|y| self.sum(y));
        Ok(())
    }

    /// Forgets rows, if there are too many.
    fn tidy(&mut self) {
        if self.rows.len() * self.model.graph.len() * size_of::<f64>() > ROWS_BYTES {
            self.rows.clear();
        }
    }

    fn look_at_insertions(&mut self, y: usize) -> Result<(), Stopped> {
        let Self { ground, model, targets, rows, worker, beta, .. } = self;
        let target = &mut targets[y];
        target.insertions.clear();
        target.larger = VarSet::EMPTY;
        if !ground.varying.contains(y) {
            return Ok(());
        }
        let smaller = VarSet::first_n(y);
        let Target { frame, insertions, larger, .. } = target;
        model.insertions(frame, ground.max_parents, |clique, sources| {
            ground.stop.check()?;
            let sources = sources & ground.varying;
            *larger |= sources - smaller;
            let mut once = sources - (model.doubled(y, &clique) - smaller);
            let given = model.graph.parents[y] | clique;
            if model.asks() {
                let admits =
                    |&x: &usize| model.admits(&Neighbour { operator: Operator::Insert, x, y, given });
                once = once.iter().filter(admits).collect();
            }
            if !once.is_empty() {
                let row = rows.entry((y, given)).or_insert_with(|| vec![f64::NAN; model.graph.len()]);
                let unknown: VarSet<W> = once.iter().filter(|&x| row[x].is_nan()).collect();
                if !unknown.is_empty() {
                    let found = |x: usize, delta: f64| row[x] = rate(*beta, delta);
                    ground.terms.gains(&mut **worker, y, given, unknown, found);
                }
                let rate = once.iter().map(|x| row[x]).sum();
                insertions.push(Insertions { given, sources: once, rate });
            }
            Ok(())
        })
    }

    fn look_at_deletions(&mut self, y: usize) -> Result<(), Stopped> {
        let Self { ground, model, targets, worker, beta, .. } = self;
        let deletions = &mut targets[y].deletions;
        deletions.clear();
        model.deletions(y, |x, given| {
            ground.stop.check()?;
            let neighbour = Neighbour { operator: Operator::Delete, x, y, given };
            if !model.asks() || model.admits(&neighbour) {
                let delta = ground.terms.delta(&mut **worker, &neighbour);
                deletions.push((x, given, rate(*beta, delta)));
            }
            Ok(())
        })
    }

    /// Sums the rates of a target.
    fn sum(&mut self, y: usize) {
        let target = &mut self.targets[y];
        let inserted: f64 = target.insertions.iter().map(|insertions| insertions.rate).sum();
        target.rate = target.deletions.iter().map(|(_, _, rate)| rate).sum::<f64>() + inserted;
    }
}

/// `b(βΔ) = 1 / (1 + e^{−βΔ})`.
#[inline]
fn rate(beta: f64, delta: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-beta * delta))
}
