"""Small tables in the layout of each data set, as files that a test writes."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np

from surefoot import datasets
from surefoot.datasets import adult

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def make(name, rows=30, seed=0):
    """Return (files by name, X, y) of a small table; the first quarter of the rows is the training file's."""
    rng = np.random.default_rng(seed)
    source = datasets.source(name)
    X, y = MAKERS[name](rng, rows, source)
    return files(name, X, y), X, y


def files(name, X, y):
    return dict(zip([raw.name for raw in datasets.source(name).files], WRITERS[name](X, y), strict=True))


def write(folder: Path, contents, ending=""):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / (name + ending)).write_bytes(COMPRESS[ending](content))


def write_zip(path: Path, contents, inner="", ending=""):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(inner + name + ending, COMPRESS[ending](content))


def write_tar(path: Path, contents, inner="", ending="", mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in {"readme": b"hello", **contents}.items():
            data = COMPRESS[ending](content)
            member = tarfile.TarInfo(inner + name + ending)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def idx(values):
    values = np.asarray(values, dtype=np.uint8)
    header = bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes()
    return header + values.tobytes()


def _pixels(rng, rows, source):
    return rng.integers(0, 256, (rows, source.expected.features)), rng.integers(0, len(source.labels), rows)


def _covtype(rng, rows, source):
    measured = rng.integers(-200, 7000, (rows, 10))
    return np.hstack([measured, rng.integers(0, 2, (rows, 44))]), rng.integers(0, 7, rows)


def _decimals(places, low, high):
    def table(rng, rows, source):
        X = np.round(rng.uniform(low, high, (rows, source.expected.features)), places)
        return X, rng.integers(0, len(source.labels), rows)

    return table


def _adult(rng, rows, source):
    X, place = np.zeros((rows, source.expected.features)), 0
    for levels in adult.COLUMNS.values():
        width = max(1, len(levels))
        block = np.eye(width)[rng.integers(0, width, rows)] if levels else rng.integers(0, 1_000_000, (rows, 1))
        X[:, place : place + width] = block
        place += width
    return X, rng.integers(0, 2, rows)


def _split(X, y, parts=2):
    bounds = [0, *(len(y) * (part + 1) // (2 * parts) for part in range(parts - 1)), len(y)]
    return [(X[low:high], y[low:high]) for low, high in pairwise(bounds)]


def _idx(X, y):
    return [idx(part) for images, labels in _split(X, y) for part in (images.reshape(-1, 28, 28), labels)]


def _cifar10(X, y):
    return [np.column_stack([labels, part]).astype(np.uint8).tobytes() for part, labels in _split(X, y, 6)]


def _covtype_text(X, y):
    return ["".join(",".join(map(str, [*row, code + 1])) + "\n" for row, code in zip(X, y, strict=True)).encode()]


def _protein_text(X, y):
    rows = zip(X, y, strict=True)
    lines = ["\t".join(["7", str(k), str(code), *(f"{v:.2f}" for v in row)]) for k, (row, code) in enumerate(rows)]
    return ["".join(line + "\n" for line in lines).encode()]


def _libsvm_text(X, y):
    def line(row, code):
        return " ".join([str((-1, 1)[code]), *(f"{k}:{v:g}" for k, v in enumerate(row, 1))]) + "\n"

    return ["".join(map(line, *part)).encode() for part in _split(X, y)]


def _adult_text(X, y):
    result = []
    for heading, stop, (part, codes) in zip(["", "|1x3 Cross validator\n"], ["", "."], _split(X, y), strict=True):
        lines = []
        for row, code in zip(part, codes, strict=True):
            fields, place = [], 0
            for levels in adult.COLUMNS.values():
                fields.append(
                    levels[int(np.argmax(row[place : place + len(levels)]))] if levels else f"{row[place]:.0f}"
                )
                place += max(1, len(levels))
            lines.append(", ".join([*fields, ("<=50K", ">50K")[code]]) + stop + "\n")
        result.append((heading + "".join(lines) + "\n").encode())
    return result


MAKERS = {
    "adult": _adult,
    "cifar10": _pixels,
    "cod_rna": _decimals(4, -9, 9),
    "covtype": _covtype,
    "emnist_balanced": _pixels,
    "fashion_mnist": _pixels,
    "mnist": _pixels,
    "protein": _decimals(2, -2000, 2000),
}
WRITERS = {
    "adult": _adult_text,
    "cifar10": _cifar10,
    "cod_rna": _libsvm_text,
    "covtype": _covtype_text,
    "emnist_balanced": _idx,
    "fashion_mnist": _idx,
    "mnist": _idx,
    "protein": _protein_text,
}
