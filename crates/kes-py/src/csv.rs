//! CSV files for Python; the parser is the crate `kes-csv`.

use std::io;

use kes_csv::{Codes, Error, Layout, Numbers, Texts};
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::{PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};

/// A column of a file.
#[pyclass(module = "kes._core", frozen)]
pub struct CsvColumn {
    #[pyo3(get)]
    codes: Py<PyAny>,
    texts: Texts,
}

#[pymethods]
impl CsvColumn {
    fn values(&self) -> Vec<&str> {
        self.texts.iter().collect()
    }

    /// The number of each value, if all are plain numbers.
    fn numbers(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        kes_csv::numbers(&self.texts).map(|numbers| match numbers {
            Numbers::Integers(numbers) => array(numbers, py),
            Numbers::Decimals(numbers) => array(numbers, py),
        })
    }

    /// The code of the empty value.
    #[getter]
    fn empty(&self) -> Option<usize> {
        self.texts.bytes().position(<[u8]>::is_empty)
    }
}

#[pyfunction]
#[pyo3(signature = (blocks, delimiter, quote = "\"", skip = 0, unnamed = None))]
pub fn parse_csv<'py>(
    py: Python<'py>,
    blocks: &Bound<'py, PyAny>,
    delimiter: &str,
    quote: &str,
    skip: usize,
    unnamed: Option<usize>,
) -> PyResult<(Vec<String>, Vec<CsvColumn>)> {
    let (&[delimiter], &[quote]) = (delimiter.as_bytes(), quote.as_bytes()) else {
        return Err(PyValueError::new_err("delimiter and quote must be one ASCII character each"));
    };
    let source = PyBlocks(blocks.try_iter()?.unbind());
    let layout = Layout { delimiter, quote, skip, unnamed };
    let parsed = py.detach(|| kes_csv::parse(Box::new(source), layout));
    let (header, columns) = parsed.map_err(raised)?;
    let columns = columns.into_iter().map(|column| {
        let (codes, texts) = column.into_parts();
        let codes = match codes {
            Codes::Bytes(codes) => array(codes, py),
            Codes::Words(codes) => array(codes, py),
            Codes::Integers(codes) => array(codes, py),
        };
        CsvColumn { codes, texts }
    });
    Ok((header, columns.collect()))
}

fn array<T: Element>(codes: Vec<T>, py: Python<'_>) -> Py<PyAny> {
    codes.into_pyarray(py).into_any().unbind()
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::Form(message) => PyValueError::new_err(message),
        Error::Encoding(line) => PyUnicodeError::new_err((
            format!("line {line}: this is not UTF-8 text; save the file in the encoding UTF-8"),
            line,
        )),
        Error::Source(error) => match error.downcast::<PyErr>() {
            Ok(error) => error,
            Err(error) => PyValueError::new_err(error.to_string()),
        },
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
