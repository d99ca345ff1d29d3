"""The paper's real data, which may not be shipped: readers of the user's copy."""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset
from kes.data.intervals import mutual_information_cuts
from kes.errors import KesError, unknown
from kes.files import read_file


@dataclass(frozen=True)
class UserFile:
    """A data file that users must obtain themselves; its path may be in an environment variable.

    `obtain` tells users where to get the file and what it must look like.
    """

    title: str
    variable: str
    obtain: str

    def read_lines(self, path: str | os.PathLike[str] | None) -> tuple[Path, list[str]]:
        """Return the file's path and its non-empty lines; it may be compressed by gzip."""
        chosen = path if path is not None else os.environ.get(self.variable)
        if not chosen:
            raise KesError(
                f"{self.title} cannot be shipped with kes: pass path=... or set the environment "
                f"variable {self.variable} to your copy. {self.obtain}",
                option="path",
            )
        file = Path(chosen)
        if not os.path.exists(file):  # also for invalid names
            self.refuse(file, "there is no such file")
        try:
            text = read_file(file).decode("utf-8-sig")
        except UnicodeDecodeError:
            self.refuse(file, "it is not a text file")
        return file, [line for line in text.splitlines() if line.strip()]

    def refuse(self, file: Path, reason: str) -> NoReturn:
        """Raise the error that says what is wrong with a file, and where to get the right one."""
        raise KesError(f"{self.title}: {file}: {reason}. {self.obtain}", file=str(file))


_COIL = UserFile(
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
    file, lines = _COIL.read_lines(path)
    values = _parse_coil(file, lines)
    columns = np.array(list(_NAMES)) - 1
    limits = np.array([_LARGEST_ZERO.get(attribute, 0) for attribute in _NAMES])
    codes = np.ascontiguousarray((values[:, columns] > limits).T, dtype=np.int32)
    names = tuple(_NAMES.values())
    return Dataset(names=names, states=(("0", "1"),) * len(names), codes=codes, weights=None)


def _parse_coil(file: Path, lines: list[str]) -> NDArray[np.int64]:
    """Return all 5822 x 86 values, and check that they are those of the data set."""
    if not lines:
        _COIL.refuse(file, "it is empty")
    delimiter = "\t" if "\t" in lines[0] else ","
    header = [name.strip('" ') for name in lines[0].split(delimiter)]
    has_header = any(name[:1].isalpha() for name in header)
    if has_header:
        for attribute, name in _NAMES.items():
            found = header[attribute - 1] if attribute <= len(header) else "missing"
            if found != name:
                reason = f"column {attribute} of the header should be {name}, but is {found}"
                _COIL.refuse(file, reason)
    try:
        values = np.loadtxt(lines[has_header:], np.int64, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        _COIL.refuse(file, f"it is not a table of whole numbers ({error})")
    if values.shape != (_CASES, _ATTRIBUTES):
        found = f"{values.shape[0]} x {values.shape[1]}"
        _COIL.refuse(file, f"expected {_CASES} cases x {_ATTRIBUTES} attributes, found {found}")
    buyers = np.bincount(values[:, -1].clip(0, 2), minlength=3)[1]
    if values.min() < 0 or values[:, -1].max() > 1 or buyers != _BUYERS:
        _COIL.refuse(
            file,
            "the values are not those of the CoIL training data: they should be non-negative, and "
            f"the last attribute (CARAVAN) 1 for {_BUYERS} cases and 0 for all others",
        )
    return values


_LEUKEMIA = UserFile(
    title="The leukemia data of Golub et al. (1999)",
    variable="KES_LEUKEMIA",
    obtain=(
        "The Broad Institute published it; Bioconductor's golubEsets holds it. Expected is a "
        "header 'gene,ALL_01,...' that names 47 ALL and 25 AML patients, then 7129 lines of a name "
        "and 72 numbers. help(kes.datasets.leukemia) says how to write it in R"
    ),
)
_GENES = 7129
_PATIENTS = {"ALL": 47, "AML": 25}
_STATES = ("low", "middle", "high")
_FEWEST_PER_STATE = 5


def leukemia(
    path: str | os.PathLike[str] | None = None, group: Literal["ALL", "AML"] = "ALL"
) -> Dataset:
    """Read the leukemia data and prepare it as in the paper: patients are variables, genes cases.

    Each gene's intensities are cut into three states at the two points that maximise the mutual
    information with the kind of leukemia (ALL or AML) over all 72 patients, with at least 5
    patients in each state. Then the patients of one kind are kept and the table is transposed.

    Parameters
    ----------
    path
        The file; without it, the environment variable ``KES_LEUKEMIA`` names it. A CSV, plain or
        gzipped, with a header ``gene,ALL_01,...`` and one line of raw intensities per gene.
    group
        "ALL" (acute lymphoblastic leukemia, 47 patients) or "AML" (acute myeloid, 25 patients).

    Notes
    -----
    The Broad Institute published the data with the paper (Science 286, pp. 531-537). The R package
    golubEsets of Bioconductor holds them as Golub_Merge, and writes the file by::

        library(golubEsets); data(Golub_Merge); x <- exprs(Golub_Merge)
        colnames(x) <- sprintf("%s_%02d", Golub_Merge$ALL.AML, Golub_Merge$Samples)
        write.csv(data.frame(gene = rownames(x), x), "leukemia.csv", row.names = FALSE)

    The data ``golub`` of multtest cannot be used: they have only 3051 genes of 38 patients.

    Returns
    -------
    Dataset
        7129 cases (genes); one column per patient of the group, sorted by name, with the states
        low, middle and high.

    Raises
    ------
    KesError
        If there is no such file or it holds something else; the message says where the data can
        be obtained.
    """
    if group not in _PATIENTS:
        raise unknown("group", group, _PATIENTS, option="group")
    file, lines = _LEUKEMIA.read_lines(path)
    names, intensities = _parse_leukemia(file, lines)
    codes = _discretise(tuple(name[:3] for name in names), intensities.tobytes())
    patients = [i for i, name in enumerate(names) if name.startswith(group)]
    patients.sort(key=names.__getitem__)
    states = (_STATES,) * len(patients)
    return Dataset(tuple(names[i] for i in patients), states, codes[:, patients].T, None)


def _parse_leukemia(file: Path, lines: list[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the patients' names and the genes x patients intensities, both checked."""
    header = [name.strip('" ') for name in lines[0].split(",")] if lines else []
    names = header[1:]
    for kind, expected in _PATIENTS.items():
        found = sum(name.startswith(kind) for name in names)
        if found != expected:
            _LEUKEMIA.refuse(
                file, f"expected {expected} columns named {kind}_..., found {found} in the header"
            )
    if len(names) != sum(_PATIENTS.values()):
        _LEUKEMIA.refuse(file, f"expected a column 'gene' and 72 patients, found {len(header)}")
    try:
        intensities = np.loadtxt(
            lines[1:],
            delimiter=",",
            quotechar='"',
            comments=None,
            usecols=range(1, len(header)),
            ndmin=2,
        )
    except ValueError as error:
        _LEUKEMIA.refuse(file, f"it is not a table of numbers ({error})")
    if len(intensities) != _GENES:
        _LEUKEMIA.refuse(file, f"expected {_GENES} genes, found {len(intensities)}")
    if not np.isfinite(intensities).all():
        _LEUKEMIA.refuse(file, "it has missing or infinite intensities")
    return names, intensities


@lru_cache(maxsize=1)
def _discretise(labels: tuple[str, ...], intensities: bytes) -> NDArray[np.int32]:
    """Cut each gene's intensities at the points with the most information about the labels.

    Cached: it takes seconds, and both groups come from the same table.
    """
    table = np.frombuffer(intensities).reshape(_GENES, len(labels))
    is_aml = np.array(labels) == "AML"
    codes = np.empty(table.shape, dtype=np.int32)
    for gene, values in enumerate(table):
        cuts = mutual_information_cuts(values, is_aml, len(_STATES), _FEWEST_PER_STATE)
        codes[gene] = np.searchsorted(cuts, values)  # the number of cuts below the value
    return codes
