//! The criteria for mixed tables, and the one list of them.

use crate::Error;
use crate::score::discrete::criterion as discrete;

/// All criteria for mixed tables: those for discrete tables in which every parameter costs the same.
pub const CRITERIA: [Description; 2] = [
    Description { name: "bic", title: "location model BIC" },
    Description { name: "aic", title: "location model AIC" },
];

/// The properties of a criterion that do not depend on data.
#[derive(Debug)]
pub struct Description {
    /// Its name in settings, and that of the criterion of its discrete part.
    pub name: &'static str,
    /// Its name in a line of text.
    pub title: &'static str,
}

/// A criterion with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Criterion {
    /// That of the discrete part.
    pub(super) discrete: discrete::Criterion,
    /// `u` with `N` cases.
    price: fn(cases: f64) -> f64,
    /// `λ`: parameters of the continuous part cost this many times as much.
    factor: f64,
}

impl Criterion {
    /// The criterion with a name, and the factor of the penalty of its continuous part.
    ///
    /// # Errors
    /// If there is no such criterion, or the factor is not positive.
    pub fn named(name: &str, factor: f64) -> Result<Self, Error> {
        let unknown = || Error::Setting(format!("unknown criterion {name:?} for mixed tables"));
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::Setting(format!("the penalty {factor} is not a positive number")));
        }
        let discrete = discrete::Criterion::named(name, 1.0)?;
        Ok(Self { discrete, price: discrete.description.penalty.ok_or_else(unknown)?, factor })
    }

    /// `λ u` with `N` cases.
    pub(super) fn penalty(&self, cases: f64) -> f64 {
        self.factor * (self.price)(cases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_found_by_its_name_and_no_other_is() {
        for description in &CRITERIA {
            let criterion = Criterion::named(description.name, 2.0).unwrap();
            let alone = criterion.discrete.description.penalty.unwrap();
            assert_eq!(criterion.penalty(100.0), 2.0 * alone(100.0));
        }
        for name in ["bdeu", "qnml", "bge", "bci"] {
            assert!(Criterion::named(name, 1.0).is_err());
        }
        assert!(Criterion::named("bic", 0.0).is_err());
    }
}
