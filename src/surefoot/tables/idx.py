"""The idx format of MNIST and its successors: a header with the shape, then one byte a value.

The header is 0, 0, the type (8: unsigned byte), the number of dimensions; then each dimension, four bytes, the
largest first.
"""

from collections.abc import Iterator
from math import prod

import numpy as np
from numpy.typing import NDArray

from surefoot.tables.rows import Rows, Table
from surefoot.tables.source import RawFile, Source
from surefoot.tables.stream import Stream

SIDE = 28  # an image is a row of SIDE * SIDE pixels, line by line
PIXELS = tuple(f"pixel_{line}_{column}" for line in range(SIDE) for column in range(SIDE))
BLOCK = 1 << 20


def published(name: str, rows: int, sha256: str | None, begins: bytes = b"") -> RawFile:
    """Describe a published file by its name; `begins` are its first values."""
    header = _header(rows, _item(name))
    return RawFile(name, len(header) + rows * prod(_item(name)), sha256, header + begins if begins else b"")


def read(streams: list[Stream], source: Source) -> Table:
    """Read images and labels, images and labels, in this order."""
    rows, classes = Rows(source.expected), len(source.labels)
    for images, labels in zip(streams[::2], streams[1::2], strict=True):
        codes = np.concatenate([block[:, 0] for _, block in _items(labels)])
        if codes.size and codes.max() >= classes:
            raise ValueError(f"{labels.where}: expected labels 0 to {classes - 1}, found {codes.max()}")
        done = 0
        for count, block in _items(images):
            if count != len(codes):
                raise ValueError(
                    f"{images.where}: has {count} rows, but {labels.where} has {len(codes)}: one of the two is wrong"
                )
            rows.append(block, codes[done : done + len(block)])
            done += len(block)
    return rows.table()


def _items(stream: Stream) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield how many items the header promises, and a block of items, one a row; never more than promised."""
    item = _item(stream.raw.name)
    promised, seen, rest, header = None, 0, b"", len(_header(0, item))
    for block in stream.blocks(BLOCK):
        rest += block
        if promised is None and len(rest) >= header:
            promised = int.from_bytes(rest[4:8], "big")
            if rest[:header] != _header(promised, item):
                shape = " x ".join(map(str, ("rows", *item)))
                raise ValueError(f"{stream.where}: the header is not that of an idx file of {shape} unsigned bytes")
            rest = rest[header:]
        if promised is not None:
            whole, left = divmod(len(rest), prod(item))
            seen += whole
            if seen > promised or (seen == promised and left):
                raise ValueError(f"{stream.where}: goes on after the {promised} rows that its header promises")
            yield promised, np.frombuffer(rest, np.uint8, whole * prod(item)).reshape(whole, prod(item))
            rest = rest[len(rest) - left :]
    if promised is None or seen < promised:
        raise ValueError(
            f"{stream.where}: cut off after {stream.size} bytes, {seen} rows"
            f"{'' if promised is None else f' of the {promised} that its header promises'}; fetch it again"
        )


def _item(name: str) -> tuple[int, ...]:
    """Return the shape of one item: a file's name says how many dimensions it has."""
    return (SIDE, SIDE) if "idx3" in name else ()


def _header(rows: int, item: tuple[int, ...]) -> bytes:
    shape = rows, *item
    return bytes([0, 0, 8, len(shape)]) + b"".join(length.to_bytes(4, "big") for length in shape)
