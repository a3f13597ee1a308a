"""What a pilot needs to know of sparse columns, in O(non-zeros) however many columns there are."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from surefoot.parts import Array


def scales(first: Any, table: Any, one: Callable[[Array], tuple[float, float]], smallest: float) -> Array:
    """Return the scale of each column: what `one` says of it, dense, as (center, scale); scale 0 where it is constant.

    Where most of a column is zero, so is its median, and columns of equally many non-zeros are taken together:
    mag = 90% quantile of the sizes, b = clip(x, -3 mag, 3 mag), scale = max(sd b, mag / 10). A column that is
    constant in these rows gets a tenth of the first other deviation that the table has, or else its own size.
    """
    rows, columns = first.shape
    by_column = first.tocsc()
    by_column.eliminate_zeros()
    begin, data = by_column.indptr[:-1].astype(np.intp), by_column.data
    lengths, scale = np.diff(by_column.indptr).astype(np.intp), np.zeros(columns)
    thin = np.flatnonzero((2 * lengths < rows) & (lengths > 0))
    thin = thin[np.argsort(lengths[thin], kind="stable")]
    for chosen in np.split(thin, np.flatnonzero(np.diff(lengths[thin])) + 1) if len(thin) else []:
        values = data[begin[chosen][:, None] + np.arange(lengths[chosen[0]])].astype(np.float64)
        magnitude = np.quantile(np.abs(values), 0.9, axis=1)
        relative = np.clip(values / np.maximum(magnitude, smallest)[:, None], -3.0, 3.0)
        mean = relative.sum(axis=1) / rows
        square = ((relative - mean[:, None]) ** 2).sum(axis=1) + (rows - values.shape[1]) * mean**2
        scale[chosen] = magnitude * np.maximum(np.sqrt(square / rows), 0.1)
    middle = np.zeros(columns)
    for j in np.flatnonzero(2 * lengths >= rows):
        column = np.zeros(rows)
        column[by_column.indices[begin[j] : begin[j] + lengths[j]]] = data[begin[j] : begin[j] + lengths[j]]
        middle[j], scale[j] = one(column)
    constant = scale == 0
    if constant.any():
        other = first_other(table, constant, middle) if table is not None else middle
        scale[constant] = np.abs(np.where(other != middle, (other - middle) / 10, middle))[constant]
    return np.where(scale == 0, 1.0, scale)


def merged(X: Any) -> Any:
    """Return a table, where it is sparse with every entry once: the square of a sum is no sum of squares."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    once = X.copy()
    once.sum_duplicates()
    return once


def first_other(table: Any, wanted: Any, values: Array) -> Array:
    """Return the first value of each wanted column that is not the one given, or that one where there is no other."""
    found = values.copy()
    entries = np.flatnonzero(wanted[table.indices])[::-1]
    entries = entries[table.data[entries] != values[table.indices[entries]]]
    found[table.indices[entries]] = table.data[entries]  # of several, the last one stays: the first row
    absent = np.flatnonzero(wanted & (values != 0))
    for j, column in zip(absent, table[:, absent].tocsc().T.tocsr() if len(absent) else [], strict=True):
        dense = column.toarray().ravel()
        others = np.flatnonzero(dense != values[j])
        found[j] = dense[others[0]] if len(others) else values[j]
    return found


def rare_rows(table: Any, first: Any, least: int) -> Any:
    """Return rows beyond the first that hold a column with fewer than `least` non-zeros among them, up to that many."""
    columns = table.shape[1]
    inside = np.zeros(table.shape[0], dtype=bool)
    inside[first] = True
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    counts = np.bincount(table.indices[inside[row] & (table.data != 0)], minlength=columns)
    entries = np.flatnonzero((counts < least)[table.indices] & (table.data != 0))
    entries = entries[np.argsort(table.indices[entries], kind="stable")]
    column = table.indices[entries]
    rank = np.arange(len(column)) - np.searchsorted(column, column)
    chosen = np.unique(row[entries[rank < least]])
    return chosen[~inside[chosen]].astype(np.intp)


def packed(rows: Any, factor: Array, intercept: bool) -> Any:
    """Return rows with each column times its factor, and a column of ones in front where there is an intercept."""
    count, columns = rows.shape
    data, indices, indptr = rows.data * factor[rows.indices], rows.indices, rows.indptr
    if intercept:
        data, indices = np.insert(data, indptr[:-1], 1.0), np.insert(indices + 1, indptr[:-1], 0)
        indptr = indptr + np.arange(count + 1, dtype=indptr.dtype)
    return sparse.csr_array((data, indices, indptr), shape=(count, columns + intercept))
