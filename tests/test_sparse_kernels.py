"""The sparse epoch: the dense one's rounds, one by one, at a cost that does not know the dimension."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import surefoot as sf
from surefoot import kernels, losses
from surefoot.compiled import plug
from surefoot.kernels import DenseRows, Setting, SparseRows, advance, one_round
from surefoot.sparse_kernels import sparse_epoch
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


def problem(rng, *, estimate, feedback, weights, query, batch, k, dtype, rows=300, columns=6, density=0.3):
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
        two_points=estimate.two_points, judged=False, bound=0.0, bend=1.0, typical=2.0, dimension=7.0, penalty=0.0,
        free=1, anchored=False, strict=feedback == sf.Raw(), learns=hasattr(getattr(feedback, "threshold", 0), "learn"),
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


class Interpreted:
    """A kernel in plain Python: crossing all parts would be too much to compile."""

    def __init__(self, function):
        self.function = function

    def __call__(self, parts, *arguments):
        return self.function(None, *map(plug, parts), *arguments)


def follow(rng, rounds, **parts):
    """Take rounds one by one with both kernels and with `tell`, and all at once; return the largest difference."""
    conversion, loss, setting, thin, full, y, weight = problem(rng, **parts)
    assert kernels.applies(conversion, setting, thin)
    assert not kernels.applies(conversion, setting, full)
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
    monkeypatch.setattr(kernels, "SPARSE_EPOCH", Interpreted(sparse_epoch))
    monkeypatch.setattr(kernels, "EPOCH", Interpreted(kernels.epoch))
    rng, tolerance = np.random.default_rng(0), 1e-9 if dtype == np.float64 else 1e-4
    for weights, query, batch, k in itertools.product(WEIGHTS, ["average", "last", 0.4], [1, 3, 8], [1, 3]):
        parts = {"estimate": ESTIMATES[estimate], "feedback": FEEDBACKS[feedback], "weights": WEIGHTS[weights]}
        assert follow(rng, 6, **parts, query=query, batch=batch, k=k, dtype=dtype) < tolerance
