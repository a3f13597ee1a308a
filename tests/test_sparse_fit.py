"""Estimators on sparse tables: the results of the same table, dense, and never a dense table."""

import os
import subprocess
import sys

import numpy as np
import pytest
from interpreted import interpret
from scipy import sparse

import surefoot as sf

REGRESSORS = [{}, {"loss": "huber"}, {"penalty": 0.1}, {"batch_size": 1}, {"fit_intercept": False}]
CLASSIFIERS = [{}, {"estimate": sf.Fresh()}, {"loss": "squared_hinge"}, {"query": "last"}]
OTHERS = [
    {"learner": sf.MirrorDescent(sf.Constant(0.02), sf.Euclidean(sf.Ball(20.0)))},
    {"learner": sf.FollowTheRegularizedLeader(sf.Constant(0.02)), "weights": sf.Uniform()},
    {"feedback": sf.Truncate(sf.ConstantThreshold(1.0), anchor=sf.anchors.empirical_mean), "estimate": sf.Fresh()},
]


def draw(seed, rows=300, columns=12, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = sparse.random_array(
        (rows, columns), density=0.3, rng=rng, data_sampler=rng.standard_normal, format="csr", dtype=dtype
    )
    score = X @ rng.standard_normal(columns)
    return X, score, score + 0.3 * rng.standard_t(2.5, rows)


def same(make, X, y, **fit):
    """Fit a table sparse and dense, in turn; assert equal results."""
    one, other = make().fit(X, y, **fit), make().fit(X.toarray(), y, **fit)
    assert one.coef_ == pytest.approx(other.coef_, rel=1e-9, abs=1e-9)
    assert one.intercept_ == pytest.approx(other.intercept_, rel=1e-9, abs=1e-9)
    assert one.history_[-1]["clipped"] == pytest.approx(other.history_[-1]["clipped"])
    assert one.predict(X) == pytest.approx(other.predict(X.toarray()), rel=1e-9, abs=1e-9)
    assert one.outlier_score(X, y) == pytest.approx(other.outlier_score(X.toarray(), y), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("parts", REGRESSORS + OTHERS[:2])
def test_a_regression_is_that_of_the_dense_table(parts, monkeypatch):
    interpret(monkeypatch)
    X, _, y = draw(0)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, len(y)).round()
    parts = {"max_iter": 3, "tol": None, "feature_scale": None, "random_state": 0, **parts}
    same(lambda: sf.SurefootRegressor(**parts), X, y, sample_weight=weight)


CASES = [(parts, k) for parts in CLASSIFIERS + OTHERS for k in (2, 3) if k == 2 or "loss" not in parts]


@pytest.mark.parametrize(("parts", "classes"), CASES)
def test_a_classification_is_that_of_the_dense_table(parts, classes, monkeypatch):
    interpret(monkeypatch)
    X, score, _ = draw(1)
    y = np.digitize(score, [0.0] if classes == 2 else [-0.5, 0.5])
    parts = {"max_iter": 2, "tol": None, "feature_scale": None, "random_state": 0, **parts}
    same(lambda: sf.SurefootClassifier(**parts), X, y)


def test_pieces_are_those_of_the_dense_table(monkeypatch):
    interpret(monkeypatch)
    X, _, y = draw(2, rows=1500)
    one, other = (sf.SurefootRegressor(feature_scale=None) for _ in range(2))
    for begin in range(0, 1500, 250):
        rows = slice(begin, begin + 250)
        one.partial_fit(X[rows], y[rows])
        other.partial_fit(X[rows].toarray(), y[rows])
        assert one.coef_ == pytest.approx(other.coef_, rel=1e-9, abs=1e-9)


def test_any_layout_of_the_same_table_will_do(monkeypatch):
    """Indices of 32 and 64 bits, entries there twice, read-only arrays, other formats."""
    interpret(monkeypatch)
    X, score, _ = draw(3)
    y = score > 0

    def fitted(table):
        return sf.SurefootClassifier(max_iter=2, tol=None, random_state=0).fit(table, y)

    expected = fitted(X)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    twice = sparse.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    sealed = X.copy()
    for each in (sealed.data, sealed.indices, sealed.indptr):
        each.setflags(write=False)
    for table in (wide, twice, sealed, sparse.csr_matrix(X), X.tocsc(), X.tocoo()):
        assert fitted(table).coef_ == pytest.approx(expected.coef_, rel=1e-9)
        assert fitted(table).outlier_score(table, y) == pytest.approx(expected.outlier_score(X, y))
    assert twice.nnz == 2 * X.nnz
    narrow = sf.SurefootClassifier(max_iter=2, tol=None, random_state=0).fit(X.astype(np.float32), y)
    assert narrow.coef_ == pytest.approx(expected.coef_, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("make", [sf.SurefootRegressor, sf.SurefootClassifier])
def test_nothing_ever_makes_a_sparse_table_dense(make, monkeypatch):
    """30,000 columns, 300 rows: what is dense would be 72 MB."""
    interpret(monkeypatch)
    rng = np.random.default_rng(4)
    X = sparse.random_array((300, 30_000), density=3e-4, rng=rng, format="csr")
    y = rng.standard_normal(300) if make is sf.SurefootRegressor else rng.random(300) > 0.5
    for kind in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, None)
    model = make(max_iter=2, tol=None, early_stopping=True).fit(X, y)
    assert np.isfinite(model.outlier_score(X, y)).all()
    assert model.predict(X).shape == (300,)
    model = make()
    for _ in range(2):
        model = model.partial_fit(X, y) if make is sf.SurefootRegressor else model.partial_fit(X, y, classes=[0, 1])
    assert np.isfinite(model.coef_).all()


SCRIPT = """
import numpy as np, surefoot as sf
from scipy import sparse
rng = np.random.default_rng(0)
X = sparse.random_array((200, 10), density=0.3, rng=rng, data_sampler=rng.standard_normal, format="csr")
y = X.sum(axis=1)
parts = {"max_iter": 2, "tol": None, "feature_scale": None, "random_state": 0}
one, other = (sf.SurefootRegressor(**parts).fit(table, y) for table in (X, X.toarray()))
assert np.allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-9)
"""


def test_it_runs_where_nothing_is_compiled():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
