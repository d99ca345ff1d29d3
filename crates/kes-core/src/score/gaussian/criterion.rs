//! The criteria of covariance matrices, and the one list of them.
//!
//! None has rules for exact search. Those of penalised likelihoods on discrete tables (see
//! [`bounds`](crate::score::bounds)) hold for Gaussian ones too, but the penalty of a family grows with the
//! number of its parents only, not with their cells: on random sparse models they left out fewer than
//! one set in ten thousand.

use super::bge;
use super::bic;
use super::moments::Spread;
use crate::Error;

/// All criteria of covariance matrices.
pub const CRITERIA: [&Description; 5] =
    [&bic::BIC, &bic::AIC, &bge::BGE, &bic::DEGENERATE_BIC, &bic::DEGENERATE_AIC];

/// A criterion, described without data.
#[derive(Debug)]
pub struct Description {
    /// Its name in settings.
    pub name: &'static str,
    /// Its name in a line of text.
    pub title: &'static str,
    /// The names of the parameters it takes.
    pub parameters: &'static [&'static str],
    /// The kinds of tables it takes.
    pub kinds: &'static [&'static str],
    /// Its function of determinants on given moments.
    pub(super) on: fn(Spread<'_>, Parameters) -> Box<dyn Function>,
}

/// The parameters of all criteria; each uses those that its description names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Factor of the penalty of BIC and AIC.
    pub penalty: f64,
}

/// A criterion with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// The criterion.
    pub description: &'static Description,
    parameters: Parameters,
}

impl Criterion {
    /// The criterion with a name, and the factor of its penalty if it has one.
    ///
    /// # Errors
    /// If there is no such criterion, or the factor is not positive.
    pub fn named(name: &str, penalty: f64) -> Result<Self, Error> {
        let description = CRITERIA.into_iter().find(|description| description.name == name);
        let known = || CRITERIA.map(|description| description.name).join(", ");
        let unknown =
            || Error::Setting(format!("unknown criterion {name:?} for numbers; known: {}", known()));
        if !(penalty > 0.0 && penalty.is_finite()) {
            return Err(Error::Setting(format!("the penalty {penalty} is not a positive number")));
        }
        Ok(Self { description: description.ok_or_else(unknown)?, parameters: Parameters { penalty } })
    }

    /// The minimum cost of an edge, for a number of cases.
    pub fn price(&self, cases: f64) -> f64 {
        self.on(Spread { ln_variance: &[0.0; 2], total: cases }).price(0, 0.0).cost
    }

    /// The function of the criterion on given moments.
    pub(super) fn on(&self, spread: Spread<'_>) -> Box<dyn Function> {
        (self.description.on)(spread, self.parameters)
    }
}

/// The gain of an edge between two columns with the partial correlation `ρ`, where the others leave one of them a
/// variance `v`: `−m/2 · ln(1 − ρ²) − a ln v` less its cost.
#[derive(Clone, Copy, Debug)]
pub struct Price {
    /// The cost.
    pub cost: f64,
    /// `m`.
    pub cases: f64,
    /// `a`.
    pub of_variance: f64,
}

/// `F` as a function of determinants.
pub trait Function: Send + Sync {
    /// `F(S)` from the embedded columns of `S` and the logarithm of the determinant of their correlations.
    fn value(&self, columns: &[usize], ln_determinant: f64) -> f64;

    /// The parts of the gain of an edge between two columns, given this many others and the logarithm of the
    /// pivot of one of the two after these.
    fn price(&self, given: usize, ln_pivot: f64) -> Price;

    /// The amount to add to the diagonal of the correlations. If it is positive, every set has a
    /// determinant; otherwise sets with linearly dependent columns are inadmissible.
    fn enlargement(&self) -> f64 {
        0.0
    }
}
