"""Learners: special cases they must equal, and regret under its proved bound on adversarial linear losses."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import surefoot as sf
from surefoot.weights import weight

ROUNDS = 30
gradients = arrays(float, (ROUNDS, 4), elements=st.floats(-10, 10, allow_subnormal=False))


def play(learner, weights, gradients, h1):
    """Feed linear losses; return the iterates h_1, ..., h_T."""
    conversion = sf.Conversion(learner, weights=weights, query="last")
    state, iterates = conversion.start(h1), []
    for g in gradients:
        iterates.append(state.h)
        state, _ = conversion.tell(state, g)
    return np.array(iterates)


def regret(iterates, gradients, alphas, mirror_map):
    """Return sum alpha_t <g_t, h_t - h*> against the best h* of the domain."""
    played = np.sum(alphas * np.sum(gradients * iterates, axis=1))
    return played - mirror_map.linear_minimum(np.sum(alphas[:, None] * gradients, axis=0))


class Falling(NamedTuple):
    """A step rule of a user, falling as fast as it likes."""

    first: float
    rest: float

    def at(self, t):
        return self.first if t == 1 else self.rest


def test_mirror_descent_with_the_euclidean_map_is_projected_sgd():
    rng = np.random.default_rng(0)
    steps, g = sf.InverseSqrt(0.7), rng.standard_normal((200, 3))
    iterates = play(sf.MirrorDescent(steps, sf.Euclidean(sf.Ball(1.0))), sf.Uniform(), g, np.zeros(3))
    h = np.zeros(3)
    for t in range(200):
        assert np.array_equal(iterates[t], h)
        h = h - 0.7 / np.sqrt(t + 1) * g[t]
        h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1 else h


def test_unconstrained_leader_is_dual_averaging():
    rng = np.random.default_rng(1)
    g, h1 = rng.standard_normal((200, 3)), np.array([1.0, 2.0, 3.0])
    iterates = play(sf.FollowTheRegularizedLeader(sf.InverseSqrt(0.7)), sf.Polynomial(2.0), g, h1)
    for t in range(200):
        total = sum((i + 1) ** 2 * g[i] for i in range(t))
        assert iterates[t] == pytest.approx(h1 - 0.7 / np.sqrt(t + 1) * total, rel=1e-12)


@pytest.mark.parametrize("learner", [sf.MirrorDescent, sf.FollowTheRegularizedLeader])
def test_entropy_gives_exponentiated_gradient(learner):
    """With a constant step both learners multiply the weights by exp(-beta g)."""
    rng = np.random.default_rng(2)
    g, total = rng.standard_normal((200, 5)), 3.0
    iterates = play(learner(sf.Constant(0.1), sf.NegativeEntropy(total)), sf.Uniform(), g, np.full(5, total / 5))
    weights = np.full(5, total / 5)
    for t in range(200):
        assert iterates[t] == pytest.approx(weights, rel=1e-11)
        weights = weights * np.exp(-0.1 * g[t])
        weights *= total / weights.sum()


def test_leader_minimizes_its_objective():
    """h_{t+1} has the least psi_{t+1}(h) + sum alpha_i <g_i, h> (Holland 2022, eq. 14)."""
    rng = np.random.default_rng(3)
    mirror_map, g, h1 = sf.Euclidean(sf.Ball(1.0)), rng.standard_normal((20, 3)), np.array([0.5, 0.0, 0.0])
    iterates = play(sf.FollowTheRegularizedLeader(sf.InverseSqrt(0.3), mirror_map), sf.Polynomial(1.0), g, h1)
    others = [mirror_map.to_primal(point) for point in rng.standard_normal((300, 3))]
    for t in range(1, 20):
        total = sum((i + 1) * g[i] for i in range(t))

        def objective(h, t=t, total=total):
            return mirror_map.divergence(h, h1) * np.sqrt(t + 1) / 0.3 + total @ h

        assert all(objective(iterates[t]) <= objective(other) + 1e-12 for other in others)


@pytest.mark.parametrize("domain", [sf.Ball(1.0), sf.Box(-1.0, 0.5), sf.Simplex()], ids=repr)
@pytest.mark.parametrize("weights", [sf.Uniform(), sf.Polynomial(3.0)])
@pytest.mark.parametrize("steps", [sf.Constant(0.2), sf.InverseSqrt(0.5)])
@given(g=gradients)
def test_mirror_descent_regret(domain, weights, steps, g):
    """alpha/beta non-decreasing: <= (alpha_T/beta_T) D_Phi + sum alpha beta ||g||^2 / (2 kappa)."""
    mirror_map, h1 = sf.Euclidean(domain), np.full(4, 0.25)
    iterates = play(sf.MirrorDescent(steps, mirror_map), weights, g, h1)
    alphas = np.array([weight(weights, t) for t in range(1, ROUNDS + 1)])
    betas = np.array([steps.at(t) for t in range(1, ROUNDS + 1)])
    widest = mirror_map.diameter(h1) ** 2 / 2
    bound = alphas[-1] / betas[-1] * widest + np.sum(alphas * betas * np.sum(g**2, axis=1)) / 2
    assert regret(iterates, g, alphas, mirror_map) <= bound * (1 + 1e-12)


@given(g=gradients)
def test_mirror_descent_regret_with_entropy(g):
    """alpha/beta constant: <= (alpha/beta) log d + sum alpha beta max|g|^2 / 2."""
    mirror_map, h1 = sf.NegativeEntropy(), np.full(4, 0.25)
    iterates = play(sf.MirrorDescent(sf.Constant(0.3), mirror_map), sf.Uniform(), g, h1)
    bound = np.log(4) / 0.3 + np.sum(0.3 * np.max(np.abs(g), axis=1) ** 2) / 2
    assert regret(iterates, g, np.ones(ROUNDS), mirror_map) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("mirror_map", [sf.Euclidean(sf.Ball(1.0)), sf.Euclidean(sf.Simplex()), sf.NegativeEntropy()])
@pytest.mark.parametrize("weights", [sf.Uniform(), sf.Polynomial(3.0)])
@pytest.mark.parametrize("steps", [sf.Constant(0.2), sf.InverseSqrt(0.5), Falling(1.0, 0.01)])
@given(g=gradients)
def test_leader_regret(mirror_map, weights, steps, g):
    """<= psi_T(h*) - psi_1(h_1) + sum alpha^2 ||g||^2 / (2 kappa_t), kappa_t of the psi_t that chose h_t."""
    h1 = np.full(4, 0.25)
    iterates = play(sf.FollowTheRegularizedLeader(steps, mirror_map), weights, g, h1)
    alphas = np.array([weight(weights, t) for t in range(1, ROUNDS + 1)])
    betas = np.array([steps.at(t) for t in range(1, ROUNDS + 1)])
    sizes = np.array([mirror_map.dual_norm(row) for row in g])
    loss = np.sum(alphas[:, None] * g, axis=0)
    best = mirror_map.to_primal(-1e9 * loss) if isinstance(mirror_map, sf.Euclidean) else h1
    for star in (best, h1, *np.eye(4) * 0.999 + 0.00025):
        if not mirror_map.contains(star):
            continue
        played = np.sum(alphas * np.sum(g * (iterates - star), axis=1))
        bound = mirror_map.divergence(star, h1) / betas[-1] + np.sum(alphas**2 * betas * sizes**2) / 2
        assert played <= bound + 1e-9 * (1 + abs(bound))


def test_leader_regret_with_the_wrong_index_fails():
    """With kappa_{t+1} in the place of kappa_t the bound is false: one round is enough to see it."""
    steps, g, alphas = Falling(1.0, 0.01), np.array([[0.5, 0.0]]), np.ones(1)
    learner = sf.FollowTheRegularizedLeader(steps, sf.Euclidean(sf.Ball(1.0)))
    iterates, star = play(learner, sf.Uniform(), g, np.zeros(2)), np.array([-0.5, 0.0])
    played = np.sum(alphas * np.sum(g * (iterates - star), axis=1))
    right = star @ star / 2 / steps.at(1) + steps.at(1) * 0.25 / 2
    wrong = star @ star / 2 / steps.at(1) + steps.at(2) * 0.25 / 2
    assert wrong < played <= right
