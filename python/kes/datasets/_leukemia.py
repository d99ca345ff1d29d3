"""Leukemia [Golub 1999]: gene expression in 72 patients, prepared as in [Nielsen 2003].

The paper took an existing discretisation into three states, which is not available. Two cut
points per gene that together tell most about the kind of leukemia come close to its figures.
"""

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset
from kes.data.cuts import mutual_information_cuts
from kes.datasets._files import UserFile
from kes.errors import unknown

_FILE = UserFile(
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

    The data ``golub`` of multtest do not do: they have 3051 genes of 38 patients only.

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
        raise unknown("group", group, _PATIENTS)
    file, lines = _FILE.read_lines(path)
    names, intensities = _parse(file, lines)
    codes = _discretise(tuple(name[:3] for name in names), intensities.tobytes())
    patients = [i for i, name in enumerate(names) if name.startswith(group)]
    patients.sort(key=names.__getitem__)
    return Dataset(
        names=tuple(names[i] for i in patients),
        states=(_STATES,) * len(patients),
        codes=codes[:, patients].T,
        weights=None,
    )


def _parse(file: Path, lines: list[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the patients' names and the genes x patients intensities, both checked."""
    header = [name.strip('" ') for name in lines[0].split(",")] if lines else []
    names = header[1:]
    for kind, expected in _PATIENTS.items():
        found = sum(name.startswith(kind) for name in names)
        if found != expected:
            _FILE.refuse(
                file, f"expected {expected} columns named {kind}_..., found {found} in the header"
            )
    if len(names) != sum(_PATIENTS.values()):
        _FILE.refuse(file, f"expected a column 'gene' and 72 patients, found {len(header)}")
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
        _FILE.refuse(file, f"it is not a table of numbers ({error})")
    if len(intensities) != _GENES:
        _FILE.refuse(file, f"expected {_GENES} genes, found {len(intensities)}")
    if not np.isfinite(intensities).all():
        _FILE.refuse(file, "it has missing or infinite intensities")
    return names, intensities


@lru_cache(maxsize=1)
def _discretise(labels: tuple[str, ...], intensities: bytes) -> NDArray[np.int32]:
    """Cut each gene's intensities at the points that tell most about the labels.

    Remembered, because it takes seconds and both groups come from one and the same table.
    """
    table = np.frombuffer(intensities).reshape(_GENES, len(labels))
    is_aml = np.array(labels) == "AML"
    codes = np.empty(table.shape, dtype=np.int32)
    for gene, values in enumerate(table):
        cuts = mutual_information_cuts(values, is_aml, len(_STATES), _FEWEST_PER_STATE)
        codes[gene] = np.searchsorted(cuts, values)  # the number of cuts below the value
    return codes
