"""Result files that cannot be used: truncated, damaged, forged, or of another kind."""

import gzip
import json
import math
from dataclasses import replace

import pytest
from tests.unit.refused import refused

import kes
from kes.budget import Improve
from kes.results import storage

SETTINGS = {
    "k": 0.3,
    "criterion": "bic",
    "ess": None,
    "seed": 0,
    "max_parents": None,
    "two_phase": False,
    "neighbourhood": "exact",
    "start": None,
}
IMPROVING = {"asked": True, "complete": True, "own": 400, "earlier": 0, "calls": []}
MODEL = {"score": -1.0, "local optimum": True, "directed": [], "undirected": []}


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_truncated_at_any_place(optima, name, tmp_path):
    path = tmp_path / name
    optima.save(path)
    content = path.read_bytes()
    for length in range(0, len(content) - 2, 97):
        path.write_bytes(content[:length])
        with refused("damaged .* learn again", file=path):
            kes.load(path)


def test_damaged_gzip(optima, tmp_path):
    path = tmp_path / "a.json.gz"
    optima.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with refused("damaged", file=path):
        kes.load(path)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": "something else"}, "not a kes"),
        ({"version": 99, "kes": "9.9.9"}, r"9\.9\.9"),
        ({"runs": [0, 1, 1000]}, "1000"),
        ({"runs": None}, "damaged"),
        ({"names": ["only one"]}, "damaged"),
        ({"states": []}, "states"),
        ({"settings": {}}, "damaged"),
        ({"reading": {}}, "damaged"),
        (
            {"reading": {"missing": "drop", "weights": 3, "na_values": []}},
            "str",
        ),
        ({"improving": {}}, "damaged"),
        ({"improving": IMPROVING | {"asked": 0}}, "improve"),
        ({"improving": IMPROVING | {"own": -1}}, "own"),
        ({"ahead": [[0, 0]]}, "unsorted"),
        ({"ges": {"score": "high"}}, "damaged"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": math.nan}, "tolerance"),
        ({"tolerance": True}, "tolerance"),
        ({"cases": math.inf}, "cases"),
        ({"settings": SETTINGS | {"k": "0.5"}}, "k must"),
        ({"settings": SETTINGS | {"seed": None}}, "seed"),
        ({"settings": SETTINGS | {"max_parents": -1}}, "max_parents"),
        ({"settings": SETTINGS | {"two_phase": 1}}, "two_phase"),
        ({"ges": MODEL | {"score": math.nan}}, "score"),
        ({"ges": MODEL | {"score": True}}, "score"),
        ({"ges": MODEL | {"score": "inf"}}, "score"),
        ({"ges": MODEL | {"score": math.inf}}, "score"),
        ({"ges": MODEL | {"local optimum": 1}}, "bool"),
        ({"runs": [True]}, "True"),
        ({"ahead": [[True, 0]]}, "ahead"),
        ({"ges": MODEL | {"score": 10**400}}, "damaged"),
    ],
)
def test_content_that_makes_no_sense(optima, tmp_path, change, word):
    path = tmp_path / "a.json"
    optima.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | change), encoding="utf-8")
    with refused(word, file=path):
        kes.load(path)


@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "{}", "null"])
def test_json_of_another_kind(content, tmp_path):
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with refused("not a kes result", file=tmp_path / "a.json"):
        kes.load(tmp_path / "a.json")


@pytest.mark.parametrize("content", ["a,b\n0,1\n", "[" * 100_000, "0,1", "\udcff"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_file_of_another_kind_is_not_to_be_removed(content, name, tmp_path):
    path, raw = tmp_path / name, content.encode(errors="surrogateescape")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    with pytest.raises(kes.KesError) as caught:
        kes.load(path)
    assert caught.value.file == str(path)
    assert "remove" not in str(caught.value)


def test_nesting_without_end(optima, tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"format": "kes optima", "runs": ' + "[" * 100_000, encoding="utf-8")
    with refused("damaged", file=path):
        kes.load(path)


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_infinite_scores_are_not_written(alarm, score, tmp_path):
    record = replace(alarm.record, ges=replace(alarm.record.ges, score=score))
    with refused(file=tmp_path / "a.json"):
        storage.write(record, tmp_path / "a.json")


@pytest.mark.parametrize("change", [{"tolerance": math.inf}, {"fingerprint": "\udcff"}])
def test_what_no_file_can_hold(alarm, change, tmp_path):
    with refused(file=tmp_path / "a.json"):
        storage.write(replace(alarm.record, **change), tmp_path / "a.json")


def test_no_file(tmp_path):
    with refused("no file", file=tmp_path / "a.json"):
        kes.load(tmp_path / "a.json")
    with refused(file=tmp_path):
        kes.load(tmp_path)


def test_a_file_without_finished_runs(alarm, tmp_path):
    bare = alarm.record.unimproved(Improve())
    record = replace(bare, runs=(), ahead=((1, 0),), models=bare.models[:1])
    storage.write(record, tmp_path / "a.json")
    found = kes.load(tmp_path / "a.json")
    assert [optimum.origin for optimum in found] == ["GES"]


def test_a_file_whose_ges_was_stopped(alarm, tmp_path):
    bare = replace(alarm.record.unimproved(Improve()), runs=(), models=(), unfinished=True)
    storage.write(bare, tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json").record == bare
    forged = replace(alarm.record, unfinished=True)  # runs follow GES
    storage.write(forged, tmp_path / "b.json")
    with pytest.raises(kes.KesError) as damaged:
        kes.load(tmp_path / "b.json")
    assert damaged.value.file == str(tmp_path / "b.json")
