"""Blocks of rows in, one table out, without ever holding two."""

import numpy as np
from numpy.typing import NDArray

from surefoot.tables.source import Expected

Table = tuple[NDArray[np.floating], NDArray[np.int64]]


class Rows:
    """A table that grows: made for the expected number of rows, larger if more come.

    Its features are float32 as long as that holds every value exactly, else float64.
    """

    def __init__(self, expected: Expected) -> None:
        self.count = 0
        self.X: NDArray[np.floating] = np.empty((expected.rows, expected.features), dtype=np.float32)
        self.y = np.empty(expected.rows, dtype=np.int64)

    def append(self, features: NDArray[np.generic], codes: NDArray[np.generic]) -> None:
        """Add rows."""
        begin, end = self.count, self.count + len(codes)
        if end > len(self.y):
            more = max(end, 2 * len(self.y)) - len(self.y)
            self.X = self._moved(len(self.y) + more, self.X.dtype)
            self.y = np.concatenate([self.y, np.empty(more, dtype=np.int64)])
        self.X[begin:end] = features
        exact = features.dtype == np.uint8 or self.X.dtype == np.float64
        if not exact and not np.array_equal(self.X[begin:end], features):
            self.X = self._moved(len(self.X), np.dtype(np.float64))
            self.X[begin:end] = features
        self.y[begin:end] = codes
        self.count = end

    def table(self) -> Table:
        """Return all rows, in arrays of their own size."""
        if self.count == len(self.y):
            return self.X, self.y
        return self.X[: self.count].copy(), self.y[: self.count].copy()

    def _moved(self, room: int, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
        X = np.empty((room, self.X.shape[1]), dtype=dtype)
        X[: self.count] = self.X[: self.count]
        return X
