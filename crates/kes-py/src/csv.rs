//! Reading CSV straight into codes: each column becomes its distinct values and one code per row.
//!
//! The file comes block by block and is never in memory as a whole. A file of states repeats few values
//! many times, so a cell costs a comparison with the value that it probably is, or a look into a small
//! table; text is only stored once per distinct value, and codes take as few bytes as the values need.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::io;

use ::csv::{ByteRecord, ErrorKind, Position, Reader, ReaderBuilder};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use rustc_hash::FxHasher;

use crate::blocks::Blocks;

/// A column of a file.
#[pyclass(module = "kes._core", frozen)]
pub struct CsvColumn {
    /// For each row the number of its value, in as few bytes as these need.
    #[pyo3(get)]
    codes: Py<PyAny>,
    texts: Texts,
}

#[pymethods]
impl CsvColumn {
    /// The distinct values in order of appearance; made anew, as there may be as many as rows.
    fn values(&self) -> Vec<&str> {
        let text = |i| std::str::from_utf8(self.texts.get(i)).unwrap_or_default(); // checked before
        (0..self.texts.len()).map(text).collect()
    }
}

/// Header and columns of a file that comes in blocks.
///
/// # Errors
/// A row with another number of fields than the header, a quoted field that is never closed; each with its
/// line number, counted from 1. A `UnicodeError` if a cell is not UTF-8.
#[pyfunction]
pub fn parse_csv<'py>(
    py: Python<'py>,
    blocks: &Bound<'py, PyAny>,
    delimiter: &str,
) -> PyResult<(Vec<String>, Vec<CsvColumn>)> {
    let &[delimiter] = delimiter.as_bytes() else {
        return Err(PyValueError::new_err("the delimiter must be one ASCII character"));
    };
    let source = PyBlocks(blocks.try_iter()?.unbind());
    let (header, columns) = py.detach(|| parse(Blocks::new(source), delimiter)).map_err(Problem::raised)?;
    let columns = columns.into_iter().map(|column| column.finished(py)).collect();
    Ok((header, columns))
}

/// What can be wrong with a file.
enum Problem {
    /// In the words for the user.
    Form(String),
    /// The line of a cell that is not UTF-8.
    Encoding(usize),
    /// What the source of the blocks raised.
    Source(PyErr),
}

impl Problem {
    fn raised(self) -> PyErr {
        match self {
            Self::Form(message) => PyValueError::new_err(message),
            Self::Encoding(line) => PyUnicodeError::new_err((
                format!("line {line}: this is not UTF-8 text; save the file in the encoding UTF-8"),
                line,
            )),
            Self::Source(error) => error,
        }
    }
}

impl From<::csv::Error> for Problem {
    fn from(error: ::csv::Error) -> Self {
        let message = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(error) => match error.downcast::<PyErr>() {
                Ok(error) => Self::Source(error),
                Err(error) => Self::Form(error.to_string()),
            },
            _ => Self::Form(message),
        }
    }
}

/// Blocks of bytes that a Python iterator yields.
struct PyBlocks(Py<PyIterator>);

impl Iterator for PyBlocks {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let block = Python::attach(|py| {
            let next = self.0.bind(py).clone().next()?;
            Some(next.and_then(|block| Ok(block.cast::<PyBytes>()?.as_bytes().to_vec())))
        })?;
        Some(block.map_err(io::Error::other))
    }
}

/// How many values of a column are remembered by what they look like.
const LOOKS: usize = 64;

/// Texts, one after the other.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }
}

/// Codes in as few bytes as the largest needs. Signed: Python writes -1 for what is missing.
enum Codes {
    Bytes(Vec<i8>),
    Words(Vec<i16>),
    Integers(Vec<i32>),
}

impl Codes {
    #[inline]
    fn push(&mut self, code: i32) {
        match self {
            Self::Bytes(codes) => match i8::try_from(code) {
                Ok(code) => return codes.push(code),
                Err(_) => *self = Self::Words(codes.iter().map(|&code| code.into()).collect()),
            },
            Self::Words(codes) => match i16::try_from(code) {
                Ok(code) => return codes.push(code),
                Err(_) => *self = Self::Integers(codes.iter().map(|&code| code.into()).collect()),
            },
            Self::Integers(codes) => return codes.push(code),
        }
        self.push(code);
    }

    fn into_array(self, py: Python<'_>) -> Py<PyAny> {
        fn array<T: numpy::Element>(codes: Vec<T>, py: Python<'_>) -> Py<PyAny> {
            let array: Bound<'_, PyArray1<T>> = codes.into_pyarray(py);
            array.into_any().unbind()
        }
        match self {
            Self::Bytes(codes) => array(codes, py),
            Self::Words(codes) => array(codes, py),
            Self::Integers(codes) => array(codes, py),
        }
    }
}

/// A column in the making.
struct Column {
    texts: Texts,
    codes: Codes,
    code_of: HashTable<i32>,
    /// The code that was last given to a cell of these looks.
    guesses: [i32; LOOKS],
}

impl Column {
    fn new() -> Self {
        Self {
            texts: Texts::default(),
            codes: Codes::Bytes(Vec::new()),
            code_of: HashTable::new(),
            guesses: [0; LOOKS],
        }
    }

    /// Append a cell. False if it is not UTF-8.
    fn push(&mut self, cell: &[u8]) -> Result<bool, Problem> {
        let looks = looks(cell);
        let guess = self.guesses[looks] as usize;
        if guess >= self.texts.len() || self.texts.get(guess) != cell {
            let Some(code) = self.code(cell)? else { return Ok(false) };
            self.guesses[looks] = code;
        }
        self.codes.push(self.guesses[looks]);
        Ok(true)
    }

    /// The code of a value, perhaps a new one.
    fn code(&mut self, cell: &[u8]) -> Result<Option<i32>, Problem> {
        let Self { texts, code_of, .. } = self;
        let hash = |text: &[u8]| BuildHasherDefault::<FxHasher>::default().hash_one(text);
        let known = |&code: &i32| texts.get(code as usize) == cell;
        match code_of.entry(hash(cell), known, |&code| hash(texts.get(code as usize))) {
            Entry::Occupied(code) => Ok(Some(*code.get())),
            Entry::Vacant(place) => {
                if std::str::from_utf8(cell).is_err() {
                    return Ok(None);
                }
                let code = i32::try_from(texts.len())
                    .map_err(|_| Problem::Form("has too many distinct values in a column".into()))?;
                place.insert(code);
                texts.push(cell);
                Ok(Some(code))
            }
        }
    }

    fn finished(self, py: Python<'_>) -> CsvColumn {
        CsvColumn { codes: self.codes.into_array(py), texts: self.texts }
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

fn parse(blocks: Blocks<PyBlocks>, delimiter: u8) -> Result<(Vec<String>, Vec<Column>), Problem> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true) // ragged rows are reported here, with their line
        .buffer_capacity(1 << 16)
        .from_reader(blocks);
    let mut record = ByteRecord::new();
    let mut header = Vec::new();
    let mut columns: Vec<Column> = Vec::new();
    while reader.read_byte_record(&mut record)? {
        let start = byte(record.position());
        reader.get_mut().forget_before(start);
        if runs_on(&record) {
            check_closed(&mut reader, start)?;
        }
        if header.is_empty() {
            let text = |cell: &[u8]| String::from_utf8(cell.to_vec());
            let names = record.iter().map(text).collect::<Result<_, _>>();
            header = names.map_err(|_| Problem::Encoding(reader.get_ref().line(start)))?;
            columns.resize_with(header.len(), Column::new);
            continue;
        }
        if record.len() != columns.len() {
            return Err(Problem::Form(format!(
                "line {}: expected {} fields, as in the header, found {}",
                reader.get_ref().line(start),
                columns.len(),
                record.len()
            )));
        }
        for (column, cell) in columns.iter_mut().zip(&record) {
            if !column.push(cell)? {
                return Err(Problem::Encoding(reader.get_ref().line(start)));
            }
        }
    }
    Ok((header, columns))
}

/// Has the last field a line end within?
fn runs_on(record: &ByteRecord) -> bool {
    let last = record.iter().next_back().unwrap_or_default();
    last.iter().any(|byte| b"\r\n".contains(byte))
}

/// The reader takes a quote that is never closed as a field that reaches to the end of the file:
/// the last field of the last record then runs over a line end, and its quotes do not pair up.
fn check_closed(reader: &mut Reader<Blocks<PyBlocks>>, start: usize) -> Result<(), Problem> {
    let end = byte(Some(reader.position()));
    let at_end = reader.get_mut().only_line_ends_from(end).map_err(::csv::Error::from)?;
    if at_end && reader.get_ref().quotes_from(start) % 2 == 1 {
        let line = reader.get_ref().line(start);
        return Err(Problem::Form(format!("line {line}: a quoted field is never closed")));
    }
    Ok(())
}

fn byte(position: Option<&Position>) -> usize {
    position.map_or(0, |position| position.byte() as usize)
}
