"""Algorithm 1: the order of a round, the average, the state, the paper's three methods, and clear errors."""

import pickle
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import LogSumExp, Quadratic, identical

import surefoot as sf

LEARNERS = [
    sf.MirrorDescent(sf.InverseSqrt(0.3), sf.Euclidean(sf.Ball(2.0))),
    sf.FollowTheRegularizedLeader(sf.InverseSqrt(0.01), sf.Euclidean(sf.Box(-2.0, 2.0))),
    sf.MirrorDescent(sf.Constant(0.3), sf.NegativeEntropy(2.0)),
]
FEEDBACKS = [
    sf.Raw(),
    sf.Clip(sf.RunningScale()),
    sf.Clip(sf.LeastRisk()),
    sf.Truncate(sf.SmoothThreshold(1.0, 1.0, 0.1, 1.0), sf.Anchor(np.full(4, 0.5), np.zeros(4))),
]
ESTIMATES = [sf.Fresh(), sf.Carried()]
WEIGHTS = [sf.Uniform(), sf.Polynomial(3.0)]
QUERIES = ["average", "last", 0.9]


def noisy(rng, problem, estimate):
    """A gradient oracle with heavy-tailed noise, common to both points where feedback is carried."""

    def gradient(point, before=None):
        noise = rng.standard_t(2.1, size=np.shape(point))
        now = problem.gradient(point) + noise
        return (now, problem.gradient(before) + noise) if estimate.two_points else now

    return gradient


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda part: type(part.mirror_map).__name__ + type(part).__name__)
@pytest.mark.parametrize("feedback", FEEDBACKS, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("query", QUERIES)
def test_all_parts_crossed(learner, feedback, estimate, weights, query):
    """In every combination hbar is the weighted mean, the query lies where it should, and a resumed run is the same."""
    conversion = sf.Conversion(learner, feedback=feedback, weights=weights, query=query, estimate=estimate)
    problem = Quadratic.draw(np.random.default_rng(0), 4)
    gradient = noisy(np.random.default_rng(1), problem, estimate)
    state, total, mass = conversion.start(np.full(4, 0.5)), 0.0, 0.0
    halfway = None
    for t in range(1, 81):
        total, mass = total + weights.at(t) * state.h, mass + weights.at(t)
        assert state.t == t
        assert state.hbar == pytest.approx(total / mass, rel=1e-12, abs=1e-13)
        assert state.weight_ratio == pytest.approx(mass / weights.at(t), rel=1e-12)
        wanted = {"average": state.hbar, "last": state.h}.get(query)
        asked = conversion.ask(state)
        assert asked == pytest.approx(0.1 * state.h + 0.9 * state.hbar if wanted is None else wanted, abs=1e-14)
        if t == 40:
            halfway = pickle.loads(pickle.dumps((conversion, state)))
        after, info = conversion.step(state, gradient)
        assert np.array_equal(after.before, asked)
        assert np.array_equal(info.processed, after.carried)
        state = after
    gradient = noisy(np.random.default_rng(1), problem, estimate)
    for _ in range(39):
        gradient(state.hbar, state.hbar)
    other, resumed = halfway
    resumed = other.run(gradient, resumed, rounds=41)
    assert identical(resumed, state)


def test_the_average_is_exact_over_a_long_run():
    """Against rational arithmetic: t^64 for 300 rounds."""
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(1.0)), weights=sf.Polynomial(64.0), query="last")
    state, total, mass = conversion.start(1.0), Fraction(0), Fraction(0)
    for t in range(1, 301):
        total, mass = total + t**64 * Fraction(float(state.h)), mass + t**64
        assert float(state.hbar) == pytest.approx(float(total / mass), rel=1e-12, abs=1e-14)
        state, _ = conversion.tell(state, np.sin(7.0 * t))


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_anytime_identity(dimension, seed):
    """Lemma 1, for quadratics and log-sum-exp, along sequences that no learner would produce."""
    rng = np.random.default_rng(seed)
    iterates = rng.standard_normal((15, dimension)) * rng.choice([0.1, 1.0, 10.0], size=(15, 1))
    star = rng.standard_normal(dimension)
    for problem in (Quadratic.draw(rng, dimension), LogSumExp.draw(rng, dimension)):
        for weights in (sf.Uniform(), sf.Polynomial(2.5)):
            sides = sf.certificates.anytime_identity(problem.risk, problem.gradient, iterates, weights, star)
            size = max(1.0, *(abs(problem.risk(h)) for h in iterates), abs(problem.risk(star)))
            assert sides.left == pytest.approx(sides.right, abs=1e-10 * size)


def paper_problem():
    """Rows, targets and the mean gradient of a heavy-tailed least-squares problem in batches of 8."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((3200, 5))
    y = X @ np.array([1.0, -1.0, 0.5, 0.0, 2.0]) + rng.standard_t(1.5, 3200)
    batches = [(X[i : i + 8], y[i : i + 8]) for i in range(0, 3200, 8)]
    return X, y, [lambda h, A=A, b=b: A.T @ (A @ h - b) / len(b) for A, b in batches]


def project(h, radius=1.5):
    length = np.linalg.norm(h)
    return h * (radius / length) if length > radius else h


def test_sgd_ave_in_four_lines():
    _, _, gradients = paper_problem()
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(0.05), sf.Euclidean(sf.Ball(1.5))), query="last")
    state, h, total = conversion.start(np.zeros(5)), np.zeros(5), np.zeros(5)
    for t, gradient in enumerate(gradients, start=1):
        state, _ = conversion.step(state, gradient)
        total = total + h
        h = project(h - 0.05 * gradient(h))
        assert state.h == pytest.approx(h, abs=1e-12)
        assert state.hbar == pytest.approx((total + h) / (t + 1), abs=1e-12)
    assert np.linalg.norm(state.h) == pytest.approx(1.5)


def test_anytime_sgd_in_four_lines():
    _, _, gradients = paper_problem()
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(0.05), sf.Euclidean(sf.Ball(1.5))))
    state, h, mean = conversion.start(np.zeros(5)), np.zeros(5), np.zeros(5)
    for t, gradient in enumerate(gradients, start=1):
        state, _ = conversion.step(state, gradient)
        h = project(h - 0.05 * gradient(mean))
        mean = mean + (h - mean) / (t + 1)
        assert state.h == pytest.approx(h, abs=1e-12)
        assert state.hbar == pytest.approx(mean, abs=1e-12)


def test_anytime_robust_sgd_in_six_lines():
    X, y, gradients = paper_problem()
    h1 = np.full(5, 0.1)
    anchor = sf.anchors.empirical_mean((X @ h1 - y)[:, None] * X, h1)
    feedback = sf.Truncate(sf.ConstantThreshold(4.0), anchor)
    learner = sf.MirrorDescent(sf.Constant(0.05), sf.Euclidean(sf.Ball(1.5)))
    conversion = sf.Conversion(learner, feedback=feedback)
    state, h, mean, fired = conversion.start(h1), h1, h1, 0
    g_tilde = X.T @ (X @ h1 - y) / len(y)
    for t, gradient in enumerate(gradients, start=1):
        state, info = conversion.step(state, gradient)
        g = gradient(mean)
        far = np.linalg.norm(g - g_tilde) > 4.0
        h = project(h - 0.05 * (g_tilde if far else g))
        mean = mean + (h - mean) / (t + 1)
        assert info.action == ("replaced" if far else "kept")
        assert state.h == pytest.approx(h, abs=1e-12)
        assert state.hbar == pytest.approx(mean, abs=1e-12)
        fired += far
    assert 20 < fired < 380


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (2, 1, 2)])
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_points_of_any_shape(shape, estimate):
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(0.2)), sf.Clip(sf.RunningScale()), estimate=estimate)
    gradient = (lambda h, before: (h - 3.0, before - 3.0)) if estimate.two_points else (lambda h: h - 3.0)
    state = conversion.run(gradient, np.zeros(shape), rounds=300)
    assert state.hbar.shape == shape
    assert state.hbar == pytest.approx(np.full(shape, 3.0), abs=0.2)
    many = np.ones((4, *shape))
    state, info = conversion.tell(state, many, many)
    assert len(info.action) == len(info.distance) == len(info.threshold) == len(info.factor) == 4
    assert info.processed.shape == state.h.shape == shape


def test_state_is_immutable_even_after_pickling():
    conversion = sf.Conversion(LEARNERS[1], sf.Clip(sf.LeastRisk()), estimate=sf.Carried())
    g = np.ones(4)
    state, _ = conversion.tell(conversion.start(np.zeros(4)), g, g)
    for kept in (state, pickle.loads(pickle.dumps(state))):
        for array in (kept.h, kept.hbar, kept.before, kept.carried, kept.memory[0][1], kept.memory[1].first):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
    with pytest.raises(AttributeError):
        state.t = 5
    g[0] = 7.0  # what the caller handed over stays the caller's


def test_an_old_state_can_be_told_again():
    conversion = sf.Conversion(LEARNERS[0], sf.Clip(sf.RunningScale()))
    state = conversion.run(lambda h: h - 1.0, np.zeros(4), rounds=70)
    first, second = (conversion.tell(state, np.ones(4))[0] for _ in range(2))
    assert identical(first, second)


def test_a_pilot_stands_for_the_rounds_before():
    conversion = sf.Conversion(sf.MirrorDescent(sf.InverseSqrt(1.0)), weights=sf.Polynomial(2.0))
    state = conversion.start(np.array([4.0]), t=11, samples=80)
    assert state.weight_ratio == pytest.approx(sum(i**2 for i in range(1, 12)) / 121)
    state, _ = conversion.tell(state, np.array([1.0]))
    h = 4.0 - 1 / np.sqrt(11)
    weights = np.arange(1.0, 13.0) ** 2
    assert state.hbar[0] == pytest.approx((weights[:-1].sum() * 4.0 + weights[-1] * h) / weights.sum())
    assert (state.t, state.samples) == (12, 81)


def test_run_calls_back_and_goes_on_from_a_state():
    conversion, seen = sf.Conversion(sf.MirrorDescent(sf.Constant(0.1))), []
    state = conversion.run(
        lambda h: h, np.ones(2), rounds=3, callback=lambda state, info: seen.append((state.t, info.action))
    )
    assert seen == [(2, "kept"), (3, "kept"), (4, "kept")]
    assert conversion.run(lambda h: h, state, rounds=0) is state
    assert conversion.run(lambda h: h, state, rounds=2).t == 6


PLAIN = sf.Conversion(sf.MirrorDescent(sf.Constant(0.1), sf.Euclidean(sf.Ball(5.0))))
CENTERED = sf.Conversion(sf.MirrorDescent(sf.Constant(0.1), sf.Euclidean(sf.Ball(1.0, [0.0, 0.0, 0.0]))))
CARRIED = sf.Conversion(PLAIN.learner, estimate=sf.Carried())


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: PLAIN.start([nan, 0.0]), "h1: expected finite numbers"),
        (lambda: PLAIN.start("here"), "h1: expected real numbers"),
        (lambda: PLAIN.start(None), "h1: expected real numbers"),
        (lambda: PLAIN.start([]), "h1: expected at least one number"),
        (
            lambda: PLAIN.start(np.ma.masked_array([1.0, 2.0], [True, False])),
            "h1: expected numbers, got a masked array",
        ),
        (lambda: PLAIN.start([1j, 0.0]), "h1: expected real numbers"),
        (lambda: PLAIN.start([10**400]), "h1: expected real numbers"),
        (lambda: CENTERED.start([0.0]), r"h1: its shape \(1,\) does not fit the domain"),
        (lambda: CENTERED.start([0.0, 0.0]), r"h1: its shape \(2,\) does not fit the domain"),
        (lambda: PLAIN.start([9.0, 0.0]), "h1: the start must lie in the domain"),
        (lambda: PLAIN.start([0.0], t=0), "t: expected a whole number of at least 1"),
        (lambda: PLAIN.start([0.0], t=1.5), "t: expected a whole number"),
        (lambda: PLAIN.start([0.0], samples=-1), "samples: expected a non-negative finite number"),
        (lambda: PLAIN.tell(PLAIN.start([0.0, 0.0]), [1.0]), r"g: expected a gradient of shape \(2,\)"),
        (lambda: PLAIN.tell(PLAIN.start([0.0, 0.0]), np.ones((0, 2))), r"got shape \(0, 2\)"),
        (lambda: PLAIN.tell(PLAIN.start([0.0, 0.0]), [[1.0, 2.0], [3.0]]), "g: expected real numbers of one shape"),
        (lambda: PLAIN.tell(PLAIN.start([0.0, 0.0]), np.ones((3, 2)), size=np.ones(2)), "size: expected 3 numbers"),
        (
            lambda: PLAIN.tell(PLAIN.start([0.0, 0.0]), np.ones(2), curvature=np.ones(2)),
            "curvature: expected one number",
        ),
        (
            lambda: CARRIED.tell(CARRIED.start([0.0]), [1.0]),
            "g_before: Carried needs this round's sample at state.before",
        ),
        (lambda: CARRIED.tell(CARRIED.start([0.0]), [1.0], [1.0, 2.0]), "g_before: expected a gradient of shape"),
        (lambda: CARRIED.tell(CARRIED.start([0.0]), np.ones((2, 1)), [1.0]), "g_before: expected as many samples"),
        (lambda: PLAIN.tell(PLAIN.start([0.0]), ([1.0], [1.0])), "g: got a tuple; Fresh takes one gradient"),
        (lambda: PLAIN.tell(PLAIN.start([0.0]), [1.0], weight=0.0), "weight: expected positive finite numbers"),
        (lambda: PLAIN.tell(PLAIN.start([0.0]), [1.0], curvature=-1.0), "curvature: expected numbers of at least zero"),
        (lambda: PLAIN.tell(PLAIN.start([0.0]), [1.0], known=[nan]), "known: expected finite numbers"),
        (
            lambda: CARRIED.step(CARRIED.start([0.0]), lambda x, b: np.ones((2, 1))),
            "gradient: under Carried it must return",
        ),
        (lambda: sf.Conversion(sf.MirrorDescent(sf.Constant("0.1"))), "beta: expected a number, got '0.1'"),
        (lambda: sf.Conversion(sf.MirrorDescent(sf.Constant(10**400))), "beta: expected a number that fits a double"),
        (lambda: sf.Conversion(sf.MirrorDescent(sf.Constant(1.0), sf.Ball(1.0))), "mirror_map: expected a part"),
        (lambda: PLAIN.run(lambda h: h, [0.0], rounds=-1), "rounds: expected a whole number"),
        (lambda: sf.Conversion(PLAIN.learner, query="mean"), 'query: expected "average", "last" or a number'),
        (lambda: sf.Conversion(PLAIN.learner, query=1.5), "query: expected"),
        (lambda: sf.Conversion(PLAIN.learner, query=nan), "query: expected a number, got NaN"),
        (lambda: sf.Conversion(sf.MirrorDescent(sf.Constant(-1.0))), "beta: expected a positive"),
        (lambda: sf.Conversion(sf.MirrorDescent(sf.Constant(1.0), sf.Euclidean(sf.Ball(-1.0)))), "radius: expected"),
        (lambda: sf.Conversion(PLAIN.learner, estimate=sf.Carried(early=-1.0)), "early: expected a non-negative"),
        (lambda: sf.Conversion(PLAIN.learner, estimate=sf.Carried(leverage=0.0)), "leverage: expected a positive"),
        (lambda: sf.Conversion(PLAIN.learner, estimate=sf.Carried(typical=inf)), "typical: expected a positive finite"),
        (lambda: sf.Conversion(PLAIN.learner, estimate=sf.Carried(dimension=0)), "dimension: expected a whole number"),
        (lambda: sf.Conversion(PLAIN.learner, weights=0.5), "weights: expected a part"),
        (lambda: sf.Conversion(sf.MirrorDescent), "learner: expected a part"),
    ],
)
def test_errors_name_the_argument(action, message):
    with pytest.raises((ValueError, TypeError), match=message):
        action()


def test_an_anchor_of_another_shape_is_named_at_the_start():
    conversion = sf.Conversion(PLAIN.learner, sf.Clip(sf.ConstantThreshold(1.0), sf.Anchor([0.0], [0.0])))
    with pytest.raises(ValueError, match="anchor: expected the shape of h1"):
        conversion.start([0.0, 0.0])
    with pytest.raises(ValueError, match="anchor: expected the shape of the state's points"):
        conversion.tell(PLAIN.start([0.0, 0.0]), [1.0, 1.0])


def test_an_anchor_keeps_what_it_was_given():
    gradient = np.zeros(2)
    anchor = sf.Anchor(np.zeros(2), gradient)
    gradient[:] = 9.0
    assert np.array_equal(anchor.gradient, [0.0, 0.0])
    with pytest.raises(ValueError, match="read-only"):
        anchor.gradient[0] = 1.0


def test_samples_of_any_weight_are_samples_repeated():
    """One batch with whole weights equals the same batch with its rows repeated, but for the order of judging."""
    rng = np.random.default_rng(12)
    g, g_before, weight = rng.standard_normal((3, 2)), rng.standard_normal((3, 2)), np.array([1.0, 3.0, 2.0])
    feedback = sf.Clip(sf.ConstantThreshold(1.0), sf.Anchor(np.zeros(2), np.array([0.3, 0.0])))
    conversion = sf.Conversion(CARRIED.learner, feedback, estimate=sf.Carried(typical=1.0))
    state, _ = conversion.tell(conversion.start(np.zeros(2), samples=5), np.ones(2), np.ones(2))
    once, info = conversion.tell(state, g, g_before, weight=weight)
    again, repeated = conversion.tell(state, np.repeat(g, [1, 3, 2], axis=0), np.repeat(g_before, [1, 3, 2], axis=0))
    assert info.processed == pytest.approx(repeated.processed, rel=1e-14)
    assert (once.samples, info.share) == (again.samples, repeated.share)


def test_a_known_gradient_goes_to_the_learner_as_it_is():
    conversion = sf.Conversion(CARRIED.learner, sf.Clip(sf.ConstantThreshold(1.0)))
    state, info = conversion.tell(conversion.start(np.zeros(2)), np.array([9.0, 0.0]), known=np.array([0.0, 50.0]))
    assert info.processed == pytest.approx([1.0, 50.0])
    assert state.carried == pytest.approx([1.0, 0.0])


def test_a_run_that_explodes_says_so():
    conversion = sf.Conversion(sf.MirrorDescent(sf.Constant(1e6)), query="last")
    with pytest.raises(FloatingPointError, match=r"step_size: round \d+ left the finite numbers"):
        conversion.run(lambda h: h, np.ones(2), rounds=200)
