"""Real data sets, one file each: what is published, and how it is read. Adding one is adding a file.

A module says where its raw files come from and what must come out (`SOURCE`), and how they are read (`read`). What
such files have in common is in `surefoot.tables`; what counts as the published table is in `surefoot.tables.verdict`.
"""

import warnings
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.tables import cache, download, places, verdict
from surefoot.tables.source import Source
from surefoot.tables.stream import Stream


class Dataset(NamedTuple):
    """A table: X dense, C-ordered, unscaled, float32 where that holds every published value exactly, else float64.

    y holds the codes 0 .. n_classes - 1, in sorted order of the labels. Rows are in the publisher's order, those of
    the training file first.
    """

    name: str
    X: NDArray[np.floating]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    n_classes: int


class Presence(NamedTuple):
    """Whether a data set is at hand: `kind` is "raw files", "cache", "package" or "no"; `where` a folder or a URL."""

    kind: str
    where: str


def names() -> list[str]:
    """Return the data sets there are: the modules of this package.

    >>> names()
    ['adult', 'cifar10', 'cod_rna', 'covtype', 'emnist_balanced', 'fashion_mnist', 'mnist', 'protein']
    """
    return sorted(module.name for module in iter_modules(__path__))


def source(name: str) -> Source:
    """Return what is known of a data set: its publisher's files, licence, citation and counts.

    >>> source("covtype").expected.rows
    581012
    """
    found: Source = _module(name).SOURCE
    return found


def load(name: str, data_home: str | Path | None = None) -> Dataset:
    """Return a data set, checked against what was published.

    Its raw files are looked for in `data_home`, then in the folder that the environment variable SUREFOOT_DATA names
    (in both, in a sub-folder of the set's name first), then in the cache, then in the package, which brings adult
    along. Each may be plain, compressed (.gz, .bz2, .xz) or in the publisher's archive. Only what is nowhere is
    downloaded. A truncated or wrong file is an error; another table of the same format comes with a warning.

    Tables are parsed once and kept in the folder that SUREFOOT_CACHE names, or the user's cache.

    >>> load("adult").X.shape
    (45222, 105)
    """
    module, known = _module(name), source(name)
    with ExitStack() as stack:
        streams = _all(places.find(name, known, data_home))
        kept = cache.read(name, cache.identify(streams)) if streams else cache.read_published(name)
        if kept is None:
            if not streams:
                fetched = download.fetch(name, known, stack)
                streams = _all(places.find(name, known, data_home)) or _all(places.find(name, known, fetched))
            if not streams:
                raise FileNotFoundError(f"{name}: what was downloaded does not hold {known.files[0].name}")
            kept = _parse(name, module, streams)
    (X, y), note = kept
    if note:
        warnings.warn(note, stacklevel=2)
    return Dataset(name, X, y, known.feature_names, len(known.labels))


def presence(name: str, data_home: str | Path | None = None) -> Presence:
    """Return whether a data set is at hand, without reading a raw file."""
    known = source(name)
    if streams := _all(places.find(name, known, data_home)):
        bundled = all(stream.path.parent == places.BUNDLED for stream in streams)
        return Presence("package" if bundled else "raw files", str(streams[0].path.parent))
    if cache.read_published(name) is not None:
        return Presence("cache", str(cache.folder()))
    return Presence("no", known.downloads[0].urls[0])


def _parse(
    name: str, module: ModuleType, streams: list[Stream]
) -> tuple[tuple[NDArray[np.floating], NDArray[np.int64]], str]:
    """Read raw files, judge what came out, and keep it."""
    identity = cache.identify(streams)
    table = module.read(streams)
    if not len(table[1]):
        raise ValueError(f"{name}: no rows in {', '.join(stream.where for stream in streams)}; fetch the files again")
    note = verdict.judge(name, module.SOURCE, streams, table, {each: source(each) for each in names()})
    cache.write(name, identity, table, note)
    return table, note


def _all(found: list[Stream | None]) -> list[Stream]:
    """Return the streams if none is missing."""
    streams = [stream for stream in found if stream is not None]
    return streams if len(streams) == len(found) else []


def _module(name: str) -> ModuleType:
    if name not in names():
        raise ValueError(f"name: expected one of {', '.join(names())}, got {name!r}")
    return import_module(f"surefoot.datasets.{name}")
