"""Mirror maps: the way back undoes the way there, and divergences are as convex as stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import surefoot as sf

MAPS = [
    sf.Euclidean(),
    sf.Euclidean(sf.Ball(2.0)),
    sf.Euclidean(sf.Box(-1.0, 1.0)),
    sf.Euclidean(sf.Simplex()),
    sf.NegativeEntropy(),
    sf.NegativeEntropy(5.0),
]
duals = arrays(float, 5, elements=st.floats(-20, 20, allow_subnormal=False))


@pytest.mark.parametrize("mirror_map", MAPS, ids=repr)
@given(dual=duals)
def test_primal_and_dual_are_inverse_on_the_domain(mirror_map, dual):
    h = mirror_map.to_primal(dual)
    assert mirror_map.contains(h)
    assert mirror_map.to_primal(mirror_map.to_dual(h)) == pytest.approx(h, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("mirror_map", MAPS, ids=repr)
@given(dual=duals, other_dual=duals)
def test_divergence_is_strongly_convex_and_zero_only_at_equality(mirror_map, dual, other_dual):
    h, other = mirror_map.to_primal(dual), mirror_map.to_primal(other_dual)
    distance = mirror_map.norm(h - other)
    least = mirror_map.strong_convexity / 2 * distance**2
    assert mirror_map.divergence(h, other) >= least - 1e-12
    assert mirror_map.divergence(h, h) == pytest.approx(0.0, abs=1e-12)
    if distance > 1e-4:
        assert mirror_map.divergence(h, other) > 0
    assert distance <= mirror_map.diameter(h) + 1e-12


@pytest.mark.parametrize("mirror_map", MAPS, ids=repr)
@given(dual=duals, g=duals)
def test_norms_are_dual(mirror_map, dual, g):
    h = mirror_map.to_primal(dual)
    assert abs(np.sum(g * h)) <= mirror_map.norm(h) * mirror_map.dual_norm(g) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("mirror_map", MAPS[1:], ids=repr)
@given(dual=duals, g=duals)
def test_linear_minimum_and_farthest_bound_the_domain(mirror_map, dual, g):
    h, other = mirror_map.to_primal(dual), mirror_map.to_primal(g)
    assert mirror_map.linear_minimum(g) <= np.sum(g * h) + 1e-9
    assert mirror_map.farthest(other) >= mirror_map.norm(h - other) - 1e-9


def test_entropy_to_primal_is_the_stated_minimum():
    """argmax <dual, h> - Phi(h): no point of the simplex does better than the closed form."""
    rng, total = np.random.default_rng(3), 2.0
    dual = rng.standard_normal(4)
    best = sf.NegativeEntropy(total).to_primal(dual)

    def value(h):
        return dual @ h - np.sum(h * np.log(h))

    others = rng.dirichlet(np.ones(4), size=500) * total
    assert all(value(best) >= value(other) for other in others)


def test_a_coordinate_that_underflowed_can_come_back():
    learner = sf.MirrorDescent(sf.Constant(1.0), sf.NegativeEntropy())
    conversion = sf.Conversion(learner, query="last")
    state = conversion.run(lambda h: np.array([5000.0, 0.0]), np.full(2, 0.5), rounds=1)
    assert state.h[0] == 0
    state = conversion.run(lambda h: np.array([-5000.0, 0.0]), state, rounds=1)
    assert state.h[0] == 1


def test_entropy_needs_a_start_inside():
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(1.0), sf.NegativeEntropy()))
    for outside in ([1.0, 0.0], [0.4, 0.4], [-0.5, 1.5]):
        with pytest.raises(ValueError, match="h1: the start must lie in the domain"):
            conversion.start(outside)


def test_entropy_in_numbers():
    entropy, h = sf.NegativeEntropy(2.0), np.array([0.5, 1.0, 0.5])
    assert entropy.strong_convexity == 0.5
    assert entropy.diameter(h) == 4.0
    assert entropy.farthest(h) == 3.0
    assert entropy.norm(np.array([1.0, -2.0])) == 3.0
    assert entropy.dual_norm(np.array([1.0, -2.0])) == 2.0
    assert entropy.linear_minimum(np.array([1.0, -2.0, 0.0])) == -4.0
    assert entropy.divergence(np.array([2.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(2 * np.log(2))
