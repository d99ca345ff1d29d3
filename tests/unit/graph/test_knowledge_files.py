"""Files of background knowledge: TOML, JSON, and what Tetrad writes."""

import pytest
from tests.unit.refused import refused

import kes
from kes import Knowledge

ALL = Knowledge(
    tiers=[["age", "sex"], ["smoker"]],
    required=[("a", "b")],
    forbidden=[("c", "d")],
    apart=[("x", "y")],
    roots=["age"],
    leaves=["outcome"],
    likely={("a", "d"): 3.0, ("c", "b"): -0.1},
)


@pytest.mark.parametrize("name", ["known.toml", "known.json"])
def test_files_give_back_what_was_written(tmp_path, name):
    odd = ['a "b"', "c\\d", "e\nf", "é\x7f\x01", "😀", "[x]"]
    for known in (ALL, Knowledge(), Knowledge(tiers=[odd[:3], odd[3:]])):
        known.save(tmp_path / name)
        assert Knowledge.read(tmp_path / name) == known


TETRAD = """/knowledge
// written by hand
addtemporal
1 age "blood pressure"
2* smoker,drinker
4- cough
5 visit
6 cure

forbiddirect
age cough
requiredirect
age\tsmoker
forbiddengroup
smoker drinker
cure
"""


def test_tetrad_files_are_read(tmp_path):
    """By the meaning that Tetrad's manual and its own reader give to each section."""
    path = tmp_path / "known.txt"
    path.write_text(TETRAD)
    assert Knowledge.read(path) == Knowledge(
        tiers=[["age", "blood pressure"], ["smoker", "drinker"], ["cough"], ["visit"], ["cure"]],
        required=[("age", "smoker")],
        forbidden=[("age", "cough"), ("smoker", "cure"), ("drinker", "cure"), ("cough", "cure")],
        apart=[("smoker", "drinker")],
    )


@pytest.mark.parametrize(
    ("name", "content", "row", "word"),
    [
        ("a.toml", b'tiers = [["a", "b"], ["c"', None, "TOML"),
        ("a.json", b'{"tiers": [["a", "b"], ["c"', None, "JSON"),
        ("a.json", b"[" * 100_000, None, "nested too deeply|JSON"),
        ("a.toml", b"tiers = " + b"[" * 100_000, None, "nested too deeply|TOML"),
        ("a.json", b'["a"]', None, "tiers"),
        ("a.json", b'{"tiers": [["a"]], "tiers": [["b"]]}', None, "'tiers'"),
        ("a.toml", b'require = [["a", "b"]]', None, "did you mean 'required'"),
        ("a.toml", b'required = {a = "b"}', None, "required .*{'a'"),
        ("a.toml", b"roots = [0x" + b"f" * 9999 + b"]", None, "an unprintable int"),
        ("a.toml", b"roots = [" + b"9" * 9999 + b"]", None, "TOML"),
        ("a.json", b'{"roots": [' + b"9" * 9999 + b"]}", None, "JSON"),
        ("a.json", b'{"roots": NaN}', None, "roots .* nan"),
        ("a.json", b'{"roots": null}', None, "roots .* None"),
        ("a.json", b"\0" * 50, None, "JSON"),
        ("a.toml", b'roots = ["a\0"]', None, "TOML"),
        ("a.txt", b"/knowledge\0\n", 1, "/knowledge"),
        ("a.toml", b"tiers = 3", None, "tiers"),
        ("a.toml", b'tiers = "\xff"', 1, "UTF-8"),
        ("a.txt", b"age,sex", None, "/knowledge"),
        ("a.txt", b"", None, "/knowledge"),
        ("a.txt", b"/knowledge here\n", 1, "/knowledge"),
        ("a.txt", b"/knowledge\nadtemporal\n", 2, "did you mean 'addtemporal'"),
        ("a.txt", b"/knowledge\naddtemporal\nage sex\n", 3, "number"),
        ("a.txt", b"/knowledge\naddtemporal\n0 sex\n", 3, "number"),
        ("a.txt", b"/knowledge\nforbiddirect\na b c\n", 3, "two names"),
        ("a.txt", b'/knowledge\nforbiddirect\na "b\n', 3, "quote"),
        ("a.txt", b"/knowledge\n\nrequiredgroup\na b\n", 4, "second line"),
        ("a.txt", b"/knowledge\naddtemporal\n1 a\n2 a\n", None, "'a'"),
    ],
)
def test_cut_and_hostile_files_are_refused(tmp_path, name, content, row, word):
    (tmp_path / name).write_bytes(content)
    with refused(word, file=tmp_path / name, row=row):
        Knowledge.read(tmp_path / name)


@pytest.mark.parametrize("name", ["a.json", "a.toml"])
def test_no_depth_of_nesting_does_harm(tmp_path, name):
    """Around Python's limit of recursion the parsers still read what can no longer be shown."""
    begin, end = ('{"tiers": ', "}") if name == "a.json" else ("tiers = ", "")
    for depth in (3, 100, *range(300, 1100, 7), 10_000):
        (tmp_path / name).write_text(begin + "[" * depth + "]" * depth + end)
        with refused("list of names|nested", file=tmp_path / name):
            Knowledge.read(tmp_path / name)


def test_every_cut_of_a_file_is_refused_or_makes_sense(tmp_path):
    """However much of a file is lost, the reader never fails by another error."""
    for name in ("a.json", "a.toml"):
        ALL.save(tmp_path / name)
    whole = {name: (tmp_path / name).read_bytes() for name in ("a.json", "a.toml")}
    whole["a.txt"] = TETRAD.encode()
    for name, content in whole.items():
        failures = 0
        for end in range(len(content)):
            (tmp_path / name).write_bytes(content[:end])
            try:
                Knowledge.read(tmp_path / name)
            except kes.KesError:
                failures += 1
        assert failures > 10


def test_files_that_are_not_there_or_have_no_format(tmp_path):
    with refused(file=tmp_path / "nowhere.toml"):
        Knowledge.read(tmp_path / "nowhere.toml")
    with refused("null", file="known\0.toml"):
        Knowledge.read("known\0.toml")
    with refused(r"'\.txt'", file=tmp_path / "known.txt"):
        Knowledge().save(tmp_path / "known.txt")
    with refused("Unicode", file=tmp_path / "known.toml"):
        Knowledge(roots=["\ud800"]).save(tmp_path / "known.toml")
