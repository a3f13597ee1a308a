"""MNIST: which digit was written by hand, 28 x 28 grey levels.

LeCun, Y., Bottou, L., Bengio, Y. & Haffner, P. (1998). Gradient-based learning applied to document recognition.
Proceedings of the IEEE 86(11), 2278-2324.
"""

from surefoot.tables import idx
from surefoot.tables.rows import Table
from surefoot.tables.source import Download, Expected, Source
from surefoot.tables.stream import Stream

# The first is the publisher's address, which does not always answer; the second serves the same bytes.
FOLDERS = "https://yann.lecun.com/exdb/mnist", "https://storage.googleapis.com/cvdf-datasets/mnist"
SERVED = {
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}

SOURCE = Source(
    title="MNIST",
    page="https://yann.lecun.com/exdb/mnist/",
    licence="none stated by the publisher; redistributed under CC BY-SA 3.0",
    citation="LeCun, Y., Bottou, L., Bengio, Y. & Haffner, P. (1998). Gradient-based learning applied to document "
    "recognition. Proceedings of the IEEE 86(11), 2278-2324. https://doi.org/10.1109/5.726791",
    files=(
        idx.published(
            "train-images-idx3-ubyte", 60_000, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
        ),
        idx.published(
            "train-labels-idx1-ubyte",
            60_000,
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            begins=bytes([5, 0, 4, 1, 9, 2, 1, 3, 1, 4, 3, 5, 3, 6, 1, 7]),
        ),
        idx.published(
            "t10k-images-idx3-ubyte", 10_000, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
        ),
        idx.published(
            "t10k-labels-idx1-ubyte",
            10_000,
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
            begins=bytes([7, 2, 1, 0, 4, 1, 4, 9, 5, 9, 0, 6, 9, 0, 1, 5]),
        ),
    ),
    downloads=tuple(
        Download(tuple(f"{folder}/{name}.gz" for folder in FOLDERS), sha256) for name, sha256 in SERVED.items()
    ),
    archives=(),
    unpacked=(),
    feature_names=idx.PIXELS,
    labels=tuple(range(10)),
    expected=Expected(70_000, 784, (6_903, 7_877, 6_990, 7_141, 6_824, 6_313, 6_876, 7_293, 6_825, 6_958)),
)


def read(streams: list[Stream]) -> Table:
    """Read idx files."""
    return idx.read(streams, SOURCE)
