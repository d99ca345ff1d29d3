"""Background knowledge as a user meets it: a value, its files, and searches that obey it."""

import pickle

import pytest
from tests.unit.refused import refused

from kes import Knowledge

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
    """What each part forbids, by the definitions in the documentation."""
    names = ["a", "b", "c", "d"]
    assert Knowledge(tiers=[["b"], ["a", "d"]]).to_core(names) == ([1, 0, None, 1], [], [])
    assert Knowledge(required=[("c", "a")]).to_core(names) == (None, [(2, 0)], [])
    assert Knowledge(apart=[("d", "a")]).to_core(names) == (None, [], [(0, 3), (3, 0)])
    assert Knowledge(roots=["b"]).to_core(names) == (None, [], [(0, 1), (2, 1), (3, 1)])
    assert Knowledge(leaves=["b"]).to_core(names) == (None, [], [(1, 0), (1, 2), (1, 3)])


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
