"""The sparse epoch: the dense one's rounds, one by one, at a cost that does not know the dimension."""

import itertools
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from interpreted import interpret
from scipy import sparse

import surefoot as sf
from surefoot import kernels, losses, sparse_kernels
from surefoot.kernels import DenseRows, Setting, SparseRows, advance, one_round
from surefoot.thresholds import LeastRisk, Lines

ESTIMATES = {"fresh": sf.Fresh(), "carried": sf.Carried(dimension=7), "pilot": sf.Carried(early=0.0, leverage=np.inf)}
FEEDBACKS = {
    "raw": sf.Raw(),
    "constant": sf.Clip(sf.ConstantThreshold(1.5, reject=4.0)),
    "least risk": sf.Clip(LeastRisk(start=Lines(0.5, 1.5, 6.0))),
    "running": sf.Clip(sf.RunningScale(multiple=1.5, reject=8.0, start=0.5)),
}
WEIGHTS = {"uniform": sf.Uniform(), "8": sf.Polynomial(8.0), "64": sf.Polynomial(64.0)}


def table(rng, rows, columns, dtype, density=0.3, targets=1):
    """Return CSR rows with empty rows and explicit zeros, a scale, targets and weights, all read-only."""
    X = sparse.random_array((rows, columns), density=density, rng=rng, data_sampler=rng.standard_normal, format="csr")
    X.data[rng.random(X.nnz) < 0.05] = 0.0
    if dtype == np.float64:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X = X.astype(dtype)
    scale = rng.uniform(0.5, 2.0, columns).astype(dtype)
    truth = rng.standard_normal(columns)
    y = X @ truth + rng.standard_t(2.0, rows) if targets == 1 else rng.integers(targets, size=rows).astype(np.float64)
    weight = rng.uniform(0.5, 2.0, rows)
    for each in (X.data, X.indices, X.indptr, scale, y, weight):
        each.setflags(write=False)
    return X, scale, np.asarray(y, dtype=np.float64), weight


def problem(
    rng, *, estimate, feedback, weights, query, batch, k, dtype, rows=300, columns=6, density=0.3, penalty=0.0, free=1
):
    """Return what `advance` takes: for the sparse rows, for the same rows dense, and the conversion."""
    X, scale, y, weight = table(rng, rows, columns, dtype, density, targets=k)
    loss = losses.SquaredError() if k == 1 else losses.Softmax()
    if estimate.two_points:
        estimate = estimate._replace(typical=2.0)
    conversion = sf.Conversion(
        sf.MirrorDescent(sf.Decaying(0.05, span=50.0)), feedback, weights, query=query, estimate=estimate
    )
    setting = Setting(
        batch=batch, query={"average": 1.0, "last": 0.0}.get(query, query), by_batch=False,
        two_points=estimate.two_points, judged=False, bound=0.0, curvature=1.0, typical=2.0, dimension=7.0,
        penalty=penalty, free=free, anchored=False, strict=feedback == sf.Raw(),
        learns=hasattr(getattr(feedback, "threshold", 0), "learn"),
    )  # fmt: skip
    one = dtype(1.0)
    thin = SparseRows(X.data, X.indices, X.indptr, scale, one)
    full = DenseRows(X.toarray(), np.zeros(columns, dtype), scale, one)
    return conversion, loss, setting, thin, full, y, weight


def differences(one, other):
    """Return how far two states lie apart, relative to the size of what they hold."""
    assert (one.t, one.samples) == (other.t, pytest.approx(other.samples))
    assert one.weight_ratio == pytest.approx(other.weight_ratio, rel=1e-12)
    pairs = [(getattr(one, name), getattr(other, name)) for name in ("h", "hbar", "before", "carried")]
    return max(np.abs(a - b).max() / (1 + np.abs(b).max()) for a, b in pairs)


def follow(rng, rounds, **parts):
    """Take rounds one by one with both kernels and with `tell`, and all at once; return the largest difference."""
    conversion, loss, setting, thin, full, y, weight = problem(rng, **parts)
    assert kernels.applies(conversion, setting, thin, 7)
    assert not kernels.applies(conversion, setting, full, 7)
    k, batch, worst = parts["k"], parts["batch"], 0.0
    start = conversion.start(0.1 * rng.standard_normal((k, 7)), t=5, samples=4.0)
    one = other = slow = start
    order = rng.permutation(len(y))
    for begin in range(0, rounds * batch, batch):
        chosen = order[begin : begin + batch]
        one, tallies = advance(conversion, loss, setting, thin, y, weight, chosen, one)
        other, expected = advance(conversion, loss, setting, full, y, weight, chosen, other)
        slow, _ = one_round(conversion, loss, setting, full, y, weight, chosen, slow)
        worst = max(worst, differences(one, other), differences(one, slow))
        assert tallies == pytest.approx(expected, rel=1e-3)
    whole, _ = advance(conversion, loss, setting, thin, y, weight, order[: rounds * batch], start)
    return max(worst, differences(whole, one))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("feedback", FEEDBACKS)
@pytest.mark.parametrize("estimate", ESTIMATES)
def test_every_round_is_that_of_the_dense_kernel_and_of_tell(estimate, feedback, dtype, monkeypatch):
    interpret(monkeypatch)
    rng, tolerance = np.random.default_rng(0), 1e-9 if dtype == np.float64 else 1e-4
    for weights, query, batch, k in itertools.product(WEIGHTS, ["average", "last", 0.4], [1, 3, 8], [1, 3]):
        parts = {"estimate": ESTIMATES[estimate], "feedback": FEEDBACKS[feedback], "weights": WEIGHTS[weights]}
        assert follow(rng, 6, **parts, query=query, batch=batch, k=k, dtype=dtype) < tolerance
    for weights, batch, k, free in itertools.product(WEIGHTS, [1, 3], [1, 3], [0, 1]):
        parts = {"estimate": ESTIMATES[estimate], "feedback": FEEDBACKS[feedback], "weights": WEIGHTS[weights]}
        parts = {**parts, "query": "average", "penalty": 2.0, "free": free}
        assert follow(rng, 6, **parts, batch=batch, k=k, dtype=dtype) < tolerance


COMPILED = [
    ("carried", "least risk", "64", 8, 1, np.float64),
    ("pilot", "running", "8", 3, 3, np.float64),
    ("fresh", "constant", "uniform", 8, 3, np.float32),
]


@pytest.mark.parametrize(("estimate", "feedback", "weights", "batch", "k", "dtype"), COMPILED)
def test_compiled_rounds_are_those_of_the_dense_kernel_and_of_tell(estimate, feedback, weights, batch, k, dtype):
    parts = {"estimate": ESTIMATES[estimate], "feedback": FEEDBACKS[feedback], "weights": WEIGHTS[weights]}
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    rng = np.random.default_rng(1)
    for query, penalty in (("average", 0.0), ("last", 0.0), (0.4, 0.0), ("average", 2.0)):
        assert follow(rng, 30, **parts, query=query, penalty=penalty, batch=batch, k=k, dtype=dtype) < tolerance


@pytest.mark.parametrize("penalty", [0.0, 0.5])
@pytest.mark.parametrize("power", [8.0, 64.0])
@pytest.mark.parametrize(("early", "t"), [(0.0, 1025), (8.0, 1)])
def test_twenty_thousand_rounds_keep_to_the_dense_recursion(early, t, power, penalty):
    """After a pilot of 1,024 rows, and from nothing, with weights that grow to 1e275."""
    rng = np.random.default_rng(2)
    conversion, loss, setting, thin, full, y, weight = problem(
        rng, estimate=sf.Carried(early=early), feedback=FEEDBACKS["least risk"], weights=sf.Polynomial(power),
        query="average", batch=1, k=1, dtype=np.float64, rows=5000, columns=20, penalty=penalty,
    )  # fmt: skip
    setting = setting._replace(dimension=21.0)
    one = other = start = conversion.start(np.zeros((1, 21)), t=t, samples=t - 1.0)
    order = np.concatenate([rng.permutation(5000) for _ in range(4)])
    for begin in range(0, 20_000, 2500):
        one, _ = advance(conversion, loss, setting, thin, y, weight, order[begin : begin + 2500], one)
        other, _ = advance(conversion, loss, setting, full, y, weight, order[begin : begin + 2500], other)
        assert differences(one, other) < 1e-9
    whole, _ = advance(conversion, loss, setting, thin, y, weight, order, start)
    assert differences(whole, other) < 1e-9


def test_single_precision_drifts_no_further_than_the_dense_kernel_does():
    errors = []
    for which in ("sparse", "dense"):
        states = []
        for dtype in (np.float32, np.float64):
            conversion, loss, setting, thin, full, y, weight = problem(
                np.random.default_rng(3), estimate=sf.Carried(), feedback=FEEDBACKS["least risk"], query="average",
                weights=sf.Polynomial(8.0), batch=1, k=1, dtype=dtype, rows=20_000, columns=20,
            )  # fmt: skip
            rows = thin if which == "sparse" else full
            start = conversion.start(np.zeros((1, 21)))
            states.append(advance(conversion, loss, setting, rows, y, weight, np.arange(20_000), start)[0])
        errors.append(np.abs(states[0].hbar - states[1].hbar).max())
    assert errors[0] < 3 * errors[1] + 1e-5


def test_lanes_are_laid_anew_as_often_as_the_logarithm_of_the_rounds(monkeypatch):
    calls = []
    interpret(monkeypatch)
    monkeypatch.setattr(sparse_kernels, "lay_anew", lambda *a, own=sparse_kernels.lay_anew: calls.append(0) or own(*a))
    conversion, loss, setting, thin, _, y, weight = problem(
        np.random.default_rng(4), estimate=sf.Carried(), feedback=FEEDBACKS["constant"], weights=sf.Polynomial(8.0),
        query="average", batch=1, k=1, dtype=np.float64, rows=4000,
    )  # fmt: skip
    state, counts = conversion.start(np.zeros((1, 7))), []
    for begin in range(0, 4000, 1000):
        state, _ = advance(conversion, loss, setting, thin, y, weight, np.arange(begin, begin + 1000), state)
        counts.append(len(calls))
    assert 5 < counts[0] < 40
    assert counts[-1] - counts[0] < 5


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_a_step_costs_its_non_zeros_whatever_the_dimension(estimate, monkeypatch):
    """The lines that run, but for those that lay the lanes and lift from them, once a call or now and then."""
    interpret(monkeypatch)
    counted = {getattr(sparse_kernels, name).__code__ for name in ("sparse_epoch", "gather", "scatter", "touch")}
    lines = []
    for factor in (1, 500):
        conversion, loss, setting, thin, _, y, weight = problem(
            np.random.default_rng(5), estimate=ESTIMATES[estimate], feedback=FEEDBACKS["constant"], query="average",
            weights=sf.Polynomial(8.0), batch=3, k=1, dtype=np.float64,
        )  # fmt: skip
        thin = thin._replace(indices=thin.indices * factor, scale=np.repeat(thin.scale, factor))
        state, count = conversion.start(np.zeros((1, 6 * factor + 1))), 0

        def trace(frame, event, argument):
            nonlocal count
            count += event == "line"
            return trace if frame.f_code in counted else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            advance(conversion, loss, setting, thin, y, weight, np.arange(100), state)
        finally:
            sys.settrace(before)
        lines.append(count)
    assert lines[0] == lines[1] > 1000


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_what_is_not_finite_is_dropped_or_ends_the_run(estimate, monkeypatch):
    interpret(monkeypatch)
    for feedback, worth in itertools.product(("constant", "raw"), (np.nan, np.inf)):
        conversion, loss, setting, thin, full, y, weight = problem(
            np.random.default_rng(6), estimate=ESTIMATES[estimate], feedback=FEEDBACKS[feedback], query="average",
            weights=sf.Polynomial(8.0), batch=3, k=1, dtype=np.float64,
        )  # fmt: skip
        data, targets = thin.data.copy(), y.copy()
        data[thin.indptr[4]], targets[7] = worth, np.nan
        thin, wild = thin._replace(data=data), sparse.csr_array((data, thin.indices, thin.indptr), shape=full.X.shape)
        full = full._replace(X=wild.toarray())
        start = conversion.start(0.1 + np.zeros((1, 7)))
        arguments = targets, weight, np.arange(30), start
        with np.errstate(invalid="ignore"):
            if feedback == "raw":
                for rows in (thin, full):
                    with pytest.raises(FloatingPointError, match="round 2"):
                        advance(conversion, loss, setting, rows, *arguments)
            else:
                one, tallies = advance(conversion, loss, setting, thin, *arguments)
                other, expected = advance(conversion, loss, setting, full, *arguments)
                assert differences(one, other) < 1e-9
                assert tallies == pytest.approx(expected)
                assert tallies[3] >= weight[[4, 7]].sum()


@pytest.mark.parametrize("estimate", ["fresh", "carried"])
@pytest.mark.parametrize("penalty", [0.0, 3e3])
def test_steps_that_are_too_long_end_the_run_in_the_same_round(estimate, penalty, monkeypatch):
    interpret(monkeypatch)
    conversion, loss, setting, thin, full, y, weight = problem(
        np.random.default_rng(7), estimate=ESTIMATES[estimate], feedback=sf.Raw(), query="average",
        weights=sf.Polynomial(8.0), batch=3, k=1, dtype=np.float64, penalty=penalty,
    )  # fmt: skip
    conversion = replace(conversion, learner=sf.MirrorDescent(sf.Constant(1e4)))
    said = []
    for rows in (thin, full):
        with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as error:
            advance(conversion, loss, setting, rows, y, weight, np.arange(300), conversion.start(np.ones((1, 7))))
        said.append(int(re.search("round ([0-9]+)", str(error.value))[1]))
    assert abs(said[0] - said[1]) <= 2


def test_what_is_not_linear_is_unpacked():
    conversion, _, setting, thin, full, _, _ = problem(
        np.random.default_rng(8), estimate=sf.Fresh(), feedback=sf.Raw(), weights=sf.Uniform(), query="average",
        batch=1, k=1, dtype=np.float64,
    )  # fmt: skip
    assert kernels.applies(conversion, setting, thin, 7)
    assert not kernels.applies(conversion, setting, full, 7)
    ball = sf.MirrorDescent(sf.Constant(0.1), sf.Euclidean(sf.Ball(1.0)))
    for learner in (ball, sf.FollowTheRegularizedLeader(sf.Constant(0.1))):
        assert not kernels.applies(replace(conversion, learner=learner), setting, thin, 7)
    for change in ({"by_batch": True}, {"anchored": True}, {"penalty": 1.0, "query": 0.5}):
        assert not kernels.applies(conversion, setting._replace(**change), thin, 7)
    assert kernels.applies(conversion, setting._replace(penalty=1.0), thin, 7)
