//! CSV files straight into codes: each column becomes its distinct values and one code per row.
//!
//! The file comes block by block and is never in memory as a whole. A file of states repeats few values
//! many times, so a cell costs a comparison with the value that it probably is, or a look into a small
//! table; text is only stored once per distinct value, and codes take as few bytes as the values need.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod blocks;
mod numbers;
mod quotes;

use std::hash::{BuildHasher, RandomState};
use std::io;

use csv::{ByteRecord, ErrorKind, Position, Reader, ReaderBuilder};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use blocks::Blocks;
pub use blocks::Source;
pub use numbers::{Numbers, numbers};

/// The positions of the parts of a file.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Separates the fields of a record.
    pub delimiter: u8,
    /// Encloses fields that contain delimiters, line ends or quotes.
    pub quote: u8,
    /// Number of records before the header, such as a title.
    pub skip: usize,
    /// The place of a column that the header leaves out.
    pub unnamed: Option<usize>,
}

/// A file that cannot be read. Lines are counted from 1.
#[derive(Debug)]
pub enum Error {
    /// The file is malformed; the message says where and how.
    Form(String),
    /// The line has a cell that is not UTF-8.
    Encoding(usize),
    /// The source of the blocks failed.
    Source(io::Error),
}

impl From<csv::Error> for Error {
    fn from(error: csv::Error) -> Self {
        let message = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(error) => Self::Source(error),
            _ => Self::Form(message),
        }
    }
}

/// Columns from which on rows wait to be coded together. Many columns do not fit into the caches: each is fetched
/// once for all waiting rows.
const MANY_COLUMNS: usize = 256;
/// Rows that wait, at most.
const WAITING: usize = 32;
/// Bytes in waiting rows, at most, but for the last.
const WAITING_BYTES: usize = 1 << 24;

/// Number of values of a column that are guessed from the shape of a cell.
const LOOKS: usize = 64;

/// Texts, one after the other.
#[derive(Default)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The texts in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        // They were checked when they were added.
        self.bytes().map(|text| std::str::from_utf8(text).unwrap_or_default())
    }

    /// The texts in order, as bytes of UTF-8.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.get(i))
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

/// Codes in as few bytes as the largest needs. They are signed, so that callers can write -1 for a missing value.
pub enum Codes {
    /// One byte each.
    Bytes(Vec<i8>),
    /// Two bytes each.
    Words(Vec<i16>),
    /// Four bytes each.
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
}

/// A column.
pub struct Column {
    texts: Texts,
    codes: Codes,
    code_of: HashTable<i32>,
    /// Seeded, so that no file can be made whose values share one hash. Codes do not depend on it.
    hasher: RandomState,
    /// The last code of a cell of each shape.
    guesses: [i32; LOOKS],
}

impl Column {
    fn new() -> Self {
        Self {
            texts: Texts::default(),
            codes: Codes::Bytes(Vec::new()),
            code_of: HashTable::new(),
            hasher: RandomState::new(),
            guesses: [0; LOOKS],
        }
    }

    /// Append a cell. False if it is not UTF-8.
    fn push(&mut self, cell: &[u8]) -> Result<bool, Error> {
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
    fn code(&mut self, cell: &[u8]) -> Result<Option<i32>, Error> {
        let Self { texts, code_of, hasher, .. } = self;
        let hash = |text: &[u8]| hasher.hash_one(text);
        let known = |&code: &i32| texts.get(code as usize) == cell;
        match code_of.entry(hash(cell), known, |&code| hash(texts.get(code as usize))) {
            Entry::Occupied(code) => Ok(Some(*code.get())),
            Entry::Vacant(place) => {
                if std::str::from_utf8(cell).is_err() {
                    return Ok(None);
                }
                let code = i32::try_from(texts.len())
                    .map_err(|_| Error::Form("has too many distinct values in a column".into()))?;
                place.insert(code);
                texts.push(cell);
                Ok(Some(code))
            }
        }
    }

    /// The codes of the rows, and the distinct values in order of appearance.
    pub fn into_parts(self) -> (Codes, Texts) {
        (self.codes, self.texts)
    }
}

/// The shape of a cell: length, first and last byte, in which the few values of a column mostly differ.
fn looks(cell: &[u8]) -> usize {
    match cell {
        [] => 0,
        &[first, .., last] => (usize::from(first) + 5 * usize::from(last) + 3 * cell.len()) % LOOKS,
        &[only] => usize::from(only) % LOOKS,
    }
}

/// The header and the columns of a file.
///
/// # Errors
/// If a row has another number of fields than the header, a quoted field is never closed, a cell is not UTF-8, or
/// the source fails.
pub fn parse(source: Source<'_>, layout: Layout) -> Result<(Vec<String>, Vec<Column>), Error> {
    let mut reader = ReaderBuilder::new()
        .delimiter(layout.delimiter)
        .quote(layout.quote)
        .has_headers(false)
        .flexible(true) // ragged rows are reported here, with their line
        .buffer_capacity(1 << 16)
        .from_reader(Blocks::new(source));
    let mut rows = Rows::default();
    let read = read(&mut reader, layout, &mut rows);
    rows.code(reader.get_ref())?; // an error in an earlier row comes first
    let (header, last) = read?;
    check_quotes(&reader, layout, last, usize::MAX)?;
    Ok((header, rows.columns))
}

/// Columns, and rows that still wait to be coded, each with its place in the file.
#[derive(Default)]
struct Rows {
    columns: Vec<Column>,
    waiting: Vec<(usize, ByteRecord)>,
    bytes: usize,
}

impl Rows {
    fn push(&mut self, start: usize, row: &ByteRecord, blocks: &Blocks<'_>) -> Result<(), Error> {
        if self.columns.len() < MANY_COLUMNS {
            for (column, cell) in self.columns.iter_mut().zip(row) {
                if !column.push(cell)? {
                    return Err(Error::Encoding(blocks.line(start)));
                }
            }
            return Ok(());
        }
        self.waiting.push((start, row.clone()));
        self.bytes += row.as_slice().len();
        if self.waiting.len() < WAITING && self.bytes < WAITING_BYTES { Ok(()) } else { self.code(blocks) }
    }

    /// Code the waiting rows.
    fn code(&mut self, blocks: &Blocks<'_>) -> Result<(), Error> {
        let mut malformed = None;
        for (i, column) in self.columns.iter_mut().enumerate() {
            for (start, row) in &self.waiting {
                if !column.push(&row[i])? {
                    malformed = Some(malformed.map_or(*start, |first: usize| first.min(*start)));
                    break;
                }
            }
        }
        self.waiting.clear();
        self.bytes = 0;
        malformed.map_or(Ok(()), |start| Err(Error::Encoding(blocks.line(start))))
    }

    /// The start of the first waiting row, or else of the row at `start`.
    fn first(&self, start: usize) -> usize {
        self.waiting.first().map_or(start, |row| row.0)
    }
}

/// Read all rows. Returns the header, and where the last row starts.
fn read(
    reader: &mut Reader<Blocks<'_>>,
    layout: Layout,
    rows: &mut Rows,
) -> Result<(Vec<String>, usize), Error> {
    let mut record = ByteRecord::new();
    let mut header = Vec::new();
    let (mut skip, mut start) = (layout.skip, 0);
    while reader.read_byte_record(&mut record)? {
        start = byte(record.position());
        reader.get_mut().forget_before(rows.first(start));
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if record.iter().any(|field| field.iter().any(|byte| b"\r\n".contains(byte))) {
            let end = byte(Some(reader.position()));
            check_quotes(reader, layout, start, end)?;
        }
        if header.is_empty() {
            let text = |cell: &[u8]| String::from_utf8(cell.to_vec());
            let names = record.iter().map(text).collect::<Result<_, _>>();
            header = names.map_err(|_| Error::Encoding(reader.get_ref().line(start)))?;
            if let Some(place) = layout.unnamed {
                header.insert(place.min(header.len()), String::new());
            }
            rows.columns.resize_with(header.len(), Column::new);
            continue;
        }
        if record.len() != header.len() {
            return Err(Error::Form(format!(
                "line {}: expected {} fields, as in the header, found {}",
                reader.get_ref().line(start),
                header.len(),
                record.len()
            )));
        }
        rows.push(start, &record, reader.get_ref())?;
    }
    Ok((header, start))
}

/// The reader takes a quote that is never closed as a field that reaches to the next quote or the end of the file.
/// Only a record that runs over a line end, and the last one, can have such a field.
fn check_quotes(reader: &Reader<Blocks<'_>>, layout: Layout, start: usize, end: usize) -> Result<(), Error> {
    let blocks = reader.get_ref();
    let bytes = blocks.rest(start).take(end.saturating_sub(start));
    match quotes::left_open(bytes.copied(), layout.delimiter, layout.quote) {
        None => Ok(()),
        Some(place) => Err(Error::Form(format!(
            "line {}: a quoted field is never closed; close it, or double the quotes within it",
            blocks.line(start + place)
        ))),
    }
}

fn byte(position: Option<&Position>) -> usize {
    position.map_or(0, |position| position.byte() as usize)
}
