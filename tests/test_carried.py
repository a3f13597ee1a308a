"""Carried feedback: equal to Fresh at b = 1, exact without noise, a martingale otherwise, equal to its twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import LogSumExp, Quadratic, identical, regression
from test_thresholds import slow_judge

import surefoot as sf
from surefoot.thresholds import bin_of

LEARNER = sf.MirrorDescent(sf.InverseSqrt(0.2), sf.Euclidean(sf.Ball(3.0)))
ANCHOR = sf.Anchor(np.zeros(3), np.array([0.5, 0.0, -0.5]))


@pytest.mark.parametrize("batch", [None, 4])
@pytest.mark.parametrize(
    "feedback", [sf.Raw(), sf.Clip(sf.RunningScale(), ANCHOR), sf.Truncate(sf.ConstantThreshold(2.0), ANCHOR)]
)
def test_a_share_of_one_is_fresh_bit_for_bit(feedback, batch):
    rng = np.random.default_rng(0)
    fresh = sf.Conversion(LEARNER, feedback)
    carried = sf.Conversion(LEARNER, feedback, estimate=sf.Carried(early=np.inf, leverage=np.inf))
    state, other = fresh.start(np.zeros(3)), carried.start(np.zeros(3))
    for _ in range(100):
        g = rng.standard_t(1.5, size=(3,) if batch is None else (batch, 3))
        state, info = fresh.tell(state, g)
        other, other_info = carried.tell(other, g, rng.standard_normal(g.shape))
        assert identical(state[:-1], other[:-1])
        assert identical(state.memory[:2], other.memory[:2])
        assert identical(info, other_info)


@given(seed=st.integers(0, 10**6), samples=st.sampled_from([0, 100]))
def test_without_noise_the_estimate_is_the_gradient(seed, samples):
    """D_t = grad R(x_t) at every round, however it came to be."""
    rng = np.random.default_rng(seed)
    for problem in (Quadratic.draw(rng, 3), LogSumExp.draw(rng, 3)):
        conversion = sf.Conversion(LEARNER, weights=sf.Polynomial(3.0), estimate=sf.Carried(leverage=np.inf))
        state = conversion.start(np.zeros(3))
        for _ in range(40):
            state, info = conversion.step(state, lambda x, before, p=problem: (p.gradient(x), p.gradient(before)))
            assert info.processed == pytest.approx(problem.gradient(state.before), abs=1e-10)


@pytest.mark.parametrize("estimate", [sf.Carried(leverage=np.inf), sf.Carried(early=0.0, leverage=np.inf)])
def test_the_error_is_the_stated_martingale(estimate):
    """A_t (D_t - grad R(x_t)) = sum xi_i, 1 - b_t = A_{t-1} / A_t."""
    rng = np.random.default_rng(1)
    X, y = regression(rng, 300, 3)
    problem = Quadratic(np.eye(3), np.ones(3))  # the population's gradient
    conversion = sf.Conversion(LEARNER, estimate=estimate)
    state, A, total = conversion.start(np.zeros(3)), 0.0, np.zeros(3)
    for a, target in zip(X, y, strict=True):
        x, before = conversion.ask(state), state.before
        G, G_before = (a @ x - target) * a, (a @ before - target) * a
        state, info = conversion.tell(state, G, G_before)
        A_before, A = A, (1.0 if A == 0 else A / (1 - info.share))
        total = total + (A - A_before) * (G - problem.gradient(x))
        total = total + A_before * ((G - G_before) - (problem.gradient(x) - problem.gradient(before)))
        assert info.processed - problem.gradient(x) == pytest.approx(total / A, abs=1e-10)


def test_a_dozen_lines_of_numpy():
    """One sample a round, no pilot: the recursion of the evidence, with its leverage cap and a clip line."""
    rng = np.random.default_rng(2)
    X, y = regression(rng, 500, 4, noise=3.0)
    X[::17] *= 6.0
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Decaying(0.1, span=16.0)), sf.Clip(sf.ConstantThreshold(4.0)), sf.Polynomial(8.0),
        estimate=sf.Carried(early=8.0, span=3.0, leverage=3.0, typical=4.0),
    )  # fmt: skip
    state, capped, clipped = conversion.start(np.zeros(4)), 0, 0
    h = x = before = D = np.zeros(4)
    rho = 1.0
    for t, (a, target) in enumerate(zip(X, y, strict=True), start=1):
        e, e_before = a @ x - target, a @ before - target
        q = 1 + 8 / (1 + t / 12)
        b = q / (t + q - 1)
        w = min(1.0, 4 / abs(e)) * min(1.0, 12 / (a @ a))
        D = (1 - b) * (D - w * e_before * a) + w * e * a
        h = h - 0.1 * (1 + t / 16) ** -0.35 * D
        rho = 1 + rho * (t / (t + 1)) ** 8
        before, x = x, x + (h - x) / rho
        state, info = conversion.tell(state, (a @ conversion.ask(state) - target) * a, (a @ state.before - target) * a,
                                      size=a @ conversion.ask(state) - target, curvature=a @ a)  # fmt: skip
        assert info.share == pytest.approx(b, rel=1e-12)
        assert info.factor == pytest.approx(w, rel=1e-12)
        assert info.processed == pytest.approx(D, abs=1e-12)
        assert state.hbar == pytest.approx(x, abs=1e-12)
        capped, clipped = capped + (a @ a > 12), clipped + (info.action == "clipped")
    assert min(capped, clipped) > 20


def test_a_stream_in_batches_of_eight_after_a_pilot():
    """Sizes, curvatures, rows clipped, rejected and capped, two re-readings of the lines: written again in loops."""
    rng = np.random.default_rng(3)
    m, d, B, power = 256, 5, 8, 64.0
    X, y = regression(rng, m + 1000, d)
    y += rng.standard_t(2.1, len(y)) + 60 * (rng.random(len(y)) < 0.03)
    y[700:] = X[700:].sum(axis=1) + 0.3 * (y[700:] - X[700:].sum(axis=1))  # the noise falls: worth must too
    X[::29, 1:] *= 5.0
    h1 = np.linalg.lstsq(X[:m], y[:m], rcond=None)[0] * 0.5 + 0.5
    typical = float(np.median(np.sum(X[:m] ** 2, axis=1)))
    n = m + 700  # fewer distinct rows than the stream has: the cap must bite
    lines = sf.LeastRisk(samples=n).read(X[:m] @ h1 - y[:m], m, d)
    step, span = 0.5 / typical / 2, 4.0 * d
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Decaying(step, span=span, power=1 / 3)),
        sf.Clip(sf.LeastRisk(start=lines, samples=n)), sf.Polynomial(power),
        estimate=sf.Carried(early=0.0, leverage=3.0, typical=typical),
    )  # fmt: skip
    state = conversion.start(h1, t=1 + m // B, samples=m)

    h, x, before, D = h1.copy(), h1.copy(), h1.copy(), np.zeros(d)
    t, V, (s, c, rej), unit = m, 1 / m, lines, lines.scale
    rho = sum((i / (1 + m // B)) ** power for i in range(1, 2 + m // B))
    counts, following, readings, seen = np.zeros((2, 256)), 2 * m, [], {"clipped": 0, "replaced": 0, "capped": 0}
    for begin in range(m, len(y), B):
        A, target = X[begin : begin + B], y[begin : begin + B]
        g, g_before = np.zeros(d), np.zeros(d)
        for a, value in zip(A, target, strict=True):
            e, e_before = a @ x - value, a @ before - value
            counts[int(e > 0), bin_of(abs(e), unit)] += 1
            w = 0.0 if abs(e) > rej else min(1.0, c / abs(e))
            seen["replaced"] += w == 0
            seen["clipped"] += 0 < w < 1
            seen["capped"] += a @ a > 3 * typical
            w *= min(1.0, 3 * typical / (a @ a))
            g, g_before = g + w * e * a, g_before + w * e_before * a
        count = len(target)
        t, r = t + count, 1 + (begin - m) / B + m // B
        b = V / (V + 1 / count)
        V *= 1 - b
        D = (1 - b) * (D - g_before / count) + g / count
        h = h - step * (1 + r / span) ** (-1 / 3) * D
        rho = 1 + rho * (r / (r + 1)) ** power
        before, x = x, x + (h - x) / rho
        if t >= following:
            old = s
            s, c, rej = slow_judge(counts, unit, t, d, distinct=n)
            counts, unit, following = np.zeros((2, 256)), s, 2 * t
            V = min(1.0, V * max(1.0, (old / s) ** 2))
            readings.append(s / old)

        point = conversion.ask(state)
        residual, residual_before = A @ point - target, A @ state.before - target
        squares = np.sum(A**2, axis=1)
        state, info = conversion.tell(
            state, residual[:, None] * A, residual_before[:, None] * A, size=residual, curvature=squares
        )
        assert info.share == pytest.approx(b, rel=1e-10)
        assert info.processed == pytest.approx(D, abs=1e-10)
        assert state.h == pytest.approx(h, abs=1e-10)
        assert state.hbar == pytest.approx(x, abs=1e-10)
    assert len(readings) == 2
    assert min(readings) < 0.7
    assert min(seen.values()) > 10


def test_anchors_missing_rows_and_batches_of_any_size():
    """The formula of the estimates once more, with an anchor, a reject line, default curvatures and a query between."""
    rng = np.random.default_rng(7)
    a, h1 = np.array([0.5, 0.0, -0.5]), np.full(3, 0.3)
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Constant(0.05), sf.Euclidean(sf.Ball(2.0))),
        sf.Clip(sf.ConstantThreshold(2.0, reject=6.0), sf.Anchor(np.zeros(3), a)), sf.Polynomial(2.0), query=0.7,
        estimate=sf.Carried(early=5.0, span=2.0, leverage=1.5, dimension=7),
    )  # fmt: skip
    state = conversion.start(h1, t=4, samples=12)
    h, hbar, before, D, worth, samples, rho, bends = h1, h1, h1, np.zeros(3), 12.0, 12, 30 / 16, []
    for t in range(4, 204):
        m, x = int(rng.integers(1, 6)), h + 0.7 * (hbar - h)
        slopes, noise = rng.uniform(0.2, 3.0, (m, 3)), rng.standard_t(2, (m, 3))
        g, g_before = slopes * (x - 1) + noise, slopes * (before - 1) + noise
        if t % 7 == 0:
            g_before[0, 1] = np.nan
        if t % 11 == 0:
            g[-1, 0] = -np.inf
        parts = []
        q = 1 + 5 / (1 + (samples + m) / 14)
        b = 1 / (1 + worth / (q * m))
        for G, G_before in zip(g, g_before, strict=True):
            if not (np.isfinite(G).all() and np.isfinite(G_before).all()):
                parts.append(b * a)
                continue
            size = np.linalg.norm(G - a)
            w = 1.0 if size <= 2 else 2 / size if size <= 6 else 0.0
            if not np.array_equal(x, before):
                bend = np.linalg.norm(G - G_before) / np.linalg.norm(x - before)
                w *= min(1.0, 1.5 * np.median(bends) / bend) if bends else 1.0
                bends = [*bends, bend][:64]
            parts.append(w * (G - (1 - b) * G_before) + b * (1 - w) * a)
        D = (1 - b) * D + np.mean(parts, axis=0)
        h = h - 0.05 * D
        h = h / max(1.0, np.linalg.norm(h) / 2)
        rho, worth, samples, before = 1 + rho * (t / (t + 1)) ** 2, worth + m, samples + m, x
        hbar = hbar + (h - hbar) / rho
        state, info = conversion.tell(state, g, g_before)
        assert info.share == pytest.approx(b, rel=1e-12)
        assert info.processed == pytest.approx(D, abs=1e-11)
        assert state.hbar == pytest.approx(hbar, abs=1e-11)
        assert state.samples == samples


def test_an_estimate_is_always_worth_one_sample():
    """A scale that falls a thousandfold leaves nothing of the past, not less than nothing."""
    estimate = sf.Carried(early=0.0)
    assert estimate.worth(100.0, 1.0, calmer=1e-3) == 1.0
    assert estimate.worth(99.0, 1.0, calmer=0.5) == 25.0
    assert estimate.share(1.0, 0.0, 1.0, 5) == 0.5


def test_a_curvature_that_overflows_counts_for_nothing_and_spoils_nothing():
    conversion = sf.Conversion(LEARNER, sf.Clip(sf.ConstantThreshold(np.inf)), estimate=sf.Carried())
    state, _ = conversion.tell(conversion.start(np.zeros(3)), np.ones(3), np.ones(3))
    state, info = conversion.tell(state, np.full(3, 1e308), np.full(3, -1e308))
    assert info.factor == 1.0  # nothing to compare it with yet, and an infinite curvature is not kept
    assert state.memory[2].curvatures == ()


def test_seventy_thousand_rounds_with_t_to_the_64():
    rng = np.random.default_rng(4)
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Decaying(0.3, span=8.0)), weights=sf.Polynomial(64.0), estimate=sf.Carried()
    )
    state = conversion.start(np.zeros(2))
    for noise in rng.standard_normal((70_000, 2)):  # from 65,536 on, t^64 is beyond the largest double
        point, before = conversion.ask(state), state.before
        state, _ = conversion.tell(state, point - 1 + noise, before - 1 + noise)
    assert state.hbar == pytest.approx([1.0, 1.0], abs=0.05)
    assert state.weight_ratio == pytest.approx(sf.Polynomial(64.0).ratio(70_001), rel=1e-10)


def test_carrying_quiets_the_noise():
    """One run in 200 dimensions, seed 5: the mean square of D_t's error falls from about 1 to 1/500 after 500 rounds.

    The mean of 200 squares, each of mean 1/500, has a standard deviation of a tenth of that: ten times it is 90 sigma.
    """
    rng = np.random.default_rng(5)
    fresh = sf.Conversion(LEARNER)
    carried = sf.Conversion(LEARNER, estimate=sf.Carried(early=0.0))
    state, other = fresh.start(np.zeros(200)), carried.start(np.zeros(200))
    for _ in range(500):
        noise = rng.standard_normal(200)
        state, info = fresh.step(state, lambda x, e=noise: x + e)
        other, other_info = carried.step(other, lambda x, before, e=noise: (x + e, before + e))
    assert np.mean((info.processed - state.before) ** 2) > 0.5
    assert np.mean((other_info.processed - other.before) ** 2) < 0.02


def test_leverage_is_judged_by_the_median_of_the_first_64_curvatures():
    conversion = sf.Conversion(LEARNER, estimate=sf.Carried(leverage=2.0))
    rng = np.random.default_rng(6)
    curvatures = rng.uniform(0.0, 1.0, 100)
    curvatures[[10, 30, 80]] = 50.0, 0.0, 50.0
    state, kept = conversion.start(np.zeros(3)), []
    for value in curvatures:
        first = [k for k in kept if k > 0][:64]
        limit = 2 * np.median(first) if first else np.inf
        state, info = conversion.tell(state, np.ones(3), np.ones(3), curvature=value)
        assert info.factor == pytest.approx(min(1.0, limit / value) if value > 0 else 1.0)
        kept.append(value)


def test_the_default_curvature_is_the_quotient_of_differences():
    conversion = sf.Conversion(LEARNER, estimate=sf.Carried(leverage=1.0, typical=1.0))
    state = conversion.start(np.zeros(3))
    state, info = conversion.tell(state, np.ones(3), np.zeros(3))  # the two points agree: nothing to judge by
    assert info.factor == 1.0
    g, g_before = np.array([3.0, 0.0, 0.0]), np.array([0.0, 4.0, 0.0])
    moved = np.linalg.norm(conversion.ask(state) - state.before)
    _, info = conversion.tell(state, g, g_before)
    assert info.factor == pytest.approx(min(1.0, moved / 5.0))
