//! Columns of a table from Python.

use kes_core::score::discrete::dataset::Codes;
use kes_core::score::gaussian::{Column, legendre};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::CoreError;

/// A column of a continuous or mixed table: numbers, normal scores with the degree of their polynomials, or
/// codes of states.
#[derive(FromPyObject)]
pub enum PyColumn<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Curve(PyReadonlyArray1<'py, f64>, usize),
    Codes(PyReadonlyArray1<'py, i32>),
}

impl PyColumn<'_> {
    pub fn column(&self) -> PyResult<Column<'_>> {
        Ok(match self {
            Self::Numbers(numbers) => Column::Numbers(contiguous(numbers)?),
            Self::Curve(scores, degree) => Column::Curve(contiguous(scores)?, *degree),
            Self::Codes(codes) => Column::Codes(contiguous(codes)?),
        })
    }
}

/// A column of a discrete table: codes in as few bytes as its states need, or as any integers.
#[derive(FromPyObject)]
pub enum PyCodes<'py> {
    Bytes(PyReadonlyArray1<'py, u8>),
    Words(PyReadonlyArray1<'py, u16>),
    Integers(PyReadonlyArray1<'py, i32>),
}

impl PyCodes<'_> {
    pub fn codes(&self) -> PyResult<Codes<'_>> {
        Ok(match self {
            Self::Bytes(codes) => Codes::Bytes(contiguous(codes)?),
            Self::Words(codes) => Codes::Words(contiguous(codes)?),
            Self::Integers(codes) => Codes::Integers(contiguous(codes)?),
        })
    }
}

/// The Legendre polynomials of normal scores up to a degree, a row for each score.
#[pyfunction]
pub fn polynomials<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    degree: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let scores = contiguous(&scores)?;
    let mut values = Vec::with_capacity(scores.len() * degree);
    for &score in scores {
        legendre::each(score, degree, |value| values.push(value));
    }
    PyArray1::from_vec(py, values).reshape([scores.len(), degree])
}

/// The elements of an array that has no gaps.
pub fn contiguous<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| CoreError::new_err("columns, codes and weights must be contiguous"))
}
