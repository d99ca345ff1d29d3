"""Result files: exact, reproducible, atomic, and clear about what is wrong with them."""

import gzip
import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.budget import Budget, Improve
from kes.results import storage
from kes.results.optima import Optima
from kes.search.collector import Collector

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and messages of Unix")


@pytest.fixture(scope="module")
def runs():
    """The same without what improving makes of them."""
    return kes.learn(kes.datasets.alarm(rows=300), k=0.3, runs=50, improve=False)


@pytest.mark.parametrize("name", ["a.kes.json", "a.kes.json.gz"])
def test_round_trip(optima, alarm, name, tmp_path):
    for result in (optima, alarm):
        result.save(tmp_path / name)
        again = kes.load(tmp_path / name)
        assert again == result
        assert again.record.models == result.record.models, "scores to the last bit"
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
    assert len(content["models"]) == len(alarm.of_runs)
    assert len(content["models"]) + len(content["offspring"]) + 1 >= len(alarm)
    assert content["version"] == 3
    assert content["improving"]["own"] == 500
    scores = [content["models"][model]["score"] for model in content["runs"]]
    assert scores == list(alarm.run_scores)
    sizes = {key: len(json.dumps(value)) for key, value in content.items()}
    del sizes["models"], sizes["states"], sizes["names"], sizes["ges"], sizes["offspring"]
    assert sum(sizes.values()) < 300 * 37 / 8, "no room for 300 rows, even as bits"


@pytest.mark.parametrize("transform", ["none", "ranks"])
def test_files_before_version_3_score_mixed_tables_by_the_degenerate_gaussian(tmp_path, transform):
    """Such a file, and what extends it, are those of the degenerate Gaussian by name."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"s": rng.choice(["a", "b"], 200), "u": rng.exponential(size=200)})
    frame["v"] = frame["u"] + rng.normal(size=200) + (frame["s"] == "b")
    options = {"criterion": "degenerate-bic", "transform": transform}
    optima = kes.learn(frame, runs=3, improve=5, **options)
    optima.save(tmp_path / "new.json")
    content = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    content["version"] = 2
    content["settings"]["criterion"] = "bic"
    content["settings"]["transform"] = None if transform == "none" else "ranks"
    (tmp_path / "old.json").write_text(json.dumps(content), encoding="utf-8")
    loaded = kes.load(tmp_path / "old.json")
    assert loaded == optima
    assert "degenerate Gaussian BIC" in str(loaded)
    more = kes.learn(frame, runs=6, improve=5, **options)
    assert loaded.extend(3, data=frame).run_scores.tolist() == more.run_scores.tolist()


def test_fingerprint_tells_names_states_and_rows_apart(data):
    base = kes.learn(data, runs=1).record.fingerprint
    for other in (
        data.rename(columns={"z": "y"}),
        data.assign(z=data["z"] + 1),
        data.assign(z=data["z"][::-1].to_numpy()),
        pd.concat([data, data]),
    ):
        assert kes.learn(other, runs=1).record.fingerprint != base
    assert kes.learn(data[::-1], runs=1).record.fingerprint == base


# --- how the data were read ----------------------------------------------------------------------


@pytest.fixture
def holes(tmp_path):
    """A table with counts, and a value that only an incomplete row has."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 2, (60, 3)).astype(str), columns=list("abc"))
    frame["a"] = frame["b"]
    frame.loc[3, ["a", "b"]] = ["9", None]
    frame["times"] = rng.integers(1, 4, 60)
    frame.to_csv(tmp_path / "holes.csv", index=False)
    return frame


def test_a_loaded_result_reads_its_data_as_they_were_read(holes, tmp_path):
    """Neither the column of weights nor what to do with missing values need be said again."""
    optima = kes.learn(holes, runs=5, weights="times", missing="state")
    optima.save(tmp_path / "a.json")
    loaded = kes.load(tmp_path / "a.json")
    assert (loaded.record.reading.weights, loaded.record.reading.missing) == ("times", "state")
    assert loaded.extend(5, holes) == optima.extend(5)
    assert loaded.trace(0, tmp_path / "holes.csv") == optima.trace(0)
    assert loaded.explain(data=holes).score == optima.explain().score
    given = kes.learn(holes.drop(columns="times"), runs=5, weights=holes["times"], missing="state")
    given.save(tmp_path / "b.json")
    assert given == optima
    with refused("rows", option="data"):
        kes.load(tmp_path / "b.json").extend(5, holes)
    assert kes.load(tmp_path / "b.json").extend(5, holes, weights="times") == optima.extend(5)


def test_the_file_knows_the_version_that_did_the_work(data, optima, tmp_path):
    old = Optima(replace(optima.record, version="0.0.1"))
    old.save(tmp_path / "a.json")
    loaded = kes.load(tmp_path / "a.json")
    assert loaded.record.version == "0.0.1"
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert loaded.extend(1, data).record.version == kes.__version__


# --- stored files ---------------------------------------------------------------------------------

FIRST = Path(__file__).parents[2] / "data" / "version1"
"""Written by version 0.1.0: ``kes learn table.csv --k 0 --runs 12 --improve-tasks 120`` and
``--k 0 --runs 2 --seed 5 --improve-tasks 40``."""
SECOND = Path(__file__).parents[2] / "data" / "version2"
"""Written by version 0.2.0 with the first of these commands. Later versions must read both."""


def test_a_file_of_version_1_with_ges_among_its_runs():
    """The expected content is written by hand, from the summary that version 0.1.0 printed."""
    optima = kes.load(FIRST / "twelve.kes.json.gz")
    assert (len(optima.runs), len(optima.of_runs), optima.tasks) == (12, 5, 120)
    assert f"{optima.best.score:.4f} {optima.best.origin}" == "-515.0218 refined from task 1"
    assert [row["origin"] for row in optima.ancestry()][-2:] == [
        "recombined from run 3 and run 5",
        "refined from task 1",
    ]
    assert f"{optima.best_run.score:.4f} {optima.best_run.origin}" == "-520.4944 run 3"
    assert optima.best_run.hits == 1
    assert (f"{optima.ges.score:.4f}", optima.ges.first_run) == ("-537.1153", 0)
    assert optima.record.version == "0.1.0"


def test_ges_among_the_parents_in_a_file_of_version_1(tmp_path):
    """It had a place after those of the runs, also where run 0 had ended there."""
    with gzip.open(FIRST / "twelve.kes.json.gz") as file:
        document = json.load(file)
    document["offspring"][0]["parents"] = [len(document["models"]), 1]
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    record = kes.load(tmp_path / "a.json").record
    assert [record.pool[place] for place in record.offspring[0].parents] == [
        record.ges,
        record.models[1],
    ]
    assert record.offspring[1:] == kes.load(FIRST / "twelve.kes.json.gz").record.offspring[1:]


def test_a_file_of_version_1_in_which_no_run_ended_where_ges_does():
    optima = kes.load(FIRST / "two.kes.json")
    assert optima.best.origin == "recombined from run 1 and GES"
    assert (optima.ges.hits, optima.ges.origin) == (0, "GES")
    assert len(optima) == 2 + 1 + 6
    assert list(optima) == sorted(optima, key=lambda o: -o.score)


def test_a_file_of_version_2():
    """The runs, which no version may change, are those of version 1."""
    optima, first = (kes.load(folder / "twelve.kes.json.gz") for folder in (SECOND, FIRST))
    assert optima.record.version == "0.2.0"
    assert optima.record.reading.source == "table.csv"
    assert list(optima.run_scores) == list(first.run_scores)
    assert [o.graph for o in optima.of_runs] == [o.graph for o in first.of_runs]
    assert f"{optima.best.score:.4f}" == f"{first.best.score:.4f}"


@pytest.mark.parametrize(
    "file", [FIRST / "twelve.kes.json.gz", FIRST / "two.kes.json", SECOND / "twelve.kes.json.gz"]
)
def test_a_stored_file_takes_its_data(file, tmp_path):
    """Scores are those of the graphs; improved models stay until there are more runs."""
    table = FIRST / "table.csv"
    optima = kes.load(file)
    for optimum in optima:
        assert optima.record.level(optimum.score) == optima.record.level(
            kes.score(optimum.graph, table)
        )
        assert optimum.is_local_optimum
    assert optima.explain(0, table).better == 0
    assert optima.trace(0, table)
    optima.save(tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json") == optima, "as version 2"
    more = optima.improve(tasks=30, data=table)
    assert {o.graph for o in more} >= {o.graph for o in optima}
    longer = optima.extend(8, table)
    runs = len(optima.runs) + 8
    improve = 120 if file.parent == SECOND else True  # files of version 1 do not hold it
    assert longer == kes.learn(table, k=0, runs=runs, improve=improve, random_state=optima.seed)


# --- safe writing --------------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(optima, alarm, tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    optima.save(path)

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with refused("No space left", file=path):
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
    with refused("No such file", file=tmp_path / "nowhere" / "a.json"):
        optima.save(tmp_path / "nowhere" / "a.json")


# --- checkpoints ---------------------------------------------------------------------------------


def test_an_unfinished_file_shows_its_prefix_and_is_resumed_with_all(runs, tmp_path):
    """Runs 0-9 and 20-29 are done: ten runs are shown, twenty need not be done again."""
    record = runs.record
    ahead = tuple((run, record.runs[run]) for run in range(20, 30))
    order = dict.fromkeys([*record.runs[:10], *record.runs[20:30]])
    number = {model: i for i, model in enumerate(order)}
    base = replace(
        record,
        models=tuple(record.models[model] for model in order),
        runs=tuple(number[model] for model in record.runs[:10]),
        ahead=tuple((run, number[model]) for run, model in ahead),
    )
    storage.write(base, tmp_path / "a.json")
    data = kes.datasets.alarm(rows=300)
    assert kes.load(tmp_path / "a.json") == kes.learn(data, k=0.3, runs=10, improve=False)
    again = storage.read(tmp_path / "a.json")
    assert again == base
    assert list(Collector(again, Budget(runs=50)).pending()) == [*range(10, 20), *range(30, 50)]


def test_checkpoints_are_written_at_intervals(alarm, tmp_path):
    path = tmp_path / "a.json"
    collector = Collector(alarm.record, Budget(runs=50))
    seldom = storage.Checkpoint(path, 3600)
    seldom(collector)
    assert not path.exists()
    seldom.keep(alarm.record)
    assert kes.load(path) == alarm
    path.unlink()
    often = storage.Checkpoint(path, 0.0)
    often(collector)
    assert kes.load(path) == alarm


def test_a_checkpoint_that_fails_is_told_once_and_tried_again(alarm, tmp_path, monkeypatch, capsys):
    def full(_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.json"
    collector = Collector(alarm.record, Budget(runs=50))
    checkpoint = storage.Checkpoint(path, 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        checkpoint(collector)
        checkpoint(collector)
        checkpoint.keep(alarm.record)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "No space left on device; the search continues and tries again" in shown
    checkpoint(collector)
    assert kes.load(path) == alarm


def test_a_checkpoint_before_the_first_run_has_ended_holds_ges(alarm, tmp_path):
    blank = replace(alarm.record.unimproved(Improve()), runs=(), models=())
    checkpoint = storage.Checkpoint(tmp_path / "a.json", 0.0)
    checkpoint(Collector(blank, Budget(runs=50)))
    assert kes.load(tmp_path / "a.json").record == blank
