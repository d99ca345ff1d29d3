"""Result files: exact, reproducible, atomic, and clear about what is wrong with them."""

import gzip
import json
import math
import os
import stat
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import kes
from kes.results import storage
from kes.search.collector import Collector

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
MODEL = {"score": -1.0, "local optimum": True, "directed": [], "undirected": []}

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and messages of Unix")


@pytest.fixture(scope="module")
def data():
    """Names and states that need care in text files."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 150)
    y = np.where(rng.random(150) < 0.1, 1 - x, x)
    frame = pd.DataFrame({'a "b", c': x > 0, "größe\n": y, "z": rng.integers(5, 8, 150)})
    frame["text"] = np.where(y > 0, "naïve ✓", 'quote"\\')
    return frame


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.3, runs=40, random_state=2**64 - 1)


@pytest.fixture(scope="module")
def alarm():
    """Many optima, with scores that use all digits."""
    return kes.learn(kes.datasets.alarm(rows=300), k=0.3, runs=50)


@pytest.mark.parametrize("name", ["a.kes.json", "a.kes.json.gz"])
def test_round_trip(optima, alarm, name, tmp_path):
    for result in (optima, alarm):
        result.save(tmp_path / name)
        again = kes.load(tmp_path / name)
        assert again == result
        assert again._record.models == result._record.models, "scores to the last bit"
        assert again.notes == result.notes
        assert again.states == result.states
        assert [type(s) for s in again.states[again.names[0]]] == [
            type(s) for s in result.states[result.names[0]]
        ]


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "bdeu", "ess": 0.1},
        {"max_parents": 1, "two_phase": True},
        {"neighbourhood": kes.Sampled(reversals=3, failures=7)},
        {"neighbourhood": "sampled"},
        {"start": [("z", "text")]},
    ],
)
def test_settings_round_trip(data, options, tmp_path):
    optima = kes.learn(data, runs=3, **options)
    optima.save(tmp_path / "a.json")
    again = kes.load(tmp_path / "a.json")
    assert again.settings == optima.settings
    assert again == optima
    assert again.extend(3, data) == optima.extend(3)


@pytest.mark.parametrize("name", ["a.kes.json", "a.kes.json.gz"])
def test_same_result_same_bytes(data, optima, name, tmp_path):
    first, second = tmp_path / name, tmp_path / f"other_{name}"
    optima.save(first)
    kes.learn(data, k=0.3, runs=15, random_state=2**64 - 1, n_jobs=1).extend(25).save(second)
    assert first.read_bytes() == second.read_bytes()
    kes.load(first).save(second)
    assert first.read_bytes() == second.read_bytes()


def test_gzip_by_name(optima, tmp_path):
    optima.save(tmp_path / "a.gz")
    optima.save(tmp_path / "a.json")
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()
    (tmp_path / "a.gz").rename(tmp_path / "renamed.json")
    assert kes.load(tmp_path / "renamed.json") == optima


def test_content(alarm, tmp_path):
    """Any JSON reader gets at everything, and finds no data."""
    alarm.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["format"] == "kes optima"
    assert content["kes"] == kes.__version__
    assert content["settings"]["k"] == 0.3
    assert len(content["runs"]) == 50
    assert len(content["models"]) == len(alarm)
    scores = [content["models"][model]["score"] for model in content["runs"]]
    assert scores == list(alarm.run_scores)
    sizes = {key: len(json.dumps(value)) for key, value in content.items()}
    del sizes["models"], sizes["states"], sizes["names"], sizes["ges"]
    assert sum(sizes.values()) < 300 * 37 / 8, "no room for 300 rows, even as bits"


def test_fingerprint_tells_names_states_and_rows_apart(data):
    base = kes.learn(data, runs=1)._record.fingerprint
    for other in (
        data.rename(columns={"z": "y"}),
        data.assign(z=data["z"] + 1),
        data.assign(z=data["z"][::-1].to_numpy()),
        pd.concat([data, data]),
    ):
        assert kes.learn(other, runs=1)._record.fingerprint != base
    assert kes.learn(data[::-1], runs=1)._record.fingerprint == base


# --- safe writing --------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(optima, alarm, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    optima.save(path)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(kes.KesError, match=r"cannot write .*a\.json: No space left on device"):
        alarm.save(path)
    monkeypatch.undo()
    assert kes.load(path) == optima
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"], "nothing is left behind"


@posix
def test_permissions_are_those_of_any_new_file(optima, tmp_path):
    (tmp_path / "plain").touch()
    optima.save(tmp_path / "a.json")
    mode = stat.S_IMODE((tmp_path / "a.json").stat().st_mode)
    assert mode == stat.S_IMODE((tmp_path / "plain").stat().st_mode)


@posix
def test_writes_through_a_link(optima, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "real" / "a.json")
    optima.save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert kes.load(tmp_path / "real" / "a.json") == optima


def test_no_such_folder(optima, tmp_path):
    with pytest.raises(kes.KesError, match=r"cannot write .*No such file or directory"):
        optima.save(tmp_path / "nowhere" / "a.json")


# --- checkpoints ---------------------------------------------------------------------------------


def test_an_unfinished_file_shows_its_prefix_and_is_resumed_with_all(alarm, tmp_path):
    """Runs 0-9 and 20-29 are done: ten runs are shown, twenty need not be done again."""
    record = alarm._record
    ahead = tuple((run, record.runs[run]) for run in range(20, 30))
    partial = replace(record, runs=record.runs[:10], ahead=ahead)
    base = Collector(partial, 50).record(ahead=True)
    storage.write(base, tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json") == kes.learn(kes.datasets.alarm(rows=300), k=0.3, runs=10)
    again = storage.read(tmp_path / "a.json")
    assert again == base
    assert list(Collector(again, 50).pending()) == [*range(10, 20), *range(30, 50)]


def test_checkpoints_are_written_at_intervals(alarm, tmp_path):
    path = tmp_path / "a.json"
    collector = Collector(alarm._record, 50)
    seldom = storage.Checkpoint(path, 3600)
    seldom(collector)
    assert not path.exists()
    assert seldom.flush()
    assert kes.load(path) == alarm
    path.unlink()
    often = storage.Checkpoint(path, 0.0)
    often(collector)
    assert kes.load(path) == alarm


def test_a_checkpoint_that_fails_is_told_once_and_tried_again(alarm, tmp_path, monkeypatch, capsys):
    def full(target, content):
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.json"
    collector = Collector(alarm._record, 50)
    checkpoint = storage.Checkpoint(path, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(storage, "_replace", full)
        checkpoint(collector)
        checkpoint(collector)
        with pytest.raises(kes.KesError, match="No space left"):
            checkpoint.flush()
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "No space left on device; the search goes on, and tries again" in shown
    checkpoint(collector)
    assert kes.load(path) == alarm


def test_nothing_done_nothing_written(alarm, tmp_path):
    blank = replace(alarm._record, runs=(), models=())
    checkpoint = storage.Checkpoint(tmp_path / "a.json", 0.0)
    checkpoint(Collector(blank, 50))
    assert not (tmp_path / "a.json").exists()


# --- files that cannot be used -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_truncated_at_any_place(optima, name, tmp_path):
    path = tmp_path / name
    optima.save(path)
    content = path.read_bytes()
    for length in range(0, len(content) - 2, 97):
        path.write_bytes(content[:length])
        with pytest.raises(kes.KesError, match=r"is truncated or damaged .* learn again"):
            kes.load(path)


def test_damaged_gzip(optima, tmp_path):
    path = tmp_path / "a.json.gz"
    optima.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(kes.KesError, match="is truncated or damaged"):
        kes.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "something else"}, "is not a kes result file"),
        ({"version": 2, "kes": "9.9.9"}, r"was written by kes 9\.9\.9.* pip install --upgrade kes"),
        ({"runs": [0, 1, 1000]}, "1000 where a number below"),
        ({"runs": None}, "damaged"),
        ({"names": ["only one"]}, "damaged"),
        ({"states": []}, "names and states differ"),
        ({"settings": {}}, "damaged"),
        ({"ahead": [[0, 0]]}, "given twice"),
        ({"ges": {"score": "high"}}, "damaged"),
        ({"tolerance": 0}, "damaged .*tolerance must be a number greater than 0"),
        ({"tolerance": math.nan}, "damaged .*tolerance must be"),
        ({"tolerance": True}, "damaged .*tolerance must be"),
        ({"cases": math.inf}, "damaged .*cases must be"),
        ({"settings": SETTINGS | {"k": "0.5"}}, "damaged .*k must be"),
        ({"settings": SETTINGS | {"seed": None}}, "damaged .*seed must be"),
        ({"settings": SETTINGS | {"max_parents": -1}}, "damaged .*max_parents must be"),
        ({"settings": SETTINGS | {"two_phase": 1}}, "damaged .*two_phase must be"),
        ({"ges": MODEL | {"score": math.nan}}, "damaged .*a score is no number"),
        ({"ges": MODEL | {"score": 10**400}}, "damaged"),
    ],
)
def test_content_that_makes_no_sense(optima, tmp_path, change, message):
    path = tmp_path / "a.json"
    optima.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document | change), encoding="utf-8")
    with pytest.raises(kes.KesError, match=message) as caught:
        kes.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", ["[1, 2]", '"text"', "{}", "null"])
def test_json_of_another_kind(content, tmp_path):
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(kes.KesError, match="is not a kes result file; give a file that"):
        kes.load(tmp_path / "a.json")


@pytest.mark.parametrize("content", ["a,b\n0,1\n", "[" * 100_000, "0,1", "\udcff"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_file_of_another_kind_is_not_to_be_removed(content, name, tmp_path):
    path, raw = tmp_path / name, content.encode(errors="surrogateescape")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    with pytest.raises(kes.KesError, match="is not a kes result file") as caught:
        kes.load(path)
    assert str(path) in str(caught.value)
    assert "remove" not in str(caught.value)


def test_nesting_without_end(optima, tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"format": "kes optima", "runs": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(kes.KesError, match=r"a\.json is truncated or damaged"):
        kes.load(path)


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_infinite_scores_round_trip(alarm, score, tmp_path):
    record = replace(alarm._record, ges=replace(alarm._record.ges, score=score))
    storage.write(record, tmp_path / "a.json")
    assert storage.read(tmp_path / "a.json") == record


@pytest.mark.parametrize("change", [{"tolerance": math.inf}, {"fingerprint": "\udcff"}])
def test_what_no_file_can_hold(alarm, change, tmp_path):
    with pytest.raises(kes.KesError, match=r"cannot write .*a\.json: no file can hold"):
        storage.write(replace(alarm._record, **change), tmp_path / "a.json")


def test_no_file(tmp_path):
    with pytest.raises(kes.KesError, match=r"cannot read .*a\.json: No such file"):
        kes.load(tmp_path / "a.json")
    with pytest.raises(kes.KesError, match="cannot read "):
        kes.load(tmp_path)


def test_a_file_without_finished_runs(alarm, tmp_path):
    record = replace(alarm._record, runs=(), ahead=((1, 0),), models=alarm._record.models[:1])
    storage.write(record, tmp_path / "a.json")
    with pytest.raises(kes.KesError, match="no finished run yet; give the same kes learn command"):
        kes.load(tmp_path / "a.json")
