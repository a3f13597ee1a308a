"""Where raw files are looked for: the caller's folder, $SUREFOOT_DATA, the cache, the package."""

import os
import sys
import tempfile
from pathlib import Path

from surefoot.tables.source import Source
from surefoot.tables.stream import ARCHIVE_ENDINGS, ENDINGS, Stream

BUNDLED = Path(__file__).parent.parent / "datasets" / "bundled"


def cache_home() -> Path:
    """Return the folder for what can be made again: $SUREFOOT_CACHE, else the user's cache on this platform."""
    if chosen := os.environ.get("SUREFOOT_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "surefoot" / "Cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "surefoot"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "surefoot"


def downloads(name: str) -> Path:
    """Return the folder for what was downloaded for a data set."""
    return cache_home() / "raw" / name


def folders(name: str, source: Source, data_home: str | Path | None) -> list[Path]:
    """Return the folders to look in, in this order; a folder of the set's own name comes before its parent."""
    homes = [Path(home).expanduser() for home in (data_home, os.environ.get("SUREFOOT_DATA")) if home]
    given = [folder for home in homes for folder in (home / name, home)] + [downloads(name)]
    return [inner for folder in given for inner in (folder, *(folder / part for part in source.unpacked))] + [BUNDLED]


def find(name: str, source: Source, data_home: str | Path | None) -> list[Stream | None]:
    """Return each raw file where it is found first, None where it is not; nothing is opened."""
    everywhere = folders(name, source, data_home)
    present = {folder: _entries(folder) for folder in everywhere}
    archives = [stem + ending for stem in source.archives for ending in ARCHIVE_ENDINGS]
    result: list[Stream | None] = []
    for raw in source.files:
        wanted = [raw.name + ending for ending in ENDINGS] + archives
        found = (folder / name for folder in everywhere for name in wanted if name in present[folder])
        path = next((path for path in found if path.is_file()), None)
        result.append(None if path is None else Stream(raw, path))
    return result


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user without a home
        return Path(tempfile.gettempdir())


def _entries(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()
