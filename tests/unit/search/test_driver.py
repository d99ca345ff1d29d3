"""One driver does all searches: it is the only caller of the core's `search` and `improve`."""

import ast
from pathlib import Path

import pytest

import kes
from kes.budget import Budget
from kes.search.problem import Problem

PACKAGE = Path(kes.__file__).parent


def test_only_the_driver_calls_the_core():
    callers = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"search", "improve"}
        and ast.unparse(node.func.value).split(".")[-1] == "core"
    }
    assert callers == {"search/driver.py"}


@pytest.fixture(scope="module")
def driver():
    problem = Problem.of(kes.datasets.alarm(rows=200), {"k": 0.3})
    return problem.driver(2)


def test_a_search_gives_the_ends_of_runs_in_order_whatever_the_threads(driver):
    problem = Problem.of(kes.datasets.alarm(rows=200), {"k": 0.3})
    budget = Budget(runs=20, tasks=10)
    assert driver.search(budget) == problem.driver(1).search(budget)
    ends = [graph for graph, _ in driver.search(Budget(runs=20))]
    optima = kes.learn(kes.datasets.alarm(rows=200), k=0.3, runs=20, improve=False)
    assert ends == [model.graph for model in optima.record.models]


def test_tasks_improve_on_a_pool(driver):
    [greedy] = driver.greedy().search(Budget(runs=1))
    found = driver.search(Budget(tasks=20), pool=[greedy])
    assert found[0] == greedy
    assert max(score for _, score in found) >= greedy[1]


def test_a_search_that_is_stopped_ends_with_what_it_has(driver):
    assert len(driver.search(Budget(runs=10**6, tasks=10**6), lambda: False)) < 10**5
