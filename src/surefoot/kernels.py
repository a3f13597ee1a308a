"""The compiled epoch for linear models: the rounds of `Conversion.tell`, with the rows of a table for an oracle.

The feedback of row i is rank one, the derivative of its loss in its scores times the row itself. So sizes, factors and
caps are known before any gradient is formed, and a round forms one gradient: of this round's and the last query point's
derivatives together.
"""

from functools import partial
from math import inf, isfinite, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from surefoot.compiled import DEFAULTS, Kernel, callable_when_compiled, plugged_rows, writable
from surefoot.conversion import Conversion
from surefoot.feedback import optional
from surefoot.parts import Array
from surefoot.sparse_kernels import applies, run_sparse
from surefoot.state import State, sealed_state
from surefoot.thresholds import ConstantThreshold

KEEP_ALL = ConstantThreshold(inf)  # what Raw feedback judges by


class DenseRows(NamedTuple):
    """Rows of a dense table, centred and scaled as they are read; column 0 of a packed row is the intercept's."""

    X: Array
    center: Array
    scale: Array
    intercept: float

    def pack(self, chosen: Any, out: Any, square: Any) -> None:
        """Write the chosen rows into `out`, and the squares of their norms: a batch a call, for calls are not free."""
        X, center, scale = self.X, self.center, self.scale
        first = out.shape[1] - X.shape[1]
        for r in range(len(chosen)):
            i = chosen[r]
            total = scale.dtype.type(0)
            if first == 1:
                out[r, 0] = self.intercept
                total += self.intercept * self.intercept
            for j in range(X.shape[1]):
                value = (X[i, j] - center[j]) * scale[j]
                out[r, first + j] = value
                total += value * value
            square[r] = total


class SparseRows(NamedTuple):
    """Rows of a CSR table, scaled as they are read, not centred; column 0 of a packed row is the intercept's."""

    data: Array
    indices: Any
    indptr: Any
    scale: Array
    intercept: float

    def pack(self, chosen: Any, out: Any, square: Any) -> None:
        """Write the chosen rows into `out`, and the squares of their norms."""
        data, indices, indptr, scale = self.data, self.indices, self.indptr, self.scale
        first = out.shape[1] - scale.shape[0]
        for r in range(len(chosen)):
            out[r, :] = 0.0
            total = scale.dtype.type(0)
            if first == 1:
                out[r, 0] = self.intercept
                total += self.intercept * self.intercept
            for p in range(indptr[chosen[r]], indptr[chosen[r] + 1]):
                value = data[p] * scale[indices[p]]
                out[r, first + indices[p]] = value
                total += value * value
            square[r] = total


class Setting(NamedTuple):
    """Numbers that stay the same over an epoch.

    batch: rows a round. query: 0 (last) to 1 (average). by_batch: judge the mean. two_points: carry. judged: judge
    rows by `bound` times their norm, not by their residual. curvature: the loss's. typical: the typical curvature
    of a row. dimension: unknowns a score. penalty: of the squared coefficients, but for the first `free` columns.
    anchored: whether the anchor counts. strict: a round that is not finite ends the run. learns: whether the rule does.
    usual: the mean bend of a loss without one curvature; steps are divided where it is exceeded. 0 for none.
    """

    batch: int
    query: float
    by_batch: bool
    two_points: bool
    judged: bool
    bound: float
    curvature: float
    typical: float
    dimension: float
    penalty: float
    free: int
    anchored: bool
    strict: bool
    learns: bool
    usual: float = 0.0


@callable_when_compiled
def score(P: Any, h: Any, out: Any, m: Any) -> None:
    """Write the scores of m rows at h, four rows at a time: a coefficient is read once for the four."""
    width, zero = h.shape[1], h.dtype.type(0)
    fours = m // 4 * 4
    for c in range(h.shape[0]):
        for r in range(0, fours, 4):
            s, t, u, v = zero, zero, zero, zero
            for j in range(width):
                s += P[r, j] * h[c, j]
                t += P[r + 1, j] * h[c, j]
                u += P[r + 2, j] * h[c, j]
                v += P[r + 3, j] * h[c, j]
            out[r, c], out[r + 1, c], out[r + 2, c], out[r + 3, c] = s, t, u, v
        for r in range(fours, m):
            s = zero
            for j in range(width):
                s += P[r, j] * h[c, j]
            out[r, c] = s


@callable_when_compiled
def add(P: Any, coefficients: Any, out: Any, m: Any) -> None:
    """Add the sum of m rows, each times its coefficient, four rows at a time."""
    width, fours = out.shape[1], m // 4 * 4
    for c in range(out.shape[0]):
        for r in range(0, fours, 4):
            s, t, u, v = coefficients[r, c], coefficients[r + 1, c], coefficients[r + 2, c], coefficients[r + 3, c]
            for j in range(width):
                out[c, j] += s * P[r, j] + t * P[r + 1, j] + u * P[r + 2, j] + v * P[r + 3, j]
        for r in range(fours, m):
            s = coefficients[r, c]
            for j in range(width):
                out[c, j] += s * P[r, j]


def epoch(
    stamp: Any, learner: Any, feedback: Any, rule: Any, weights: Any, estimate: Any, loss: Any, setting: Any, rows: Any,
    y: Any, weight: Any, order: Any, begin: Any, t: Any, samples: Any, weight_ratio: Any, worth: Any, h: Any, hbar: Any,
    before: Any, carried: Any, anchor_point: Any, anchor: Any, learner_memory: Any, memory: Any, tallies: Any,
) -> Any:  # fmt: skip
    """Run rounds over the rows in `order`, from `begin` on, until they end, a rule is due, or numbers are not finite.

    The four arrays of the state are changed in place; `tallies` takes up loss, weight kept whole, weight clipped,
    weight replaced. Returns where it stopped and the rest of the state.
    """
    k, width = h.shape
    n, batch = len(order), setting.batch
    P = np.empty((batch, width), h.dtype)
    x, given = np.empty_like(h), np.empty_like(h)
    Z, Z_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    E, E_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    square, factor = np.empty(batch), np.empty(batch)
    due, healthy, count, scale, worth_before = False, True, 0.0, 0.0, worth
    i = begin
    while i < n and not due and healthy:
        m = min(batch, n - i)
        for c in range(k):
            for j in range(width):
                x[c, j] = h[c, j] + setting.query * (hbar[c, j] - h[c, j])
        count = 0.0
        rows.pack(order[i : i + m], P, square)
        for r in range(m):
            count += weight[order[i + r]]
        score(P, x, Z, m)
        if setting.two_points:
            score(P, before, Z_before, m)

        away = nan
        if setting.anchored:
            away = 0.0
            for c in range(k):
                for j in range(width):
                    away += (x[c, j] - anchor_point[c, j]) ** 2
            away = sqrt(away)
        scale = rule.typical_size(memory)
        proved, clean = (
            0.0,
            True,
        )  # a bound of the batch gradient's distance from the anchor; whether all of it is finite
        for r in range(m):
            row = order[i + r]
            value = loss.fill(y[row], Z, E, r)
            if setting.two_points:
                loss.fill(y[row], Z_before, E_before, r)
            finite, slope = isfinite(square[r]), 0.0  # what is not, 0 times it would not be 0
            for c in range(k):
                finite = finite and isfinite(E[r, c]) and (isfinite(E_before[r, c]) or not setting.two_points)
                slope += E[r, c] * E[r, c]
            if isfinite(value):
                tallies[0] += weight[row] * value
            proved += weight[row] / count * sqrt(slope * square[r])
            factor[r] = 1.0
            if not finite:
                factor[r] = 0.0
                healthy = healthy and not setting.strict
                P[r, :] = 0
                E[r, :] = 0
                E_before[r, :] = 0
                clean = False
                if not setting.by_batch:
                    tallies[3] += weight[row]
            elif not setting.by_batch:
                size = setting.bound * sqrt(square[r]) if setting.judged else E[r, 0] if k == 1 else sqrt(slope)
                clip, reject = rule.lines(memory, away)
                factor[r] = feedback.factor(abs(size), clip, reject)
                memory = rule.learn(memory, size, weight[row])
                if factor[r] == 1:
                    tallies[1] += weight[row]
                elif factor[r] > 0:
                    tallies[2] += weight[row]
                else:
                    tallies[3] += weight[row]

        if setting.by_batch:
            clip, reject = rule.lines(memory, away)
            whole = 1.0
            norm = 0.0
            if setting.anchored:
                for c in range(k):
                    for j in range(width):
                        norm += anchor[c, j] ** 2
            if not clean:
                whole = 0.0
            elif setting.learns or not proved + sqrt(norm) <= clip:
                for c in range(k):
                    for j in range(width):
                        total = h.dtype.type(0)
                        for r in range(m):
                            total += h.dtype.type(weight[order[i + r]] / count) * E[r, c] * P[r, j]
                        given[c, j] = total - anchor[c, j] if setting.anchored else total
                size = learner.mirror_map.dual_norm(given)
                whole = 0.0
                if isfinite(size):
                    whole = feedback.factor(size, clip, reject)
                    memory = rule.learn(memory, size, count)
                elif setting.strict:
                    healthy = False
            tallies[1 if whole == 1 else 2 if whole > 0 else 3] += count
            for r in range(m):
                factor[r] *= whole

        divisor = 1.0
        if setting.usual > 0:
            bend = 0.0
            for r in range(m):
                bend += weight[order[i + r]] / count * loss.bend(y[order[i + r]], Z[r, 0])
            divisor = max(1.0, bend / setting.usual)

        later = rule.typical_size(memory)
        calmer = later / scale if 0 < later < scale else 1.0
        share = estimate.share(worth, samples, count, setting.dimension)
        worth_before, worth = worth, estimate.worth(worth, count, calmer)
        missing = 0.0
        for r in range(m):
            part = weight[order[i + r]] / count
            used = part * estimate.cap(factor[r], setting.curvature * square[r], setting.typical)
            missing += part - used
            for c in range(k):
                E[r, c] = used * E[r, c]
                if share < 1:
                    E[r, c] -= used * (1 - share) * E_before[r, c]
        for c in range(k):
            for j in range(width):
                carried[c, j] = h.dtype.type(1 - share) * carried[c, j] if share < 1 else h.dtype.type(0)
            if setting.anchored:
                for j in range(width):
                    carried[c, j] += h.dtype.type(share * missing) * anchor[c, j]
        add(P, E, carried, m)
        for c in range(k):
            for j in range(width):
                given[c, j] = carried[c, j]
            if setting.penalty > 0:
                for j in range(setting.free, width):
                    given[c, j] += h.dtype.type(setting.penalty) * x[c, j]
            if divisor > 1:
                for j in range(width):
                    given[c, j] /= h.dtype.type(divisor)

        moved, learner_memory = learner.move(t, h, given, weights, learner_memory)
        weight_ratio = 1 + weight_ratio / weights.weight_growth(t)
        gain = h.dtype.type(1 / weight_ratio)
        total = h.dtype.type(0)
        for c in range(k):
            for j in range(width):
                before[c, j] = x[c, j]
                h[c, j] = moved[c, j]
                hbar[c, j] += (h[c, j] - hbar[c, j]) * gain
                total += h[c, j] - h[c, j]  # 0, or NaN
        healthy = healthy and total == 0
        t += 1
        samples += count
        i += m
        due = rule.due(memory, samples)
    return i, healthy, due, t, samples, weight_ratio, worth, worth_before, count, scale, learner_memory, memory


EPOCH = Kernel(epoch)


def advance(
    conversion: Conversion, loss: Any, setting: Setting, rows: Any, y: Array, weight: Array, order: Any, state: State
) -> tuple[State, Array]:
    """Run rounds of a conversion over the rows in `order`; return the state, and loss, weight kept, clipped, replaced.

    While a rule warms up the rounds are those of `Conversion.tell`; when one is due it is closed in Python, too.
    """
    tallies, begin, dtype = np.zeros(4), 0, rows[0].dtype
    rule: Any = getattr(conversion.feedback, "threshold", KEEP_ALL)
    while begin < len(order) and not optional(rule, "ready")(state.memory[1]):
        chosen = order[begin : begin + setting.batch]
        state, taken = one_round(conversion, loss, setting, rows, y, weight, chosen, state)
        tallies, begin = tallies + taken, begin + setting.batch
    anchor = conversion.feedback.anchor
    nowhere = np.zeros((1, 1), dtype)
    point, slope = (nowhere, nowhere) if anchor is None else (anchor.point.astype(dtype), anchor.gradient.astype(dtype))
    parts: Any = (
        conversion.learner,
        _unanchored(conversion.feedback),
        rule,
        conversion.weights,
        conversion.estimate,
        loss,
    )
    h, hbar, before, carried = (np.array(each, dtype) for each in (state.h, state.hbar, state.before, state.carried))
    t, samples, weight_ratio = state.t, float(state.samples), state.weight_ratio
    learner, memory, estimate = state.memory
    worth = float(getattr(estimate, "worth", 0.0))
    run = run_sparse if applies(conversion, setting, rows, state.h.shape[1]) else EPOCH
    while begin < len(order):
        begin, healthy, due, t, samples, weight_ratio, worth, worth_before, count, scale, learner, memory = run(
            parts, setting, plugged_rows(rows), y, weight, order, begin, t, samples, weight_ratio, worth,
            h, hbar, before, carried, point, slope, writable(learner), writable(memory), tallies,
        )  # fmt: skip
        if not healthy:
            raise FloatingPointError(
                f"step_size: round {t - 1} left the finite numbers; pass a smaller step or a domain"
            )
        if due:
            memory = rule.close(memory, samples)
            after = optional(rule, "scale")(memory)
            worth = parts[-2].worth(worth_before, count, after / scale if 0 < after < scale else 1.0)
    if hasattr(estimate, "worth"):
        estimate = estimate._replace(worth=worth)
    arrays = (each.astype(np.float64) for each in (h, hbar))
    kept = before.astype(np.float64), carried.astype(np.float64)
    return sealed_state(t, samples, *arrays, weight_ratio, *kept, (learner, memory, estimate)), tallies


def one_round(
    conversion: Conversion, loss: Any, setting: Setting, rows: Any, y: Array, weight: Array, chosen: Any, state: State
) -> tuple[State, Array]:
    """Take one round by `Conversion.tell`: the slow, obvious twin of the compiled rounds."""
    k, width = state.h.shape
    P = np.empty((len(chosen), width))
    square = np.empty(len(chosen))
    rows.pack(chosen, P, square)
    points = conversion.ask(state), state.before
    slopes, values = np.zeros((2, len(chosen), k)), np.zeros(len(chosen))
    fill = getattr(loss, "fill", None) or partial(DEFAULTS["fill"], loss)
    for which, point in enumerate(points):
        scores = P @ point.T
        found = [fill(y[i], scores, slopes[which], r) for r, i in enumerate(chosen)]
        values = values if which else np.array(found)
    norms = np.sqrt(square)
    sizes = (
        setting.bound * norms if setting.judged else slopes[0, :, 0] if k == 1 else np.linalg.norm(slopes[0], axis=1)
    )
    divisor = 1.0
    if setting.usual > 0:
        bends = [loss.bend(y[i], scores[0]) for i, scores in zip(chosen, P @ points[0].T, strict=True)]
        divisor = max(1.0, float(np.average(bends, weights=weight[chosen])) / setting.usual)
    known = setting.penalty * points[0]
    known[:, : setting.free] = 0.0
    g, g_before = slopes[:, :, :, None] * P[:, None, :]
    state, info = conversion.tell(
        state, g, g_before, size=None if setting.by_batch else sizes, known=known, weight=weight[chosen],
        curvature=None if setting.by_batch else setting.curvature * square, divisor=divisor,
    )  # fmt: skip
    action = np.broadcast_to(info.action, len(chosen))
    shares = [np.sum(weight[chosen][action == each]) for each in ("kept", "clipped", "replaced")]
    return state, np.array([np.sum(weight[chosen] * values), *shares])


def _unanchored(feedback: Any) -> Any:
    return feedback._replace(anchor=None) if "anchor" in getattr(feedback, "_fields", ()) else feedback
