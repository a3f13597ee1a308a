"""What a pilot learns from sparse columns is what it learns from the same columns, dense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from surefoot import pilot
from surefoot.sparse_columns import merged


def slow_scale(first, table):
    """The scale of one column as the recipe words it."""
    middle = np.median(first)
    deviation = first - middle
    if not deviation.any():
        others = table[table != middle]
        return abs(others[0] - middle) / 10 if len(others) else abs(middle) or 1.0
    magnitude = np.quantile(np.abs(deviation[deviation != 0]), 0.9)
    return max(np.clip(deviation, -3 * magnitude, 3 * magnitude).std(), magnitude / 10)


def slow_rare_rows(table, first, least):
    extra = set()
    for column in table.T:
        if np.count_nonzero(column[first]) < least:
            extra |= set(np.flatnonzero(column)[:least].tolist()) - set(first.tolist())
    return sorted(extra)


def draw(seed):
    """Return a table of dummies, counts and numbers with many zeros, dense and sparse, and the first rows."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 80)), int(rng.integers(1, 12))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < rng.uniform(0, 1, d)) * 10.0 ** rng.integers(-3, 4, d)
    for j in range(d):
        if rng.random() < 0.4:
            X[:, j] = rng.choice([0.0, 1.0, -3.0])
            X[rng.integers(n), j] = rng.choice([0.0, 7.0])
    X = X.astype(rng.choice([np.float32, np.float64]))
    thin = sparse.csr_array(X)
    thin.data[rng.random(thin.nnz) < 0.05] = 0.0
    return thin.toarray(), thin, rng.permutation(n)[: max(2, n // 2)]


@given(seed=st.integers(0, 10**6))
def test_scales_are_those_of_the_columns(seed):
    X, thin, first = draw(seed)
    found = pilot.by_columns(thin[first], thin)
    slow = [slow_scale(column[first].astype(np.float64), column.astype(np.float64)) for column in X.T]
    assert found.factor == pytest.approx(1 / np.array(slow), rel=1e-9)
    assert not found.center.any()


@given(seed=st.integers(0, 10**6), least=st.integers(1, 8))
def test_rare_rows_hold_what_the_first_lack(seed, least):
    X, thin, first = draw(seed)
    expected = slow_rare_rows(X, first, least)
    assert pilot.rare_rows(thin, first, least).tolist() == expected
    assert pilot.rare_rows(X, first, least).tolist() == expected


@given(seed=st.integers(0, 10**6), intercept=st.booleans())
def test_rows_are_packed_with_a_column_of_ones(seed, intercept):
    X, thin, first = draw(seed)
    scaling = pilot.scaling(thin[first], thin)
    ones = np.ones((len(X), int(intercept)))
    packed = pilot.packed(thin, scaling, intercept)
    assert packed.toarray() == pytest.approx(np.hstack([ones, X * scaling.factor]))
    assert packed.has_canonical_format


def test_every_entry_is_there_once():
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert merged(twice).data.tolist() == [4.0, 3.0]
    assert twice.nnz == 3
    assert merged(merged(twice)).nnz == 2
    dense = np.ones((2, 2))
    assert merged(dense) is dense


def test_a_pilot_never_makes_a_sparse_table_dense(monkeypatch):
    """50,000 columns, 1,024 rows: what is dense would be 400 MB."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((1024, 50_000), density=1e-3, rng=rng, format="csr")
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    monkeypatch.setattr(sparse.csc_array, "toarray", None)
    first = rng.permutation(1024)[:800]
    rows = np.concatenate([first, pilot.rare_rows(X, first)])
    scaling = pilot.scaling(X[rows], X)
    packed = pilot.packed(X[rows], scaling, intercept=True)
    assert pilot.spread(packed, 7.0).typical > 0
