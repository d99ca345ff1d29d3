//! Additions to a criterion as part of the set function: a prior over adjacencies, and the constant that
//! takes exogenous variables out of the score.
//!
//! For symmetric weights `w` of pairs, `F(S) + Σ w_ab` over the pairs `{a, b} ⊆ S` is a set function again, in
//! which every gain of an edge between `x` and `y` is larger by exactly `w_xy`, whatever it is given:
//! of the pairs in `Cxy`, `Cx`, `Cy` and `C`, all but `{x, y}` cancel. So `w_xy` is the logarithm of the
//! prior odds of an edge. A negative weight for all pairs is a price for each edge, as in the
//! extended BIC [Chen & Chen 2008; Foygel & Drton 2010].
//!
//! An *exogenous* variable `x` has no parents in any admissible network, and is not modelled. With
//! `F(∅) − F(x)` added to every set that has it, its family `s(x | ∅)` scores 0, and no gain changes: the
//! score of a network is that of the families of the modelled variables.

use super::bounds::{Bounds, Measure};
use super::set_function::{SetFunction, Source, Survey, Worker};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// Weights are multiples of this part of `τ`, so that sums of them are exact.
const PART: f64 = 1.0 / 64.0;

/// The weights of pairs of variables, and those of single ones.
#[derive(Clone, Debug)]
pub struct Prior {
    /// Of every pair.
    common: f64,
    /// Additional weights of pairs, by their variables.
    more: Vec<Vec<(usize, f64)>>,
    /// `F(∅) − F(x)` of exogenous variables, 0 of others.
    own: Vec<f64>,
    /// The variables that vary: an edge to another one gains nothing.
    varying: Vec<bool>,
    /// The most that the edges to a variable, and itself, can add.
    bonus: Vec<f64>,
}

impl Prior {
    /// A common weight of all pairs, further weights of some, and what exogenous variables add of their own, for a set
    /// function with the given tolerance and variables that vary.
    pub fn new(
        tolerance: f64,
        varying: Vec<bool>,
        common: f64,
        pairs: &[(usize, usize, f64)],
        exogenous: &[(usize, f64)],
    ) -> Self {
        let unit = libm::exp2(libm::floor(libm::log2(tolerance * PART)));
        let rounded = |weight: f64| libm::rint(weight / unit) * unit;
        let n = varying.len();
        let (mut own, more) = (vec![0.0; n], vec![Vec::new(); n]);
        exogenous.iter().for_each(|&(x, weight)| own[x] = rounded(weight));
        let mut prior = Self { common: rounded(common), more, own, varying, bonus: Vec::new() };
        for &(a, b, weight) in pairs.iter().filter(|&&(a, b, _)| prior.varying[a] && prior.varying[b]) {
            prior.more[a].push((b, rounded(weight)));
            prior.more[b].push((a, rounded(weight)));
        }
        prior.bonus = (0..n).map(|y| prior.own[y].max(0.0) + prior.positive(y)).collect();
        prior
    }

    /// The sum of the positive weights of a variable's pairs.
    fn positive(&self, y: usize) -> f64 {
        if !self.varying[y] {
            return 0.0;
        }
        let mut special: Vec<usize> = self.more[y].iter().map(|&(x, _)| x).collect();
        special.sort_unstable();
        special.dedup();
        let common = self.common.max(0.0);
        let others = self.varying.iter().filter(|&&varies| varies).count() - 1 - special.len();
        common * others as f64 + special.iter().map(|&x| self.pair(x, y).max(0.0)).sum::<f64>()
    }

    /// `w_xy`.
    pub fn pair(&self, x: usize, y: usize) -> f64 {
        if !(self.varying[x] && self.varying[y]) {
            return 0.0;
        }
        let more: f64 = self.more[x].iter().filter(|(other, _)| *other == y).map(|(_, weight)| weight).sum();
        self.common + more
    }

    /// The weight of a variable and of the edges between it and those of a set.
    fn around<const W: usize>(&self, x: usize, set: &VarSet<W>) -> f64 {
        if !self.varying[x] {
            return self.own[x];
        }
        let count = set.iter().filter(|&v| self.varying[v]).count();
        let more: f64 = self.more[x].iter().filter(|(v, _)| set.contains(*v)).map(|(_, weight)| weight).sum();
        self.own[x] + self.common * count as f64 + more
    }

    /// The weight of all variables and pairs of a set.
    fn of<const W: usize>(&self, set: &VarSet<W>) -> f64 {
        self.of_members(set.iter(), |v| set.contains(v))
    }

    /// The same, given by its members.
    pub(crate) fn of_members(
        &self,
        members: impl Iterator<Item = usize> + Clone,
        contains: impl Fn(usize) -> bool,
    ) -> f64 {
        let count = members.clone().filter(|&v| self.varying[v]).count();
        let pairs = count * count.saturating_sub(1) / 2;
        let more = |v: usize| {
            let later = self.more[v].iter().filter(|&&(other, _)| other > v && contains(other));
            self.own[v] + later.map(|(_, weight)| weight).sum::<f64>()
        };
        self.common * pairs as f64 + members.map(more).sum::<f64>()
    }

    /// The weight that all pairs have.
    pub(crate) fn common(&self) -> f64 {
        self.common
    }

    /// The variables whose pairs with `y` weigh more than others.
    pub(crate) fn favoured(&self, y: usize) -> impl Iterator<Item = usize> {
        self.more[y].iter().filter(|(_, weight)| *weight > 0.0).map(|&(x, _)| x)
    }

    /// Upper bound on the additions of a variable and the edges to it.
    pub fn bonus(&self, y: usize) -> f64 {
        self.bonus[y]
    }
}

/// A set function with a prior.
pub struct Weighted<const W: usize> {
    function: Box<dyn SetFunction<W>>,
    prior: Prior,
}

impl<const W: usize> Weighted<W> {
    /// The set function with the weights added.
    pub fn new(
        function: impl SetFunction<W> + 'static,
        common: f64,
        pairs: &[(usize, usize, f64)],
        exogenous: &[usize],
    ) -> Self {
        let varying = (0..function.variables()).map(|v| function.varies(v)).collect();
        let mut worker = function.worker();
        let mut own = |&x: &usize| (x, worker.term(VarSet::EMPTY) - worker.term(VarSet::single(x)));
        let own: Vec<_> = exogenous.iter().map(&mut own).collect();
        drop(worker);
        let prior = Prior::new(function.tolerance(), varying, common, pairs, &own);
        Self { function: Box::new(function), prior }
    }
}

impl<const W: usize> SetFunction<W> for Weighted<W> {
    fn variables(&self) -> usize {
        self.function.variables()
    }

    fn varies(&self, v: usize) -> bool {
        self.function.varies(v)
    }

    fn tolerance(&self) -> f64 {
        self.function.tolerance()
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        Box::new(Weighing { inner: self.function.worker(), prior: &self.prior })
    }

    fn survey(&self) -> Box<dyn Survey<W> + '_> {
        Box::new(Weighing { inner: self.function.survey(), prior: &self.prior })
    }

    fn portion(&self) -> usize {
        self.function.portion()
    }

    fn perfect(&self) -> f64 {
        self.function.perfect() + self.prior.bonus.iter().copied().fold(0.0, f64::max)
    }

    fn bounds(&self, threads: usize, stop: &Stop) -> Result<Bounds, Stopped> {
        let rules = Box::new(self.function.bounds(threads, stop)?);
        Ok(Bounds::Weighted { rules, prior: self.prior.clone() })
    }

    /// A source that gains nothing by itself may, with a positive weight.
    fn promising(&self, given: VarSet<W>, y: usize, terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        let own = (terms.0 - self.prior.of(&given), terms.1 - self.prior.of(&given.with(y)));
        let favoured: VarSet<W> = sources.iter().filter(|&x| self.prior.pair(x, y) > 0.0).collect();
        self.function.promising(given, y, own, sources - favoured) | favoured
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.function.dependent()
    }
}

/// Adds weights to the values that another one computes.
struct Weighing<'p, T: ?Sized> {
    inner: Box<T>,
    prior: &'p Prior,
}

impl<const W: usize> Worker<W> for Weighing<'_, dyn Worker<W> + '_> {
    fn term(&mut self, set: VarSet<W>) -> f64 {
        self.inner.term(set) + self.prior.of(&set)
    }

    fn join(&mut self, given: VarSet<W>, y: usize, sources: &mut [Source]) {
        let prior = self.prior;
        let (base, with_y) = (prior.of(&given), given.with(y));
        let target = prior.of(&with_y);
        self.inner.join(given, y, sources);
        for source in sources {
            source.joint += target + prior.around(source.x, &with_y);
            if source.known.is_none() {
                source.margin += base + prior.around(source.x, &given);
            }
        }
    }
}

impl<const W: usize> Survey<W> for Weighing<'_, dyn Survey<W> + '_> {
    fn measure(&mut self, set: VarSet<W>) -> Measure {
        let Measure { term, detail } = self.inner.measure(set);
        Measure { term: term + self.prior.of(&set), detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::score::discrete::Table;
    use crate::score::discrete::criterion::Criterion;
    use crate::score::discrete::dataset::Dataset;
    use crate::score::terms::Terms;
    use proptest::prelude::*;

    fn table(seed: u64, criterion: &str) -> Table {
        let mut stream = Stream::new(seed, 0);
        let mut codes = vec![Vec::new(); 5];
        for _ in 0..60 {
            let a = stream.below(2) as i32;
            let b = if stream.below(4) > 0 { a } else { 1 - a };
            let values = [a, b, (a + b + stream.below(2) as i32) % 3, stream.below(2) as i32, 0];
            codes.iter_mut().zip(values).for_each(|(codes, value)| codes.push(value));
        }
        let codes: Vec<&[i32]> = codes.iter().map(Vec::as_slice).collect();
        let data = Dataset::new(&codes, &[2, 2, 3, 2, 1], None).unwrap();
        Table::new(data, Criterion::named(criterion, 1.0).unwrap()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Every gain is larger by the weight of the pair, all that gain are found, and families of exogenous
        /// variables count nothing.
        #[test]
        fn a_gain_is_larger_by_the_weight_of_its_pair(
            seed in 0..1000u64,
            common in -4.0..2.0f64,
            odds in prop::collection::vec((0..5usize, 0..5usize, -6.0..6.0f64), 0..4),
            criterion in prop::sample::select(vec!["bic", "aic", "bdeu"]),
            exogenous in prop::collection::btree_set(0..5usize, 0..3),
        ) {
            let exogenous: Vec<usize> = exogenous.into_iter().collect();
            let odds: Vec<_> = odds.into_iter().filter(|(a, b, _)| a != b).collect();
            let plain = Terms::<1>::new(table(seed, criterion), 1 << 20);
            let weighted = Terms::<1>::new(
                Weighted::new(table(seed, criterion), common, &odds, &exogenous), 1 << 20);
            let expected = |x: usize, y: usize| {
                let pair = |&&(a, b, _): &&(usize, usize, f64)| (a, b) == (x, y) || (a, b) == (y, x);
                if x == 4 || y == 4 { 0.0 } else { common + odds.iter().filter(pair).map(|o| o.2).sum::<f64>() }
            };
            let (mut a, mut b) = (plain.worker(), weighted.worker());
            for (members, y) in (0..32usize).flat_map(|members| (0..5).map(move |y| (members, y))) {
                let given: VarSet<1> = (0..5).filter(|&v| v != y && members >> v & 1 == 1).collect();
                let sources = VarSet::first_n(5) - given.with(y);
                let mut improving = Vec::new();
                weighted.improving(&mut *b, y, given, sources, |x, gain| improving.push((x, gain)));
                improving.sort_by_key(|&(x, _)| x);
                let mut all = Vec::new();
                for x in sources.iter() {
                    let gain = weighted.gain(&mut *b, x, y, given);
                    prop_assert!((gain - plain.gain(&mut *a, x, y, given) - expected(x, y)).abs() < 1e-9);
                    all.push((x, gain));
                }
                all.retain(|(_, gain)| *gain > weighted.tolerance());
                prop_assert_eq!(improving, all);
            }
            for x in exogenous {
                prop_assert!(weighted.family(&mut *b, x, VarSet::EMPTY).abs() <= weighted.tolerance());
            }
        }
    }
}
