"""The last resort: fetch a publisher's files with pooch, or say what to fetch and where to put it."""

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from surefoot.tables import places
from surefoot.tables.source import Download, Source


def fetch(name: str, source: Source, stack: ExitStack) -> Path:
    """Download what a publisher serves, and return the folder; a folder of its own for now if the cache is closed."""
    try:
        import pooch
    except ImportError as error:
        raise FileNotFoundError(
            _advice(name, source, "downloading needs pooch: pip install 'surefoot[paper]'")
        ) from error
    pooch.get_logger().setLevel("WARNING")
    folder = places.downloads(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="surefoot-")))
    for download in source.downloads:
        _fetch(pooch, name, source, download, folder)
    return folder


def _fetch(pooch: Any, name: str, source: Source, download: Download, folder: Path) -> None:
    failures = []
    for url in download.urls:
        with ExitStack() as stack:
            bar = _bar(stack, f"{name}: {download.name}")
            try:
                pooch.retrieve(
                    url,
                    known_hash=download.sha256 and f"sha256:{download.sha256}",
                    fname=download.name,
                    path=folder,
                    downloader=pooch.HTTPDownloader(progressbar=bar, headers={"User-Agent": "surefoot"}),
                )
                return
            except (OSError, ValueError) as error:  # what requests raises is an OSError
                failures.append(f"{url}: {error}")
    raise FileNotFoundError(_advice(name, source, f"downloading failed: {'; '.join(failures)}"))


def _advice(name: str, source: Source, problem: str) -> str:
    """Say what is missing, what to fetch and where to put it."""
    home = os.environ.get("SUREFOOT_DATA")
    put = " or ".join(str(folder) for folder in ([Path(home) / name] if home else []) + [places.downloads(name)])
    wanted = "".join(
        f"\n  {download.urls[0]}" + (f" (SHA-256 {download.sha256})" if download.sha256 else "")
        for download in source.downloads
    )
    return (
        f"{name}: {', '.join(raw.name for raw in source.files)} not found; {problem}\n"
        f"Fetch{wanted}\nand put it, as it is or unpacked, into {put}; or pass the folder that holds it as data_home. "
        f"See {source.page}"
    )


def _bar(stack: ExitStack, label: str) -> Any:
    """Return a progress bar as pooch wants it; False without rich."""
    try:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        return False
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    progress = stack.enter_context(Progress(*columns, transient=True))
    return _Bar(progress, progress.add_task(label, total=None))


class _Bar:
    """What pooch calls, said to rich; pooch sets `total` and counts to the end twice: bytes, then a reset."""

    def __init__(self, progress: Any, task: Any) -> None:
        self.progress, self.task, self.total = progress, task, 0

    def update(self, amount: int) -> None:
        self.progress.update(self.task, total=self.total, advance=amount)

    def reset(self) -> None:
        self.progress.reset(self.task)

    def close(self) -> None:
        """The progress display ends with its context."""
