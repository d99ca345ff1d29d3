"""Background knowledge as a user meets it: a value, its files, and searches that obey it."""

import pickle

import pytest

import kes
from kes import Knowledge

ALL = {
    "tiers": [["age", "sex"], ["smoker"]],
    "required": [("a", "b")],
    "forbidden": [("c", "d")],
    "apart": [("x", "y")],
    "roots": ["age"],
    "leaves": ["outcome"],
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
    ("parts", "message"),
    [
        ({"tiers": ["age", "sex"]}, "a tier is a list of names, not 'age'"),
        ({"tiers": "age"}, "tiers must be a list of lists"),
        ({"tiers": [["a", 1]]}, "it holds 1"),
        ({"tiers": [["a"], ["b"], ["a"]]}, "'a': more than once in the tiers"),
        ({"tiers": [["a", "b"], ["a", "b"]]}, "'a', 'b': more than once in the tiers"),
        ({"required": [("a", "b", "c")]}, r"it holds \('a', 'b', 'c'\)"),
        ({"required": ["ab"]}, "it holds 'ab'"),
        ({"required": 3}, "required must be a list of pairs of names, not 3"),
        ({"forbidden": [("a", "a")]}, "no arc leads from 'a' to itself"),
        ({"roots": "age"}, "roots must be a list of names, not 'age'"),
        ({"leaves": [None]}, "it holds None"),
        ({"leaves": {"a": 1}}, "leaves must be a list of names, not {'a': 1}"),
        ({"tiers": {"a": ["b"]}}, "tiers must be a list of lists of names, not {'a'"),
        ({"tiers": [{"a": 1}]}, "a tier is a list of names, not {'a': 1}"),
        ({"roots": 10**5000}, "roots must be a list of names, not an unprintable int"),
        ({"roots": ["a" * 3, ["b"] * 100]}, r"but it holds \['b',.{1,100}\.\.\.$"),
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]},
            "the required arcs form the cycle a -> b -> c -> a$",
        ),
        (
            {"required": [("b", "a")], "tiers": [["a"], ["b"]]},
            "b -> a is required, but a is in an earlier tier than b",
        ),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "a -> b is required, but it is forbidden, too",
        ),
        ({"required": [("a", "b")], "apart": [("b", "a")]}, "but a and b are apart"),
        ({"required": [("a", "b")], "roots": ["b"]}, "but b is one of the roots"),
        ({"required": [("a", "b")], "leaves": ["a"]}, "but a is one of the leaves"),
    ],
)
def test_what_is_wrong_is_said(parts, message):
    with pytest.raises(kes.KesError, match=message):
        Knowledge(**parts)


def test_more_can_be_added_unless_it_contradicts():
    known = Knowledge(tiers=[["a"], ["b"]])
    assert known.adding(apart=[("a", "b")]) == Knowledge(tiers=[["a"], ["b"]], apart=[("a", "b")])
    with pytest.raises(kes.KesError, match="b -> a is required, but a is in an earlier tier"):
        known.adding(required=[("b", "a")])


def test_unknown_names_get_a_suggestion():
    with pytest.raises(kes.KesError, match=r"\(leaves\) is of 'outcom'.*did you mean 'outcome'"):
        Knowledge(leaves=["outcom"]).checked(["age", "outcome"])
