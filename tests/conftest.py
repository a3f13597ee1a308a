"""Fixtures that several tests share. Property tests draw the same examples every time, however busy the machine."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("surefoot", deadline=None, derandomize=True)
settings.load_profile("surefoot")

REAL = os.environ.get("SUREFOOT_DATA")


@pytest.fixture
def private(tmp_path, monkeypatch):
    """A cache of the test's own, no raw files, no network."""
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    monkeypatch.setattr("surefoot.tables.download.fetch", _no_network)
    return tmp_path


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory):
    """One cache for all tests on real files."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def real(monkeypatch, real_cache):
    """Return the folder of a data set's real files, or skip."""

    def folder(name):
        if REAL is None or not (Path(REAL) / name).is_dir():
            pytest.skip(f"{name}: no raw files; set SUREFOOT_DATA to the folder that holds {name}/")
        monkeypatch.setenv("SUREFOOT_CACHE", str(real_cache))
        return Path(REAL) / name

    return folder


def _no_network(name, *_):
    raise FileNotFoundError(f"{name}: not found, and tests do not download")
