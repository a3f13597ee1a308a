"""The paper's experiment (Holland 2022, section 5): trials, epochs, training and test loss after each epoch."""

import csv
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.conversion import Conversion
from surefoot.datasets import load
from surefoot.losses import Softmax
from surefoot.paper.methods import BATCH, METHODS, Task
from surefoot.parts import Array
from surefoot.state import Info, State

TRAINING_SHARE = 0.8
START = 0.05  # h_1 is uniform on [-0.05, 0.05]


class Row(NamedTuple):
    """One line of results.csv; `truncated` is the fraction of the epoch's steps that were not left as they came."""

    dataset: str
    method: str
    trial: int
    epoch: int
    train_loss: float
    test_loss: float
    train_error: float
    test_error: float
    truncated: float


class Run(NamedTuple):
    """One method on one trial: everything but the data is in here."""

    dataset: str
    method: str
    trial: int
    epochs: int
    seed: int
    data_home: str | None


def runs(datasets: Iterable[str], trials: int, epochs: int, seed: int, data_home: str | None) -> list[Run]:
    """Return all runs of an experiment."""
    every = product(datasets, range(trials), METHODS)
    return [Run(dataset, method, trial, epochs, seed, data_home) for dataset, trial, method in every]


def unit_interval(X: Array) -> Array:
    """Return the columns scaled to [0, 1]; a constant column becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    scaled: Array = (X - low) / np.where(high > low, high - low, 1.0)
    return scaled


def execute(run: Run) -> list[Row]:
    """Carry out one run; the split, h_1 and the order of the rows depend on seed and trial, not on the method."""
    data = load(run.dataset, run.data_home)
    rng = np.random.default_rng([run.seed, run.trial])
    order = rng.permutation(len(data.y))
    X, y = unit_interval(np.asarray(data.X, dtype=np.float64))[order], data.y[order]
    n_train = int(TRAINING_SHARE * len(y))
    h1 = rng.uniform(-START, START, size=(data.n_classes, X.shape[1]))
    task = Task(X[:n_train], y[:n_train], h1)
    rows = []
    for epoch, (state, truncated) in enumerate(train(task, METHODS[run.method](task), run.epochs, rng), start=1):
        train_loss, train_error = evaluate(state.hbar, task.X, task.y)
        test_loss, test_error = evaluate(state.hbar, X[n_train:], y[n_train:])
        score = train_loss, test_loss, train_error, test_error
        rows.append(Row(run.dataset, run.method, run.trial, epoch, *score, truncated))
    return rows


def train(task: Task, conversion: Conversion, epochs: int, rng: np.random.Generator) -> Iterator[tuple[State, float]]:
    """Yield the state after each epoch, and the fraction of its judgements that were not left as they came."""
    state = conversion.start(task.h1)
    for _ in range(epochs):
        order, changed = rng.permutation(len(task.y)), 0.0
        batches = range(0, len(order), BATCH)
        for begin in batches:
            state, info = take(task, conversion, state, order[begin : begin + BATCH])
            changed += float(np.mean(np.asarray(info.action) != "kept"))
        yield state, changed / len(batches)


def take(task: Task, conversion: Conversion, state: State, rows: NDArray[np.int64]) -> tuple[State, Info]:
    """Go one round on with a batch: its mean gradient, or each row's at two points where feedback is carried."""
    if not conversion.estimate.two_points:
        return conversion.step(state, partial(task.gradient, rows=rows))
    squares = np.sum(task.X[rows] ** 2, axis=1)
    g, g_before = task.gradients(conversion.ask(state), rows), task.gradients(state.before, rows)
    return conversion.tell(state, g, g_before, size=np.sqrt(squares), curvature=Softmax().curvature * squares)


def evaluate(h: Array, X: Array, y: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean loss and the error rate."""
    scores = X @ h.T
    return float(np.mean(Softmax().value(y, scores))), float(np.mean(scores.argmax(axis=1) != y))


def carry_out(everything: list[Run], jobs: int, progress: Callable[[Run], object]) -> list[Row]:
    """Carry out all runs in `jobs` processes; the rows come in the order of the runs, whoever finishes first."""
    if jobs == 1:
        results = []
        for run in everything:
            results += execute(run)
            progress(run)
        return results
    rows: dict[Run, list[Row]] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(execute, run): run for run in everything}
        for future in as_completed(futures):
            rows[futures[future]] = future.result()
            progress(futures[future])
    return [row for run in everything for row in rows[run]]


def write(rows: list[Row], path: Path) -> None:
    """Write results.csv."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(rows)
