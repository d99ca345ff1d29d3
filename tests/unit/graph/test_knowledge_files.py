"""Files of background knowledge: TOML, JSON, and what Tetrad writes."""

import pytest

import kes
from kes import Knowledge

ALL = Knowledge(
    tiers=[["age", "sex"], ["smoker"]],
    required=[("a", "b")],
    forbidden=[("c", "d")],
    apart=[("x", "y")],
    roots=["age"],
    leaves=["outcome"],
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
    ("name", "content", "message"),
    [
        ("a.toml", b'tiers = [["a", "b"], ["c"', "not TOML, or cut off"),
        ("a.json", b'{"tiers": [["a", "b"], ["c"', "not JSON, or cut off"),
        ("a.json", b"[" * 100_000, "nested too deeply|not JSON"),
        ("a.toml", b"tiers = " + b"[" * 100_000, "nested too deeply|not TOML"),
        ("a.json", b'["a"]', "expected the keys tiers, .*not a list"),
        ("a.json", b'{"tiers": [["a"]], "tiers": [["b"]]}', "the key 'tiers' comes twice"),
        ("a.toml", b'require = [["a", "b"]]', r"unknown key 'require' \(did you mean 'required'"),
        ("a.toml", b'required = {a = "b"}', "required must be a list of pairs of names, not {'a'"),
        ("a.toml", b"roots = [0x" + b"f" * 9999 + b"]", "it holds an unprintable int"),
        ("a.toml", b"roots = [" + b"9" * 9999 + b"]", "not TOML, or cut off"),
        ("a.json", b'{"roots": [' + b"9" * 9999 + b"]}", "not JSON, or cut off"),
        ("a.json", b'{"roots": NaN}', "roots must be a list of names, not nan"),
        ("a.json", b'{"roots": null}', "roots must be a list of names, not None"),
        ("a.json", b"\0" * 50, "not JSON, or cut off"),
        ("a.toml", b'roots = ["a\0"]', "not TOML, or cut off"),
        ("a.txt", b"/knowledge\0\n", "line 1: expected /knowledge alone"),
        ("a.toml", b"tiers = 3", "tiers must be a list"),
        ("a.toml", b'tiers = "\xff"', "line 1: not UTF-8"),
        ("a.txt", b"age,sex", "begin with /knowledge"),
        ("a.txt", b"", "begin with /knowledge"),
        ("a.txt", b"/knowledge here\n", "line 1: expected /knowledge alone"),
        ("a.txt", b"/knowledge\nadtemporal\n", "line 2: .*did you mean 'addtemporal'"),
        ("a.txt", b"/knowledge\naddtemporal\nage sex\n", "line 3: a tier begins with its number"),
        ("a.txt", b"/knowledge\naddtemporal\n0 sex\n", "line 3: a tier begins with its number"),
        ("a.txt", b"/knowledge\nforbiddirect\na b c\n", "line 3: an arc has two ends, not 3"),
        ("a.txt", b'/knowledge\nforbiddirect\na "b\n', "line 3: a quote that does not end"),
        ("a.txt", b"/knowledge\n\nrequiredgroup\na b\n", "line 4: the second line of the group"),
        ("a.txt", b"/knowledge\naddtemporal\n1 a\n2 a\n", "'a': more than once in the tiers"),
    ],
)
def test_cut_and_hostile_files_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kes.KesError, match=message) as caught:
        Knowledge.read(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.parametrize("name", ["a.json", "a.toml"])
def test_no_depth_of_nesting_does_harm(tmp_path, name):
    """Around Python's limit of recursion the parsers still read what can no longer be shown."""
    begin, end = ('{"tiers": ', "}") if name == "a.json" else ("tiers = ", "")
    for depth in (3, 100, *range(300, 1100, 7), 10_000):
        (tmp_path / name).write_text(begin + "[" * depth + "]" * depth + end)
        with pytest.raises(kes.KesError, match=r"a tier must be a list|nested too deeply"):
            Knowledge.read(tmp_path / name)


def test_every_cut_of_a_file_is_refused_or_makes_sense(tmp_path):
    """However much of a file is lost, the reader never fails by another error."""
    for name in ("a.json", "a.toml"):
        ALL.save(tmp_path / name)
    whole = {name: (tmp_path / name).read_bytes() for name in ("a.json", "a.toml")}
    whole["a.txt"] = TETRAD.encode()
    for name, content in whole.items():
        refused = 0
        for end in range(len(content)):
            (tmp_path / name).write_bytes(content[:end])
            try:
                Knowledge.read(tmp_path / name)
            except kes.KesError:
                refused += 1
        assert refused > 10


def test_files_that_are_not_there_or_have_no_format(tmp_path):
    with pytest.raises(kes.KesError, match=r"there is no file .*nowhere\.toml'"):
        Knowledge.read(tmp_path / "nowhere.toml")
    with pytest.raises(kes.KesError, match=r"cannot read .*embedded null"):
        Knowledge.read("known\0.toml")
    with pytest.raises(kes.KesError, match=r"written as \.toml or \.json, not as '\.txt'"):
        Knowledge().save(tmp_path / "known.txt")
    with pytest.raises(kes.KesError, match="no Unicode text"):
        Knowledge(roots=["\ud800"]).save(tmp_path / "known.toml")
