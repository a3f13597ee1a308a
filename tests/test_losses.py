"""Losses: derivatives are those of the values, curvatures and bounds hold, scalars and arrays agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import losses

REGRESSION = [losses.SquaredError(), losses.Huber(0.7), losses.Pinball(0.3), losses.Pinball(0.9, smoothing=0.5)]
CLASSIFICATION = [losses.LogLoss(), losses.SquaredHinge(), losses.ModifiedHuber()]
COUNTS = [(losses.Poisson(), st.integers(0, 9).map(float)), (losses.Poisson(1.5), st.integers(0, 9).map(float))]
SCALAR = (
    COUNTS
    + [(loss, st.floats(-5, 5)) for loss in REGRESSION]
    + [(loss, st.sampled_from([0.0, 1.0])) for loss in CLASSIFICATION]
)


@pytest.mark.parametrize(("loss", "targets"), SCALAR, ids=lambda value: repr(value)[:30])
@given(data=st.data(), prediction=st.floats(-6, 6))
def test_the_derivative_is_that_of_the_value(loss, targets, data, prediction):
    """Both one-sided difference quotients enclose it: a convex function lies above its tangents."""
    y, eps = data.draw(targets), 1e-5
    slope = loss.derivative(y, prediction)
    left = (loss.value(y, prediction) - loss.value(y, prediction - eps)) / eps
    right = (loss.value(y, prediction + eps) - loss.value(y, prediction)) / eps
    assert left - 1e-6 * (1 + abs(slope)) <= slope <= right + 1e-6 * (1 + abs(slope))
    assert abs(slope) <= losses.derivative_bound(loss) + 1e-12
    other = data.draw(st.floats(-6, 6))
    if hasattr(loss, "curvature"):
        assert abs(slope - loss.derivative(y, other)) <= loss.curvature * abs(prediction - other) + 1e-12


@pytest.mark.parametrize(("loss", "targets"), SCALAR, ids=lambda value: repr(value)[:30])
def test_scalars_and_arrays_agree_also_far_out(loss, targets):
    predictions = np.array([-1e6, -800.0, -1.0, 0.0, 0.5, 1.0, 290.0, 1e6])
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    for name in ("value", "derivative"):
        together = getattr(loss, name)(y, predictions)
        alone = [getattr(loss, name)(float(a), float(p)) for a, p in zip(y, predictions, strict=True)]
        assert np.isfinite(together).all()
        assert together == pytest.approx(alone, rel=1e-15)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=6), st.data())
def test_softmax_by_rows_is_softmax(scores, data):
    y, row, out = data.draw(st.integers(0, len(scores) - 1)), np.array([scores]), np.empty((1, len(scores)))
    value = losses.Softmax().fill(float(y), row, out, 0)
    assert value == pytest.approx(losses.Softmax().value(np.array([y]), row)[0], abs=1e-12)
    assert out == pytest.approx(losses.Softmax().derivative(np.array([y]), row), abs=1e-15)
    assert np.linalg.norm(out) <= losses.Softmax().derivative_bound


def test_links_are_probabilities():
    scores = np.linspace(-900, 900, 41)
    for loss in (losses.LogLoss(), losses.ModifiedHuber()):
        assert np.all((loss.link(scores) >= 0) & (loss.link(scores) <= 1))
        assert np.all(np.diff(loss.link(scores)) >= 0)
        assert loss.link(0.0) == 0.5
    two = losses.Softmax().link(np.array([[0.0, 1.5]]))
    assert two[0, 1] == pytest.approx(losses.LogLoss().link(1.5))


def test_poisson_goes_on_linearly_beyond_its_limit():
    loss = losses.Poisson(2.0)
    assert loss.link(3.0) == pytest.approx(2 * np.exp(2.0))
    assert loss.link(1.0) == pytest.approx(np.exp(1.0))
    assert loss.bend(0.0, 5.0) == loss.bend(0.0, 2.0) == pytest.approx(np.exp(2.0))
    assert np.isfinite(losses.Poisson().value(1.0, 1e6))


def test_kinks_belong_to_neither_side():
    assert losses.Pinball(0.3).derivative(1.0, 1.0) == 0.0
    assert losses.Pinball(0.3).derivative(1.0, 1.5) == 0.7
    assert losses.Pinball(0.3).derivative(1.0, 0.5) == -0.3


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (losses.Poisson(np.inf), "limit: expected finite"),
        (losses.Huber(0.0), "width: expected a positive"),
        (losses.Pinball(1.0), "level: expected a number strictly between"),
        (losses.Pinball(0.5, -1.0), "smoothing: expected a non-negative"),
    ],
)
def test_wrong_settings_are_named(loss, message):
    with pytest.raises(ValueError, match=message):
        loss.check()
