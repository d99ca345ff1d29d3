"""CoIL Challenge 2000: customers of an insurance company, reduced as in [Nielsen 2003]."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset
from kes.datasets._files import UserFile

_FILE = UserFile(
    title="The CoIL 2000 data",
    variable="KES_COIL",
    obtain=(
        "It is in the UCI Machine Learning Repository as 'Insurance Company Benchmark (COIL "
        "2000)', https://archive.ics.uci.edu/dataset/125. Take its file ticdata2000.txt as it is: "
        "5822 lines of 86 whole numbers"
    ),
)
_CASES, _ATTRIBUTES, _BUYERS = 5822, 86, 348
# fmt: off
_POLICIES = (
    "AWAPART", "AWABEDR", "AWALAND", "APERSAUT", "ABESAUT", "AMOTSCO", "AVRAAUT", "AAANHANG",
    "ATRACTOR", "AWERKT", "ABROM", "ALEVEN", "APERSONG", "AGEZONG", "AWAOREG", "ABRAND", "AZEILPL",
    "APLEZIER", "AFIETS", "AINBOED", "ABYSTAND", "CARAVAN",
)
# fmt: on
_NAMES = {2: "MAANTHUI", 43: "MKOOPKLA", **dict(enumerate(_POLICIES, start=65))}  # from 1, to 86
_LARGEST_ZERO = {2: 1, 43: 3}  # an attribute becomes 1 above this value; 0 for all others


def coil(path: str | os.PathLike[str] | None = None) -> Dataset:
    """Read the CoIL 2000 training data and reduce it to the paper's 24 binary attributes.

    Attributes 2 (MAANTHUI, number of houses), 43 (MKOOPKLA, purchasing power class) and 65-86
    (numbers of policies held) are kept. They become 1 where MAANTHUI > 1, MKOOPKLA > 3 and, for
    the others, where the number is not 0.

    Parameters
    ----------
    path
        The file; without it, the environment variable ``KES_COIL`` names it. Either
        ``ticdata2000.txt`` as distributed by the UCI Machine Learning Repository (tab-separated,
        no header), or a CSV with the original attribute names as header; plain or gzipped.

    Notes
    -----
    The data are at https://archive.ics.uci.edu/dataset/125/insurance+company+benchmark+coil+2000,
    for non-commercial research and education.

    Returns
    -------
    Dataset
        5822 cases, 24 columns under their original names, states "0" and "1".

    Raises
    ------
    KesError
        If there is no such file or it holds something else; the message says where the data can
        be obtained.
    """
    file, lines = _FILE.read_lines(path)
    values = _parse(file, lines)
    columns = np.array(list(_NAMES)) - 1
    limits = np.array([_LARGEST_ZERO.get(attribute, 0) for attribute in _NAMES])
    codes = np.ascontiguousarray((values[:, columns] > limits).T, dtype=np.int32)
    names = tuple(_NAMES.values())
    return Dataset(names=names, states=(("0", "1"),) * len(names), codes=codes, weights=None)


def _parse(file: Path, lines: list[str]) -> NDArray[np.int64]:
    """Return all 5822 x 86 values after checking that they are the ones we know."""
    if not lines:
        _FILE.refuse(file, "it is empty")
    delimiter = "\t" if "\t" in lines[0] else ","
    header = [name.strip('" ') for name in lines[0].split(delimiter)]
    has_header = any(name[:1].isalpha() for name in header)
    if has_header:
        _check_header(file, header)
    try:
        values = np.loadtxt(lines[has_header:], np.int64, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        _FILE.refuse(file, f"it is not a table of whole numbers ({error})")
    if values.shape != (_CASES, _ATTRIBUTES):
        found = f"{values.shape[0]} x {values.shape[1]}"
        _FILE.refuse(file, f"expected {_CASES} cases x {_ATTRIBUTES} attributes, found {found}")
    buyers = np.bincount(values[:, -1].clip(0, 2), minlength=3)[1]
    if values.min() < 0 or values[:, -1].max() > 1 or buyers != _BUYERS:
        _FILE.refuse(
            file,
            "the values are not those of the CoIL training data: they should be non-negative, and "
            f"the last attribute (CARAVAN) 1 for {_BUYERS} cases and 0 for all others",
        )
    return values


def _check_header(file: Path, header: list[str]) -> None:
    for attribute, name in _NAMES.items():
        found = header[attribute - 1] if attribute <= len(header) else "missing"
        if found != name:
            _FILE.refuse(file, f"column {attribute} of the header should be {name}, but is {found}")
