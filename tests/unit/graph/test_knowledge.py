"""Background knowledge as a user meets it: a value, its files, and searches that obey it."""

import itertools
import pickle
import random

import pytest
from tests.unit.refused import refused

from kes import KesError, Knowledge

ALL = {
    "tiers": [["age", "sex"], ["smoker"]],
    "required": [("a", "b")],
    "forbidden": [("c", "d")],
    "apart": [("x", "y")],
    "roots": ["age"],
    "leaves": ["outcome"],
    "likely": {("y", "a"): 3.0, ("a", "d"): -1.5},
}


# --- the value -----------------------------------------------------------------------------------


def test_the_order_in_which_it_is_told_does_not_matter():
    first = Knowledge(
        tiers=[["b", "a"], ["c"]], required=[("a", "c"), ("b", "c")], apart=[("b", "a")]
    )
    second = Knowledge(
        tiers=[["a", "b"], [], ["c"]], required=[("b", "c"), ("a", "c")] * 2, apart=[["a", "b"]]
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first != Knowledge(tiers=[["c"], ["a", "b"]])


def test_it_shows_what_it_takes_to_write_it_again():
    known = Knowledge(**ALL)
    assert eval(repr(known)) == known
    assert pickle.loads(pickle.dumps(known)) == known
    assert repr(Knowledge()) == "Knowledge()"
    assert not Knowledge()
    assert known


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        Knowledge(**ALL).roots = ()


def test_the_core_gets_tiers_and_arcs():
    """The arcs that each part forbids, by the definitions in the documentation."""
    names = ["a", "b", "c", "d"]
    assert Knowledge(tiers=[["b"], ["a", "d"]]).to_core(names) == ([1, 0, None, 1], [], [])
    assert Knowledge(required=[("c", "a")]).to_core(names) == (None, [(2, 0)], [])
    assert Knowledge(apart=[("d", "a")]).to_core(names) == (None, [], [(0, 3), (3, 0)])


def forbidden_by_definition(known, names):
    """All arcs that the documentation of each part rules out, pair by pair."""
    tier = {name: i for i, names in enumerate(known.tiers) for name in names}
    targets = dict(known.targets)
    return {
        (names.index(a), names.index(b))
        for a, b in itertools.permutations(names, 2)
        if b in (*known.roots, *known.exogenous)
        or a in known.leaves
        or (a, b) in known.forbidden
        or {(a, b), (b, a)}.intersection(known.apart)
        or (tier.get(a, 0) > tier.get(b, len(names)) and a in tier)
        or b not in targets.get(a, names)
    }


def test_roots_and_leaves_are_tiers_where_that_says_the_same():
    rng = random.Random(1)
    with_tiers = 0
    for _ in range(300):
        names = [f"v{i}" for i in range(rng.randint(1, 7))]
        exogenous = rng.sample(names, rng.randint(0, min(2, len(names))))
        rest = [name for name in names if name not in exogenous]

        def some(share, rest=rest):
            return [name for name in rest if rng.random() < share]

        tiered = some(rng.choice([0, 0.5, 1]))
        known = Knowledge(
            tiers=[tiered[::2], tiered[1::2]],
            roots=some(0.2),
            leaves=some(0.2),
            exogenous=exogenous,
            apart=itertools.combinations(some(0.3), 2),
            targets={name: some(0.5) for name in exogenous if rng.random() < 0.3},
        )
        tiers, _, forbidden = known.to_core(names)
        by_tiers = {
            (a, b)
            for a, b in itertools.permutations(range(len(tiers or ())), 2)
            if None not in (tiers[a], tiers[b]) and tiers[a] > tiers[b]
        }
        assert by_tiers.union(forbidden) == forbidden_by_definition(known, names)
        with_tiers += not known.tiers and bool(by_tiers)
    assert with_tiers > 30


def test_an_exogenous_block_takes_arcs_within_it_only():
    """So that dozens of contexts of thousands of variables cost nothing."""
    names = [f"v{i}" for i in range(2000)]
    tiers, _, forbidden = Knowledge(exogenous=names[:30]).to_core(names)
    assert len(forbidden) == 30 * 29
    assert tiers == [0] * 30 + [1] * 1970


@pytest.mark.parametrize(
    ("parts", "option", "shown"),
    [
        ({"tiers": ["age", "sex"]}, "tiers", "'age'"),
        ({"tiers": "age"}, "tiers", "'age'"),
        ({"tiers": [["a", 1]]}, "tiers", "1$"),
        ({"tiers": [["a"], ["b"], ["a"]]}, "tiers", "'a';"),
        ({"tiers": [["a", "b"], ["a", "b"]]}, "tiers", "'a', 'b';"),
        ({"required": [("a", "b", "c")]}, "required", r"\('a', 'b', 'c'\)"),
        ({"required": ["ab"]}, "required", "'ab'"),
        ({"required": 3}, "required", "3$"),
        ({"forbidden": [("a", "a")]}, "forbidden", "'a'"),
        ({"roots": "age"}, "roots", "'age'"),
        ({"leaves": [None]}, "leaves", "None"),
        ({"leaves": {"a": 1}}, "leaves", "{'a': 1}"),
        ({"tiers": {"a": ["b"]}}, "tiers", "{'a'"),
        ({"likely": [("a", "b")]}, "likely", r"\('a', 'b'\)"),
        ({"likely": {"ab": 1.0}}, "likely", "'ab'"),
        ({"likely": {("a", "b", "c"): 1.0}}, "likely", "'c'"),
        ({"likely": {("a", "a"): 1.0}}, "likely", "'a'"),
        ({"likely": {("a", "b"): "high"}}, "likely", "high"),
        ({"likely": {("a", "b"): float("nan")}}, "likely", "nan"),
        ({"likely": {("a", "b"): 1.0, ("b", "a"): 2.0}}, "likely", "twice"),
        ({"tiers": [{"a": 1}]}, "tiers", "{'a': 1}"),
        ({"roots": 10**5000}, "roots", "an unprintable int"),
        ({"roots": ["a" * 3, ["b"] * 100]}, "roots", r" \['b',.{1,100}\.\.\.$"),
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]},
            "required",
            "cycle a -> b -> c -> a$",
        ),
        ({"required": [("b", "a")], "tiers": [["a"], ["b"]]}, "required", "b -> a .* tier"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "required", "a -> b .* forbidden"),
        ({"required": [("a", "b")], "apart": [("b", "a")]}, "required", "a -> b .* apart"),
        ({"required": [("a", "b")], "roots": ["b"]}, "required", "b is a root"),
        ({"required": [("a", "b")], "leaves": ["a"]}, "required", "a is a leaf"),
    ],
)
def test_errors_name_the_option_and_the_value(parts, option, shown):
    with refused(shown, option=option):
        Knowledge(**parts)


def test_more_can_be_added_unless_it_contradicts():
    known = Knowledge(tiers=[["a"], ["b"]])
    assert known.adding(apart=[("a", "b")]) == Knowledge(tiers=[["a"], ["b"]], apart=[("a", "b")])
    with refused("b -> a", option="required"):
        known.adding(required=[("b", "a")])


def test_unknown_names_get_a_suggestion():
    with refused("did you mean 'outcome'", option="leaves", column="outcom"):
        Knowledge(leaves=["outcom"]).checked(["age", "outcome"])


def test_an_arc_is_excluded_iff_no_network_can_have_it():
    """Oracle: to require it as well is a contradiction, which the core finds by itself."""
    names = [*"abcdefgh", "age", "sex", "smoker", "outcome"]
    arcs = list(itertools.permutations(names, 2))
    chain = {"required": [("a", "b"), ("b", "c"), ("c", "d")], "exogenous": ["x"]}
    targets = {"x": ["e", "f"], "y": ["a"]}
    for known in (
        Knowledge(),
        Knowledge(**{**ALL, "apart": [("e", "f")], "likely": {}}),
        Knowledge(**chain, targets=targets),
    ):
        asked = [*arcs, ("x", "a"), ("a", "x"), ("x", "e"), ("y", "b")]
        assert known.excludes(asked) == {arc for arc in asked if is_contradiction(known, arc)}


def is_contradiction(known, arc):
    try:
        known.adding(required=[arc])
    except KesError:
        return True
    return False
