"""A table parsed once: one file of three arrays, written atomically, features mapped into memory when read.

An entry is named by the data set and where its raw files lie, and holds what identifies them (size, times), so a
replaced raw file is noticed. Two processes may write the same entry: each writes a file of its own and renames it.
Features are mapped copy-on-write: they may be changed, the cache may not. No folder, a read-only or a full one is
said once, in the log, and never stands in the way.
"""

import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from surefoot.tables import places
from surefoot.tables.rows import Table
from surefoot.tables.stream import Stream

FORMAT = 1  # to be raised when entries, or what is read from raw files, change
HOUR = 3600

Identity = list[list[str | int]]
_said: set[Path] = set()
_log = logging.getLogger(__name__)


def identify(streams: Sequence[Stream]) -> Identity:
    """Return what changes when a raw file is replaced."""
    return [list(stream.identity()) for stream in streams]


def read(name: str, identity: Identity) -> tuple[Table, str] | None:
    """Return the table parsed from these raw files and its warning, if it is at hand."""
    return _load(_entry(name, identity), identity)


def read_published(name: str) -> tuple[Table, str] | None:
    """Return the published table, wherever its raw files were."""
    entries = sorted(folder().glob(f"{name}-*.table"))
    return next((table for path in entries if (table := _load(path)) and not table[1]), None)


def folder() -> Path:
    """Return the folder of the entries."""
    return places.cache_home() / "tables"


def write(name: str, identity: Identity, table: Table, note: str) -> None:
    """Keep a table and its warning, if the folder allows it."""
    X, y = table
    about = json.dumps({"format": FORMAT, "raw": identity, "note": note})
    path, part = _entry(name, identity), None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f"{name}-", suffix=".part")
        with os.fdopen(handle, "wb") as file:
            for array in (X, y.astype(np.min_scalar_type(int(y.max()))), np.array(about)):
                np.save(file, array, allow_pickle=False)
        os.replace(part, path)
    except OSError as error:
        if part is not None:
            with suppress(OSError):
                os.unlink(part)
        if path.parent not in _said:
            _said.add(path.parent)
            _log.warning("parsed data sets cannot be kept in %s (%s): they are parsed at each load", path.parent, error)


def _load(path: Path, identity: Identity | None = None) -> tuple[Table, str] | None:
    """Read an entry; None if there is none, or it is of other raw files, of another format, or broken."""
    try:
        with path.open("rb") as file:
            X = _map(path, file)
            y = np.load(file, allow_pickle=False).astype(np.int64)
            about = json.loads(str(np.load(file, allow_pickle=False)))
        if about["format"] != FORMAT or identity not in (None, about["raw"]) or len(X) != len(y):
            return None
        return (X, y), str(about["note"])
    except (OSError, ValueError, EOFError, KeyError, TypeError):
        return None


def _map(path: Path, file: IO[bytes]) -> NDArray[np.floating]:
    """Map the first array of a file, and leave the file at the second."""
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not an entry")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    X = np.memmap(path, dtype, "c", file.tell(), shape)
    file.seek(X.nbytes, os.SEEK_CUR)
    return X.view(np.ndarray)


def _entry(name: str, identity: Identity) -> Path:
    place = hashlib.sha256(json.dumps([raw[:2] for raw in identity]).encode()).hexdigest()
    return folder() / f"{name}-{place[:16]}.table"


def _sweep(folder: Path) -> None:
    """Remove what killed processes left behind."""
    for part in folder.glob("*.part"):
        with suppress(OSError):  # its process may be renaming it just now
            if part.stat().st_mtime < time.time() - HOUR:
                part.unlink()
