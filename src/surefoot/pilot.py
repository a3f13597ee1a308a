"""The robust start of a fit: what is learned from the first rows before the first round, and then stays.

Every number here resists wild rows: columns are centred and scaled by medians and clipped moments, a row's influence is
capped by its leverage, and the first fit of a regression judges its residuals as the stream will.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefoot import sparse_columns
from surefoot.parts import Array
from surefoot.thresholds import LeastRisk, Lines

ROUNDS, STEPS = 10, 5  # re-weightings of the first fit, and conjugate-gradient steps in each
SMALLEST, LARGEST = 1e-290, 1e290
WILD = 70.0
SPARSE_ROWS = 16384  # are enough for the largest eigenvalue


def rows_wanted(columns: int) -> int:
    """Return how many first rows a pilot looks at."""
    return max(1024, 4 * columns)


class Scaling(NamedTuple):
    """A column becomes (column - center) * factor; sparse columns are not centred."""

    center: Array
    factor: Array


def identity(columns: int) -> Scaling:
    """Return the scaling that changes nothing."""
    return Scaling(np.zeros(columns), np.ones(columns))


def scaling(first: Any, table: Any) -> Scaling:
    """Return the scaling the first rows suggest, but for those that lie WILD typical squares out by that very scaling.

    A row that is wild in many columns shows in those where most non-zero values are right, and no longer counts in
    those, such as dummies with few zeros or few ones, where the wild rows are a large share of what varies.
    """
    found = by_columns(first, table)
    square = squares(packed(first, found, intercept=False))
    tame = np.flatnonzero(square <= WILD * np.median(square))
    return found if len(tame) in (0, len(square)) else by_columns(first[tame], table)


def by_columns(first: Any, table: Any) -> Scaling:
    """Return a scaling for any kind of column (pixels, dummies, counts, heavy tails), from the first rows.

    c = median; mag = 90% quantile of the non-zero |x - c|; b = clip(x - c, -3 mag, 3 mag); center = c + mean b;
    scale = max(sd b, mag / 10). A column that is constant in these rows gets a tenth of the first other deviation that
    the table has. Equivariant column by column; nothing is cut, so coefficients are linear in the raw columns.
    """
    columns = first.shape[1]
    center, scale = np.zeros(columns), np.ones(columns)
    if sparse.issparse(first):
        scale = sparse_columns.scales(first, table, of_column, SMALLEST)
        return Scaling(center, 1 / np.clip(scale, SMALLEST, LARGEST))
    for j, column in enumerate(np.asarray(first).T):
        center[j], scale[j] = of_column(column.astype(np.float64))
        if scale[j] == 0:
            other = _first_other(table, j, center[j])
            scale[j] = abs(other - center[j]) / 10 if other is not None else 1.0
    return Scaling(center, 1 / np.clip(scale, SMALLEST, LARGEST))


def of_column(column: Array) -> tuple[float, float]:
    """Return center and scale of one column, the scale 0 where it is constant."""
    middle = float(np.median(column))
    deviation = column - middle
    sizes = np.abs(deviation[deviation != 0])
    if not len(sizes):
        return middle, 0.0
    magnitude = float(np.quantile(sizes, 0.9))
    relative = np.clip(deviation / max(magnitude, SMALLEST), -3.0, 3.0)
    return middle + magnitude * float(relative.mean()), magnitude * max(float(relative.std()), 0.1)


def _first_other(table: Any, j: int, value: float) -> float | None:
    """Return the first value of a column that is not this one."""
    if table is None:
        return None
    others = np.flatnonzero(table[:, j] != value)
    return float(table[others[0], j]) if len(others) else None


def rare_rows(table: Any, first: Any, least: int = 8) -> Any:
    """Return rows beyond the first that hold a column with fewer than `least` non-zeros among them, up to that many."""
    if sparse.issparse(table):
        return sparse_columns.rare_rows(table, first, least)
    counts = np.asarray((table[first] != 0).sum(axis=0)).ravel()
    everywhere = np.asarray((table != 0).sum(axis=0)).ravel()
    wanted = np.flatnonzero((counts < least) & (everywhere > counts))
    inside, extra = set(np.asarray(first).tolist()), []
    for j in wanted:
        extra += [i for i in np.flatnonzero(table[:, j])[:least].tolist() if i not in inside]
    return np.array(sorted(set(extra)), dtype=np.intp)


class Spread(NamedTuple):
    """How far scaled rows reach: the typical square of their norm, the largest eigenvalue of their second moment."""

    typical: float
    largest: float


def packed(first: Any, scale: Scaling, intercept: bool) -> Any:
    """Return rows scaled, with the intercept's column of ones in front."""
    if sparse.issparse(first):
        return sparse_columns.packed(first, scale.factor, intercept)
    scaled = (np.asarray(first, dtype=np.float64) - scale.center) * scale.factor
    return np.column_stack([np.ones(len(scaled)), scaled]) if intercept else scaled


def squares(P: Any) -> Array:
    """Return the square of each row's norm."""
    with np.errstate(over="ignore"):
        return np.asarray((P.multiply(P) if sparse.issparse(P) else P * P).sum(axis=1), dtype=np.float64).ravel()


def spread(P: Any, leverage: float) -> Spread:
    """Return the spread of packed rows, each capped at `leverage` times the typical square."""
    square = squares(P)
    typical = float(np.median(square)) or float(np.mean(square[np.isfinite(square)])) or 1.0
    weight = np.sqrt(np.minimum(1.0, leverage * typical / np.maximum(square, typical)))
    weight[~np.isfinite(square)] = 0.0
    if sparse.issparse(P) and P.shape[0] > SPARSE_ROWS:
        chosen = np.linspace(0, P.shape[0] - 1, SPARSE_ROWS).astype(np.intp)
        P, weight = P[chosen], weight[chosen]
    v = np.random.default_rng(0).standard_normal(P.shape[1])
    largest = 0.0
    for _ in range(20):
        v /= np.linalg.norm(v) or 1.0
        v = P.T @ (weight**2 * (P @ v)) / P.shape[0]
        largest = float(np.linalg.norm(v))
    return Spread(typical, largest)


class FirstFit(NamedTuple):
    """A robust regression on the first rows, and the lines by which its residuals are judged; None: by none."""

    point: Array
    lines: Lines | None


def first_fit(P: Any, y: Array, weight: Array, typical: float, leverage: float, distinct: float) -> FirstFit:
    """Return the regression: re-weighted least squares, each solved by a few warm-started conjugate-gradient steps.

    For the first half of the re-weightings nothing is rejected, before the fit had its chance. Where one value holds
    half of the targets, sizes say nothing about errors, and nothing is judged.
    """
    m, d = P.shape
    cap = weight * np.minimum(1.0, leverage * typical / np.maximum(squares(P), 1e-300))
    rule = LeastRisk(samples=max(1, int(distinct)))
    judged = 2 * np.unique(y, return_counts=True)[1].max() < m
    h, prediction = np.zeros(d), np.zeros(m)
    for turn in range(ROUNDS + 1):
        residual = prediction - y
        lines = rule.read(residual, m, d) if judged else Lines(1.0, np.inf, np.inf)
        if turn == ROUNDS or not np.isfinite(residual).all():
            break
        clip, reject = (lines.clip, lines.reject) if turn >= ROUNDS // 2 else (lines.scale, np.inf)
        size = np.abs(residual)
        clip = clip if clip > 0 else np.inf
        factor = cap * np.where(size > reject, 0.0, clip / np.maximum(size, clip) if clip < np.inf else 1.0)
        step, change = _solve(P, factor, -(P.T @ (factor * residual)), typical)
        h, prediction = h + step, prediction + change
    known = judged and lines.scale > 0
    return FirstFit(h, lines if known else None)


def _solve(P: Any, factor: Array, gradient: Array, typical: float) -> tuple[Array, Array]:
    """Return a few conjugate-gradient steps towards P'WP step = gradient, and what they change in the predictions."""
    step, change = np.zeros(P.shape[1]), np.zeros(P.shape[0])
    direction, square, top = gradient.copy(), float(gradient @ gradient), 0.0
    for _ in range(STEPS):
        moved = P @ direction
        image = P.T @ (factor * moved)
        bend, top = float(direction @ image), max(top, square)
        # past convergence the direction is rounding, and on duplicate columns steps along it grow without end
        if not (square > 1e-20 * top and bend > 1e-10 * float(direction @ direction) * typical / P.shape[1]):
            break
        length = square / bend
        step, change, gradient = step + length * direction, change + length * moved, gradient - length * image
        following = float(gradient @ gradient)
        direction, square = gradient + following / square * direction, following
    return step, change


def constant(P: Any, value: float) -> Array:
    """Return the point that predicts this value everywhere, where there is an intercept; zero where not."""
    ones = np.asarray(P[:, [0]].toarray() if sparse.issparse(P) else P[:, :1])
    point = np.zeros((1, P.shape[1]))
    point[0, 0] = value if (ones == 1).all() else 0.0
    return point


def curvature(loss: Any, y: Array, prediction: Array) -> float:
    """Return the curvature a loss states, or the 90% quantile of its derivative's bend over a robust scale of y."""
    stated = getattr(loss, "curvature", None)
    return float(stated) if stated is not None else float(np.quantile(_bends(loss, y, prediction, 1.0), 0.9)) or 1.0


def kinked(loss: Any, y: Array, prediction: Array) -> bool:
    """Say whether a loss that states no curvature has a kink: its mean square bend grows as one looks closer.

    Carried feedback moves an estimate by differences of gradients; where those do not shrink with the distance, its
    errors do not either, and only fresh feedback will do.
    """
    if getattr(loss, "curvature", None) is not None:
        return False
    far, near = (np.mean(np.square(_bends(loss, y, prediction, share))) for share in (1.0, 0.01))
    return bool(near > 10 * far)


def _bends(loss: Any, y: Array, prediction: Array, share: float) -> Array:
    """Return how far the derivative moves over a share of the robust scale of y, per unit."""
    step = share * (float(np.median(np.abs(y - np.median(y)))) or float(np.std(y)) or 1.0)
    pairs = zip(y.tolist(), prediction.tolist(), strict=True)
    return np.array([abs(loss.derivative(a, p + step) - loss.derivative(a, p)) / step for a, p in pairs])
