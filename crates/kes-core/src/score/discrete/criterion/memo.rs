//! Terms of cells that many sets share.

/// Counts below this are looked up.
const TABLE: usize = 1 << 12;
/// Stands for a term that was not needed yet; no term is as small.
const UNKNOWN: i64 = i64::MIN;

/// Terms of cells with small counts, for one number of cells: it serves as long as sets with the
/// same number of cells follow each other.
#[derive(Default)]
pub struct Memo {
    cells: f64,
    terms: Vec<i64>,
}

impl Memo {
    /// The memo for sets with `cells` cells; that of other numbers of cells is dropped.
    #[inline]
    pub fn for_cells(&mut self, cells: f64) -> &mut Self {
        if self.cells != cells {
            self.cells = cells;
            self.terms.clear();
            self.terms.resize(TABLE, UNKNOWN);
        }
        self
    }

    /// The term of a count, computed where it is not known.
    #[inline]
    pub fn term(&mut self, units: u64, compute: impl FnOnce(u64) -> i64) -> i64 {
        match self.terms.get_mut(units as usize) {
            Some(term) if *term != UNKNOWN => *term,
            Some(term) => {
                *term = compute(units);
                *term
            }
            None => compute(units),
        }
    }
}
