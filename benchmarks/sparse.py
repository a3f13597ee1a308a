"""An epoch over a sparse table beside scikit-learn's: `python -m benchmarks.sparse [--rows 200000] [--repeats 5]`.

200,000 rows of about 72 non-zeros, in columns of Zipf frequency (exponent 0.9). The marginal epoch, shuffled: a warm
fit of six passes less one of two, over four, of SGDClassifier(loss="log_loss", average=True), of SurefootClassifier and
of its variant with fresh feedback; in one process, by turns. Prints medians of times, and of the ratios within each
turn: above 1 is faster than scikit-learn. `first` is a first fit of one pass, pilot included.
"""

import argparse
import time

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier

import surefoot as sf

FEW, MANY = 2, 6


def zipf_table(rows, columns, length=72, exponent=0.9, seed=0):
    """Return rows with distinct columns of Zipf frequency, shuffled, and labels of a sparse linear model."""
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(np.arange(1, columns + 1.0) ** -exponent)
    drawn = rng.poisson(1.15 * length, rows)  # some columns are drawn twice
    indptr = np.concatenate([[0], np.cumsum(drawn)]).astype(np.int32)
    indices = np.searchsorted(frequency, frequency[-1] * rng.random(indptr[-1]))
    indices = rng.permutation(columns)[indices].astype(np.int32)
    X = sparse.csr_array((rng.exponential(size=len(indices)), indices, indptr), shape=(rows, columns))
    X.sum_duplicates()
    truth = rng.standard_normal(columns) * (rng.random(columns) < 0.1)
    return X, (X @ truth + rng.logistic(size=rows) > 0).astype(np.int64)


MODELS = {
    "scikit-learn": lambda: SGDClassifier(loss="log_loss", average=True, alpha=1e-6, tol=None, random_state=0),
    "surefoot": lambda: sf.SurefootClassifier(tol=None, random_state=0),
    "fresh": lambda: sf.SurefootClassifier(estimate=sf.Fresh(), tol=None, random_state=0),
}


def seconds(model, passes, X, y):
    model.set_params(max_iter=passes)
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin


def measure(X, y, repeats):
    """Return the seconds of a first fit, and of an epoch in each turn, by model."""
    for make in MODELS.values():
        seconds(make(), 1, X[:2000], y[:2000])  # compile
    models = {name: make() for name, make in MODELS.items()}
    first = {name: seconds(model, 1, X, y) for name, model in models.items()}
    for model in models.values():
        model.set_params(warm_start=True)
    epochs = {name: [] for name in models}
    for _ in range(repeats):
        for name, model in models.items():
            few, many = seconds(model, FEW, X, y), seconds(model, MANY, X, y)
            epochs[name].append((many - few) / (MANY - FEW))
    return first, {name: np.array(each) for name, each in epochs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, nargs="*", default=[10_000, 50_000, 500_000])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'columns':>9} {'type':8} {'':13} {'epoch':>8} {'ns/non-zero':>12} {'ratio':>6} {'first':>8}")
    for columns in options.columns:
        table, y = zipf_table(options.rows, columns)
        for dtype in (np.float64, np.float32):
            X = table.astype(dtype)
            first, epochs = measure(X, y, options.repeats)
            for name, times in epochs.items():
                epoch, ratio = np.median(times), np.median(epochs["scikit-learn"] / times)
                print(
                    f"{columns:9} {np.dtype(dtype).name:8} {name:13} {epoch:6.3f} s {epoch / X.nnz * 1e9:12.2f} "
                    f"{ratio:6.2f} {first[name]:6.2f} s", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
