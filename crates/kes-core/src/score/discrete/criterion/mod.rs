//! Scoring criteria as functions of variable sets, and the one list of them.
//!
//! For a score-equivalent criterion the score of a family is a difference of two values of one set
//! function, `s(y | P) = F(P ∪ y) − F(P)`, where `F(S)` needs the cell counts of `S` only. A criterion is
//! one file: its formula, its [`Description`], and its [`Function`]. To add one, write the file and
//! add it to [`CRITERIA`]; nothing else in the engine or in its bindings knows criteria by name.
//!
//! Sums over cells are taken in [`FixedPoint`](fixed_point::FixedPoint), as integers, so that they do not
//! depend on the order of the cells, and logarithms come from `libm`, so that they do not depend on the
//! platform.

mod aic;
mod bdeu;
mod bic;
mod fixed_point;
mod likelihood;
mod memo;
mod qnml;

use super::dataset::Dataset;
use crate::Error;
use crate::score::bounds::Measure;
pub use memo::Memo;

/// All criteria for discrete tables.
pub const CRITERIA: [&Description; 4] =
    [&bic::DESCRIPTION, &aic::DESCRIPTION, &bdeu::DESCRIPTION, &qnml::DESCRIPTION];

/// A criterion, described without data.
#[derive(Debug)]
pub struct Description {
    /// Its name in settings.
    pub name: &'static str,
    /// Its name in a line of text.
    pub title: &'static str,
    /// The names of the parameters it takes.
    pub parameters: &'static [&'static str],
    /// The penalty of a free parameter with `N` cases, if it is the same for all.
    pub penalty: Option<fn(cases: f64) -> f64>,
    /// Its set function on given data.
    on: fn(&Dataset, Parameters) -> Made,
}

/// A set function on given data, or what is wrong with the parameters.
type Made = Result<Box<dyn Function>, Error>;

/// The parameters of all criteria; each uses those that its description names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Equivalent sample size.
    pub ess: f64,
}

/// A criterion with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// The criterion.
    pub description: &'static Description,
    parameters: Parameters,
}

impl Criterion {
    /// The criterion with a name, and its equivalent sample size if it uses one.
    ///
    /// # Errors
    /// If there is no such criterion.
    pub fn named(name: &str, ess: f64) -> Result<Self, Error> {
        let description = CRITERIA.into_iter().find(|description| description.name == name);
        let known = || CRITERIA.map(|description| description.name).join(", ");
        let unknown = || Error::Setting(format!("unknown criterion {name:?}; known: {}", known()));
        Ok(Self { description: description.ok_or_else(unknown)?, parameters: Parameters { ess } })
    }

    /// The set function of the criterion on given data.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn on(&self, data: &Dataset) -> Made {
        (self.description.on)(data, self.parameters)
    }
}

/// `F`: from the counts of the cells of a set to its value.
pub trait Function: Send + Sync {
    /// `F(S)` from the number of cells of `S` and the counts (in units) of at least all occupied ones.
    fn value(&self, cells: Cells, counts: &[u64]) -> f64;

    /// The same, to the bit, with what the criterion's rules need to know about the set. The memo is kept
    /// from set to set.
    fn measure(&self, cells: Cells, counts: &[u64], _memo: &mut Memo) -> Measure {
        Measure { term: self.value(cells, counts), detail: 0.0 }
    }

    /// The rules by which families can be left out of an exact search.
    fn rules(&self) -> Rules {
        Rules::None
    }

    /// `τ`, what rounding cannot tell from zero in a gain.
    fn tolerance(&self) -> f64;
}

/// The rules of [`bounds`](crate::score::bounds) that hold for a criterion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rules {
    /// Rules 1 and 2: likelihood less a penalty. The detail of a set is its likelihood `Σ n ln n`.
    Penalised {
        /// The price of a free parameter.
        penalty: f64,
    },
    /// Rules 3 and 4: every case costs at least what it costs to predict it. The detail of a set is its
    /// number of occupied cells.
    Occupied,
    /// None.
    None,
}

/// The number of cells of a set of variables, occupied or not: the product of their arities.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    /// The product itself, infinite if it overflows.
    pub number: f64,
    /// Its logarithm, always finite.
    pub ln: f64,
}

impl Cells {
    /// The single cell of the empty set.
    pub const ONE: Self = Self { number: 1.0, ln: 0.0 };

    /// Each cell divided by a variable of `arity` states.
    #[inline]
    #[must_use]
    pub fn times(self, arity: usize, ln_arity: f64) -> Self {
        Self { number: self.number * arity as f64, ln: self.ln + ln_arity }
    }
}

/// `τ = 2⁻⁴⁶ M ln M` for terms of the order of `M ln M`, given as `M` and `ln M`, the latter at least 1
/// (weights may sum to little more than 1). It is about a hundred times the rounding of a gain made
/// of such terms, and tiny beside any gain that means something.
fn tolerance(m: f64, ln_m: f64) -> f64 {
    libm::exp2(-46.0) * m * ln_m.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_found_by_its_name_and_keeps_what_it_describes() {
        let data = Dataset::new(&[&[0, 1, 1], &[0, 1, 0]], &[2, 3], None).unwrap();
        for description in CRITERIA {
            let criterion = Criterion::named(description.name, 1.0).unwrap();
            assert_eq!(criterion.description.title, description.title);
            let function = criterion.on(&data).unwrap();
            assert!(function.tolerance() > 0.0);
            if let (Rules::Penalised { penalty }, Some(of)) = (function.rules(), description.penalty) {
                assert_eq!(penalty, of(3.0));
            }
        }
        let error = Criterion::named("bci", 1.0).err().map(|e| e.to_string()).unwrap_or_default();
        assert_eq!(error, "unknown criterion \"bci\"; known: bic, aic, bdeu, qnml");
    }

    /// More cells than a float can represent: every criterion is still negative, and never NaN.
    #[test]
    fn no_number_of_cells_is_too_large() {
        let data = Dataset::new(&[&[0, 1, 1]], &[2], None).unwrap();
        let ln = 2000.0 * std::f64::consts::LN_2;
        for description in CRITERIA {
            let function = Criterion::named(description.name, 1.0).unwrap().on(&data).unwrap();
            let value = function.value(Cells { number: f64::INFINITY, ln }, &[1, 1, 1]);
            assert!(value < 0.0 && !value.is_nan(), "{} gives {value}", description.name);
        }
    }
}
