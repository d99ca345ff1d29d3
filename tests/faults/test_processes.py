"""Searches in forked, spawned and threaded company: the same results, and no deadlock."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import kes


def found(seed):
    """A search on two threads, with improving."""
    optima = kes.learn(kes.datasets.alarm(rows=200), k=0.4, runs=8, random_state=seed, n_jobs=2)
    return [(optimum.score, sorted(optimum.graph.directed)) for optimum in optima]


@pytest.fixture(scope="module")
def alone():
    """Computed here first, so that the threads of the core have run in a process that forks."""
    return [found(seed) for seed in range(4)]


@pytest.mark.timeout(120)
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes(alone, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(found, range(4))) == alone


@pytest.mark.timeout(120)
def test_threads(alone):
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(found, range(4))) == alone


@pytest.mark.timeout(120)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_in_the_midst_of_a_search(alone):
    """While the threads of the core are at work, a child is made that searches by itself."""
    codes = []

    def fork(_):
        if not codes:
            child = os.fork()
            if child == 0:
                os._exit(0 if found(1) == alone[1] else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    kes.learn(kes.datasets.alarm(rows=200), k=0.4, runs=200, n_jobs=2, progress=fork)
    assert codes == [0]
