"""The compiled epoch: equal to `Conversion.tell` after every round, parts crossed; parts of a user's own; no JIT."""

import gc
import os
import subprocess
import sys
from math import inf
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

import surefoot as sf
from surefoot import losses
from surefoot.compiled import plug
from surefoot.kernels import DenseRows, Setting, SparseRows, advance, one_round

ROWS, COLUMNS = 400, 5
RNG = np.random.default_rng(0)
X = RNG.standard_normal((ROWS, COLUMNS)) * np.array([1.0, 1.0, 2.0, 0.5, 1.0])
X[::23] *= 6.0
Y = X.sum(axis=1) + RNG.standard_t(2.1, ROWS) + 60.0 * (RNG.random(ROWS) < 0.05)
LABELS = RNG.integers(0, 3, ROWS).astype(float)
WEIGHT = RNG.choice([0.5, 1.0, 3.0], ROWS)
ANCHOR = sf.Anchor(np.zeros((3, COLUMNS + 1)), RNG.standard_normal((3, COLUMNS + 1)) / 5)
PLAIN = sf.MirrorDescent(sf.Decaying(0.02, span=20.0))
LINES = sf.Lines(1.0, 3.0, 25.0)
SETTING = Setting(
    batch=8, query=1.0, by_batch=False, two_points=True, judged=False, bound=0.0, curvature=1.0, typical=6.0,
    dimension=6.0, penalty=0.0, free=1, anchored=False, strict=False, learns=False,
)  # fmt: skip


class Quartic(NamedTuple):
    """A user's loss, its arguments named as the user likes."""

    flatness: float = 10.0

    def value(self, target, p):
        return (p - target) ** 4 / (4 * self.flatness)

    def derivative(self, target, p):
        cube = (p - target) ** 3
        return cube / self.flatness


class Momentum(NamedTuple):
    """A user's learner with a memory."""

    rate: float = 0.01
    mirror_map: sf.Euclidean = sf.Euclidean()

    def start(self, h1):
        return np.zeros_like(h1)

    def move(self, t, h, g, weights, memory):
        memory = 0.9 * memory + g
        return h - self.rate * memory, memory


class Halfway(NamedTuple):
    """A user's threshold that does not learn."""

    c: float = 2.0

    def lines(self, memory, away):
        return self.c, inf


def conversion(learner=PLAIN, feedback=sf.Clip(sf.LeastRisk(start=LINES)), weights=sf.Polynomial(8.0),  # noqa: B008
               query=1.0, estimate=sf.Carried(typical=6.0, dimension=6)):  # noqa: B008  # fmt: skip
    return sf.Conversion(learner, feedback, weights, query, estimate)


SQUARED, LOG, SOFTMAX = losses.SquaredError(), losses.LogLoss(), losses.Softmax()
BOUNDED = {"judged": True, "bound": 1.0, "curvature": 0.25, "typical": 1.5}
KEEP = sf.Clip(sf.ConstantThreshold(inf))
QUARTER = sf.Carried(leverage=7.0, typical=1.5, dimension=6)
BATCHES = {"by_batch": True, "two_points": False, "anchored": True}
TRUNCATE = sf.Truncate(sf.ConstantThreshold(1.5), ANCHOR)
SMOOTH = sf.Truncate(sf.SmoothThreshold(1.0, 0.5, 0.1, 0.6), ANCHOR)
LEADER = sf.FollowTheRegularizedLeader(sf.InverseSqrt(0.01), sf.Euclidean(sf.Ball(0.5)))
BOXED = sf.MirrorDescent(sf.Constant(0.02), sf.Euclidean(sf.Box(-0.4, 0.4)))
PILOTED = sf.Carried(early=0.0, typical=6.0, dimension=6)
CASES = {
    "recipe, regression": (conversion(weights=sf.Polynomial(64.0), estimate=PILOTED), SQUARED, {}),
    "recipe, classification": (conversion(feedback=KEEP, estimate=QUARTER), LOG, BOUNDED),
    "recipe, softmax": (conversion(feedback=KEEP), SOFTMAX, {"judged": True, "bound": 2**0.5}),
    "warm-up, running scale": (conversion(feedback=sf.Clip(sf.RunningScale()), weights=sf.Uniform()), SQUARED, {}),
    "warm-up, least risk": (
        conversion(feedback=sf.Clip(sf.LeastRisk()), query=0.0),
        SQUARED,
        {"query": 0.0, "batch": 1},
    ),
    "the paper's": (conversion(PLAIN, TRUNCATE, sf.Uniform(), 1.0, sf.Fresh()), SOFTMAX, BATCHES),
    "a leader on a ball": (
        conversion(LEADER, SMOOTH, sf.Uniform(), 0.9, sf.Fresh()),
        SOFTMAX,
        {**BATCHES, "query": 0.9},
    ),
    "clip to an anchor, box, penalty": (
        conversion(BOXED, sf.Clip(sf.ConstantThreshold(1.0), ANCHOR)),
        SOFTMAX,
        {"anchored": True, "penalty": 0.3, "batch": 3},
    ),
    "raw, fresh, huber": (
        conversion(feedback=sf.Raw(), estimate=sf.Fresh()),
        losses.Huber(1.0),
        {"two_points": False, "strict": True},
    ),
    "poisson, with a divisor and a longest step": (
        conversion(sf.MirrorDescent(sf.Constant(0.05), longest=0.02), KEEP),
        losses.Poisson(1.0),
        {"usual": 0.5},
    ),
    "a user's loss, learner and threshold": (conversion(Momentum(), sf.Clip(Halfway())), Quartic(50.0), {}),
}


def rows_of(kind):
    center, scale = np.linspace(-0.2, 0.2, COLUMNS), np.linspace(0.5, 1.5, COLUMNS)
    if kind == "dense":
        return DenseRows(X, center, scale, 1.0)
    table = sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
    return SparseRows(table.data, table.indices, table.indptr, scale, 1.0)


@pytest.mark.parametrize(
    ("case", "kind"),
    [*((case, "dense") for case in CASES), ("recipe, regression", "sparse"), ("the paper's", "sparse")],
)
def test_the_kernel_is_the_conversion_after_every_round(case, kind):
    parts, loss, changes = CASES[case]
    setting, rows = SETTING._replace(**changes), rows_of(kind)
    y = LABELS if loss == SOFTMAX or isinstance(loss, losses.Poisson) else (Y > 0).astype(float) if loss == LOG else Y
    order = np.random.default_rng(1).permutation(ROWS)
    state = slow = parts.start(np.zeros((3 if loss is SOFTMAX else 1, COLUMNS + 1)), t=9, samples=64)
    total, slow_total = np.zeros(4), np.zeros(4)
    for begin in range(0, ROWS, setting.batch):
        chosen = order[begin : begin + setting.batch]
        slow, taken = one_round(parts, loss, setting, rows, y, WEIGHT, chosen, slow)
        slow_total += taken
        state, taken = advance(parts, loss, setting, rows, y, WEIGHT, chosen, state)
        total += taken
        for name in ("h", "hbar", "before", "carried"):
            assert getattr(state, name) == pytest.approx(getattr(slow, name), abs=1e-10), (name, begin)
        assert (state.t, state.samples) == (slow.t, pytest.approx(slow.samples))
        assert state.weight_ratio == pytest.approx(slow.weight_ratio, rel=1e-12)
    assert total == pytest.approx(slow_total, rel=1e-9)
    whole, _ = advance(parts, loss, setting, rows, y, WEIGHT, order, parts.start(slow.h * 0, t=9, samples=64))
    assert whole.hbar == pytest.approx(slow.hbar, abs=1e-10)
    if parts.feedback is not KEEP and not isinstance(parts.feedback, sf.Raw):
        assert total[2] + total[3] > 0  # something was clipped, or replaced


def test_both_lines_are_read_again_at_doublings():
    parts = conversion()
    state = parts.start(np.zeros((1, COLUMNS + 1)), t=9, samples=64)
    order = np.concatenate([np.random.default_rng(i).permutation(ROWS) for i in range(3)])
    seen = set()
    for begin in range(0, len(order), 8):
        state, _ = advance(parts, SQUARED, SETTING, rows_of("dense"), Y, np.ones(ROWS), order[begin : begin + 8], state)
        seen.add(state.memory[1].drawn)
    assert len(seen) == 1 + 4  # at 128, 256, 512, 1024
    assert state.memory[2].worth <= state.samples


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_dropped_or_named(value):
    bad = X.copy()
    bad[7] = value
    rows = DenseRows(bad, np.zeros(COLUMNS), np.ones(COLUMNS), 1.0)
    arguments = SETTING, rows, Y, np.ones(ROWS), np.arange(ROWS)
    parts = conversion()
    state, tallies = advance(parts, SQUARED, *arguments, parts.start(np.zeros((1, 6)), samples=64))
    assert np.isfinite(state.hbar).all()
    assert tallies[3] >= 1
    raw = conversion(feedback=sf.Raw(), estimate=sf.Fresh())
    setting = SETTING._replace(two_points=False, strict=True)
    with pytest.raises(FloatingPointError, match="round 1 left the finite numbers"):
        advance(raw, losses.Huber(1.0), setting, *arguments[1:], raw.start(np.zeros((1, 6))))


def test_a_row_that_is_not_finite_replaces_the_batch_where_its_mean_is_judged():
    wild = X.copy()
    wild[[3, 50]] = np.nan
    rows = DenseRows(wild, np.zeros(COLUMNS), np.ones(COLUMNS), 1.0)
    parts, _, _ = CASES["the paper's"]
    setting, ones = SETTING._replace(**BATCHES), np.ones(ROWS)
    state = slow = parts.start(np.zeros((3, COLUMNS + 1)))
    for begin in range(0, 80, 8):
        chosen = np.arange(begin, begin + 8)
        slow, taken = one_round(parts, SOFTMAX, setting, rows, LABELS, ones, chosen, slow)
        state, tallies = advance(parts, SOFTMAX, setting, rows, LABELS, ones, chosen, state)
        assert state.hbar == pytest.approx(slow.hbar, abs=1e-12)
        assert tallies[1:] == pytest.approx(taken[1:])
        assert tallies[3] == 8 or begin not in (0, 48)


def test_a_class_that_is_gone_leaves_its_name_to_nobody():
    def make(power):
        class Gone(NamedTuple):
            unit: float = 1.0

            def derivative(self, y, prediction):
                return (prediction - y) * power

        return Gone()

    names = []
    for power in (2.0, 3.0, 4.0):
        names.append(type(plug(make(power))).__name__)
        gc.collect()
    assert len(set(names)) == 3


def test_a_row_too_large_for_its_precision_is_dropped():
    """Its loss saturates, its factor is zero, and zero times infinity would be NaN."""
    wild = X.astype(np.float32)
    wild[11] = 3e38
    rows = DenseRows(wild, np.zeros(COLUMNS, np.float32), np.full(COLUMNS, 10.0, np.float32), np.float32(1.0))
    parts = conversion(feedback=KEEP, estimate=QUARTER)
    state, tallies = advance(
        parts, LOG, SETTING._replace(**BOUNDED), rows, (Y > 0).astype(float), np.ones(ROWS), np.arange(ROWS),
        parts.start(np.zeros((1, COLUMNS + 1))),
    )  # fmt: skip
    assert np.isfinite(state.hbar).all()
    assert tallies[3] == 1


def test_single_precision_follows_double():
    parts = conversion(feedback=sf.Clip(sf.ConstantThreshold(inf)))
    setting = SETTING._replace(judged=True, bound=1.0, curvature=0.25, typical=1.5)
    y, order, start = (Y > 0).astype(float), np.arange(ROWS), parts.start(np.zeros((1, COLUMNS + 1)))
    double, _ = advance(parts, LOG, setting, rows_of("dense"), y, WEIGHT, order, start)
    rows = DenseRows(*(np.asarray(each, np.float32) for each in rows_of("dense")[:3]), np.float32(1.0))
    single, _ = advance(parts, LOG, setting, rows, y, WEIGHT, order, start)
    assert single.hbar == pytest.approx(double.hbar, abs=1e-5)


def test_two_classes_of_one_name_are_never_confused():
    def make(power):
        class Same(NamedTuple):
            unit: float = 1.0

            def value(self, y, prediction):
                return abs(prediction - y) ** power / power

            def derivative(self, y, prediction):
                return (prediction - y) * abs(prediction - y) ** (power - 2)

        return Same()

    found = []
    for power in (2.0, 3.0):
        parts = conversion()
        state = parts.start(np.zeros((1, 6)), samples=64)
        state, _ = advance(parts, make(power), SETTING, rows_of("dense"), Y / 9, np.ones(ROWS), np.arange(80), state)
        slow = parts.start(np.zeros((1, 6)), samples=64)
        for begin in range(0, 80, 8):
            chosen = np.arange(begin, begin + 8)
            slow, _ = one_round(parts, make(power), SETTING, rows_of("dense"), Y / 9, np.ones(ROWS), chosen, slow)
        assert state.hbar == pytest.approx(slow.hbar, abs=1e-10)
        found.append(state.hbar)
    assert not np.allclose(*found)


def test_a_method_with_too_few_arguments_is_named():
    class Broken(NamedTuple):
        def derivative(self, prediction):
            return prediction

    with pytest.raises(TypeError, match=r"derivative: expected the arguments \('self', 'y', 'prediction'\)"):
        plug(Broken())


def test_without_the_compiler_everything_still_works():
    code = """
import numpy as np, surefoot as sf
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3)); y = X.sum(axis=1)
print(sf.SurefootRegressor(random_state=0, max_iter=1, tol=None, pilot=0).fit(X, y).coef_.tolist())
print(sf.SurefootClassifier(random_state=0, max_iter=1, tol=None).fit(X, y > 0).coef_.tolist())
"""
    results = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": flag},
        ).stdout for flag in ("0", "1")
    ]  # fmt: skip
    compiled, plain = ([eval(line) for line in text.splitlines()] for text in results)
    for one, other in zip(compiled, plain, strict=True):
        assert np.ravel(one) == pytest.approx(np.ravel(other), rel=1e-9)


def test_code_is_kept_on_disk_for_the_next_process(tmp_path):
    code = """
import numpy as np, surefoot as sf
from surefoot.kernels import EPOCH
X = np.random.default_rng(0).standard_normal((300, 3))
sf.SurefootClassifier(random_state=0, max_iter=1, tol=None).fit(X, X[:, 0] > 0)
print(sum(EPOCH.kept.stats.cache_hits.values()), sum(EPOCH.kept.stats.cache_misses.values()))
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    run = [sys.executable, "-c", code]
    hits = [subprocess.run(run, capture_output=True, text=True, check=True, env=environment).stdout for _ in range(2)]
    assert [line.split() for line in hits] == [["0", "1"], ["1", "0"]]
