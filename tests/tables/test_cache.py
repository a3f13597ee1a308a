import errno
import logging
import os
import subprocess
import sys
import time

import miniatures
import numpy as np
import pytest

from surefoot import datasets
from surefoot.tables import cache

pytestmark = pytest.mark.filterwarnings("ignore:.*not the published table")


@pytest.fixture
def small(private):
    files, X, y = miniatures.make("covtype")
    miniatures.write(private, files)
    return private, X, y


def entry(folder):
    (path,) = (folder / "cache" / "tables").iterdir()
    return path


def test_the_second_load_maps_the_parsed_table_and_its_changes_stay_private(small, monkeypatch):
    folder, X, y = small
    first = datasets.load("covtype", folder)
    monkeypatch.setattr("surefoot.datasets.covtype.read", None)
    second = datasets.load("covtype", folder)
    assert isinstance(second.X.base, np.memmap)
    assert type(second.X) is np.ndarray
    assert second.X.flags.aligned
    np.testing.assert_array_equal(second.X, first.X)
    np.testing.assert_array_equal(second.y, y)
    second.X[:] = 0
    np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)


@pytest.mark.parametrize("same_time", [False, True])
def test_a_replaced_raw_file_is_noticed(small, same_time):
    folder, _, _ = small
    datasets.load("covtype", folder)
    path = folder / "covtype.data"
    status, content = path.stat(), path.read_bytes()
    content = content[: content.index(b"\n") + 1] * 30
    time.sleep(0.02)
    path.write_bytes(content.ljust(status.st_size, b"\n"))
    if same_time:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    data = datasets.load("covtype", folder)
    assert len(data.y) == 30
    assert (data.X[0] == data.X).all()
    assert entry(folder)  # one entry: the new one took the old one's place


@pytest.mark.parametrize("broken", [b"", b"\x93NUMPY\x01\0", b"nonsense" * 1000, None])
def test_a_broken_entry_is_parsed_again(small, broken):
    folder, X, _ = small
    datasets.load("covtype", folder)
    content = entry(folder).read_bytes()
    for wrong in [broken] if broken is not None else [content[:-1], content[:-400], content[:3000], content[:200]]:
        entry(folder).write_bytes(wrong)
        np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)
        assert entry(folder).read_bytes() == content


def test_another_format_is_parsed_again(small, monkeypatch):
    folder, X, _ = small
    datasets.load("covtype", folder)
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    monkeypatch.setattr("surefoot.datasets.covtype.read", lambda _: (X[:3], np.arange(3)))
    assert len(datasets.load("covtype", folder).y) == 3


def test_a_cache_that_cannot_be_made_is_said_once_and_never_stands_in_the_way(small, monkeypatch, caplog):
    folder, X, _ = small
    (folder / "file").write_text("")
    monkeypatch.setenv("SUREFOOT_CACHE", str(folder / "file"))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)
    assert [record.getMessage()[:39] for record in caplog.records] == [
        "parsed data sets cannot be kept in " + str(folder)[:4]
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_never_stands_in_the_way(small):
    folder, X, _ = small
    (folder / "cache" / "tables").mkdir(parents=True)
    (folder / "cache" / "tables").chmod(0o500)
    np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_a_closed_cache_never_stands_in_the_way(small, monkeypatch, code):
    def closed(*_, **__):
        raise OSError(code, os.strerror(code))

    folder, X, _ = small
    monkeypatch.setattr("surefoot.tables.cache.os.replace", closed)
    np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)
    assert list((folder / "cache" / "tables").iterdir()) == []


FULL = """
import resource, sys
import surefoot.datasets
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
print(surefoot.datasets.load("covtype", sys.argv[1]).X.sum(dtype=float))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_never_stands_in_the_way_and_leaves_nothing_behind(small):
    folder, X, _ = small
    done = subprocess.run([sys.executable, "-c", FULL, str(folder)], capture_output=True, text=True, check=True)
    assert float(done.stdout) == X.sum()
    assert "cannot be kept" in done.stderr
    assert list((folder / "cache" / "tables").iterdir()) == []


LOAD = "import sys, surefoot.datasets; print(surefoot.datasets.load('covtype', sys.argv[1]).X.sum(dtype=float))"


def test_several_processes_at_once_give_the_same_table(private):
    files, X, _ = miniatures.make("covtype", rows=5_000)
    miniatures.write(private, files)
    arguments = [sys.executable, "-W", "ignore", "-c", LOAD, str(private)]
    processes = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert {float(process.communicate()[0]) for process in processes} == {X.sum()}
    assert all(process.returncode == 0 for process in processes)
    assert entry(private).suffix == ".table"


def test_the_published_table_is_at_hand_when_its_raw_files_are_gone(small, monkeypatch):
    folder, X, y = small
    datasets.load("covtype", folder)
    (folder / "covtype.data").unlink()
    with pytest.raises(FileNotFoundError):  # what was kept is not the published table
        datasets.load("covtype", folder)
    assert datasets.presence("covtype", folder).kind == "no"
    cache.write("covtype", [["covtype.data", "elsewhere", 0, 0, 0]], (X.astype(np.float32), y), "")
    np.testing.assert_array_equal(datasets.load("covtype", folder).X, X)
    assert datasets.presence("covtype", folder).kind == "cache"


def test_what_killed_processes_left_behind_is_removed(small):
    folder, _, _ = small
    left = folder / "cache" / "tables" / "covtype-abc.part"
    left.parent.mkdir(parents=True)
    left.write_text("")
    os.utime(left, (0, 0))
    datasets.load("covtype", folder)
    assert not left.exists()
