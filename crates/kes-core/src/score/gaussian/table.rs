//! A continuous or mixed table under one criterion, as a set function.

use super::cholesky::Factors;
use super::criterion::{Criterion, Function};
use super::gain_bound::GainBound;
use super::moments::Moments;
use super::worker::Evaluating;
use crate::score::bounds::Bounds;
use crate::score::excluded::{Dependent, Excluded, Why};
use crate::score::set_function::{SetFunction, Survey, Worker};
use crate::stop::{Stop, Stopped};
use crate::varset::VarSet;

/// A column depends on the others of a set if they leave less than this share of its variance unexplained.
const DEPENDENT: f64 = 1e-9;

/// `F` is rounded to multiples of `2⁻⁴⁶ N`, rounded up to a power of two: sums of terms up to `64 N` are exact.
const PRECISION: i32 = 46;
/// `τ` in such multiples. Equal gains of different sets differ by the rounding of a few pivots, about
/// `10⁻¹⁵ N`: a thousandth of `τ`.
pub const TOLERANCE: f64 = 64.0;

/// The moments of a table with the function of a criterion on them.
pub struct Table {
    pub(super) moments: Moments,
    pub(super) function: Box<dyn Function>,
    /// See [`Function::enlargement`].
    pub(super) enlargement: f64,
    /// The unit: `F` is a multiple of it.
    pub(super) quantum: f64,
    pub(super) dependent: Dependent,
}

impl Table {
    /// The moments under a criterion.
    pub fn new(moments: Moments, criterion: Criterion) -> Self {
        let function = criterion.on(moments.spread());
        let enlargement = function.enlargement();
        let quantum = quantum(moments.total);
        Self { moments, function, enlargement, quantum, dependent: Dependent::default() }
    }

    /// The moments.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The pairs that no model connects. For a criterion that is always defined, these are only the twins.
    pub fn excluded(&self) -> Vec<Excluded> {
        let Moments { blocks, correlations, total, .. } = &self.moments;
        let mut order: Vec<usize> = (0..blocks.len()).filter(|&v| !blocks[v].is_empty()).collect();
        order.sort_unstable_by_key(|&v| blocks[v].start);
        let mut factors = Factors::default();
        let mut excluded = Vec::new();
        for (at, &x) in order.iter().enumerate() {
            factors.truncate(0);
            for column in blocks[x].clone() {
                factors.push(correlations, column, 0.0);
            }
            for &y in &order[at + 1..] {
                let columns = blocks[x].len() + blocks[y].len();
                let large = self.enlargement == 0.0 && 2.0 * columns as f64 >= *total;
                factors.truncate(blocks[x].len());
                let mut pivots = blocks[y].clone().map(|column| factors.push(correlations, column, 0.0));
                if large || pivots.any(|pivot| pivot < dependence_threshold(columns)) {
                    excluded.extend(self.why_apart(&mut factors, x.min(y), x.max(y), large));
                    factors.truncate(0);
                    for column in blocks[x].clone() {
                        factors.push(correlations, column, 0.0);
                    }
                }
            }
        }
        excluded.sort_unstable_by_key(|pair: &Excluded| (pair.x.min(pair.y), pair.x.max(pair.y)));
        excluded
    }

    /// Why no model joins a pair whose columns depend on each other, or are too many.
    fn why_apart(&self, factors: &mut Factors, x: usize, y: usize, large: bool) -> Option<Excluded> {
        let (tells_y, tells_x) = (self.tells(factors, x, y), self.tells(factors, y, x));
        match (tells_x, tells_y) {
            (true, true) => Some(Excluded { x, y, why: Why::Twins }),
            _ if self.enlargement > 0.0 => None,
            (false, true) => Some(Excluded { x, y, why: Why::Determined }),
            (true, false) => Some(Excluded { x: y, y: x, why: Why::Determined }),
            (false, false) => {
                Some(Excluded { x, y, why: if large { Why::TooLarge } else { Why::Collinear } })
            }
        }
    }

    /// Is every column of `y` a combination of those of `x`? A city tells its region, not the other way
    /// round.
    fn tells(&self, factors: &mut Factors, x: usize, y: usize) -> bool {
        let Moments { blocks, correlations, .. } = &self.moments;
        factors.truncate(0);
        for column in blocks[x].clone() {
            factors.push(correlations, column, 0.0);
        }
        blocks[y].clone().all(|column| {
            factors.truncate(blocks[x].len());
            factors.push(correlations, column, 0.0) < DEPENDENT
        })
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.moments.blocks.len()
    }
}

/// The unit of `F` with this many cases.
pub fn quantum(total: f64) -> f64 {
    libm::ldexp(1.0, libm::frexp(total).1 - PRECISION)
}

/// A pivot below this makes a set of this many columns inadmissible. It grows with the set by more than
/// the rounding of pivots: a set with an inadmissible subset must be inadmissible too.
pub fn dependence_threshold(columns: usize) -> f64 {
    DEPENDENT * (1.0 + 0.01 * columns as f64)
}

impl<const W: usize> SetFunction<W> for Table {
    fn variables(&self) -> usize {
        Table::variables(self)
    }

    fn varies(&self, v: usize) -> bool {
        !self.moments.blocks[v].is_empty()
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.quantum
    }

    fn worker(&self) -> Box<dyn Worker<W> + '_> {
        Box::new(Evaluating::new(self))
    }

    fn survey(&self) -> Box<dyn Survey<W> + '_> {
        Box::new(Evaluating::new(self))
    }

    fn perfect(&self) -> f64 {
        f64::INFINITY
    }

    fn bounds(&self, _threads: usize, _stop: &Stop) -> Result<Bounds, Stopped> {
        Ok(Bounds::None)
    }

    fn promising(&self, given: VarSet<W>, y: usize, terms: (f64, f64), sources: VarSet<W>) -> VarSet<W> {
        let bound = GainBound::new(&self.moments, &*self.function, given, y);
        bound.map_or(sources, |bound| bound.sift(terms, sources))
    }

    fn dependent(&self) -> Option<Vec<usize>> {
        self.dependent.set()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::score::gaussian::Column;
    use crate::score::set_function::Source;
    use crate::score::terms::Terms;
    use proptest::prelude::*;

    fn table(columns: &[Column<'_>], order: &[usize], criterion: &str) -> Table {
        let moments = Moments::new(columns, order, None, 1, &Stop::default()).unwrap();
        Table::new(moments, Criterion::named(criterion, 1.0).unwrap())
    }

    /// Numbers in [-1, 1), in no relation to those of other seeds.
    fn noise(seed: u64, rows: usize) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0);
        (0..rows).map(|_| stream.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0).collect()
    }

    fn combination(parts: &[(f64, &[f64])]) -> Vec<f64> {
        (0..parts[0].1.len()).map(|row| parts.iter().map(|(factor, part)| factor * part[row]).sum()).collect()
    }

    fn all_terms(table: &Table) -> Vec<f64> {
        let n = SetFunction::<1>::variables(table);
        let mut worker = SetFunction::<1>::worker(table);
        (0..1usize << n).map(|set| worker.term((0..n).filter(|v| set >> v & 1 == 1).collect())).collect()
    }

    /// Six variables: four with noise of their own, one without, one that is a little more than twice
    /// another.
    fn dependent_columns(rows: usize) -> [Vec<f64>; 6] {
        let [a, b, c, d] = [1, 2, 3, 4].map(|seed| noise(seed, rows));
        let sum = combination(&[(1.0, &a), (-2.5, &c), (0.1, &d)]);
        let near = combination(&[(2.0, &b), (2e-5, &noise(5, rows))]);
        [a, sum, b, c, near, d]
    }

    #[test]
    fn whoever_computes_a_term_gets_the_same_bits() {
        let columns = dependent_columns(60);
        let codes: Vec<i32> = (0..60).map(|row| row * row % 7 % 4).collect();
        let mut columns: Vec<Column<'_>> = columns.iter().map(|c| Column::Numbers(c)).collect();
        columns.push(Column::Codes(&codes));
        for criterion in ["bic", "aic", "bge"] {
            let table = table(&columns, &[3, 0, 6, 1, 5, 2, 4], criterion);
            let terms = all_terms(&table);
            let set = |members: usize| (0..7).filter(|v| members >> v & 1 == 1).collect::<VarSet<1>>();
            for (members, term) in terms.iter().enumerate() {
                assert_eq!(term.to_bits(), SetFunction::<1>::worker(&table).term(set(members)).to_bits());
                assert_eq!(
                    term.to_bits(),
                    SetFunction::<1>::survey(&table).measure(set(members)).term.to_bits()
                );
                assert!(*term < f64::INFINITY && !term.is_nan());
            }
            let mut worker = SetFunction::<1>::worker(&table);
            for (given, y) in [(0b0001000usize, 2), (0b1000000, 0), (0, 5)] {
                let others = (0..7).filter(|&x| x != y && given >> x & 1 == 0);
                let mut sources: Vec<Source> = others.map(|x| Source::new(x, None)).collect();
                worker.join(set(given), y, &mut sources);
                for source in sources {
                    let margin = given | 1 << source.x;
                    assert_eq!(source.margin.to_bits(), terms[margin].to_bits());
                    assert_eq!(source.joint.to_bits(), terms[margin | 1 << y].to_bits());
                }
            }
        }
    }

    /// The order of the columns is given by `order` alone, not by the numbers of the variables.
    #[test]
    fn the_numbers_of_the_variables_do_not_matter() {
        let columns = dependent_columns(50);
        let original: Vec<Column<'_>> = columns.iter().map(|c| Column::Numbers(c)).collect();
        let moved: Vec<Column<'_>> = (0..6).map(|v| original[(v + 2) % 6]).collect();
        let a = all_terms(&table(&original, &[0, 1, 2, 3, 4, 5], "bic"));
        let b = all_terms(&table(&moved, &[4, 5, 0, 1, 2, 3], "bic"));
        for (members, term) in a.iter().enumerate() {
            let there: usize = (0..6).filter(|v| members >> ((v + 2) % 6) & 1 == 1).map(|v| 1 << v).sum();
            assert_eq!(term.to_bits(), b[there].to_bits());
        }
    }

    #[test]
    fn supersets_of_inadmissible_sets_are_inadmissible() {
        let columns = dependent_columns(100);
        let columns: Vec<Column<'_>> = columns.iter().map(|c| Column::Numbers(c)).collect();
        let table = table(&columns, &[0, 1, 2, 3, 4, 5], "bic");
        let terms = all_terms(&table);
        for (members, term) in terms.iter().enumerate() {
            // a, their sum, c and d; and b with what is nearly twice b.
            let bad = members & 0b101011 == 0b101011 || members & 0b010100 == 0b010100;
            assert_eq!(*term == f64::NEG_INFINITY, bad, "{members:b}");
        }
        assert_eq!(table.dependent.set(), Some(vec![2, 4]));
        assert_eq!(table.excluded(), [Excluded { x: 2, y: 4, why: Why::Twins }]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Noise of all strengths around the threshold: an inadmissible set must not have an admissible
        /// superset.
        #[test]
        fn the_threshold_is_hereditary(strength in -5.2..-4.2f64, seed in 0..1000u64) {
            let [a, b, c, d] = [1, 2, 3, 4].map(|s| noise(4 * seed + s, 40));
            let strength = 10f64.powf(strength);
            let near = combination(&[(0.5, &a), (0.5, &b), (strength, &c)]);
            let columns = [a, near, b, c, d];
            let columns: Vec<Column<'_>> = columns.iter().map(|c| Column::Numbers(c)).collect();
            let terms = all_terms(&table(&columns, &[2, 0, 1, 3, 4], "aic"));
            for (members, term) in terms.iter().enumerate() {
                for v in (0..5).filter(|v| members >> v & 1 == 0) {
                    prop_assert!(*term > f64::NEG_INFINITY || terms[members | 1 << v] == f64::NEG_INFINITY);
                }
            }
        }
    }

    proptest! {
        /// Whatever the relations, no source is left out whose edge gains anything.
        #[test]
        fn no_edge_that_gains_is_left_out(
            seed in 0..1000u64,
            strength in -6.0..0.5f64,
            criterion in prop::sample::select(vec!["bic", "aic", "bge"]),
        ) {
            let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|s| noise(5 * seed + s, 50));
            let near = combination(&[(0.5, &a), (0.5, &b), (10f64.powf(strength), &c)]);
            let codes: Vec<i32> = d.iter().zip(&a).map(|(d, a)| (d + a > 0.0) as i32 + (d > &0.5) as i32).collect();
            let numbers = [&a, &near, &b, &c, &e].map(|column| Column::Numbers(column));
            let columns: Vec<Column<'_>> = match criterion {
                "bge" => numbers.into(),
                _ => numbers.into_iter().chain([Column::Codes(&codes)]).collect(),
            };
            let n = columns.len();
            let terms = Terms::<1>::new(table(&columns, &(0..n).collect::<Vec<_>>(), criterion), 1 << 20);
            let mut worker = terms.worker();
            for (members, y) in (0..1usize << n).flat_map(|members| (0..n).map(move |y| (members, y))) {
                let given: VarSet<1> = (0..n).filter(|&v| v != y && members >> v & 1 == 1).collect();
                let sources = VarSet::first_n(n) - given.with(y);
                let mut found = Vec::new();
                terms.improving(&mut *worker, y, given, sources, |x, gain| found.push((x, gain)));
                found.sort_by_key(|&(x, _)| x);
                let all = sources.iter().map(|x| (x, terms.gain(&mut *worker, x, y, given)));
                let expected: Vec<_> = all.filter(|(_, gain)| *gain > terms.tolerance()).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    /// A city determines its region, but not the other way round; a recoded city determines the city.
    #[test]
    fn excluded_pairs_are_told_apart() {
        let rows = 90;
        let city: Vec<i32> = (0..rows).map(|row| row * row % 11 % 5).collect();
        let region: Vec<i32> = city.iter().map(|city| city / 2).collect();
        let recoded: Vec<i32> = city.iter().map(|city| 10 * (7 - city)).collect();
        let binary: Vec<i32> = (0..rows).map(|row| row % 2).collect();
        let celsius: Vec<f64> = binary.iter().map(|&b| 36.6 + f64::from(b)).collect();
        let free = noise(1, rows as usize);
        let columns = [
            Column::Codes(&city),
            Column::Codes(&region),
            Column::Codes(&recoded),
            Column::Codes(&binary),
            Column::Numbers(&celsius),
            Column::Numbers(&free),
            Column::Numbers(&[1.0; 90]),
        ];
        let table = table(&columns, &[0, 1, 2, 3, 4, 5, 6], "degenerate-bic");
        let excluded = [
            Excluded { x: 0, y: 1, why: Why::Determined },
            Excluded { x: 0, y: 2, why: Why::Twins },
            Excluded { x: 2, y: 1, why: Why::Determined },
            Excluded { x: 3, y: 4, why: Why::Twins },
        ];
        assert_eq!(table.excluded(), excluded);
        assert!(SetFunction::<1>::varies(&table, 5) && !SetFunction::<1>::varies(&table, 6));
        let terms = Terms::<1>::new(table, 1 << 20);
        let mut worker = terms.worker();
        assert_eq!(terms.gain(&mut *worker, 0, 1, VarSet::EMPTY), f64::NEG_INFINITY);
        assert!(terms.gain(&mut *worker, 0, 5, VarSet::EMPTY) < 0.0);
        assert_eq!(terms.gain(&mut *worker, 5, 6, VarSet::EMPTY), 0.0);
        assert_eq!(terms.function().dependent(), Some(vec![0, 1]));
    }

    /// With fewer cases than columns BIC admits families that leave half of the cases free; BGe all.
    #[test]
    fn fewer_cases_than_columns() {
        let columns = [1, 2, 3, 4, 5, 6, 7].map(|seed| noise(seed, 6));
        let columns: Vec<Column<'_>> = columns.iter().map(|c| Column::Numbers(c)).collect();
        let order = [0, 1, 2, 3, 4, 5, 6];
        for (members, term) in all_terms(&table(&columns, &order, "bic")).iter().enumerate() {
            assert_eq!(term.is_finite(), members.count_ones() < 3, "{members:b}");
        }
        assert!(all_terms(&table(&columns, &order, "bge")).iter().all(|term| term.is_finite()));
    }
}
