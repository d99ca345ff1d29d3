"""Runs on real Dask worker processes, some of which die: the result is that of one machine."""

import os
import pickle
import signal
import sys
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import kes
from kes.cli import run
from kes.search import dask_cluster
from kes.search.dask_cluster import do_runs
from kes.search.problem import Problem
from kes.settings import Settings

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed: nothing to run a cluster with"
)
dask = pytest.importorskip("dask")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills workers as Unix does")


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def local():
    """Two workers with two threads each; a death is final for a task, so that kes must retry."""
    config = {"distributed.scheduler.allowed-failures": 0}
    with (
        dask.config.set(config),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as local,
    ):
        yield local


@pytest.fixture
def client(local):
    with distributed.Client(local, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch):
    """Let several chunks be under way even in a test of a second or two."""
    monkeypatch.setattr(dask_cluster, "_CHUNK_SECONDS", 0.3)
    monkeypatch.setattr(dask_cluster, "_LEAST_SECONDS", 0.02)


def once(condition, action):
    """Return a progress display that acts the first time the condition holds."""
    fired = []

    def show(progress):
        if not fired and condition(progress):
            fired.append(progress)
            action()

    show.fired = fired
    return show


# --- the same result -----------------------------------------------------------------------------


def test_same_as_local(client, data, tmp_path):
    there = kes.learn(data, k=0.4, runs=500, client=client)
    here = kes.learn(data, k=0.4, runs=500)
    assert there == here
    there.save(tmp_path / "there")
    here.save(tmp_path / "here")
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_settings_travel(client, data):
    options = {
        "criterion": "bdeu",
        "ess": 3,
        "max_parents": 2,
        "two_phase": True,
        "start": [("HR", "CVP")],
        "random_state": 2**64 - 1,
        "cache_mb": 32,
    }
    assert kes.learn(data, runs=20, client=client, **options) == kes.learn(data, runs=20, **options)


def test_knowledge_travels(client, data):
    """Tiers and arcs alone take different ways through the search; both do on workers as here."""
    tiers = kes.Knowledge(tiers=[["CVP", "PCWP"], ["HYPOVOLEMIA", "LVEDVOLUME"]])
    arcs = kes.Knowledge(required=[("CVP", "PCWP")], forbidden=[("HR", "CO")], leaves=["TPR"])
    for known in (tiers, arcs):
        options = {"k": 0.4, "runs": 60, "knowledge": known}
        there = kes.learn(data, client=client, **options)
        assert there == kes.learn(data, **options)
        assert there != kes.learn(data, k=0.4, runs=60)
        assert all(optimum.is_local_optimum for optimum in there)
        assert there.extend(20, client=client) == kes.learn(data, **{**options, "runs": 80})


def test_weighted_data_travel(client):
    data = kes.datasets.example1()
    assert kes.learn(data, k=0, runs=20, client=client) == kes.learn(data, k=0, runs=20)


@pytest.mark.parametrize(
    "options",
    [{}, {"criterion": "bge"}, {"transform": "ranks", "penalty": 2.0}, {"mixed": True}],
    ids=["gaussian", "bge", "ranks", "mixed with gaps"],
)
def test_tables_of_other_kinds_travel(client, options):
    """Numbers, and gaps that are filled here: workers get the completed table."""
    rng = np.random.default_rng(4)
    chain = np.cumsum(rng.normal(size=(300, 6)), axis=1)
    table = pd.DataFrame(chain, columns=[*"abcdef"])
    if options.pop("mixed", False):
        table["sign"] = np.where(table["c"] + rng.normal(size=300) > 0, "+", "-")
        table.loc[:20, "b"] = np.nan
        options["missing"] = "em"
    there = kes.learn(table, k=0.4, runs=60, client=client, **options)
    assert there == kes.learn(table, k=0.4, runs=60, **options)
    assert there.best.graph.skeleton


def test_extend_and_patience(client, data):
    first = kes.learn(data, k=0.4, runs=30, client=client)
    assert first.extend(40, client=client) == kes.learn(data, k=0.4, runs=70)
    stopped = kes.learn(data, k=0.4, runs=5000, patience=50, client=client)
    assert stopped == kes.learn(data, k=0.4, runs=5000, patience=50)


def test_budget(client, data):
    for budget in (1, 4, 16):  # on a busy machine a second may not suffice for a task
        optima = kes.learn(data, k=0.4, runs=10**6, budget=budget, client=client)
        assert optima.seconds < 10 * budget
        if optima.tasks > 0:
            break
    assert optima.tasks > 0
    alone = kes.learn(data, k=0.4, runs=len(optima.runs), improve=optima.tasks)
    assert optima == alone


# --- when things go wrong ------------------------------------------------------------------------


def test_a_worker_killed_in_the_midst_of_it(local, client, data):
    def kill():
        victim = next(iter(local.workers.values()))
        os.kill(victim.pid, signal.SIGKILL)

    show = once(lambda progress: progress.done >= 100, kill)
    there = kes.learn(data, k=0.4, runs=2000, client=client, progress=show)
    assert show.fired[0].done < 1500, "too late to matter"
    assert there == kes.learn(data, k=0.4, runs=2000)


def test_a_scheduler_that_forgets_everything(client, data):
    """All tasks are cancelled behind our back, that of the data included."""

    def forget():
        client.cancel([distributed.Future(key, client) for key in list(client.futures)])

    show = once(lambda progress: progress.done >= 100, forget)
    there = kes.learn(data, k=0.4, runs=1500, client=client, progress=show)
    assert show.fired[0].done < 1200, "too late to matter"
    assert there == kes.learn(data, k=0.4, runs=1500)


def test_interrupt(client, data):
    def stop():
        raise KeyboardInterrupt

    show = once(lambda progress: progress.done >= 100, stop)
    with pytest.raises(kes.Interrupted) as caught:
        kes.learn(data, k=0.4, runs=10**5, client=client, progress=show)
    optima = caught.value.optima
    assert optima == kes.learn(data, k=0.4, runs=len(optima.runs), improve=False)


def test_workers_that_die_once_and_again_and_again(data, tmp_path, monkeypatch):
    """The second try is allowed here, and a third one is not. A worker alone is enough."""
    monkeypatch.setattr(dask_cluster, "_RETRIES", 1)
    monkeypatch.setattr(dask_cluster, "do_runs", partial(die_once, tmp_path / "died"))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=1, dashboard_address=":0") as doomed,
        dask_cluster.connect(doomed.scheduler_address) as client,
    ):
        assert kes.learn(data, runs=1, client=client) == kes.learn(data, runs=1)
        assert (tmp_path / "died").exists()
        monkeypatch.setattr(dask_cluster, "do_runs", die)
        with pytest.raises(kes.KesError, match=r"runs 0 to 0.* memory") as died:
            kes.learn(data, runs=1, client=client)
        assert died.value.option == "cache_mb"


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(mark, *given):
    if mark.exists():
        return do_runs(*given)
    mark.touch()
    die()


def test_a_failing_worker(client, data, monkeypatch):
    monkeypatch.setattr(dask_cluster, "do_runs", fail)
    with pytest.raises(kes.KesError, match="a Dask worker failed in runs 0 to 0: OSError: no disk"):
        kes.learn(data, runs=1, client=client)


def fail(*_):
    raise OSError("no disk")


def test_another_version_of_kes(data):
    settings = Settings(k=0.5, criterion="bic", ess=None, seed=0)
    parcel = dask_cluster.Parcel(data, settings, 64, "0.0.0")
    with pytest.raises(kes.KesError, match=r"but you have 0\.0\.0: install the same version"):
        dask_cluster.do_runs(pickle.loads(pickle.dumps(parcel)), [0])


# --- data that workers read ----------------------------------------------------------------------


def write(data, path):
    """Write a table as a file, or as a folder of Parquet files."""
    table = data.to_pandas()
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix:
        table.to_parquet(path)
    else:
        path.mkdir()
        for part in range(3):
            table[part::3].to_parquet(path / f"{part}.parquet")
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "folder"])
def test_files_are_read_by_the_workers(client, data, tmp_path, name, monkeypatch):
    path = write(data, tmp_path / name)
    monkeypatch.setattr(Problem, "__reduce__", refuse)
    monkeypatch.setattr(kes.Dataset, "__reduce__", refuse)  # the data do not travel
    there = kes.learn(path, k=0.4, runs=100, client=client)
    assert there == kes.learn(path, k=0.4, runs=100)
    assert there.extend(50, client=client) == kes.learn(path, k=0.4, runs=150)


def refuse(_):
    raise AssertionError("this was not to be sent")


def test_files_are_read_as_they_were_here(client, data, tmp_path, monkeypatch):
    """Weights, missing values, kinds and cuts: what the client decided, holds."""
    table = data.to_pandas().astype(str)
    rng = np.random.default_rng(3)
    table.loc[rng.integers(0, 500, 30), "HR"] = None
    table["cases"] = rng.integers(1, 4, 500)
    table["dose"] = rng.normal(size=500).round(3) + (table["CO"] == "HIGH")
    table.to_csv(tmp_path / "a.csv", index=False)
    options = {
        "weights": "cases",
        "missing": "state",
        "kinds": {"PRESS": "omit"},
        "discretize": kes.Discretizer({"dose": 3}),
    }
    here = kes.learn(tmp_path / "a.csv", k=0.4, runs=60, **options)
    monkeypatch.setattr(kes.Dataset, "__reduce__", refuse)
    assert kes.learn(tmp_path / "a.csv", k=0.4, runs=60, client=client, **options) == here


def test_completed_tables_and_arrays_of_weights_are_sent(client, data, tmp_path):
    path = write(data, tmp_path / "a.csv")
    weights = np.arange(500) % 3
    options = {"k": 0.4, "runs": 30, "weights": weights}
    assert kes.learn(path, client=client, **options) == kes.learn(path, **options)


@pytest.mark.skipif(sys.platform != "linux", reason="a path that means another file elsewhere")
@pytest.mark.parametrize("other", [None, 400], ids=["no file", "another file"])
def test_workers_that_do_not_see_the_file(client, data, tmp_path, other, monkeypatch):
    """/proc/self/cwd differs from process to process."""
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
    write(data, tmp_path / "here" / "a.csv")
    if other is not None:
        write(kes.datasets.alarm(rows=other), tmp_path / "there" / "a.csv")
    monkeypatch.chdir(tmp_path / "here")
    client.run(os.chdir, tmp_path / "there")
    path = "/proc/self/cwd/a.csv"
    why = "cannot read the data" if other is None else "finds other data in"
    with pytest.warns(UserWarning, match=f"worker on .* {why}.* sending the data") as caught:
        found = kes.learn(path, k=0.4, runs=200, client=client)
    assert len([one for one in caught if "sending the data" in str(one.message)]) == 1
    assert found == kes.learn(path, k=0.4, runs=200)


# --- the command line ----------------------------------------------------------------------------


def test_command_line(local, client, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    address = local.scheduler_address
    arguments = ["learn", "--example", "alarm", "--rows", "500", "--k", "0.4", "--out", "a.json"]
    assert run([*arguments, "--runs", "50", "--cluster", address]) == 0
    assert run([*arguments, "--runs", "80", "--cluster", address, "--checkpoint", "0.1"]) == 0
    assert kes.load("a.json") == kes.learn(data, k=0.4, runs=80)
    assert "from 80 runs" in capsys.readouterr().out


def test_no_scheduler(monkeypatch, capsys):
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.5)
    assert run(["learn", "--example", "alarm", "--cluster", "tcp://127.0.0.1:9"]) == 2
    shown = capsys.readouterr().err
    assert "Error: no Dask scheduler answers at tcp://127.0.0.1:9" in shown
    assert "dask scheduler" in shown
    assert "Traceback" not in shown


def test_no_workers(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.5)
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        address = empty.scheduler_address
        with pytest.raises(
            kes.KesError, match=f"no workers; start one with: dask worker {address}"
        ):
            dask_cluster.connect(address)


# --- pieces --------------------------------------------------------------------------------------


def test_parcels_are_small_and_share_one_cache(data):
    problem = Problem(data, Settings(k=0.5, criterion="bic", ess=None, seed=0), 64)
    parcel = dask_cluster.Parcel(data, problem.settings, problem.cache_mb, kes.__version__)
    assert len(pickle.dumps(parcel)) < data.codes.nbytes / 8
    again = pickle.loads(pickle.dumps(parcel))
    assert again.problem() is again.problem()
    assert "core" in vars(again.problem()), "made under the lock: no two threads make one each"
    assert again.problem().fingerprint == problem.fingerprint


def test_a_chunk_of_runs_ends_where_these_runs_end(data):
    problem = Problem(data, Settings(k=0.4, criterion="bic", ess=None, seed=0), 64)
    done = do_runs(dask_cluster.unpack(dask_cluster.Parcel.of(problem, None).packed()), [7, 2, 5])
    assert sorted(done.runs) == [2, 5, 7]
    here = kes.learn(data, k=0.4, runs=8, improve=False, edge_prior=0).record
    for number, place in zip(done.runs, done.models, strict=True):
        (directed, undirected), *_ = done.new_models[place]
        assert (tuple(directed), tuple(undirected)) == here.models[here.runs[number]].graph


def test_chunks_grow_to_their_length_in_time(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_CHUNK_SECONDS", 15.0)
    monkeypatch.setattr(dask_cluster, "_LEAST_SECONDS", 0.2)
    pace = dask_cluster.Pace(budget=None)
    assert pace.chunk(10**6, threads=4) == 1, "nothing is known yet"
    sizes = []
    for _ in range(12):
        sizes.append(pace.chunk(10**6, threads=4))
        pace.learn(sizes[-1], seconds=0.01 * sizes[-1])
    assert sizes == sorted(sizes)
    assert sizes[-1] == 1500, "15 s of runs that take 10 ms"
    assert all(b <= 4 * a for a, b in pairwise(sizes))
    assert pace.chunk(800, threads=4) == 100, "towards the end every thread gets its share"
    assert pace.chunk(30, threads=4) == 20, "but none of less than 0.2 s"
    assert pace.chunk(3, threads=4) == 3
    hasty = dask_cluster.Pace(budget=10)
    for _ in range(12):
        hasty.learn(hasty.chunk(10**6, 1), seconds=0.01 * hasty.chunk(10**6, 1))
    assert hasty.chunk(10**6, 1) == 100, "a tenth of the budget"
