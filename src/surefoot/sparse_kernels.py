"""The compiled epoch for sparse tables: the rounds of `kernels.epoch` in O(non-zeros) each, whatever the dimension.

A round of mirror descent on the whole space is linear in three vectors, the iterate h, the lead v = hbar - h of the
average and the estimate D. With b the share of a round, eta its step and keep = 1 - alpha_{t+1} / alpha_{1:t+1},

    D <- (1 - b) D + sum of coefficient * row;    h <- h - eta D;    v <- keep (v + eta D).

Three lanes a coordinate, I (iterate), L (lead) and S (slope), and four scalars hold all three, untouched coordinates
included:

    D = B S;    h = I - E S;    v = c L + g S.

What happens to every coordinate happens to the scalars: B <- (1 - b) B before the rows, E <- E + eta B,
g <- keep (g + eta B) and c <- keep c after them. A row adds z = coefficient * row / B to S, and what leaves h and v as
they were to the others, E z to I and -g z / c to L. For the same reason the point of the round before is to be had
from the lanes of this round and the scalars of that one: one pass over a row's non-zeros yields the scores at both.

`Fresh` carries nothing, b = 1: S stays empty, a row adds -eta * coefficient * row to I, eta * coefficient * row / c to
L.

As B and c fall, what is added to the lanes grows and cancels. Before it costs digits the lanes are laid anew, with
B = c = 1, E = g = 0: in O(dimension), but only as often as the logarithm of the rounds.
"""

from collections.abc import Callable
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numba.extending import register_jitable

from surefoot.compiled import Kernel
from surefoot.conversion import Conversion
from surefoot.domains import Everywhere
from surefoot.estimates import Carried, Fresh
from surefoot.learners import MirrorDescent
from surefoot.mirror_maps import Euclidean

LEAST_B = 0.1
AHEAD = 32  # rows
LEAST_C = 1e-12
BEYOND_DOUBT = 1e30  # numbers in the lanes up to here cannot have left the finite ones


def compiled(function: Callable[..., Any]) -> Any:
    """Return a function that compiled code may call, too."""
    return register_jitable(error_model="numpy", fastmath={"contract"})(function)


def applies(conversion: Conversion, setting: Any, rows: Any) -> bool:
    """Say whether these rounds are linear in h, hbar and D but for the rows: else rows are unpacked, densely."""
    learner: Any = conversion.learner
    return (
        hasattr(rows, "indptr")
        and type(learner) is MirrorDescent
        and type(learner.mirror_map) is Euclidean
        and type(learner.mirror_map.domain) is Everywhere
        and type(conversion.estimate) in (Fresh, Carried)
        and not setting.by_batch
        and not setting.anchored
        and setting.penalty == 0
    )


@compiled
def lay(lanes: Any, scale: Any, h: Any, hbar: Any, carried: Any) -> Any:
    """Fill the lanes: of a coordinate, its column's scale, then I, L and S of each score; return the largest."""
    k, width = h.shape
    first, largest = width - scale.shape[0], 0.0
    for j in range(width):
        lanes[j, 0] = scale[j - first] if j >= first else 1.0
        for c in range(k):
            lanes[j, 3 * c + 1] = h[c, j]
            lanes[j, 3 * c + 2] = hbar[c, j] - h[c, j]
            lanes[j, 3 * c + 3] = carried[c, j]
            largest = max(largest, abs(h[c, j]), abs(lanes[j, 3 * c + 2]), abs(carried[c, j]))
    return largest


@compiled
def lay_anew(lanes: Any, B: Any, E: Any, c: Any, g: Any) -> Any:
    """Lay the lanes for B = c = 1, E = g = 0; return the largest, which is not finite where one is not."""
    largest, doubt = 0.0, 0.0
    for j in range(lanes.shape[0]):
        for p in range(1, lanes.shape[1], 3):
            slope = lanes[j, p + 2]
            lanes[j, p] -= E * slope
            lanes[j, p + 1] = c * lanes[j, p + 1] + g * slope
            lanes[j, p + 2] = B * slope
            largest = max(largest, abs(lanes[j, p]), abs(lanes[j, p + 1]), abs(lanes[j, p + 2]))
            doubt += lanes[j, p] - lanes[j, p]  # 0, or NaN
    return largest + doubt


@compiled
def lift(lanes: Any, B: Any, E: Any, c: Any, g: Any, by_lead: Any, by_slope: Any, arrays: Any) -> Any:
    """Write h, hbar, the last query point I + by_lead * L + by_slope * S, and D."""
    h, hbar, before, carried = arrays
    for j in range(lanes.shape[0]):
        for p in range(h.shape[0]):
            iterate, lead, slope = lanes[j, 3 * p + 1], lanes[j, 3 * p + 2], lanes[j, 3 * p + 3]
            h[p, j] = iterate - E * slope
            hbar[p, j] = iterate - E * slope + (c * lead + g * slope)
            before[p, j] = iterate + by_lead * lead + by_slope * slope
            carried[p, j] = B * slope


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
    data, indices, indptr, intercept = rows.data, rows.indices, rows.indptr, rows.intercept
    first = lanes.shape[0] - rows.scale.shape[0]
    for r, i in enumerate(chosen):
        total = lanes.dtype.type(0)
        if first == 1:
            total = intercept * intercept
        for q in range(sums.shape[1]):
            sums[r, q] = intercept * lanes[0, q + 1] if first == 1 else 0.0
        if sums.shape[1] == 3:
            a, b, c = sums[r, 0], sums[r, 1], sums[r, 2]
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(first) + np.uint64(indices[p])
                value = data[p] * lanes[j, 0]
                a += value * lanes[j, 1]
                b += value * lanes[j, 2]
                c += value * lanes[j, 3]
                total += value * value
            sums[r, 0], sums[r, 1], sums[r, 2] = a, b, c
        else:
            for p in range(indptr[i], indptr[i + 1]):
                j = np.uint64(first) + np.uint64(indices[p])
                value = data[p] * lanes[j, 0]
                for q in range(sums.shape[1]):
                    sums[r, q] += value * lanes[j, q + 1]
                total += value * value
        square[r] = total


@compiled
def gather_at(rows: Any, chosen: Any, point: Any, out: Any) -> Any:
    """Write the scores of each row at a dense point."""
    first = point.shape[1] - rows.scale.shape[0]
    for r, i in enumerate(chosen):
        for c in range(point.shape[0]):
            total = rows.intercept * point[c, 0] if first == 1 else point.dtype.type(0)
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                j = rows.indices[p]
                total += rows.data[p] * rows.scale[j] * point[c, first + j]
            out[r, c] = total


@compiled
def scatter(rows: Any, chosen: Any, lanes: Any, coefficient: Any, to_iterate: Any, to_lead: Any, to_slope: Any) -> Any:
    """Add multiples of each row to the lanes of each score."""
    data, indices, indptr, intercept = rows.data, rows.indices, rows.indptr, rows.intercept
    first, dtype = lanes.shape[0] - rows.scale.shape[0], lanes.dtype.type
    for r, i in enumerate(chosen):
        for c in range(coefficient.shape[1]):
            size = coefficient[r, c]
            if size != 0:
                u, v, w = dtype(size * to_iterate), dtype(size * to_lead), dtype(size * to_slope)
                q = np.uint64(3 * c)
                if first == 1:
                    lanes[0, q + np.uint64(1)] += intercept * u
                    lanes[0, q + np.uint64(2)] += intercept * v
                    lanes[0, q + np.uint64(3)] += intercept * w
                for p in range(indptr[i], indptr[i + 1]):
                    j = np.uint64(first) + np.uint64(indices[p])
                    value = data[p] * lanes[j, 0]
                    lanes[j, q + np.uint64(1)] += value * u
                    lanes[j, q + np.uint64(2)] += value * v
                    lanes[j, q + np.uint64(3)] += value * w


def sparse_epoch(
    stamp: Any, learner: Any, feedback: Any, rule: Any, weights: Any, estimate: Any, loss: Any, setting: Any, rows: Any,
    y: Any, weight: Any, order: Any, begin: Any, t: Any, samples: Any, weight_ratio: Any, worth: Any, h: Any, hbar: Any,
    before: Any, carried: Any, anchor_point: Any, anchor: Any, learner_memory: Any, memory: Any, tallies: Any,
) -> Any:  # fmt: skip
    """Run the rounds of `kernels.epoch`: the same arguments, the same results."""
    k, width = h.shape
    n, batch, carries = len(order), setting.batch, setting.two_points
    lanes, sums = np.empty((width, 3 * k + 1), h.dtype), np.empty((batch, 3 * k), h.dtype)
    Z, Z_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    D, D_before = np.empty((batch, k), h.dtype), np.empty((batch, k), h.dtype)
    square, factor = np.empty(batch), np.empty(batch)
    doubt, touched = np.zeros(1), begin
    reach = lay(lanes, rows.scale, h, hbar, carried)
    B, E, c, g, by_lead, by_slope = 1.0, 0.0, 1.0, 0.0, 0.0, 0.0
    if not carries:
        lanes[:, 3::3] = 0.0
    due, healthy, count, scale, worth_before, eta = False, True, 0.0, 0.0, worth, 0.0
    i, m = begin, 0
    while i < n and not due and healthy:
        m = min(batch, n - i)
        count = 0.0
        lead, slope = setting.query * c, setting.query * g - E
        if touched < min(n, i + m):
            doubt[0] += touch(rows, order[touched : touched + AHEAD], y, weight)
            touched += AHEAD
        gather(rows, order[i : i + m], lanes, sums, square)
        for r in range(m):
            count += weight[order[i + r]]
            for p in range(k):
                a, b, c_ = sums[r, 3 * p], sums[r, 3 * p + 1], sums[r, 3 * p + 2]
                Z[r, p] = a + lead * b + slope * c_
                Z_before[r, p] = a + by_lead * b + by_slope * c_
        if carries and i == begin:
            gather_at(rows, order[i : i + m], before, Z_before)

        scale = rule.typical_size(memory)
        for r in range(m):
            row = order[i + r]
            value = loss.fill(y[row], Z[r], D[r])
            if carries:
                loss.fill(y[row], Z_before[r], D_before[r])
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
                clip, reject = rule.lines(memory, 0.0)
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
        if B < LEAST_B or c < LEAST_C or not reach * (1 + abs(E) + abs(g)) < BEYOND_DOUBT:
            reach = lay_anew(lanes, B, E, c, g)
            B, E, c, g = 1.0, 0.0, 1.0, 0.0
        to_iterate, to_lead, to_slope = (E / B, -g / (c * B), 1 / B) if carries else (-eta, eta / c, 0.0)
        for r in range(m):
            used = weight[order[i + r]] / count * estimate.cap(factor[r], setting.bend * square[r], setting.typical)
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
        by_lead, by_slope = setting.query * c, setting.query * g - E
        if carries:
            E += eta * B
            g = keep * (g + eta * B)
        c *= keep
        if not reach * (1 + abs(E) + abs(g)) < BEYOND_DOUBT:
            total = 0.0
            for j in range(width):
                for p in range(1, 3 * k + 1, 3):
                    iterate = lanes[j, p] - E * lanes[j, p + 2]
                    total += iterate - iterate  # 0, or NaN
            healthy = healthy and total == 0
        t += 1
        samples += count
        i += m
        due = rule.due(memory, samples)
    if not carries:  # the last round's feedback is all that is carried
        scatter(rows, order[i - m : i], lanes, D, 0.0, 0.0, 1.0)
        by_slope = eta * (1 - setting.query)
    lift(lanes, B, E, c, g, by_lead, by_slope, (h, hbar, before, carried))
    return i, healthy, due, t, samples, weight_ratio, worth, worth_before, count, scale, learner_memory, memory


SPARSE_EPOCH = Kernel(sparse_epoch)
