import hashlib
import os
import sys
import tempfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import miniatures
import numpy as np
import pytest

from surefoot import datasets
from surefoot.tables import download, places

fetch = download.fetch  # before the fixture takes it away


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def publisher(private, monkeypatch):
    """Serve a small cod_rna as if it was the published one; return the folder of the server."""
    monkeypatch.setattr(download, "fetch", fetch)
    monkeypatch.setenv("NO_PROXY", "*")
    folder = private / "server"
    files, X, y = miniatures.make("cod_rna")
    miniatures.write(folder, files)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    known, checksums = datasets.source("cod_rna"), [hashlib.sha256(content).hexdigest() for content in files.values()]
    raw = zip(known.files, files.values(), checksums, strict=True)
    served = known._replace(
        files=tuple(file._replace(size=len(content), sha256=sha256) for file, content, sha256 in raw),
        downloads=tuple(
            each._replace(urls=(f"{address}/gone/{each.name}", f"{address}/{each.name}"), sha256=sha256)
            for each, sha256 in zip(known.downloads, checksums, strict=True)
        ),
        expected=known.expected._replace(rows=len(y), class_counts=tuple(int(count) for count in np.bincount(y))),
    )
    monkeypatch.setattr("surefoot.datasets.cod_rna.SOURCE", served)
    yield folder, X, y
    server.shutdown()
    server.server_close()


def test_what_is_nowhere_is_downloaded_once_from_the_first_address_that_answers(publisher):
    folder, X, y = publisher
    assert datasets.presence("cod_rna").where.startswith("http")
    for _ in range(2):
        data = datasets.load("cod_rna")
        np.testing.assert_array_equal(data.X, X)
        np.testing.assert_array_equal(data.y, y)
        for path in folder.iterdir():
            path.unlink()
    assert sorted(os.listdir(places.downloads("cod_rna"))) == ["cod-rna", "cod-rna.t"]
    assert datasets.presence("cod_rna") == ("raw files", str(places.downloads("cod_rna")))


def test_a_closed_cache_does_not_prevent_a_download(publisher, monkeypatch):
    folder, X, _ = publisher
    monkeypatch.setenv("SUREFOOT_CACHE", str(folder / "cod-rna"))  # a file
    np.testing.assert_array_equal(datasets.load("cod_rna").X, X)


@pytest.mark.parametrize("wrong", [b"<html>captive portal</html>", None])
def test_a_failed_download_says_what_to_fetch_and_where_to_put_it(publisher, monkeypatch, wrong):
    folder, _, _ = publisher
    monkeypatch.setenv("SUREFOOT_DATA", str(folder.parent / "data"))
    path = folder / "cod-rna.t"
    path.unlink()
    if wrong:
        path.write_bytes(wrong)
    known = datasets.source("cod_rna")
    with pytest.raises(FileNotFoundError) as failure:
        datasets.load("cod_rna")
    message = str(failure.value)
    for said in (
        "downloading failed",
        "hash" if wrong else "404",
        known.downloads[1].urls[0],
        known.downloads[1].sha256,
        str(folder.parent / "data" / "cod_rna"),
        str(places.downloads("cod_rna")),
        "data_home",
    ):
        assert said in message
    assert os.listdir(places.downloads("cod_rna")) == ["cod-rna"]


def test_without_pooch_the_error_says_how_to_get_it_and_what_to_fetch(publisher, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(FileNotFoundError, match=r"pip install 'surefoot\[paper\]'[\s\S]*cod-rna\.t"):
        datasets.load("cod_rna")


def test_a_progress_bar_counts_what_pooch_reports():
    calls = []

    class Progress:
        def update(self, task, **how):
            calls.append((task, how))

        def reset(self, task):
            calls.append(task)

    bar = download._Bar(Progress(), 7)
    bar.total = 10
    bar.update(3)
    bar.reset()
    bar.close()
    assert calls == [(7, {"total": 10, "advance": 3}), 7]


def test_a_user_without_a_home_has_a_cache_too(monkeypatch):
    def homeless():
        raise RuntimeError

    for name in ("SUREFOOT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert places.cache_home().is_relative_to(tempfile.gettempdir())


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/surefoot"),
        ("linux", {}, "/home/ada/.cache/surefoot"),
        ("darwin", {}, "/home/ada/Library/Caches/surefoot"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/surefoot/Cache"),
        ("linux", {"SUREFOOT_CACHE": "/chosen"}, "/chosen"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("SUREFOOT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert places.cache_home() == Path(expected)
