//! Texts that are plain numbers: digits, perhaps with a sign, a decimal point and an exponent.

use crate::Texts;

/// The numbers that texts stand for.
#[derive(Debug, PartialEq)]
pub enum Numbers {
    /// All are written as whole numbers.
    Integers(Vec<i64>),
    /// Some have a decimal point or an exponent.
    Decimals(Vec<f64>),
}

/// The numbers that texts stand for, 0 for an empty one; none unless all others are plain numbers, and none for codes
/// such as "007" among whole numbers, and for more digits than 64 bits hold.
#[must_use]
pub fn numbers(texts: &Texts) -> Option<Numbers> {
    let mut some = false;
    let mut integers = Vec::with_capacity(texts.len());
    for text in texts.bytes() {
        match integer(text) {
            Some(number) => integers.push(number),
            None => return decimals(texts).map(Numbers::Decimals),
        }
        some |= !text.is_empty();
    }
    (some && !texts.bytes().any(is_code)).then_some(Numbers::Integers(integers))
}

/// Numbers, at least one of them not written as a whole number.
fn decimals(texts: &Texts) -> Option<Vec<f64>> {
    let mut written = false;
    let numbers = texts.bytes().map(|text| {
        let plain = text.iter().all(|byte| b"0123456789.+-eE".contains(byte));
        written |= text.iter().any(|byte| b".eE".contains(byte));
        match std::str::from_utf8(text) {
            Ok("") => Some(0.0),
            Ok(text) if plain => text.parse().ok(),
            _ => None,
        }
    });
    let numbers = numbers.collect::<Option<Vec<f64>>>()?;
    written.then_some(numbers)
}

fn integer(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if text.is_empty() { Some(0) } else { text.parse().ok() }
}

/// Whether digits begin with a zero that a number would not have, as those of a post code.
fn is_code(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    digits.len() > 1 && digits[0] == b'0'
}

#[cfg(test)]
mod tests {
    use super::{Numbers, numbers};
    use crate::Texts;

    fn read(cells: &[&str]) -> Option<Numbers> {
        let mut texts = Texts::default();
        cells.iter().for_each(|cell| texts.push(cell.as_bytes()));
        numbers(&texts)
    }

    #[test]
    fn whole_numbers_and_decimals() {
        assert_eq!(read(&["3", "", "-12", "+7"]), Some(Numbers::Integers(vec![3, 0, -12, 7])));
        let decimals = vec![0.1, 3.0, 0.0, 2000.0, -0.5, 7.0];
        assert_eq!(read(&["0.1", "3", "", "2e3", "-.5", "007"]), Some(Numbers::Decimals(decimals)));
    }

    #[test]
    fn anything_else_is_text() {
        let beyond = "9223372036854775808";
        for cells in [
            &["1", "x"][..],
            &["007", "12"],
            &["-00", "12"],
            &["1.5", " 2"],
            &["1,5", "2.5"],
            &["1.5", "nan"],
            &["1.5", "inf"],
            &["1.5", "."],
            &["1.5", "1.2.3"],
            &["1_0.5"],
            &["1", beyond],
            &["", ""],
            &[],
        ] {
            assert_eq!(read(cells), None, "{cells:?}");
        }
    }
}
