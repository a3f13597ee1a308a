"""EMNIST Balanced (NIST): which digit or letter was written by hand, 28 x 28 grey levels, 47 classes of equal size.

Cohen, G., Afshar, S., Tapson, J. & van Schaik, A. (2017). EMNIST: extending MNIST to handwritten letters. IJCNN.

Pictures lie on their side, as published: transpose the 28 x 28 values to see them upright.
"""

from surefoot.tables import idx
from surefoot.tables.rows import Table
from surefoot.tables.source import NOT_ESTABLISHED, Download, Expected, Source
from surefoot.tables.stream import Stream

ADDRESSES = (
    "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
    "https://www.itl.nist.gov/iaui/vip/cs_links/EMNIST/gzip.zip",
)

SOURCE = Source(
    title="EMNIST Balanced",
    page="https://www.nist.gov/itl/products-and-services/emnist-dataset",
    licence="none stated by the publisher",
    citation="Cohen, G., Afshar, S., Tapson, J. & van Schaik, A. (2017). EMNIST: extending MNIST to handwritten "
    "letters. International Joint Conference on Neural Networks. https://arxiv.org/abs/1702.05373",
    files=tuple(
        # Only the archive's checksum is known, not those of the files in it.
        idx.published(f"emnist-balanced-{part}-{content}-ubyte", rows, NOT_ESTABLISHED)
        for part, rows in (("train", 112_800), ("test", 18_800))
        for content in ("images-idx3", "labels-idx1")
    ),
    downloads=(Download(ADDRESSES, "fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e"),),
    archives=("gzip", "emnist-gzip", "emnist"),
    unpacked=("gzip",),
    feature_names=idx.PIXELS,
    labels=tuple(range(47)),
    expected=Expected(131_600, 784, (2_800,) * 47),
)


def read(streams: list[Stream]) -> Table:
    """Read idx files."""
    return idx.read(streams, SOURCE)
