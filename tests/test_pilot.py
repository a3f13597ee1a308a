"""The pilot: scaling that is equivariant and robust, a first fit that is right, and unmoved by wild rows."""

import numpy as np
import pytest
from scipy import sparse

import surefoot as sf
from surefoot import losses, pilot


def mixed(rng, rows=2000):
    """Columns of many kinds: Gaussian, heavy-tailed, dummies common and rare, counts, a pixel, a constant."""
    return np.column_stack(
        [
            rng.standard_normal(rows),
            np.exp(2 * rng.standard_normal(rows)),
            rng.random(rows) < 0.4,
            rng.random(rows) < 0.01,
            rng.poisson(3.0, rows),
            np.where(rng.random(rows) < 0.9, 0.0, rng.integers(1, 256, rows)),
            np.full(rows, 7.0),
        ]
    )


def test_scaling_is_equivariant_column_by_column():
    table = mixed(np.random.default_rng(0))
    plain = pilot.scaling(table[:1024], table)
    stretch, shift = 10.0 ** np.array([6, -6, 3, -3, 30, -30, 0]), np.array([1e3, -5.0, 0.0, 2.0, 0.0, 0.0, 4.0])
    moved = table * stretch + shift * stretch
    other = pilot.scaling(moved[:1024], moved)
    assert other.factor * stretch == pytest.approx(plain.factor, rel=1e-9)
    packed = pilot.packed(moved[:9], other, intercept=True)
    assert packed == pytest.approx(pilot.packed(table[:9], plain, intercept=True), abs=1e-9)


def test_scaled_columns_have_a_common_size_and_nothing_is_cut():
    table = mixed(np.random.default_rng(1))
    scale = pilot.scaling(table[:1024], table)
    P = pilot.packed(table, scale, intercept=False)
    sizes = P.std(axis=0)
    assert np.all((sizes[[0, 2, 4]] > 0.8) & (sizes[[0, 2, 4]] < 1.3))
    assert P[:, 6] == pytest.approx(0.0)
    back = P / scale.factor + scale.center
    assert back == pytest.approx(table)


def test_wild_rows_do_not_move_the_scaling():
    rng = np.random.default_rng(2)
    table = mixed(rng)
    wild = table.copy()
    wild[rng.random(len(wild)) < 0.05] *= 100
    clean, robust = pilot.scaling(table[:1024], table), pilot.scaling(wild[:1024], wild)
    assert robust.factor[:6] == pytest.approx(clean.factor[:6], rel=0.25)
    assert np.all(wild[:1024].std(axis=0)[:3] > 3 / clean.factor[:3])  # which the plain deviation does


def test_a_column_constant_at_first_is_scaled_by_its_first_other_value():
    table = np.zeros((3000, 1))
    table[2000:] = 50.0
    assert pilot.scaling(table[:1024], table).factor == pytest.approx(1 / 5.0)
    assert pilot.scaling(table[:1024], None).factor == pytest.approx(1.0)


def test_sparse_columns_are_scaled_as_dense_ones_and_not_centred():
    rng = np.random.default_rng(3)
    table = np.where(rng.random((1500, 6)) < 0.2, rng.standard_normal((1500, 6)) * 9, 0.0)
    dense, thin = pilot.scaling(table, table), pilot.scaling(sparse.csr_array(table), sparse.csr_array(table))
    assert thin.factor == pytest.approx(dense.factor)
    assert np.all(thin.center == 0)


def test_every_rare_column_is_seen():
    rng = np.random.default_rng(4)
    table = (rng.random((6000, 4)) < [0.5, 0.003, 0.0008, 0.0]).astype(float)
    first = np.arange(1024)
    extra = pilot.rare_rows(table, first)
    assert np.array_equal(extra, pilot.rare_rows(sparse.csr_array(table), first))
    assert not set(extra) & set(first)
    both = np.concatenate([first, extra])
    for column in range(4):
        everywhere = int(table[:, column].sum())
        assert table[both, column].sum() >= min(8, everywhere)


LAWS = {
    "clean": lambda rng, y: y,
    "8% +60": lambda rng, y: y + 60 * (rng.random(len(y)) < 0.08),
    "30% +100": lambda rng, y: y + 100 * (rng.random(len(y)) < 0.3),
    "5% x-100": lambda rng, y: np.where(rng.random(len(y)) < 0.05, -100 * y, y),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_first_fit_is_near_the_truth(law, kind):
    """1,024 rows, 10 unknowns, seeds 0 to 4: squared errors of about 10/1024; 0.1 is ten times that, each time."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        P = np.column_stack([np.ones(1024), rng.standard_normal((1024, 9))])
        y = LAWS[law](rng, P.sum(axis=1) + rng.standard_normal(1024))
        P = kind(P)
        spread = pilot.spread(P, 3.0)
        found = pilot.first_fit(P, y, np.ones(1024), spread.typical, 3.0, 5000.0)
        assert np.sum((found.point - 1) ** 2) < 0.1
        assert found.lines.reject < np.inf or law in ("clean", "5% x-100")
        assert found.lines.reject == np.inf or law != "clean"


def test_duplicate_columns_do_not_run_away():
    rng = np.random.default_rng(5)
    column = rng.standard_normal(1024)
    P = np.column_stack([np.ones(1024), column, column, 2 * column])
    found = pilot.first_fit(P, 3 * column, np.ones(1024), 6.0, 3.0, 1024.0)
    assert np.abs(found.point).max() < 3
    assert P @ found.point == pytest.approx(3 * column, abs=1e-6)


def test_where_one_value_holds_half_of_the_targets_nothing_is_judged():
    rng = np.random.default_rng(6)
    P, y = np.ones((1000, 1)), np.where(rng.random(1000) < 0.6, 0.0, rng.exponential(size=1000))
    found = pilot.first_fit(P, y, np.ones(1000), 1.0, 3.0, 1000.0)
    assert found.lines is None
    assert found.point == pytest.approx([y.mean()])


def test_the_spread_is_that_of_the_second_moment():
    rng = np.random.default_rng(7)
    P = rng.standard_normal((5000, 6)) * [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    spread = pilot.spread(P, np.inf)
    assert spread.typical == pytest.approx(np.median(np.sum(P**2, axis=1)))
    assert spread.largest == pytest.approx(np.linalg.eigvalsh(P.T @ P / 5000)[-1], rel=1e-3)
    wild = P.copy()
    wild[::50] *= 1e6
    assert pilot.spread(wild, 3.0).largest < 3 * spread.largest


def test_curvature_is_the_stated_or_the_measured_one():
    rng = np.random.default_rng(8)
    y = rng.standard_normal(1000)
    assert pilot.curvature(losses.LogLoss(), y, y * 0) == 0.25
    scale = np.median(np.abs(y - np.median(y)))
    assert pilot.curvature(losses.Pinball(0.5), y, y * 0) == pytest.approx(1 / scale, rel=0.6)
    assert sf.losses.SquaredError().curvature == 1.0
