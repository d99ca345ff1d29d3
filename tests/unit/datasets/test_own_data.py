"""Data that cannot be shipped, CoIL and leukemia: read from the user's copy, or refused."""

import csv
import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from tests.unit.datasets.frequencies import counts
from tests.unit.refused import refused

from kes import datasets
from kes.errors import KesError

SHARED = Path(__file__).parents[4] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there")

# CoIL


def coil_values():
    """Make a table that passes for CoIL: random numbers, 348 buyers."""
    values = np.random.default_rng(0).integers(0, 6, size=(5822, 86))
    values[:, -1] = np.arange(5822) < 348
    return values


def coil_header():
    names = [f"A{i}" for i in range(1, 87)]
    names[1], names[42], names[64], names[85] = "MAANTHUI", "MKOOPKLA", "AWAPART", "CARAVAN"
    # fmt: off
    names[65:85] = [
        "AWABEDR", "AWALAND", "APERSAUT", "ABESAUT", "AMOTSCO", "AVRAAUT", "AAANHANG", "ATRACTOR",
        "AWERKT", "ABROM", "ALEVEN", "APERSONG", "AGEZONG", "AWAOREG", "ABRAND", "AZEILPL",
        "APLEZIER", "AFIETS", "AINBOED", "ABYSTAND",
    ]
    # fmt: on
    return names


def write_table(path, values, delimiter=","):
    path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in values.tolist()))
    return path


def test_coil_binarises_as_described(tmp_path):
    values = coil_values()
    data = datasets.coil(write_table(tmp_path / "ticdata2000.txt", values, delimiter="\t"))
    assert data.rows == 5822
    header = coil_header()
    kept = [2, 43, *range(65, 87)]
    assert data.names == tuple(header[attribute - 1] for attribute in kept)
    for attribute, column in zip(kept, data.codes, strict=True):
        limit = {2: 1, 43: 3}.get(attribute, 0)
        expected = [int(value > limit) for value in values[:, attribute - 1]]
        assert column.tolist() == expected


def test_coil_reads_every_form_alike(tmp_path, monkeypatch):
    values = coil_values()
    original = write_table(tmp_path / "ticdata2000.txt", values, delimiter="\t")
    windows = tmp_path / "windows.txt"
    windows.write_bytes(original.read_bytes().replace(b"\n", b"\r\n"))
    numbers = original.read_text().replace("\t", ",")
    named = tmp_path / "named.csv"
    named.write_text(",".join(coil_header()) + "\n" + numbers)
    zipped = tmp_path / "quoted.csv.gz"
    quoted_header = ",".join(f'"{name}"' for name in coil_header())
    zipped.write_bytes(gzip.compress(f"{quoted_header}\n{numbers}".encode(), compresslevel=1))
    expected = datasets.coil(original)
    for path in (windows, str(named), zipped):
        np.testing.assert_array_equal(datasets.coil(path).codes, expected.codes)
    monkeypatch.setenv("KES_COIL", str(named))
    np.testing.assert_array_equal(datasets.coil().codes, expected.codes)


def test_coil_says_where_to_get_the_data(monkeypatch):
    monkeypatch.delenv("KES_COIL", raising=False)
    with pytest.raises(KesError) as error:
        datasets.coil()
    for part in ("KES_COIL", "path=", "UCI", "(COIL 2000)", "ticdata2000.txt", "5822", "86"):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda lines: [], "empty"),
        (lambda lines: lines[:-1], "5822 .* 5821"),
        (lambda lines: [line.rpartition(",")[0] for line in lines], "5822 x 85"),
        (lambda lines: [*lines[:9], "1,2", *lines[10:]], "whole numbers"),
        (lambda lines: [lines[0], "x" + lines[1], *lines[2:]], "whole numbers"),
        (
            lambda lines: [",".join(coil_header()[::-1]), *lines],
            "column 2",
        ),
        (lambda lines: ["a,b", *lines], "column 2.*MAANTHUI.*b"),
        (lambda lines: [lines[0][:-1] + "0", *lines[1:]], "CARAVAN"),
        (lambda lines: [lines[0][:-1] + "2", *lines[1:]], "CARAVAN"),
        (lambda lines: ["-" + lines[0], *lines[1:]], "non-negative"),
    ],
)
def test_coil_refuses_other_tables(tmp_path, spoil, word):
    path = write_table(tmp_path / "coil.csv", coil_values())
    path.write_text("\n".join(spoil(path.read_text().splitlines())))
    with refused(f"{word}.*ticdata2000", file=path):
        datasets.coil(path)


def test_unreadable_files_are_refused(tmp_path):
    with refused("UCI", file=tmp_path / "nowhere.csv"):
        datasets.coil(tmp_path / "nowhere.csv")
    with refused(file=tmp_path):
        datasets.coil(tmp_path)
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"1,2,3" * 1000)[:-20])
    with refused("damaged", file=tmp_path / "broken.gz"):
        datasets.coil(tmp_path / "broken.gz")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with refused("text", file=tmp_path / "binary"):
        datasets.coil(tmp_path / "binary")


@needs_shared
def test_coil_data():
    data = datasets.coil(SHARED / "coil" / "ticdata2000.csv.gz")
    assert data.rows == 5822
    assert len(data.names) == 24
    assert data.names[-1] == "CARAVAN"
    assert data.codes[-1].sum() == 348


# Leukemia

LABELS = ["ALL"] * 27 + ["AML"] * 11 + ["ALL"] * 20 + ["AML"] * 14


def leukemia_lines(genes=7129):
    """Make a table in which every gene is high in 17 of ALL, low in the others, and middle in AML.

    The two cuts that separate these levels tell everything about the label that can be told, and
    no other pair of cuts does.
    """
    header = ["gene", *(f"{label}_{i:02d}" for i, label in enumerate(LABELS, start=1))]
    is_all = np.array(LABELS) == "ALL"
    high = is_all & (np.cumsum(is_all) > 30)
    levels = np.where(high, 2, np.where(is_all, 0, 1))
    noise = np.random.default_rng(0).integers(0, 50, size=(genes, 72))
    values = 100 * levels + noise
    lines = [",".join([f"g{gene}_at", *map(str, row)]) for gene, row in enumerate(values.tolist())]
    return [",".join(header), *lines], levels


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def test_leukemia_cuts_where_the_label_is_best_told(tmp_path, monkeypatch):
    genes = 300
    monkeypatch.setattr("kes.datasets._real._GENES", genes)  # 7129 take seconds
    lines, levels = leukemia_lines(genes)
    path = write_lines(tmp_path / "leukemia.csv", lines)
    monkeypatch.setenv("KES_LEUKEMIA", str(path))
    for data, group in ((datasets.leukemia(path), "ALL"), (datasets.leukemia(group="AML"), "AML")):
        assert data.rows == genes
        members = [i for i, label in enumerate(LABELS) if label == group]
        assert data.names == tuple(f"{group}_{i + 1:02d}" for i in members)
        assert data.states[0] == ("low", "middle", "high")
        expected = np.repeat(levels[members][:, np.newaxis], genes, axis=1)
        np.testing.assert_array_equal(data.codes, expected)


def test_leukemia_says_where_to_get_the_data(monkeypatch):
    monkeypatch.delenv("KES_LEUKEMIA", raising=False)
    with pytest.raises(KesError) as error:
        datasets.leukemia()
    for part in ("KES_LEUKEMIA", "path=", "Broad Institute", "golubEsets", "7129", "47", "25"):
        assert part in str(error.value)
    assert "golubEsets" in datasets.leukemia.__doc__, "where the message sends its reader"


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda lines: [], "47 .* found 0"),
        (lambda lines: [lines[0].replace("AML_60", "ALL_60"), *lines[1:]], "47 .* found 48"),
        (lambda lines: [lines[0] + ",x", *lines[1:]], "gene"),
        (lambda lines: lines[:-2], "7127"),
        (lambda lines: [*lines[:-1], lines[-1] + "?"], "numbers"),
        (lambda lines: [*lines[:-1], lines[-1].rpartition(",")[0]], "numbers"),
        (lambda lines: [*lines[:-1], lines[-1].rpartition(",")[0] + ",nan"], "missing or infinite"),
    ],
)
def test_leukemia_refuses_other_tables(tmp_path, spoil, word):
    path = write_lines(tmp_path / "leukemia.csv", spoil(leukemia_lines()[0]))
    with refused(f"{word}.*golubEsets", file=path):
        datasets.leukemia(path)


def test_leukemia_refuses_an_unknown_group():
    with refused("did you mean 'ALL'", option="group"):
        datasets.leukemia(group="CLL")


@pytest.fixture(scope="module")
def leukemia_groups():
    path = SHARED / "golub" / "golub72_expression.csv.gz"
    return {group: datasets.leukemia(path, group) for group in ("ALL", "AML")}


@needs_shared
@pytest.mark.parametrize(("group", "patients"), [("ALL", 47), ("AML", 25)])
def test_leukemia_data(leukemia_groups, group, patients):
    data = leukemia_groups[group]
    assert data.rows == 7129
    assert len(data.names) == patients
    assert all(name.startswith(group) for name in data.names)
    assert list(data.names) == sorted(data.names)


@needs_shared
def test_leukemia_cuts_tell_as_much_as_any_others(leukemia_groups):
    # Brute force over all pairs of cuts, for every 2000th gene and all 72 patients.
    with gzip.open(SHARED / "golub" / "golub72_expression.csv.gz", "rt") as file:
        table = list(csv.reader(file))
    codes_of = {
        name: codes
        for data in leukemia_groups.values()
        for name, codes in zip(data.names, data.codes, strict=True)
    }
    patients = table[0][1:]
    is_aml = np.array([name.startswith("AML") for name in patients])
    for gene in range(0, 7129, 2000):
        values = np.array(table[gene + 1][1:], dtype=float)
        codes = np.array([codes_of[name][gene] for name in patients])
        order = np.argsort(values)
        assert (np.diff(codes[order]) >= 0).all()
        assert len(set(zip(values, codes, strict=True))) == len(set(values))  # equals stay together
        between = np.unique(values)[:-1]
        best = max(
            label_information(states, is_aml)
            for cuts in itertools.combinations(between, 2)
            if np.bincount(states := (values[:, None] > cuts).sum(axis=1), minlength=3).min() >= 5
        )
        assert np.bincount(codes, minlength=3).min() >= 5
        assert label_information(codes, is_aml) == pytest.approx(best, abs=1e-12)


def label_information(states, labels):
    """Mutual information of states and labels, from their table of counts."""
    p = counts((states, labels.astype(int)), (3, 2)) / len(states)
    product = np.outer(p.sum(axis=1), p.sum(axis=0))
    return (p[p > 0] * np.log(p[p > 0] / product[p > 0])).sum()
