"""Fashion-MNIST (Zalando, MIT licence): which article of clothing is on a picture, 28 x 28 grey levels.

Xiao, H., Rasul, K. & Vollgraf, R. (2017). Fashion-MNIST: a novel image dataset for benchmarking machine learning
algorithms. arXiv:1708.07747.
"""

from surefoot.tables import idx
from surefoot.tables.rows import Table
from surefoot.tables.source import Download, Expected, Source
from surefoot.tables.stream import Stream

FOLDER = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
SERVED = {
    "train-images-idx3-ubyte": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "train-labels-idx1-ubyte": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
    "t10k-images-idx3-ubyte": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
}

SOURCE = Source(
    title="Fashion-MNIST",
    page="https://github.com/zalandoresearch/fashion-mnist",
    licence="MIT",
    citation="Xiao, H., Rasul, K. & Vollgraf, R. (2017). Fashion-MNIST: a novel image dataset for benchmarking "
    "machine learning algorithms. https://arxiv.org/abs/1708.07747",
    files=(
        idx.published(
            "train-images-idx3-ubyte", 60_000, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
        ),
        idx.published(
            "train-labels-idx1-ubyte",
            60_000,
            "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
            begins=bytes([9, 0, 0, 3, 0, 2, 7, 2, 5, 5, 0, 9, 5, 5, 7, 9]),
        ),
        idx.published(
            "t10k-images-idx3-ubyte", 10_000, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
        ),
        idx.published(
            "t10k-labels-idx1-ubyte",
            10_000,
            "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
            begins=bytes([9, 2, 1, 1, 6, 1, 4, 6, 5, 7, 4, 5, 7, 3, 4, 1]),
        ),
    ),
    downloads=tuple(Download((f"{FOLDER}/{name}.gz",), sha256) for name, sha256 in SERVED.items()),
    archives=(),
    unpacked=(),
    feature_names=idx.PIXELS,
    labels=tuple(range(10)),
    expected=Expected(70_000, 784, (7_000,) * 10),
)


def read(streams: list[Stream]) -> Table:
    """Read idx files."""
    return idx.read(streams, SOURCE)
