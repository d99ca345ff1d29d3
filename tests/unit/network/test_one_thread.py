"""Estimates do not depend on how many threads numpy has for products of matrices."""

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

import kes
from kes.network.one_thread import one_thread


def blas_threads() -> set[int]:
    libraries = threadpoolctl.threadpool_info()
    return {one["num_threads"] for one in libraries if one["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("needs a numpy whose BLAS can have two threads")
        yield


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """More rows than a BLAS sums on one thread."""
    x, noise = np.random.default_rng(0).standard_normal((2, 30_000))
    return pd.DataFrame({"x": x, "y": x + noise})


def saved(table, path) -> bytes:
    network = kes.fit([("x", "y")], table)
    network.save(path)
    return path.read_bytes() + repr(network.log_likelihood(table)).encode()


def test_networks_are_the_same_on_any_number_of_threads(table, tmp_path, two_threads):
    on_two = saved(table, tmp_path / "two.json")
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert saved(table, tmp_path / "one.json") == on_two
    assert blas_threads() == {2}


def test_the_number_of_threads_is_restored(two_threads):
    with one_thread():
        with one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_errors_restore_it_too(two_threads):
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert blas_threads() == {2}


def test_the_last_thread_to_leave_restores_it(two_threads):
    """If each restored what it found, the second one would leave a single thread behind."""
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}  # the second is still at work
    second.__exit__(None, None, None)
    assert blas_threads() == {2}
