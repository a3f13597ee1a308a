import lzma
import subprocess
import sys
from itertools import islice

import miniatures
import numpy as np
import pytest
from conftest import REAL

from surefoot import datasets
from surefoot.tables.stream import ARCHIVE_ENDINGS, ENDINGS

NAMES = datasets.names()
ARCHIVED = [name for name in NAMES if datasets.source(name).archives]
TEXT = ["adult", "cod_rna", "covtype", "protein"]
IDX = ["emnist_balanced", "fashion_mnist", "mnist"]


def load(name, folder):
    """Load a table that is not the published one."""
    with pytest.warns(UserWarning, match=f"{name}: this is not the published table"):
        return datasets.load(name, folder)


def same(data, X, y):
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    assert data.X.flags.c_contiguous
    assert data.X.flags.writeable
    assert data.y.dtype == np.int64


@pytest.mark.parametrize("name", NAMES)
def test_every_source_is_complete(name):
    source = datasets.source(name)
    assert source.licence
    assert source.citation
    assert source.page.startswith("http")
    assert all(url.startswith("http") for download in source.downloads for url in download.urls)
    assert len(source.feature_names) == len(set(source.feature_names)) == source.expected.features
    assert len(source.labels) == len(source.expected.class_counts)
    assert list(source.labels) == sorted(source.labels)
    assert sum(source.expected.class_counts) == source.expected.rows
    checksums = [file.sha256 for file in (*source.files, *source.downloads) if file.sha256]
    assert all(len(checksum) == 64 and set(checksum) <= set("0123456789abcdef") for checksum in checksums)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_small_table_loads_from_plain_and_compressed_files_with_a_warning(private, name, ending):
    files, X, y = miniatures.make(name)
    miniatures.write(private / name, files, ending)
    data = load(name, private)
    same(data, X, y)
    assert data.X.dtype == (np.float64 if name in ("cod_rna", "protein") else np.float32)
    assert (data.name, data.n_classes) == (name, len(datasets.source(name).labels))
    same(load(name, private), X, y)  # from the cache, and the warning comes again


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("archive", ARCHIVE_ENDINGS)
@pytest.mark.parametrize("name", ARCHIVED)
def test_a_small_table_loads_from_the_publishers_archive(private, name, archive, ending):
    files, X, y = miniatures.make(name)
    source = datasets.source(name)
    inner = f"{source.unpacked[0]}/" if source.unpacked else ""
    path = private / (source.archives[0] + archive)
    if archive == ".zip":
        miniatures.write_zip(path, files, inner, ending)
    else:
        compression = {"tgz": "gz", "tar": ""}.get(path.suffix[1:], path.suffix[1:])
        miniatures.write_tar(path, files, inner, ending, f"w:{compression}")
    same(load(name, private), X, y)


def test_a_small_table_loads_from_the_unpacked_archive(private):
    for name in ("cifar10", "emnist_balanced"):
        files, X, y = miniatures.make(name)
        miniatures.write(private / name / datasets.source(name).unpacked[0], files)
        same(load(name, private), X, y)


def test_an_archive_without_the_file_is_an_error(private):
    miniatures.write_tar(private / "cifar-10-binary.tar.gz", {"other.bin": b"1"})
    with pytest.raises(ValueError, match=r"data_batch_1\.bin is not in this archive"):
        datasets.load("cifar10", private)


def test_the_folder_of_the_set_comes_before_its_parent(private, monkeypatch):
    other, _, _ = miniatures.make("mnist", seed=1)
    files, X, y = miniatures.make("fashion_mnist", seed=2)
    miniatures.write(private, other)
    miniatures.write(private / "fashion_mnist", files)
    same(load("fashion_mnist", private), X, y)
    monkeypatch.setenv("SUREFOOT_DATA", str(private))
    same(load("fashion_mnist", None), X, y)


def test_data_home_comes_before_the_environment_and_that_before_the_cache(private, monkeypatch):
    tables = {}
    for seed, place in enumerate(["home", "environment", "cache/raw"]):
        files, *tables[place] = miniatures.make("covtype", seed=seed)
        miniatures.write(private / place / "covtype", files, ".gz")
    same(load("covtype", None), *tables["cache/raw"])
    monkeypatch.setenv("SUREFOOT_DATA", str(private / "environment"))
    same(load("covtype", None), *tables["environment"])
    same(load("covtype", private / "home"), *tables["home"])


def test_adult_is_bundled_and_comes_without_a_warning(private):
    data = datasets.load("adult", private / "nowhere")
    assert data.X.shape == (45_222, 105)
    assert tuple(np.bincount(data.y)) == (34_014, 11_208)
    assert data.X.sum(axis=0)[data.feature_names.index("workclass=Never-worked")] == 0
    assert datasets.presence("adult").kind == "package"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"expected one of adult, cifar10, .*, got 'iris'"):
        datasets.load("iris")


# Wrong files


@pytest.mark.parametrize("ending", ENDINGS[1:])
@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_compressed_file_is_an_error(private, name, ending):
    files, _, _ = miniatures.make(name)
    miniatures.write(private, files, ending)
    path = private / (next(iter(files)) + ending)
    content = path.read_bytes()
    for wrong in (content[: len(content) // 2], b"", b"not compressed at all", content[: len(content) // 2] * 2):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=rf"{path.name}: (damaged|empty)"):
            datasets.load(name, private)


@pytest.mark.parametrize("wrong", [b"", b"\n", b"\0" * 5000, b"<html>\n<body>404 not found</body>\n</html>\n"])
@pytest.mark.parametrize("name", NAMES)
def test_an_empty_or_foreign_file_is_an_error(private, name, wrong):
    files, _, _ = miniatures.make(name)
    miniatures.write(private, dict.fromkeys(files, wrong))
    with pytest.raises(ValueError, match="|".join(files)):
        datasets.load(name, private)


@pytest.mark.parametrize("change", [-1, -700, 1, 3000])
@pytest.mark.parametrize("name", ["cifar10", *IDX])
def test_a_binary_file_cut_off_or_too_long_is_an_error(private, name, change):
    files, _, _ = miniatures.make(name)
    file, content = next(iter(files.items()))
    files[file] = content[:change] if change < 0 else content + bytes(change)
    miniatures.write(private, files)
    with pytest.raises(ValueError, match=rf"{file}: (cut off after|goes on after|ends in the middle)"):
        datasets.load(name, private)


@pytest.mark.parametrize("name", IDX)
def test_idx_files_that_do_not_belong_together_are_an_error(private, name):
    files, _, _ = miniatures.make(name)
    images, labels, *_ = files
    miniatures.write(private, files | {labels: miniatures.idx([1, 2, 3])})
    with pytest.raises(ValueError, match=r"has 7 rows, but .* has 3"):
        datasets.load(name, private)
    miniatures.write(private, files | {labels: files[images], images: files[labels]})
    with pytest.raises(ValueError, match="the header is not that of an idx file of rows unsigned bytes"):
        datasets.load(name, private)
    miniatures.write(private, files | {images: b"\0\0\x08"})
    with pytest.raises(ValueError, match="cut off after 3 bytes"):
        datasets.load(name, private)


@pytest.mark.parametrize("name", NAMES)
def test_a_label_that_does_not_exist_is_an_error(private, name):
    _, X, y = miniatures.make(name)
    files = miniatures.files(name, X, y)
    if name in TEXT:
        old, new = {"adult": (b"0K", b"1K"), "cod_rna": (b"-1 ", b"2 "), "covtype": (b"\n", b"5\n")}.get(
            name, (b"\t1\t", b"\t5\t")
        )
        files = {file: content.replace(old, new) for file, content in files.items()}
    else:
        files = miniatures.files(name, X, np.where(np.arange(len(y)) == 3, 200, y))
    miniatures.write(private, files)
    with pytest.raises(ValueError, match=r"expected (a label|labels|a value of label)"):
        datasets.load(name, private)


@pytest.mark.parametrize("name", TEXT)
def test_a_line_with_a_field_less_or_no_number_is_an_error_that_names_the_line(private, name):
    files, _, _ = miniatures.make(name)
    file = next(iter(files))
    lines = files[file].split(b"\n")
    space = {"covtype": b",", "protein": b"\t"}.get(name, b" ")
    for wrong in (
        lines[4].rpartition(space)[0],
        lines[4].rpartition(space)[0] + space + b"x1",
        lines[4][: len(lines[4]) // 2],
    ):
        miniatures.write(private, files | {file: b"\n".join([*lines[:4], wrong, *lines[5:]])})
        if name == "cod_rna" and b"x" not in wrong:
            continue  # a feature that is not named is 0
        with pytest.raises(ValueError, match=f"{file}, line 5: expected"):
            datasets.load(name, private)


@pytest.mark.parametrize("name", TEXT)
def test_lines_may_end_as_on_windows_and_the_last_without_an_end(private, name):
    files, X, y = miniatures.make(name)
    miniatures.write(private, {file: content.rstrip(b"\n").replace(b"\n", b"\r\n") for file, content in files.items()})
    same(load(name, private), X, y)


def test_values_that_float32_cannot_hold_are_float64(private):
    X, y = np.ones((5, 54)), np.arange(5)
    X[3, 2] = 0.1
    miniatures.write(private, miniatures.files("covtype", X, y))
    data = load("covtype", private)
    same(data, X, y)
    assert data.X.dtype == np.float64


def test_a_table_larger_than_the_published_one_loads(private, monkeypatch):
    source = datasets.source("cod_rna")
    small = source._replace(expected=source.expected._replace(rows=7))
    monkeypatch.setattr("surefoot.datasets.cod_rna.SOURCE", small)
    files, X, y = miniatures.make("cod_rna", rows=500)
    miniatures.write(private, files)
    same(load("cod_rna", private), X, y)


def test_emnist_train_and_test_swapped_are_told_by_their_sizes(private, monkeypatch):
    source = datasets.source("emnist_balanced")
    files, _, _ = miniatures.make("emnist_balanced", rows=31)  # 7 and 24
    sized = tuple(raw._replace(size=len(files[raw.name])) for raw in source.files)
    monkeypatch.setattr("surefoot.datasets.emnist_balanced.SOURCE", source._replace(files=sized))
    names = list(files)
    miniatures.write(private, dict(zip(names, (files[name] for name in names[2:] + names[:2]), strict=True)))
    with pytest.raises(ValueError, match="train-images-idx3-ubyte is emnist-balanced-test-images-idx3-ubyte, not"):
        datasets.load("emnist_balanced", private)


@pytest.mark.parametrize("rows", [-1, 1])
def test_one_cifar10_batch_of_another_size_among_complete_ones_is_an_error(private, monkeypatch, rows):
    files, _, _ = miniatures.make("cifar10", rows=60)
    source = datasets.source("cifar10")
    sized = tuple(raw._replace(size=len(files[raw.name])) for raw in source.files)
    monkeypatch.setattr("surefoot.datasets.cifar10.SOURCE", source._replace(files=sized))
    batch = files["data_batch_3.bin"]
    miniatures.write(private, files | {"data_batch_3.bin": batch[: 3073 * rows] if rows < 0 else batch + batch[:3073]})
    with pytest.raises(ValueError, match=r"data_batch_3\.bin: nearly the published .* expected 60,000 rows, found \d+"):
        datasets.load("cifar10", private)


# Real files


LOAD = """
import resource, sys
import surefoot.datasets
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = surefoot.datasets.load(sys.argv[1], sys.argv[2])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / (data.X.nbytes + data.y.nbytes))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux only")
@pytest.mark.parametrize("name", NAMES)
def test_real_files_give_the_published_table_in_less_than_twice_its_memory(real, name):
    folder, source = real(name), datasets.source(name)
    arguments = [sys.executable, "-W", "error", "-c", LOAD, name, str(folder)]
    ratio = float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
    assert ratio < 2
    data = datasets.load(name, folder)
    assert isinstance(data.X.base, np.memmap)
    assert data.X.shape == source.expected[:2]
    assert tuple(np.bincount(data.y)) == source.expected.class_counts


@pytest.mark.parametrize(("name", "fields"), [("covtype", slice(0, 54)), ("protein", slice(3, 77))])
def test_real_rows_are_what_python_reads(real, name, fields):
    folder, data = real(name), datasets.load(name, real(name))
    file = next(folder.iterdir())
    with lzma.open(file, "rt") as lines:
        head = np.array([line.replace(",", " ").split() for line in islice(lines, 3000)], dtype=np.float64)
    np.testing.assert_array_equal(data.X[:3000], head[:, fields])
    labels = head[:, 54] - 1 if name == "covtype" else head[:, 2]
    np.testing.assert_array_equal(data.y[:3000], labels)


def test_real_cod_rna_is_what_python_reads(real):
    folder, data = real("cod_rna"), datasets.load("cod_rna", real("cod_rna"))
    for file, begin in (("cod-rna.xz", 0), ("cod-rna.t.xz", 59_535)):
        with lzma.open(folder / file, "rt") as lines:
            rows = [line.split() for line in islice(lines, 3000)]
        X = [[float(field.partition(":")[2]) for field in row[1:]] for row in rows]
        np.testing.assert_array_equal(data.X[begin : begin + 3000], X)
        np.testing.assert_array_equal(data.y[begin : begin + 3000], [row[0] == "1" for row in rows])


@pytest.mark.parametrize("name", ["fashion_mnist", "mnist"])
def test_real_pictures_are_the_bytes_of_the_files(real, name):
    folder, data = real(name), datasets.load(name, real(name))
    pixels = lzma.decompress((folder / "t10k-images-idx3-ubyte.xz").read_bytes())[16:]
    assert data.X[60_000:].astype(np.uint8).tobytes() == pixels
    for part, rows in (("train", slice(0, 60_000)), ("t10k", slice(60_000, 70_000))):
        labels = lzma.decompress((folder / f"{part}-labels-idx1-ubyte.xz").read_bytes())[8:]
        assert data.y[rows].astype(np.uint8).tobytes() == labels


@pytest.fixture
def raw(real, private, monkeypatch):
    """Return the decompressed real files of a set, or their first bytes."""

    def contents(name, size=-1):
        folder, result = real(name), {}
        monkeypatch.setenv("SUREFOOT_CACHE", str(private / "cache"))
        for file in datasets.source(name).files:
            with lzma.open(folder / f"{file.name}.xz") as stream:
                result[file.name] = stream.read(size)
        return result

    return contents


WRONG = {
    "cut between two lines": lambda lines: lines[: len(lines) // 2],
    "cut before the last line": lambda lines: lines[:-1] if lines[-1].strip() else lines[:-2],
    "a line twice": lambda lines: [*lines, lines[-2]],
    "a line left out": lambda lines: lines[:900] + lines[901:],
    "another label": lambda lines: [*lines[:9], relabelled(lines[9]), *lines[10:]],
}


def relabelled(line):
    for old, new in (
        (b"<=50K", b">50K"),
        (b">50K\n", b"<=50K\n"),
        (b"-1 1:", b"1 1:"),
        (b",5\n", b",3\n"),
        (b"\t0\t", b"\t1\t"),
    ):
        if old in line:
            return line.replace(old, new)
    raise AssertionError(line)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["adult", "cod_rna"])
def test_a_real_table_with_other_counts_is_an_error_that_names_them(raw, private, name, wrong):
    files = raw(name)
    file = next(iter(files))
    files[file] = b"".join(WRONG[wrong](files[file].splitlines(keepends=True)))
    miniatures.write(private, files)
    with pytest.raises(ValueError, match=rf"{file}: nearly the published file.* expected [\d,/ ]+ rows.*, found \d"):
        datasets.load(name, private)


@pytest.mark.parametrize("wrong", ["cut between two lines", "another label"])
@pytest.mark.parametrize("name", ["covtype", "protein"])
def test_a_real_large_table_with_other_counts_is_an_error_that_names_them(raw, private, name, wrong):
    file, content = next(iter(raw(name, 2 << 20).items()))
    published = datasets.source(name)
    lines = content.splitlines(keepends=True)[:-1]
    miniatures.write(private, {file: b"".join(WRONG[wrong](lines))})
    with pytest.raises(
        ValueError, match=rf"nearly the published file.* expected {published.expected.rows:,} rows, found \d"
    ):
        datasets.load(name, private)


@pytest.mark.parametrize("end", [-1, -3, -40, 100_000])
@pytest.mark.parametrize("name", ["cod_rna", "adult"])
def test_a_real_text_file_cut_inside_a_line_is_an_error(raw, private, name, end):
    files = raw(name)
    file = next(iter(files))
    files[file] = files[file].rstrip(b"\n")[:end]
    miniatures.write(private, files)
    with pytest.raises(ValueError, match=rf"{file}: ends in the middle of line"):
        datasets.load(name, private)


@pytest.mark.parametrize("name", ["adult", "cod_rna"])
def test_swapped_real_files_are_an_error(raw, private, name):
    files = raw(name)
    names = list(files)
    half = len(names) // 2
    miniatures.write(private, dict(zip(names, (files[other] for other in names[half:] + names[:half]), strict=True)))
    with pytest.raises(ValueError, match=rf"{names[0]} is {names[half]}, not {names[0]}"):
        datasets.load(name, private)


def test_the_real_files_of_another_set_are_an_error(raw, private):
    labels = {name: content for name, content in raw("fashion_mnist").items() if "labels" in name}
    miniatures.write(private, raw("mnist") | labels)
    with pytest.raises(ValueError, match="is fashion_mnist's train-labels-idx1-ubyte, not train-labels-idx1-ubyte"):
        datasets.load("mnist", private)


def test_an_altered_real_label_file_is_an_error(raw, private):
    files = raw("mnist")
    labels = files["t10k-labels-idx1-ubyte"]
    files["t10k-labels-idx1-ubyte"] = labels[:-1] + bytes([labels[-1] ^ 1])
    miniatures.write(private, files)
    with pytest.raises(ValueError, match=r"expected .* rows of each class, found"):
        datasets.load("mnist", private)


def test_real_rows_in_another_order_load_with_a_warning(raw, private):
    files = raw("cod_rna")
    expected = datasets.load("cod_rna", f"{REAL}/cod_rna")
    lines = files["cod-rna"].splitlines(keepends=True)
    files["cod-rna"] = b"".join(reversed(lines))
    miniatures.write(private, files)
    with pytest.warns(UserWarning, match="as many as published, so values or order differ"):
        data = datasets.load("cod_rna", private)
    np.testing.assert_array_equal(data.X[: len(lines)], expected.X[: len(lines)][::-1])


def test_a_real_table_with_an_altered_value_loads_with_a_warning(raw, private):
    files = raw("cod_rna")
    files["cod-rna.t"] = files["cod-rna.t"].replace(b" 2:128 ", b" 2:127 ", 9)
    miniatures.write(private, files)
    assert load("cod_rna", private).X.shape == (331_152, 8)


def test_a_sample_of_real_rows_loads_with_a_warning_that_names_the_counts(raw, private):
    content = raw("covtype", 2 << 20)["covtype.data"]
    sample = content.splitlines(keepends=True)[5:-1:25]
    miniatures.write(private, {"covtype.data": b"".join(sample)})
    with pytest.warns(
        UserWarning, match=rf"expected 581,012 rows, found {len(sample)}; expected .* rows of each class"
    ):
        data = datasets.load("covtype", private)
    assert data.X.shape == (len(sample), 54)
    assert data.n_classes == 7
