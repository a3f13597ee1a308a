"""Real data sets, one file each: where the raw files lie, how they are read, and what must have come out."""

import bz2
import gzip
import lzma
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.resources import as_file, files
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.parts import Array

OPENERS: dict[str, Callable[..., object]] = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class Dataset(NamedTuple):
    """A table: X dense and C-ordered, as published; y codes 0 .. n_classes - 1, in sorted order of the labels."""

    name: str
    X: Array
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    n_classes: int


class Expected(NamedTuple):
    """What a data set must have, as published."""

    rows: int
    features: int
    class_counts: tuple[int, ...]


def names() -> list[str]:
    """Return the data sets there are: the modules of this package.

    >>> names()
    ['adult']
    """
    return sorted(module.name for module in iter_modules(__path__))


def load(name: str, data_home: str | Path | None = None) -> Dataset:
    """Return a data set, read from raw files and checked against the published counts.

    The files, plain or compressed (.gz, .bz2, .xz), are looked for in `data_home`, then in the folder that the
    environment variable SUREFOOT_DATA names (in both, directly or in a sub-folder of the set's name), then in the
    package, which brings adult along.
    """
    if name not in names():
        raise ValueError(f"name: expected one of {', '.join(names())}, got {name!r}")
    module = import_module(f"surefoot.datasets.{name}")
    with as_file(files("surefoot.datasets") / "bundled") as bundled:
        homes = [Path(home) for home in (data_home, os.environ.get("SUREFOOT_DATA")) if home]
        folders = [folder for home in homes for folder in (home / name, home)] + [bundled]
        dataset: Dataset = module.read([_find(file, folders) for file in module.FILES])
    _compare(dataset, module.EXPECTED)
    return dataset


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, compressed or not."""
    opener = OPENERS[path.suffix if path.suffix in OPENERS else ""]
    with opener(path, "rt", encoding="ascii") as file:  # type: ignore[attr-defined]
        yield from file


def _find(file: str, folders: list[Path]) -> Path:
    for folder in folders:
        for ending in OPENERS:
            if (folder / (file + ending)).is_file():
                return folder / (file + ending)
    raise FileNotFoundError(
        f"{file}: not found, plain or as {', '.join(filter(None, OPENERS))}, in {', '.join(map(str, folders))}; "
        "put it into one of these folders, or pass the folder that holds it as data_home"
    )


def _compare(dataset: Dataset, expected: Expected) -> None:
    rows, features = dataset.X.shape
    counts = tuple(int(count) for count in np.bincount(dataset.y, minlength=dataset.n_classes))
    for what, found, wanted in (
        ("rows", rows, expected.rows),
        ("features", features, expected.features),
        ("class counts", counts, expected.class_counts),
    ):
        if found != wanted:
            raise ValueError(
                f"{dataset.name}: expected {wanted} {what}, found {found}; a raw file is not the published one"
            )
