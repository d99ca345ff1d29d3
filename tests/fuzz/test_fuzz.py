"""A few cases of every target, each time; and that the attack notices what it is to notice."""

import random
import warnings

import pytest
from tests.fuzz.targets import Bench, Fallen, attempt, targets

from kes.errors import KesError

CASES = 100


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("fuzz"))


@pytest.mark.parametrize("name", targets())
def test_a_few_cases(name, bench):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = sum(
            attempt(targets()[name], bench, random.Random(f"test/{name}/{number}"))
            for number in range(CASES)
        )
    assert taken < CASES or name == "commands", "nothing wrong was tried"


@pytest.mark.parametrize("name", targets())
def test_a_case_is_a_function_of_its_number(name, bench):
    first, second = random.Random("test/7"), random.Random("test/7")
    for draw in (first, second):
        attempt(targets()[name], bench, draw)
    assert first.random() == second.random()


def test_other_errors_and_unprintable_text_fall(bench):
    def fails(bench, draw):
        raise KeyError("x")

    def shouts(bench, draw):
        error = KesError("")
        error.args = ("\x1b[2J",)
        raise error

    with pytest.raises(KeyError):
        attempt(fails, bench, random.Random(0))
    with pytest.raises(Fallen, match="control characters"):
        attempt(shouts, bench, random.Random(0))
