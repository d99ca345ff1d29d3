"""Clusters that lose their scheduler, have too little memory, or workers of another version."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kes
from kes.search import dask_cluster

distributed = pytest.importorskip(
    "distributed", reason="Dask is not installed: nothing to run a cluster with"
)
dask = pytest.importorskip("dask")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="kills as Unix does"),
]


@pytest.fixture
def processes(tmp_path):
    """Scheduler and worker as processes of their own, and where the scheduler can be found."""
    place = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(place), "--dashboard-address", ":0"]
    start = {
        "scheduler": ["distributed.cli.dask_scheduler", *common, "--port", "0"],
        "worker": ["distributed.cli.dask_worker", *common, "--nthreads", "2", "--no-nanny"],
    }
    running = {}
    for name, arguments in start.items():
        running[name] = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=tmp_path,
        )
        while not place.exists():
            time.sleep(0.05)
    yield running, place
    for process in running.values():
        process.kill()
        process.wait()


@pytest.mark.timeout(240)
def test_a_scheduler_that_is_killed(processes, tmp_path, monkeypatch):
    """An error that says so, within a minute, not a wait without end; what was found is kept."""
    monkeypatch.setattr(dask_cluster, "_CHUNK_SECONDS", 0.3)
    running, place = processes
    data, fired = kes.datasets.alarm(rows=500), []

    def kill(progress):
        if progress.done >= 50 and not fired:
            fired.append(time.monotonic())
            running["scheduler"].kill()

    client = distributed.Client(scheduler_file=str(place), set_as_default=False)
    try:
        with pytest.raises(kes.ClusterLost, match="Dask cluster is lost") as caught:
            kes.learn(data, k=0.4, runs=10**6, client=client, progress=kill)
        assert time.monotonic() - fired[0] < 60
    finally:
        client.close(timeout=5)
    found = caught.value.optima
    assert len(found.runs) >= 20
    assert found == kes.learn(data, k=0.4, runs=len(found.runs), improve=False)
    whole = kes.learn(data, k=0.4, runs=len(found.runs) + 10)
    assert found.extend(10) == whole, "and it can be gone on from"


@pytest.mark.timeout(300)
def test_a_command_whose_scheduler_is_killed(processes, tmp_path):
    """The file has what was finished, also since the last checkpoint; the command goes on."""
    running, place = processes
    address = json.loads(place.read_text())["address"]
    kes.datasets.alarm(rows=500).to_pandas().to_csv(tmp_path / "a.csv", index=False)
    command = [sys.executable, "-m", "kes", "learn", "a.csv", "--k", "0.4", "--no-improve"]
    command += ["--no-prove", "--out", "a.json"]
    far = ["--runs", "1000000", "--cluster", address, "--checkpoint", "1h", "--progress"]
    job = subprocess.Popen([*command, *far], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    for line in job.stderr:
        if "runs" in line and not line.startswith("0"):
            break
    time.sleep(8)
    assert not (tmp_path / "a.json").exists()
    running["scheduler"].kill()
    rest = job.stderr.read()
    assert job.wait() == 2
    assert "Saved to a.json; the same command resumes from there." in rest
    assert "Error: the connection to the Dask cluster is lost" in rest
    done = len(kes.load(tmp_path / "a.json").runs)
    assert done > 0
    more = [*command, "--runs", str(done + 5)]
    subprocess.run(more, cwd=tmp_path, check=True, capture_output=True)
    alone = kes.learn(tmp_path / "a.csv", k=0.4, runs=done + 5, improve=False, prove=False)
    assert np.array_equal(kes.load(tmp_path / "a.json").run_scores, alone.run_scores)


@pytest.mark.timeout(240)
def test_a_worker_with_too_little_memory(monkeypatch):
    """Dask ends workers that reach their limit, and then again those that take over."""
    monkeypatch.setattr(dask_cluster, "_RETRIES", 1)
    codes = np.random.default_rng(0).integers(0, 4, (40, 2_000_000), dtype=np.uint8)
    data = kes.Dataset([f"v{i}" for i in range(40)], [range(4)] * 40, codes)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, memory_limit="300MB", dashboard_address=":0"
        ) as small,
        distributed.Client(small, set_as_default=False) as client,
        pytest.raises(kes.KesError, match=r"died repeatedly.*give them more"),
    ):
        kes.learn(data, runs=20, client=client, improve=False)


@pytest.mark.timeout(120)
def test_one_worker_of_two_has_another_version():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        distributed.Client(two, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        other = next(iter(client.scheduler_info()["workers"]))
        client.run(pretend, workers=[other])
        with pytest.raises(kes.KesError, match=r"a worker has kes 0\.0\.0, but you have"):
            kes.learn(kes.datasets.alarm(rows=300), runs=2000, client=client)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("stop", ["budget", "interrupt"])
def test_a_worker_that_is_frozen_holds_up_neither_budgets_nor_interrupts(processes, stop):
    """It freezes when it hands over its first chunk."""

    def freeze():
        class Frozen:
            def __reduce__(self):
                os.kill(os.getpid(), signal.SIGSTOP)

        from kes.search import dask_cluster

        dask_cluster.do_runs = lambda *_: dask_cluster.Done([0], [0], [Frozen()], 0.1)

    _, place = processes
    data = kes.datasets.alarm(rows=500)
    client = distributed.Client(scheduler_file=str(place), set_as_default=False)
    client.wait_for_workers(1, timeout=60)
    client.run(freeze)
    began = time.monotonic()
    timer = threading.Timer(3.0, os.kill, [os.getpid(), signal.SIGINT])
    try:
        if stop == "interrupt":
            timer.start()
            with pytest.raises(kes.Interrupted):
                kes.learn(data, k=0.4, runs=1000, client=client)
        else:
            optima = kes.learn(data, k=0.4, runs=1000, client=client, budget="3s")
            assert len(optima.runs) == 0
        assert time.monotonic() - began < 6
    finally:
        timer.cancel()
        client.close(timeout=5)


def pretend():
    from kes import _core

    _core.__version__ = "0.0.0"
