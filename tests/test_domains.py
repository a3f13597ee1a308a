"""Projections are idempotent and nearest; linear minima and farthest points are exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import surefoot as sf
from surefoot.domains import euclidean_norm

DOMAINS = [
    sf.Everywhere(),
    sf.Ball(1.5),
    sf.Ball(0.5, center=[1.0, -1.0, 0.0, 2.0]),
    sf.Box(-1.0, 0.5),
    sf.Box([0.0, -1.0, -2.0, 1.0], [0.0, 1.0, 3.0, np.inf]),
    sf.Simplex(),
    sf.Simplex(3.0),
]
points = arrays(float, 4, elements=st.floats(-1e3, 1e3, allow_subnormal=False))


def corners(domain, rng, count=200):
    """Points of the domain, its extreme ones among them."""
    far = rng.standard_normal((count, 4)) * 10.0 ** rng.integers(-1, 3, size=(count, 1))
    return np.array([domain.project(point) for point in far])


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@given(h=points)
def test_projection_is_idempotent_and_nearest(domain, h):
    nearest = domain.project(h)
    scale = 1 + np.abs(h).max()
    assert domain.contains(nearest)
    assert domain.project(nearest) == pytest.approx(nearest, abs=1e-12 * scale)
    others = corners(domain, np.random.default_rng(0))
    # nearest is nearest exactly where <h - nearest, other - nearest> <= 0 for every other point of a convex set
    assert np.max((others - nearest) @ (h - nearest)) <= 1e-9 * scale * max(scale, np.abs(others).max())


@pytest.mark.parametrize("domain", [d for d in DOMAINS if not isinstance(d, sf.Everywhere)], ids=repr)
@given(h=points)
def test_linear_minimum_and_farthest_point_bound_every_point(domain, h):
    inside = corners(domain, np.random.default_rng(1))
    least, most, width = domain.linear_minimum(h), domain.farthest(h), domain.diameter(h)
    assert least <= (inside @ h).min() + 1e-9 * (1 + np.abs(h).max())
    assert most >= np.linalg.norm(inside - h, axis=1).max() - 1e-9
    assert width >= np.linalg.norm(inside[:, None] - inside, axis=2).max() - 1e-9


@pytest.mark.parametrize(
    ("domain", "g", "least", "far", "width"),
    [
        (sf.Ball(2.0, center=[1.0, 0.0]), [3.0, 4.0], 3.0 - 10.0, np.hypot(2, 4) + 2, 4.0),
        (sf.Box([0.0, -1.0], [2.0, 1.0]), [3.0, -4.0], -4.0, np.hypot(3, 5), np.hypot(2, 2)),
        (sf.Simplex(2.0), [3.0, -4.0], -8.0, np.hypot(3, 6), 2 * np.sqrt(2)),
        (sf.Box(-np.inf, 1.0), [0.0, -1.0], -1.0, np.inf, np.inf),
        (sf.Everywhere(), [0.0, 1.0], -np.inf, np.inf, np.inf),
    ],
)
def test_linear_minimum_farthest_and_diameter_are_exact(domain, g, least, far, width):
    g = np.array(g)
    assert domain.linear_minimum(g) == pytest.approx(least)
    assert domain.farthest(g) == pytest.approx(far)
    assert domain.diameter(g) == pytest.approx(width)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_any_shape_is_projected(shape):
    h = np.full(shape, 9.0)
    for domain in (sf.Everywhere(), sf.Ball(1.0), sf.Box(0.0, 1.0), sf.Simplex()):
        assert domain.project(h).shape == shape
        assert domain.contains(np.asarray(domain.project(h)))


@pytest.mark.parametrize("size", [1e-200, 1e-5, 1.0, 1e200])
def test_norms_neither_overflow_nor_underflow(size):
    assert euclidean_norm(np.array([3.0, 4.0]) * size) == pytest.approx(5.0 * size, rel=1e-14)


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        (sf.Ball(0.0), "radius: expected a positive finite number, got 0.0"),
        (sf.Ball(1.0, center=[np.nan]), "center: expected finite numbers"),
        (sf.Box(1.0, 0.0), "low: every low bound"),
        (sf.Box(np.nan, 0.0), "low: every low bound"),
        (sf.Simplex(-1.0), "total: expected a positive"),
    ],
)
def test_wrong_settings_are_named(domain, message):
    with pytest.raises(ValueError, match=message):
        domain.check()
