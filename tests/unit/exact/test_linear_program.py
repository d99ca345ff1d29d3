"""The solver behind certificates: violated constraints, and interruption."""

import subprocess
import sys
import threading
import time

import highspy
import pytest

import kes
from kes.exact import linear_program
from kes.exact.linear_program import Cluster, Separation, cycles


def test_violated_clusters_are_cycles_when_choices_are_whole():
    choices = [(0, (1,), 1.0), (1, (2,), 1.0), (2, (0,), 1.0), (3, (0,), 1.0), (4, (), 1.0)]
    assert Cluster(frozenset({0, 1, 2})) in Separation(choices).violated(set())
    assert Separation([(0, (1,), 1.0), (1, (2,), 1.0), (2, (), 1.0)]).violated(set()) == []


def test_no_two_members_of_a_cluster_can_have_all_others_as_parents():
    """Half of each choice needs both other variables; every cluster with k 1 is content."""
    both = [(y, tuple({0, 1, 2} - {y}), 0.5) for y in range(3)]
    none = [(y, (), 0.5) for y in range(3)]
    choices = both + none
    assert Separation(choices).violated(set()) == [Cluster(frozenset({0, 1, 2}), 2)]


def test_cycles_of_whole_choices_need_no_search():
    assert cycles({0: (1,), 1: (2,), 2: (0,), 3: (0,), 4: ()}) == {0, 1, 2, 3}
    assert cycles({0: (1, 2), 1: (2,), 2: ()}) == set()


def test_fractional_cycles_are_found():
    """Half of each choice closes a cycle: every pair is fine, all three together are not."""
    pytest.importorskip("highspy")
    halves = [(y, ((y + 1) % 3,), 0.5) for y in range(3)] + [
        (y, ((y + 2) % 3,), 0.5) for y in range(3)
    ]
    assert Separation(halves).violated(set()) == [Cluster(frozenset({0, 1, 2}))]


def test_solvers_that_go_on_elsewhere_are_no_hindrance():
    """highspy has one lock for all of its threads, and some solver may ignore a request to stop."""
    held, over = threading.Event(), threading.Event()

    def solve() -> None:
        with highspy.Highs._Highs__solver_stopped:
            held.set()
            over.wait(60)

    other = threading.Thread(target=solve)
    other.start()
    held.wait()
    try:
        data = kes.datasets.alarm(rows=150)
        assert kes.certify(data, max_parents=2, memory_mb=64).proven
    finally:
        over.set()
        other.join()


def test_a_solver_that_does_not_stop_is_left_to_itself():
    class Deaf:
        def __init__(self):
            self.told, self.over = False, threading.Event()

        def solve(self):
            self.over.wait(60)

        def cancelSolve(self):
            self.told = True

    solver = Deaf()
    assert not linear_program.is_running()
    assert not linear_program.run(solver, 0.0)
    assert solver.told
    assert linear_program.is_running()
    solver.over.set()
    while linear_program.is_running():
        time.sleep(0.01)


def test_commands_do_not_wait_for_a_solver_that_does_not_stop():
    code = """
import sys, threading
import kes.cli, kes.exact.linear_program as programme
threading.Thread(target=threading.Event().wait, args=(120,), name=programme._THREAD).start()
sys.argv = ["kes", "--version"]
kes.cli.main()
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert kes.__version__ in done.stdout
    assert time.monotonic() - began < 60
