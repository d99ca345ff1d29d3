"""Workbooks: the same table as in a CSV file, whatever surrounds it."""

import sys
import zipfile
from xml.sax.saxutils import escape

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.data import encode

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def cell(value) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>' if value else "<c/>"
    return f"<c><v>{value}</v></c>"


def write_workbook(path, **sheets):
    """Write a workbook by hand, as the standard defines it [ECMA-376]."""
    numbers = range(1, len(sheets) + 1)
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{TYPE}.worksheet+xml"/>'
        for i in numbers
    )
    names = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>'
        for i, name in zip(numbers, sheets, strict=True)
    )
    links = "".join(
        f'<Relationship Id="r{i}" Type="{LINKS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in numbers
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{TYPE}.sheet.main+xml"/>{parts}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{names}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}'
        "</Relationships>",
    }
    for i, rows in zip(numbers, sheets.values(), strict=True):
        cells = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        files[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)
    return path


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return [[float(x), "xy"[i % 2], i % 3] for i, x in enumerate(rng.normal(size=40).round(3))]


@pytest.fixture
def path(tmp_path):
    pytest.importorskip("python_calamine")
    return tmp_path / "table.xlsx"


def same(found, path, rows):
    csv = path.with_suffix(".csv")
    csv.write_text("\n".join(",".join(map(str, row)) for row in [["a", "b", "c"], *rows]))
    plain = encode(csv, missing="drop")
    assert found.names == plain.names
    assert [[str(s) for s in own] for own in found.states] == [[*own] for own in plain.states]
    for one, other in zip(found.columns, plain.columns, strict=True):
        values = "values" if one.kind == "continuous" else "codes"
        assert np.array_equal(getattr(one, values), getattr(other, values))


def test_the_same_table_as_in_a_csv_file(path, rows):
    same(encode(write_workbook(path, one=[["a", "b", "c"], *rows])), path, rows)


def test_titles_blank_rows_and_other_sheets(path, rows):
    table = [["Report 2024", "", ""], ["", "", ""], ["a", "b", "c"], *rows, ["", "", ""]]
    found = encode(write_workbook(path, empty=[], data=table, more=[["x"], [1], [2]]))
    same(found, path, rows)
    assert found.notes == (
        "the first line is taken for a title, not for names, and skipped: 'Report 2024'",
        "only the sheet 'data' is read, not 'more'",
    )


def test_text_among_numbers(path, rows):
    rows[3][0], rows[5][0] = "n/a", ""
    with refused("'n/a' read as missing", column="a", option="missing"):
        encode(write_workbook(path, one=[["a", "b", "c"], *rows]))
    found = encode(path, missing="drop")
    assert (found.rows, found.kinds[0]) == (38, "continuous")


def test_learn_from_a_workbook(path, rows):
    write_workbook(path, one=[["a", "b", "c"], *rows])
    assert kes.learn(path, runs=2, improve=False).names == ("a", "b", "c")


def test_damaged_and_empty_workbooks(path):
    path.write_bytes(b"no workbook")
    with refused("save the table as CSV", file=path):
        encode(path)
    write_workbook(path, one=[])
    with refused("no sheet", file=path):
        encode(path)


def test_a_workbook_that_unfolds_to_gigabytes(path, monkeypatch):
    monkeypatch.setenv("KES_MAX_MB", "1")
    write_workbook(path, one=[["a" * 1000]] * 2000)
    with refused("KES_MAX_MB", file=path):
        encode(path)


def test_without_the_reader(tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "python_calamine", None)  # makes the import fail
    with refused("CSV.*pip install python-calamine", file=tmp_path / "a.xlsx"):
        encode(tmp_path / "a.xlsx")
