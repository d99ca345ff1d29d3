"""`kes.learn(out=..., checkpoint=...)`: results kept in a file, resumed, extended, never lost."""

import errno
import os
import subprocess
import sys

import pytest
from tests.unit.refused import refused

import kes
from kes import files
from kes.errors import NotSaved
from kes.results import storage

CALL = {"k": 0.4, "runs": 30, "improve": 60}


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=200)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "a.kes.json.gz"


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """The file of a search that nothing disturbs."""
    path = tmp_path_factory.mktemp("whole") / "a.kes.json.gz"
    kes.learn(data, **CALL, out=path)
    return path.read_bytes()


def test_the_file_is_that_of_save(data, out, whole):
    kes.learn(data, **CALL).save(out)
    assert out.read_bytes() == whole


def test_a_result_is_extended_and_then_left_as_it_is(data, out, whole):
    kes.learn(data, **{**CALL, "runs": 10}, out=out)
    extended = kes.learn(data, **CALL, out=str(out))
    assert len(extended.runs) == 30
    assert out.read_bytes() == whole
    before = out.stat().st_mtime_ns
    assert kes.learn(data, **CALL, out=out) == extended
    assert out.stat().st_mtime_ns == before


class Stop:
    """A progress display that interrupts the search when it reaches some state."""

    def __init__(self, unit, done):
        self._state = unit, done

    def __call__(self, progress):
        unit, done = self._state
        if progress.unit == unit and progress.done >= done:
            raise KeyboardInterrupt


@pytest.mark.parametrize(("unit", "done"), [("runs", 1), ("runs", 30), ("tasks", 20)])
def test_an_interrupted_search_is_saved_and_resumed_to_the_same_bytes(data, out, whole, unit, done):
    with pytest.raises(kes.Interrupted) as stop:
        kes.learn(data, **CALL, out=out, n_jobs=1, progress=Stop(unit, done))
    assert stop.value.file == str(out)
    assert str(out) in str(stop.value)
    assert kes.load(out) == stop.value.optima
    resumed = kes.learn(data, **CALL, out=out)
    assert len(resumed.runs) == 30
    assert out.read_bytes() == whole


def test_checkpoints_are_written_meanwhile(data, out, whole, monkeypatch):
    """Killed at any moment, the search resumes from the latest of them."""
    written = []
    write = storage.write

    def record(found, path):
        write(found, path)
        written.append(out.read_bytes())

    monkeypatch.setattr(storage, "write", record)
    kes.learn(data, **CALL, out=out, checkpoint=1e-6, n_jobs=1)
    monkeypatch.undo()
    assert len(written) > 2
    for content in (written[0], written[-2]):
        out.write_bytes(content)
        kes.learn(data, **CALL, out=out)
        assert out.read_bytes() == whole


@pytest.mark.parametrize("change", [{"k": 0.5}, {"max_parents": 2}, {"random_state": 1}])
def test_other_settings_are_refused(data, out, change):
    kes.learn(data, **CALL, out=out)
    before = out.read_bytes()
    with pytest.raises(kes.KesError) as wrong:
        kes.learn(data, **{**CALL, **change}, out=out)
    assert (wrong.value.option, wrong.value.file) == ("out", str(out))
    assert next(iter(change)).replace("random_state", "seed") in str(wrong.value)
    assert out.read_bytes() == before


def test_other_data_are_refused(data, out):
    kes.learn(data, **CALL, out=out)
    with pytest.raises(kes.KesError) as wrong:
        kes.learn(kes.datasets.alarm(rows=199), **CALL, out=out)
    assert (wrong.value.option, wrong.value.file) == ("out", str(out))


@pytest.mark.parametrize("name", ["a.csv", "missing/a.kes.json", "."])
def test_files_that_cannot_be_written_are_refused_before_the_search(data, tmp_path, name):
    with pytest.raises(kes.KesError) as wrong:
        kes.learn(data, out=tmp_path / name)
    assert (wrong.value.option, wrong.value.file) == ("out", str(tmp_path / name))


def test_a_file_that_is_no_result_is_not_overwritten(data, tmp_path):
    other = tmp_path / "notes"
    other.write_text("mine")
    with refused("not a kes result", file=other):
        kes.learn(data, out=other)
    assert other.read_text() == "mine"


def test_a_result_that_cannot_be_saved_is_not_lost(data, out, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotSaved) as error:
        kes.learn(data, **CALL, out=out)
    monkeypatch.undo()
    assert error.value.file == str(out)
    assert error.value.optima == kes.learn(data, **CALL)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(NotSaved) as error:
            kes.learn(data, **CALL, out=out, n_jobs=1, progress=Stop("tasks", 20))
    assert len(error.value.optima.runs) == 30


def test_imputed_values_are_those_of_the_first_call(tmp_path):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.integers(0, 2, (200, 4)), columns=list("abcd")).astype(object)
    table["b"] = table["a"]
    table = table.mask(rng.random(table.shape) < 0.1, "")
    table.to_csv(tmp_path / "holes.csv", index=False)
    out, whole = tmp_path / "a.kes.json", tmp_path / "b.kes.json"
    kes.learn(tmp_path / "holes.csv", missing="em", runs=3, out=out)
    kes.learn(tmp_path / "holes.csv", missing="em", runs=6, out=out)
    kes.learn(tmp_path / "holes.csv", missing="em", runs=6, out=whole)
    assert out.read_bytes() == whole.read_bytes()


def test_two_searches_at_once_do_not_share_a_file(data, out, whole):
    """The one that ends last would replace the other, however short it is."""
    refused = []

    def meanwhile(progress):
        if not refused:
            with pytest.raises(kes.KesError) as error:
                kes.learn(data, **{**CALL, "runs": 1}, out=out)
            refused.append(error.value)

    kes.learn(data, **CALL, out=out, progress=meanwhile)
    assert (refused[0].option, refused[0].file) == ("out", str(out))
    assert out.read_bytes() == whole
    assert [file.name for file in out.parent.iterdir()] == [out.name]


def test_a_search_that_was_killed_holds_no_file(data, out, whole):
    code = f"""
import os, kes
def die(progress): os._exit(9)
kes.learn(kes.datasets.alarm(rows=200), **{CALL!r}, out={str(out)!r}, progress=die)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    kes.learn(data, **CALL, out=out)
    assert out.read_bytes() == whole
    assert [file.name for file in out.parent.iterdir()] == [out.name]


def test_a_lock_that_is_just_removed_is_taken_anew(tmp_path, monkeypatch):
    """Its last holder removes it after we have opened it, and another locks a new one."""
    path = tmp_path / "a"
    real, calls = files._lock, []

    def lock(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / ".a.lock").unlink()
        real(descriptor)

    monkeypatch.setattr(files, "_lock", lock)
    with files.sole_writer(path) as first, files.sole_writer(path) as second:
        assert (first, second) == (True, False)
    assert len(calls) == 3


def test_without_locks_a_search_goes_on(data, out, whole, monkeypatch):
    def unsupported(_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(files, "_lock", unsupported)
    kes.learn(data, **CALL, out=out)
    assert out.read_bytes() == whole
    assert [file.name for file in out.parent.iterdir()] == [out.name]
