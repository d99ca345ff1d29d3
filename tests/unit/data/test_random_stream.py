"""Streams are frozen, and share no numbers with each other or with those of users."""

import ast
from pathlib import Path

import numpy as np
import pytest

import kes
from kes.data.random_stream import Purpose, Stream
from kes.network import BayesianNetwork

SOURCES = sorted(Path(kes.__file__).parent.rglob("*.py"))


def test_streams_are_frozen():
    """From the definition of PCG64 and SeedSequence, which numpy keeps for ever."""
    bits = np.random.PCG64(np.random.SeedSequence(5, spawn_key=(2,)))
    assert Stream(5, 2).seed() == bits.random_raw()
    assert Stream(5, 2).seed() != Stream(5, 3).seed()
    uniform = Stream(5, 2).uniforms(1000)
    assert uniform.min() >= 0
    assert uniform.max() < 1


def test_no_purpose_is_the_number_of_a_stream_that_numpy_spawns():
    """numpy splits larger numbers than 2**32 into words, the first of which may be small."""
    exceptions = {Purpose.IMPUTATIONS, Purpose.MEMBERS}
    assert {p for p in Purpose if not 2**24 <= p < 2**32} == exceptions


def test_every_stream_of_a_seed_has_a_purpose():
    """Members of an average continue with a seed of 64 bits that was drawn for them, and the
    paper's evaluation keeps its data."""
    modules: dict[str, set[str]] = {}
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Stream", "Stream.of"):
                purpose = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
                modules.setdefault(purpose, set()).add(source.name)
    assert modules.pop("") == {"averaging.py", "runner.py", "theorems.py"}
    assert modules.keys() == {f"Purpose.{purpose.name}" for purpose in Purpose}
    assert all(len(own) == 1 for own in modules.values())


@pytest.mark.parametrize("seed", [0, 7])
def test_gaps_drawn_with_the_seed_of_a_sample_do_not_depend_on_it(seed):
    """About 10 000 of 100 000 cells are missing, and half of them would be 1 if gaps were
    independent: the share misses that by 5 standard errors less than once in a million. With the
    numbers of the sample itself all would be 0."""
    names = [f"X{i}" for i in range(10)]
    half = {name: [0.5, 0.5] for name in names}
    codes = BayesianNetwork(names, dict.fromkeys(names, (0, 1)), {}, half).sample(10_000, seed)
    cells = codes.codes.T
    rng = np.random.default_rng(seed)
    for numbers in (rng.random(cells.shape), rng.spawn(1)[0].random(cells.shape)):
        missing = cells[numbers < 0.1]
        assert abs(missing.mean() - 0.5) < 5 * 0.5 / len(missing) ** 0.5


def test_streams_of_one_seed_differ():
    first = [Stream(0, purpose).seed() for purpose in Purpose if purpose is not Purpose.MEMBERS]
    first += [Stream(0, Purpose.MEMBERS, number).seed() for number in range(50)]
    first += [Stream(0, Purpose.IMPUTATIONS, done).seed() for done in range(50)]
    assert len({*first, int(np.random.PCG64(0).random_raw())}) == len(first) + 1
