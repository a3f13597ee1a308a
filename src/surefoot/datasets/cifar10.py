"""CIFAR-10: which of ten things is on a picture, 32 x 32 pixels, three colours.

Krizhevsky, A. (2009). Learning multiple layers of features from tiny images. Technical report, University of Toronto.
"""

import numpy as np

from surefoot.tables.rows import Rows, Table
from surefoot.tables.source import NOT_ESTABLISHED, Download, Expected, RawFile, Source
from surefoot.tables.stream import Stream

SIDE, COLOURS = 32, ("red", "green", "blue")
WIDTH = 1 + len(COLOURS) * SIDE * SIDE  # bytes of a row: the label, then the pixels, line by line, colour by colour
BLOCK = 256 * WIDTH

SOURCE = Source(
    title="CIFAR-10",
    page="https://www.cs.toronto.edu/~kriz/cifar.html",
    licence="none stated by the publisher",
    citation="Krizhevsky, A. (2009). Learning multiple layers of features from tiny images. Technical report, "
    "University of Toronto. https://www.cs.toronto.edu/~kriz/learning-features-2009-TR.pdf",
    files=tuple(
        # Only the archive's checksum is known, not those of the files in it.
        RawFile(f"{name}.bin", 10_000 * WIDTH, NOT_ESTABLISHED)
        for name in (*(f"data_batch_{batch}" for batch in range(1, 6)), "test_batch")
    ),
    downloads=(
        Download(
            ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
            "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        ),
    ),
    archives=("cifar-10-binary",),
    unpacked=("cifar-10-batches-bin",),
    feature_names=tuple(
        f"{colour}_{line}_{column}" for colour in COLOURS for line in range(SIDE) for column in range(SIDE)
    ),
    labels=tuple(range(10)),
    expected=Expected(60_000, 3_072, (6_000,) * 10),
)


def read(streams: list[Stream]) -> Table:
    """Read rows of one label byte and 3,072 pixel bytes."""
    rows, classes = Rows(SOURCE.expected), len(SOURCE.labels)
    for stream in streams:
        for block in stream.blocks(BLOCK):
            if len(block) % WIDTH:
                raise ValueError(
                    f"{stream.where}: ends in the middle of a row, after {stream.size} bytes where a row has {WIDTH}; "
                    "fetch it again"
                )
            values = np.frombuffer(block, np.uint8).reshape(-1, WIDTH)
            if values[:, 0].max() >= classes:
                raise ValueError(f"{stream.where}: expected labels 0 to {classes - 1}, found {values[:, 0].max()}")
            rows.append(values[:, 1:], values[:, 0])
    return rows.table()
