"""Weights and steps: quotients equal those of the weights, and a wrong rule is named."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.step_sizes import step
from surefoot.weights import growth, ratio, weight


class Odd(NamedTuple):
    """A user's rule: it has `at` and nothing else."""

    def at(self, t):
        return 1.0 + t % 2


@pytest.mark.parametrize("weights", [sf.Uniform(), sf.Polynomial(0.0), sf.Polynomial(1.5), sf.Polynomial(64.0), Odd()])
@given(t=st.integers(1, 300))
def test_quotients_are_those_of_the_weights(weights, t):
    alphas = np.array([weights.at(i) for i in range(1, t + 2)])
    assert ratio(weights, t) == pytest.approx(alphas[:-1].sum() / alphas[-2], rel=1e-12)
    assert growth(weights, t) == pytest.approx(alphas[-1] / alphas[-2], rel=1e-12)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_weight_that_is_not_positive_names_its_round(value):
    class Falling(NamedTuple):
        def at(self, t):
            return 1.0 if t < 4 else value

    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(0.1)), weights=Falling())
    with pytest.raises(ValueError, match="weights: the weight of round 4"):
        conversion.run(lambda h: h, np.ones(2), rounds=5)


def test_a_learner_that_needs_an_overflowing_weight_says_so():
    conversion = sf.Conversion(sf.FollowTheRegularizedLeader(sf.Constant(1e-9)), weights=sf.Polynomial(64.0))
    state = conversion.start(np.zeros(2), t=70_000)
    with pytest.raises(ValueError, match=r"round 70000 is inf.*pass a smaller power"):
        conversion.tell(state, np.ones(2))
    assert weight(sf.Polynomial(2.0), 3) == 9.0


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (sf.Constant(0.3), [0.3, 0.3, 0.3]),
        (sf.InverseSqrt(2.0), [2.0, 2 / np.sqrt(2), 2 / np.sqrt(3)]),
        (sf.Decaying(2.0, span=4.0, power=0.5), [2 / np.sqrt(1.25), 2 / np.sqrt(1.5), 2 / np.sqrt(1.75)]),
    ],
)
def test_steps(rule, values):
    assert [rule.at(t) for t in (1, 2, 3)] == pytest.approx(values, rel=1e-15)


@pytest.mark.parametrize("value", [0.0, -0.1, np.nan, np.inf])
def test_a_step_that_is_not_positive_names_its_round(value):
    class Broken(NamedTuple):
        def at(self, t):
            return value if t == 2 else 0.1

    with pytest.raises(ValueError, match="step_size in round 2"):
        sf.Conversion(sf.MirrorDescent(Broken())).run(lambda h: h, np.ones(2), rounds=3)
    assert step(Broken(), 1) == 0.1


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (sf.Constant(0.0), "beta: expected a positive finite number, got 0.0"),
        (sf.Constant("fast"), "beta: expected a number, got 'fast'"),
        (sf.InverseSqrt(-1.0), "scale: expected a positive"),
        (sf.Decaying(1.0, span=0.0), "span: expected a positive"),
        (sf.Decaying(1.0, span=1.0, power=-1.0), "power: expected a non-negative"),
        (sf.Polynomial(-1.0), "power: expected a non-negative"),
        (sf.Polynomial(np.nan), "power: expected a number, got NaN"),
    ],
)
def test_wrong_settings_are_named(part, message):
    with pytest.raises((ValueError, TypeError), match=message):
        part.check()
