"""What is known of a data set before anything is read: its publisher's files, and the counts they must give."""

from typing import NamedTuple

NOT_ESTABLISHED = None  # no checksum of the published file was to be had


class RawFile(NamedTuple):
    """A file with rows, decompressed: its name, bytes and SHA-256 as published.

    `begins` are the bytes it begins with, enough to tell it from another table of the same format; empty where
    the format itself says how many rows there are.
    """

    name: str
    size: int
    sha256: str | None
    begins: bytes = b""


class Download(NamedTuple):
    """What a publisher serves: the same file under one or more URLs, and its SHA-256 as served."""

    urls: tuple[str, ...]
    sha256: str | None

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.urls[0].rpartition("/")[2]


class Expected(NamedTuple):
    """What a data set must have, as published."""

    rows: int
    features: int
    class_counts: tuple[int, ...]


class Source(NamedTuple):
    """A published data set. Training files come first; labels are sorted, and a row's code is its label's place."""

    title: str
    page: str
    licence: str
    citation: str
    files: tuple[RawFile, ...]
    downloads: tuple[Download, ...]
    archives: tuple[str, ...]  # names of the publisher's archives, without .zip or .tar.gz
    unpacked: tuple[str, ...]  # folders these archives unpack into
    feature_names: tuple[str, ...]
    labels: tuple[str, ...] | tuple[int, ...]
    expected: Expected

    @property
    def size(self) -> int:
        """Bytes of all raw files, decompressed."""
        return sum(file.size for file in self.files)
