"""Time and loss of the linear models beside their peers: `python -m benchmarks.linear [--datasets mnist,adult]`.

Marginal epochs, (fit of 4 passes - fit of 1) / 3, rows shuffled, one thread, best of some repeats, all in one process;
ratios above 1 mean that surefoot is faster. Then the test log loss after one pass and after ten, beside scikit-learn's
lbfgs on standardized (pixels: divided by 255) rows. Needs SUREFOOT_DATA for all but adult.
"""

import argparse
import os
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression, SGDClassifier  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402

import surefoot as sf  # noqa: E402

warnings.simplefilter("ignore", ConvergenceWarning)
PIXELS = ("mnist", "fashion_mnist", "emnist_balanced", "cifar10")


def split(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return training and test rows raw, the same standardized, training and test labels."""
    data = sf.datasets.load(name)
    order = np.random.default_rng(seed).permutation(len(data.y))
    n = int(0.8 * len(order))
    train, test = (np.ascontiguousarray(data.X[rows], dtype=np.float32) for rows in (order[:n], order[n:]))
    center, scale = (0.0, 255.0) if name in PIXELS else (train.mean(axis=0), train.std(axis=0) + 1e-12)
    return train, test, (train - center) / scale, (test - center) / scale, data.y[order[:n]], data.y[order[n:]]


def marginal(make, X: np.ndarray, y: np.ndarray, repeats: int = 3) -> float:
    """Return the seconds of one more pass."""
    best = []
    for passes in (1, 4):
        times = []
        for _ in range(repeats):
            begin = time.perf_counter()
            make(passes).fit(X, y)
            times.append(time.perf_counter() - begin)
        best.append(min(times))
    return max(best[1] - best[0], 1e-9) / 3


def numpy_epoch(X: np.ndarray, y: np.ndarray, k: int) -> float:
    """Return the seconds of one pass of the same fresh update in straightforward NumPy."""
    n, d = X.shape
    h, hbar, order = np.zeros((k, d), X.dtype), np.zeros((k, d), X.dtype), np.random.default_rng(0).permutation(n)
    begin = time.perf_counter()
    for t, start in enumerate(range(0, min(n, 16_000), 8), start=1):
        rows = order[start : start + 8]
        A = X[rows]
        z = A @ hbar.T
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(rows)), y[rows]] -= 1
        h -= (0.01 / len(rows)) * (p.T @ A)
        hbar += (h - hbar) / (t + 1)
    return (time.perf_counter() - begin) * n / min(n, 16_000)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="adult,cod_rna,protein,covtype,mnist,fashion_mnist")
    options = parser.parse_args()
    print(f"{'':14} {'ms a pass':>10} {'fresh':>8} {'x NumPy':>8} {'x SGD':>7} {'x SGD average':>14} | "
          f"{'loss: 1 pass':>12} {'10 passes':>10} {'lbfgs':>8} {'x time to 1%':>13}")  # fmt: skip
    for name in options.datasets.split(","):
        train, test, scaled, scaled_test, y, y_test = split(name)
        settings = {"random_state": 0, "tol": None}

        def ours(passes: int, settings=settings, **more) -> sf.SurefootClassifier:
            return sf.SurefootClassifier(max_iter=passes, **settings, **more)

        def peer(passes: int, average: bool) -> SGDClassifier:
            return SGDClassifier(loss="log_loss", average=average, max_iter=passes, tol=None, random_state=0)

        default = marginal(ours, train, y)
        fresh = marginal(lambda passes: ours(passes, estimate=sf.Fresh()), train, y)
        plain, average = (marginal(lambda passes, a=a: peer(passes, a), scaled, y, 1) for a in (False, True))
        slow = numpy_epoch(scaled, y, int(y.max()) + 1)
        begin = time.perf_counter()
        exact = log_loss(y_test, LogisticRegression(C=1.0, max_iter=300).fit(scaled, y).predict_proba(scaled_test))
        lbfgs, reached = time.perf_counter() - begin, np.inf
        losses = {}
        for passes in (1, 2, 3, 5, 10):
            begin = time.perf_counter()
            losses[passes] = log_loss(y_test, ours(passes).fit(train, y).predict_proba(test))
            if losses[passes] <= 1.01 * exact:
                reached = min(reached, time.perf_counter() - begin)
        print(f"{name:14} {1e3 * default:10.1f} {1e3 * fresh:8.1f} {slow / fresh:8.1f} {plain / default:7.1f} "
              f"{average / default:14.1f} | {losses[1]:12.4f} {losses[10]:10.4f} {exact:8.4f} {lbfgs / reached:13.1f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
