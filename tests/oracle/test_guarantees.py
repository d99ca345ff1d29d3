"""Constraints under which a search ends in a wrong optimum although the criterion is right.

A criterion that sees (in)dependence as it is inserts an edge iff its ends are dependent given the
set of the triple, and deletes it iff they are independent. So for a truth, given by its
independences, a model is a local optimum iff no insertion into an admissible neighbour has a
dependent triple, and no deletion an independent one. All truths and models are gone through.
"""

from functools import cache

import numpy as np
import pytest

from . import brute
from .knowledge import Known


@cache
def bits(n):
    """The bit of each statement (x, y, given)."""
    return {statement: place for place, statement in enumerate(brute.statements(n))}


@cache
def truths(n):
    """For each model, its independences as bits: an array of words for each model."""
    models = brute.models(n)
    return np.array([packed(n, holds) for holds in models.independences])


def packed(n, statements):
    words = np.zeros(len(bits(n)) // 64 + 1, np.uint64)
    for statement in statements:
        word, bit = divmod(bits(n)[statement], 64)
        words[word] |= np.uint64(1) << np.uint64(bit)
    return words


def trapped(n, is_admissible):
    """Numbers of truths with a wrong local optimum, and of all that are admissible."""
    models = brute.models(n)
    admissible = [m for m, dags in enumerate(models.classes) if is_admissible(dags)]
    allowed = set(admissible)
    moves = {True: [], False: []}  # insertions and deletions of each admissible model
    for m in admissible:
        for insert, found in moves.items():
            found.append(
                packed(
                    n,
                    (
                        (x, y, brute.bits(given))
                        for (kind, x, y, given), targets in models.boundary[m].items()
                        if kind == insert and targets & allowed
                    ),
                )
            )
    insertions, deletions = (np.array(moves[insert]) for insert in (True, False))
    wrong = 0
    for place, m in enumerate(admissible):
        holds = truths(n)[m]
        better = (insertions & ~holds).any(axis=1) | (deletions & holds).any(axis=1)
        assert not better[place], "the truth is a local optimum"
        wrong += np.count_nonzero(~better) > 1
    return wrong, len(admissible)


def known(n, **parts):
    admits = Known(n, **parts).admits
    return lambda dags: any(map(admits, dags))


@pytest.mark.parametrize(
    ("n", "is_admissible", "expected"),
    [
        (4, lambda _: True, (0, 185)),
        (4, known(4, tiers=(0, 0, 1, 1)), (0, None)),
        (4, known(4, tiers=(0, 1, 1, 2), required=[(0, 2)]), (0, None)),
        (5, known(5, tiers=(0, 0, 1, 1, 2), required=[(0, 2)]), (0, None)),
        (4, known(4, forbidden=[(0, 1)]), (21, 155)),
        (5, known(5, forbidden=[(0, 1)]), (2489, 6984)),
        (4, known(4, forbidden=[(0, 1), (1, 0)]), (58, 80)),
        (5, known(5, forbidden=[(0, 1), (1, 0)]), (3348, 3755)),
        # A context, which comes first, and its only target.
        (4, known(4, tiers=(0, 1, 1, 1), forbidden=[(0, 2), (0, 3)]), (18, 31)),
        (5, known(5, tiers=(0, 1, 1, 1, 1), forbidden=[(0, 2), (0, 3), (0, 4)]), (334, 530)),
        (4, lambda dags: brute.max_in_degree(dags[0]) <= 2, (112, 150)),
        (5, lambda dags: brute.max_in_degree(dags[0]) <= 3, (6990, 7951)),
    ],
    ids=[
        "free",
        "tiers",
        "required",
        "required-5",
        *(
            f"{what}-{n}"
            for what in ("forbidden", "apart", "targets", "max_parents")
            for n in (4, 5)
        ),
    ],
)
def test_truths_with_wrong_local_optima(n, is_admissible, expected):
    """The numbers of docs/theory.md: none with tiers and required arcs, some with other ones."""
    wrong, all_truths = trapped(n, is_admissible)
    assert wrong == expected[0]
    assert expected[1] in (None, all_truths)
