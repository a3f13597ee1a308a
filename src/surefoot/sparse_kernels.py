"""The compiled epoch for sparse tables: the rounds of `kernels.epoch` in O(non-zeros) each, whatever the dimension.

A round of mirror descent on the whole space is linear in three vectors, the iterate h, the lead v = hbar - h of the
average and the estimate D. With b the share of a round, eta its step, keep = 1 - alpha_{t+1} / alpha_{1:t+1}, and a
penalty that is asked for at x = h + v,

    D <- (1 - b) D + sum of coefficient * row;    move = eta (D + penalty (h + v));    h <- h - move;
    v <- keep (v + move).

So three lanes a coordinate, I (iterate), L (lead) and S (slope), and seven scalars hold all three, untouched
coordinates included:

    D = B S;    h = T11 I + T12 L + e1 S;    v = T21 I + T22 L + e2 S.

What happens to every coordinate happens to the scalars alone: B before the rows, T and e after them. A row adds
z = coefficient * row / B to S, and to I and L what leaves h and v as they were, -T^-1 e z. For the same reason the
point of the round before is to be had from the lanes of this round and the scalars of that one: one pass over a row's
non-zeros yields the scores at both.

`Fresh` carries nothing, b = 1: S stays empty, and I and L take T^-1 (-1, 1) eta * coefficient * row.

As B and the determinant c of T fall, what is added to the lanes grows and cancels. Before it costs digits the lanes are
laid anew, with B = 1, T the identity, e = 0: in O(dimension), but only as often as the logarithm of the rounds.
The intercept's column has no zeros, so it has no lanes: its rounds are taken in the state's own arrays.
"""

from collections.abc import Callable
from math import inf, isfinite, nan, sqrt
from typing import Any

import numpy as np
from numba.extending import register_jitable

from surefoot.compiled import Kernel
from surefoot.conversion import Conversion
from surefoot.domains import Everywhere
from surefoot.estimates import Carried, Fresh
from surefoot.learners import MirrorDescent
from surefoot.mirror_maps import Euclidean

LEAST_B, LEAST_C = 0.01, 1e-3
AHEAD = 32  # rows read ahead
BEYOND_DOUBT = 1e30  # numbers in the lanes up to here cannot have left the finite ones


def compiled(function: Callable[..., Any]) -> Any:
    """Return a function that compiled code may call, too; sums keep their order: else they take half as long again."""
    return register_jitable(error_model="numpy", fastmath={"contract"})(function)


def applies(conversion: Conversion, setting: Any, rows: Any, width: int) -> bool:
    """Say whether these rounds are linear in h, hbar and D but for the rows: else rows are unpacked, densely."""
    learner: Any = conversion.learner
    return (
        hasattr(rows, "indptr")
        and type(learner) is MirrorDescent
        and learner.longest == inf
        and setting.usual == 0
        and type(learner.mirror_map) is Euclidean
        and type(learner.mirror_map.domain) is Everywhere
        and type(conversion.estimate) in (Fresh, Carried)
        and not setting.by_batch
        and not setting.anchored
        and (setting.penalty == 0 or (setting.query == 1 and setting.free <= width - len(rows.scale)))
    )


@compiled
def size_of(T: Any, e: Any) -> Any:
    """Return how much larger than the lanes h and v can be."""
    return abs(T[0]) + abs(T[1]) + abs(T[2]) + abs(T[3]) + abs(e[0]) + abs(e[1])


@compiled
def lay(lanes: Any, scale: Any, h: Any, hbar: Any, carried: Any) -> Any:
    """Fill the lanes: of a column, its scale, then I, L and S of each score; return the largest of these."""
    first, largest = h.shape[1] - len(scale), 0.0
    for j in range(len(scale)):
        lanes[j, 0] = scale[j]
        for c in range(h.shape[0]):
            iterate, lead = h[c, first + j], hbar[c, first + j] - h[c, first + j]
            lanes[j, 3 * c + 1] = iterate
            lanes[j, 3 * c + 2] = lead
            lanes[j, 3 * c + 3] = carried[c, first + j]
            largest = max(largest, abs(iterate), abs(lead), abs(carried[c, first + j]))
    return largest


@compiled
def lay_anew(lanes: Any, B: Any, T: Any, e: Any) -> Any:
    """Lay the lanes for B = 1, T the identity and e = 0; return the largest, NaN where one is not finite."""
    largest, doubt = 0.0, 0.0
    for j in range(lanes.shape[0]):
        for p in range(1, lanes.shape[1], 3):
            iterate, lead, slope = lanes[j, p], lanes[j, p + 1], lanes[j, p + 2]
            lanes[j, p] = T[0] * iterate + T[1] * lead + e[0] * slope
            lanes[j, p + 1] = T[2] * iterate + T[3] * lead + e[1] * slope
            lanes[j, p + 2] = B * slope
            largest = max(largest, abs(lanes[j, p]), abs(lanes[j, p + 1]), abs(lanes[j, p + 2]))
            doubt += lanes[j, p] - lanes[j, p]  # 0, or NaN
    return largest + doubt


@compiled
def lift(lanes: Any, B: Any, T: Any, e: Any, ask: Any, arrays: Any) -> Any:
    """Write h, hbar, the last query point and D; return NaN where h is not finite, else 0."""
    h, hbar, before, carried = arrays
    first, doubt = h.shape[1] - lanes.shape[0], 0.0
    for j in range(lanes.shape[0]):
        for c in range(h.shape[0]):
            iterate, lead, slope = lanes[j, 3 * c + 1], lanes[j, 3 * c + 2], lanes[j, 3 * c + 3]
            last = T[0] * iterate + T[1] * lead + e[0] * slope
            h[c, first + j] = last
            hbar[c, first + j] = last + (T[2] * iterate + T[3] * lead + e[1] * slope)
            before[c, first + j] = ask[0] * iterate + ask[1] * lead + ask[2] * slope
            carried[c, first + j] = B * slope
            doubt += h[c, first + j] - h[c, first + j]
    return doubt


@compiled
def touch(rows: Any, chosen: Any, y: Any, weight: Any) -> Any:
    """Read a number of each cache line of some rows, long before their turn: from memory, lines come side by side."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    total, step = 0.0, 64 // data.itemsize
    for i in chosen:
        total += indptr[i] + y[i] + weight[i]
    for i in chosen:
        for p in range(indptr[i], indptr[i + 1], step):
            total += data[p] + indices[p]
        if indptr[i] < indptr[i + 1]:
            total += data[indptr[i + 1] - 1] + indices[indptr[i + 1] - 1]
    return total


@compiled
def gather(rows: Any, chosen: Any, lanes: Any, sums: Any, square: Any) -> Any:
    """Sum the values of each row times the lanes, and the squares of its values."""
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    for r, i in enumerate(chosen):
        sums[r] = 0.0
        total = lanes.dtype.type(0)
        if sums.shape[1] == 3:
            a, b, c = lanes.dtype.type(0), lanes.dtype.type(0), lanes.dtype.type(0)
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[p])  # no sign: it is not looked at
                value = data[p] * lanes[j, 0]
                a += value * lanes[j, 1]
                b += value * lanes[j, 2]
                c += value * lanes[j, 3]
                total += value * value
            sums[r, 0], sums[r, 1], sums[r, 2] = a, b, c
        else:
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[p])
                value = data[p] * lanes[j, 0]
                for q in range(sums.shape[1]):
                    sums[r, q] += value * lanes[j, q + 1]
                total += value * value
        square[r] = total


@compiled
def gather_at(rows: Any, chosen: Any, point: Any, out: Any) -> Any:
    """Write the scores of each row at a dense point."""
    first = point.shape[1] - len(rows.scale)
    for r, i in enumerate(chosen):
        for c in range(point.shape[0]):
            total = point.dtype.type(0)
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                j = rows.indices[p]
                total += rows.data[p] * rows.scale[j] * point[c, first + j]
            out[r, c] = total


@compiled
def scatter(rows: Any, chosen: Any, lanes: Any, coefficient: Any, to_iterate: Any, to_lead: Any, to_slope: Any) -> Any:
    """Add multiples of each row to the lanes of each score."""
    data, indices, indptr, dtype = rows.data, rows.indices, rows.indptr, lanes.dtype.type
    for r, i in enumerate(chosen):
        for c in range(coefficient.shape[1]):
            size = coefficient[r, c]
            if size != 0:
                u, v, w = dtype(size * to_iterate), dtype(size * to_lead), dtype(size * to_slope)
                q = np.uint64(3 * c)
                for p in range(indptr[i], indptr[i + 1]):
                    j = np.uint64(indices[p])
                    value = data[p] * lanes[j, 0]
                    lanes[j, q + np.uint64(1)] += value * u
                    lanes[j, q + np.uint64(2)] += value * v
                    lanes[j, q + np.uint64(3)] += value * w


def sparse_epoch(
    stamp: Any, learner: Any, feedback: Any, rule: Any, weights: Any, estimate: Any, loss: Any, lanes: Any,
    setting: Any, rows: Any, y: Any, weight: Any, order: Any, begin: Any, t: Any, samples: Any, weight_ratio: Any,
    worth: Any, h: Any, hbar: Any, before: Any, carried: Any, anchor_point: Any, anchor: Any, learner_memory: Any,
    memory: Any, tallies: Any,
) -> Any:  # fmt: skip
    """Run the rounds of `kernels.epoch`: the same arguments and results, and room for the lanes."""
    k, width = h.shape
    n, batch, carries, query = len(order), setting.batch, setting.two_points, setting.query
    first = width - len(rows.scale)
    one = rows.intercept if first == 1 else rows.intercept - rows.intercept
    sums = np.empty((batch, 3 * k), h.dtype)
    Z, Z_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    D, D_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    square, factor = np.empty(batch), np.empty(batch)
    unused, touched = np.zeros(1), begin
    reach = lay(lanes, rows.scale, h, hbar, carried)
    if not carries:
        lanes[:, 3::3] = 0.0
    B, c, T, e, before_by = 1.0, 1.0, (1.0, 0.0, 0.0, 1.0), (0.0, 0.0), (0.0, 0.0, 0.0)
    due, healthy, count, scale, worth_before, eta = False, True, 0.0, 0.0, worth, 0.0
    i, m = begin, 0
    while i < n and not due and healthy:
        m = min(batch, n - i)
        count = 0.0
        if touched < min(n, i + m):
            unused[0] += touch(rows, order[touched : touched + AHEAD], y, weight)
            touched += AHEAD
        gather(rows, order[i : i + m], lanes, sums, square)
        if carries and i == begin:
            gather_at(rows, order[i : i + m], before, Z_before)
        by = T[0] + query * T[2], T[1] + query * T[3], e[0] + query * e[1]
        for r in range(m):
            count += weight[order[i + r]]
            square[r] += one * one
            for p in range(k):
                iterate, lead, slope = sums[r, 3 * p], sums[r, 3 * p + 1], sums[r, 3 * p + 2]
                Z[r, p] = by[0] * iterate + by[1] * lead + by[2] * slope
                if carries and i > begin:
                    Z_before[r, p] = before_by[0] * iterate + before_by[1] * lead + before_by[2] * slope
                if first == 1:
                    Z[r, p] += one * (h[p, 0] + query * (hbar[p, 0] - h[p, 0]))
                    Z_before[r, p] += one * before[p, 0]

        scale = rule.typical_size(memory)
        for r in range(m):
            row = order[i + r]
            value = loss.fill(y[row], Z, D, r)
            if carries:
                loss.fill(y[row], Z_before, D_before, r)
            finite, steep = True, 0.0
            for p in range(k):
                finite = finite and isfinite(D[r, p]) and (isfinite(D_before[r, p]) or not carries)
                steep += D[r, p] * D[r, p]
            if isfinite(value):
                tallies[0] += weight[row] * value
            factor[r] = 1.0
            if not finite:
                factor[r] = 0.0
                healthy = healthy and not setting.strict
                for p in range(k):
                    D[r, p] = 0.0
                    D_before[r, p] = 0.0
                tallies[3] += weight[row]
            else:
                size = setting.bound * sqrt(square[r]) if setting.judged else D[r, 0] if k == 1 else sqrt(steep)
                clip, reject = rule.lines(memory, nan)
                factor[r] = feedback.factor(abs(size), clip, reject)
                memory = rule.learn(memory, size, weight[row])
                if factor[r] == 1:
                    tallies[1] += weight[row]
                elif factor[r] > 0:
                    tallies[2] += weight[row]
                else:
                    tallies[3] += weight[row]

        later = rule.typical_size(memory)
        calmer = later / scale if 0 < later < scale else 1.0
        share = estimate.share(worth, samples, count, setting.dimension)
        worth_before, worth = worth, estimate.worth(worth, count, calmer)
        eta = learner.step_size.at(t)
        B *= 1 - share if carries else 1.0
        if B < LEAST_B or c < LEAST_C or not reach * size_of(T, e) < BEYOND_DOUBT:
            reach = lay_anew(lanes, B, T, e)
            B, c, T, e = 1.0, 1.0, (1.0, 0.0, 0.0, 1.0), (0.0, 0.0)
        before_by = T[0] + query * T[2], T[1] + query * T[3], e[0] + query * e[1]
        add = (-e[0] / B, -e[1] / B) if carries else (-eta, eta)
        to_iterate, to_lead = (T[3] * add[0] - T[1] * add[1]) / c, (T[0] * add[1] - T[2] * add[0]) / c
        to_slope = 1 / B if carries else 0.0
        for r in range(m):
            used = (
                weight[order[i + r]] / count * estimate.cap(factor[r], setting.curvature * square[r], setting.typical)
            )
            steep = 0.0
            for p in range(k):
                D[r, p] = used * D[r, p]
                if share < 1:
                    D[r, p] -= used * (1 - share) * D_before[r, p]
                steep = max(steep, abs(D[r, p]))
            if steep > 0:
                reach += steep * sqrt(square[r]) * (abs(to_iterate) + abs(to_lead) + to_slope)

        scatter(rows, order[i : i + m], lanes, D, to_iterate, to_lead, to_slope)

        following = weight_ratio / weights.weight_growth(t)
        weight_ratio = 1 + following
        keep = following / weight_ratio
        if first == 1:
            for p in range(k):
                x = h[p, 0] + query * (hbar[p, 0] - h[p, 0])
                slope = (1 - share) * carried[p, 0] if share < 1 else 0.0
                for r in range(m):
                    slope += D[r, p] * one
                before[p, 0], carried[p, 0] = x, slope
                h[p, 0] -= eta * (slope + (setting.penalty * x if setting.free == 0 else 0.0))
                hbar[p, 0] += (h[p, 0] - hbar[p, 0]) / weight_ratio
                healthy = healthy and isfinite(h[p, 0])
        shrink = eta * setting.penalty
        pull = shrink * (T[0] + T[2]), shrink * (T[1] + T[3]), shrink * (e[0] + e[1]) + (eta * B if carries else 0.0)
        T = T[0] - pull[0], T[1] - pull[1], keep * (T[2] + pull[0]), keep * (T[3] + pull[1])
        e = e[0] - pull[2], keep * (e[1] + pull[2])
        c *= keep
        if not reach * size_of(T, e) < BEYOND_DOUBT:
            healthy = healthy and lift(lanes, B, T, e, before_by, (h, hbar, before, carried)) == 0
        t += 1
        samples += count
        i += m
        due = rule.due(memory, samples)
    if not carries:  # the last round's feedback is all that is carried
        scatter(rows, order[i - m : i], lanes, D, 0.0, 0.0, 1.0)
        before_by = before_by[0], before_by[1], eta * (1 - query)
    lift(lanes, B, T, e, before_by, (h, hbar, before, carried))
    return i, healthy, due, t, samples, weight_ratio, worth, worth_before, count, scale, learner_memory, memory


SPARSE_EPOCH = Kernel(sparse_epoch)


def run_sparse(
    parts: tuple[Any, ...], setting: Any, rows: Any, y: Any, weight: Any, order: Any, begin: int, t: int,
    samples: float, weight_ratio: float, worth: float, h: Any, *others: Any,
) -> Any:  # fmt: skip
    """Run the sparse epoch in room that NumPy makes: it asks for large pages, which many columns need."""
    lanes = np.empty((len(rows.scale), 3 * len(h) + 1), h.dtype)
    return SPARSE_EPOCH(
        parts, lanes, setting, rows, y, weight, order, begin, t, samples, weight_ratio, worth, h, *others
    )
