"""The distributions of the paper's examples: do they have the properties that it needs?"""

import itertools

import numpy as np
import pytest
from tests.unit.datasets.frequencies import counts, z_of_chi_square
from tests.unit.refused import refused

from kes import datasets

PRINTED_XY = np.array([[0.22, 0.03, 0.22, 0.03], [0.03, 0.22, 0.03, 0.22]])  # rows Y, columns X
PRINTED_XU = np.array([[0.22, 0.22, 0.03, 0.03], [0.03, 0.03, 0.22, 0.22]])  # rows U, columns X
PRINTED_YZ = np.array([[0.35, 0.15], [0.15, 0.35]])


def joint_of(**options):
    return datasets.example1(cases=2, **options).weights.reshape(4, 2, 2, 2) / 2


def test_printed_variant_has_the_marginals_printed_in_the_paper():
    joint = joint_of(variant="printed")
    np.testing.assert_allclose(joint.sum(axis=(2, 3)).T, PRINTED_XY, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(1, 2)).T, PRINTED_XU, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(0, 3)), PRINTED_YZ, rtol=0, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=(0, 1)).T, PRINTED_YZ, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "abc"),
    [
        ({"variant": "printed"}, (0.12, 0.30, 0.0)),
        ({"variant": "deceptive"}, (0.12, 0.30, 0.05)),
        ({"parameters": (0.11, 0.31, 0.02)}, (0.11, 0.31, 0.02)),
        ({"parameters": (0.4, 0.1, -0.05)}, (0.4, 0.1, -0.05)),
    ],
)
def test_cycle_has_its_edge_marginals_and_independences(options, abc):
    a, b, c = abc
    joint = joint_of(**options)
    x, y, z, u = np.indices(joint.shape)
    expected_x = [0.25 + c, 0.25 - c, 0.25 - c, 0.25 + c]
    np.testing.assert_allclose(joint.sum(axis=(1, 2, 3)), expected_x, rtol=0, atol=1e-12)
    for state in range(4):  # the error rates do not depend on X
        at = x == state
        assert joint[at & (y != x % 2)].sum() == pytest.approx(a * expected_x[state], abs=1e-12)
        assert joint[at & (u != x // 2)].sum() == pytest.approx(a * expected_x[state], abs=1e-12)
    for first, second in ((y, z), (u, z)):
        for value in range(2):
            disagree = joint[(first == value) & (second != value)].sum()
            agree = joint[(first == value) & (second == value)].sum()
            assert disagree == pytest.approx(b / 2, abs=1e-12)
            assert agree == pytest.approx((1 - b) / 2, abs=1e-12)

    def margin(*summed):
        return joint.sum(axis=summed, keepdims=True)

    x_z_given_yu = joint * margin(0, 2) - margin(2) * margin(0)
    y_u_given_xz = joint * margin(1, 3) - margin(3) * margin(1)
    np.testing.assert_allclose(x_z_given_yu, 0, atol=1e-14)
    np.testing.assert_allclose(y_u_given_xz, 0, atol=1e-14)


def test_no_other_independence_holds_in_the_cycle():
    joint = joint_of(variant="deceptive")

    def information(first, second, given):
        """I(first; second | given), from entropies."""

        def entropy(axes):
            p = joint.sum(axis=tuple(set(range(4)) - set(axes)))
            return -(p * np.log(p)).sum()

        return (
            entropy({first, *given})
            + entropy({second, *given})
            - entropy({first, second, *given})
            - entropy(given)
        )

    independent = {(0, 2, (1, 3)), (1, 3, (0, 2))}
    for first, second in itertools.combinations(range(4), 2):
        rest = sorted(set(range(4)) - {first, second})
        for size in range(3):
            for given in itertools.combinations(rest, size):
                found = information(first, second, given)
                if (first, second, given) in independent:
                    assert abs(found) < 1e-13
                else:
                    assert found > 1e-4


def test_erratum_collider_beats_the_second_arc_for_printed_marginals():
    # With X - Y in place, joining U to X as a collider is worth I(X;U|Y), as a fork I(X;U).
    def information(pair):
        rows, columns = pair.sum(axis=1, keepdims=True), pair.sum(axis=0, keepdims=True)
        return (pair * np.log(pair / (rows * columns))).sum()

    joint = joint_of(variant="printed").sum(axis=2)  # axes X, Y, U
    given_y = sum(
        part.sum() * information(part / part.sum()) for part in (joint[:, y] for y in range(2))
    )
    assert given_y > information(joint.sum(axis=1)) + 1e-3


def test_example1_is_a_weighted_table():
    data = datasets.example1()
    assert data.rows == 32
    assert data.names == ("X", "Y", "Z", "U")
    assert data.weights.sum() == pytest.approx(1_000_000, rel=1e-12)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_example2_is_the_product_of_independent_copies(groups):
    data = datasets.example2(groups, cases=1000, variant="deceptive")
    assert data.rows == 32**groups
    one = joint_of(variant="deceptive")
    cells = data.codes.reshape(groups, 4, -1)
    expected = 1000 * np.prod([one[tuple(cell)] for cell in cells], axis=0)
    np.testing.assert_allclose(data.weights, expected, rtol=1e-12, atol=0)
    assert len(np.unique(data.codes, axis=1).T) == 32**groups


def test_example2_refuses_more_than_four_groups():
    with refused("33554432", option="groups"):
        datasets.example2(5)


@pytest.mark.parametrize("variant", ["deceptive", "printed"])
def test_trap_sample_fits_the_distribution(variant):
    data = datasets.trap(variant=variant, seed=1)
    assert data.rows == 20_000
    assert data.names[:5] == ("X1", "Y1", "Z1", "U1", "X2")
    assert data.names[-1] == "U10"
    joint = joint_of(variant=variant)
    observed = np.array([counts(group, (4, 2, 2, 2)) for group in data.codes.reshape(10, 4, -1)])
    expected = np.broadcast_to(20_000 * joint, observed.shape)
    assert abs(z_of_chi_square(observed, expected, degrees=10 * 31)) < 3.5


def test_trap_groups_are_independent():
    cells = datasets.trap(groups=4, seed=2).codes.reshape(4, 4, -1)
    pairs = [2 * group[0] + group[2] for group in cells]  # X and Z: eight well-filled cells
    for first, second in itertools.combinations(pairs, 2):
        observed = counts((first, second), (8, 8))
        expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
        assert abs(z_of_chi_square(observed, expected, degrees=49)) < 3.5


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"variant": "printd"}, "did you mean 'printed'"),
        ({"parameters": (0.1, 0.3)}, "three"),
        ({"parameters": (0.0, 0.3, 0.0)}, "out of range"),
        ({"parameters": (0.1, 0.3, 0.25)}, "-1/4"),
        # Y and U follow two independent bits and differ half of the time, so no Z can differ
        # from either of them in one case out of a hundred only.
        ({"parameters": (0.01, 0.01, 0.0)}, "contradict"),
    ],
)
def test_impossible_trap_is_refused(options, word):
    with refused(word, option=next(iter(options))):
        datasets.trap(rows=10, **options)
