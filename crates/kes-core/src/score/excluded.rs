//! Pairs of variables that no model joins, whatever their relation.

/// A pair of variables that no model joins, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excluded {
    /// One variable; the determining one if only one determines the other.
    pub x: usize,
    /// The other variable.
    pub y: usize,
    /// Why no model joins them.
    pub why: Why,
}

/// Why no model joins two variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// Each determines the other: they are one variable written twice.
    Twins,
    /// The first determines the second, which has no density given the first.
    Determined,
    /// Some of their indicators determine each other, as those of a row that has a rare state of both.
    Collinear,
    /// Together they have too many cells or columns for the cases.
    TooLarge,
}

impl Why {
    /// The reason as a word.
    pub fn name(self) -> &'static str {
        match self {
            Why::Twins => "twins",
            Why::Determined => "determined",
            Why::Collinear => "collinear",
            Why::TooLarge => "too large",
        }
    }
}
