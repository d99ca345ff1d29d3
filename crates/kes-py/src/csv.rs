//! Reading CSV straight into codes: each column becomes its distinct values and one code per row.
//!
//! A file of states repeats few values many times, so a cell costs a comparison with the value that
//! it probably is, or a look into a small map; text is only stored once per distinct value.

use std::collections::HashMap;

use ::csv::{ByteRecord, Position, ReaderBuilder};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rustc_hash::FxBuildHasher;

/// The distinct values of a column in order of appearance, and the coded rows.
type PyColumn<'py> = (Vec<String>, Bound<'py, PyArray1<i32>>);

/// Header and, per column, its distinct values in order of appearance and the coded rows.
///
/// # Errors
/// Bytes that are not UTF-8, a row with another number of fields than the header, a quoted field
/// that is never closed; each with its line number, counted from 1.
#[pyfunction]
pub fn parse_csv<'py>(
    py: Python<'py>,
    content: &[u8],
    delimiter: &str,
) -> PyResult<(Vec<String>, Vec<PyColumn<'py>>)> {
    let &[delimiter] = delimiter.as_bytes() else {
        return Err(invalid("the delimiter must be one ASCII character".into()));
    };
    let (header, columns) = py.detach(|| parse(content, delimiter)).map_err(invalid)?;
    let columns = columns.into_iter().map(|column| (column.values, column.codes.into_pyarray(py))).collect();
    Ok((header, columns))
}

/// The one place that decides how a bad file is raised in Python.
fn invalid(message: String) -> PyErr {
    PyValueError::new_err(message)
}

/// How many values of a column are remembered by what they look like.
const LOOKS: usize = 64;

/// A column in the making.
struct Column {
    values: Vec<String>,
    codes: Vec<i32>,
    code_of: HashMap<Box<[u8]>, i32, FxBuildHasher>,
    /// The code that was last given to a cell of these looks.
    guesses: [i32; LOOKS],
}

impl Column {
    fn new() -> Self {
        Self { values: Vec::new(), codes: Vec::new(), code_of: HashMap::default(), guesses: [0; LOOKS] }
    }

    /// Append a cell. Errors if it is not UTF-8 or no code is left for it.
    fn push(&mut self, cell: &[u8]) -> Result<(), String> {
        let looks = looks(cell);
        let guess = self.guesses[looks];
        let code = match self.values.get(guess as usize) {
            Some(value) if value.as_bytes() == cell => guess,
            _ => match self.code_of.get(cell) {
                Some(&code) => code,
                None => self.add_value(cell)?,
            },
        };
        self.guesses[looks] = code;
        self.codes.push(code);
        Ok(())
    }

    fn add_value(&mut self, cell: &[u8]) -> Result<i32, String> {
        let code = i32::try_from(self.values.len()).map_err(|_| "too many distinct values")?;
        self.values.push(text(cell)?);
        self.code_of.insert(cell.into(), code);
        Ok(code)
    }
}

/// Length, first and last byte: what the few values of a column seldom have in common.
fn looks(cell: &[u8]) -> usize {
    match cell {
        [] => 0,
        &[first, .., last] => (usize::from(first) + 5 * usize::from(last) + 3 * cell.len()) % LOOKS,
        &[only] => usize::from(only) % LOOKS,
    }
}

fn parse(content: &[u8], delimiter: u8) -> Result<(Vec<String>, Vec<Column>), String> {
    check_utf8(content)?;
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true) // ragged rows are reported here, with their line
        .from_reader(content);
    let mut record = ByteRecord::new();
    let mut header = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    while reader.read_byte_record(&mut record).map_err(|error| error.to_string())? {
        let end = position(content, Some(reader.position()));
        if end == content.len() {
            check_closed(content, &record)?;
        }
        if header.is_empty() {
            header = record.iter().map(text).collect::<Result<_, _>>()?;
            columns.resize_with(header.len(), Column::new);
            continue;
        }
        if record.len() != columns.len() {
            return Err(format!(
                "line {}: expected {} fields, as in the header, found {}",
                line_of(content, position(content, record.position())),
                columns.len(),
                record.len()
            ));
        }
        for (column, cell) in columns.iter_mut().zip(&record) {
            column.push(cell)?;
        }
    }
    Ok((header, columns))
}

/// Check once for the whole file, to tell the line.
fn check_utf8(content: &[u8]) -> Result<(), String> {
    std::str::from_utf8(content).map(drop).map_err(|error| {
        let line = line_of(content, error.valid_up_to());
        format!("line {line}: this is not UTF-8 text; save the file in the encoding UTF-8")
    })
}

/// The reader takes a quote that is never closed as a field that reaches to the end of the file:
/// the last field of the last record then runs over a line end, and its quotes do not pair up.
fn check_closed(content: &[u8], last: &ByteRecord) -> Result<(), String> {
    let start = position(content, last.position());
    let quotes = content[start..].iter().filter(|&&byte| byte == b'"');
    let last_cell = last.iter().next_back().unwrap_or_default();
    let runs_on = last_cell.iter().any(|byte| b"\r\n".contains(byte));
    if runs_on && quotes.count() % 2 == 1 {
        let line = line_of(content, start);
        return Err(format!("line {line}: a quoted field is never closed"));
    }
    Ok(())
}

/// Where a record begins: the reader points at the blank lines that it skips before it.
fn position(content: &[u8], position: Option<&Position>) -> usize {
    let byte = position.map_or(0, |position| position.byte() as usize);
    let blank = content[byte..].iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
    byte + blank
}

/// Line number, from 1, of a byte; `\n`, `\r\n` and a lone `\r` end a line.
fn line_of(content: &[u8], byte: usize) -> usize {
    let ends =
        |i: &usize| content[*i] == b'\n' || (content[*i] == b'\r' && content.get(i + 1) != Some(&b'\n'));
    1 + (0..byte).filter(ends).count()
}

fn text(cell: &[u8]) -> Result<String, String> {
    String::from_utf8(cell.to_vec()).map_err(|error| error.to_string())
}
