"""One raw file as bytes, whatever it is wrapped in: nothing, .gz, .bz2, .xz, or the publisher's archive."""

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from surefoot.tables.source import RawFile

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ENDINGS = ("", *OPENERS)
ARCHIVE_ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


class Stream:
    """A raw file that is at hand. While it is read it measures itself: `size`, `sha256`, `alike`.

    `alike` says whether it begins as the published file does.
    """

    def __init__(self, raw: RawFile, path: Path) -> None:
        self.raw, self.path = raw, path
        self.size, self.beginning, self.digest = 0, b"", hashlib.sha256()

    @property
    def where(self) -> str:
        """The place, for messages."""
        return f"{self.raw.name} in {self.path}" if self.archived else str(self.path)

    @property
    def archived(self) -> bool:
        """Whether the file is a member of an archive."""
        return self.path.name not in [self.raw.name + ending for ending in ENDINGS]

    @property
    def sha256(self) -> str:
        """The checksum of what was read."""
        return self.digest.hexdigest()

    @property
    def alike(self) -> bool:
        """Whether the file begins as the published one does; False where that says nothing."""
        return bool(self.raw.begins) and self.beginning.startswith(self.raw.begins)

    def identity(self) -> tuple[str, str, int, int, int]:
        """Return what changes when the file is replaced, without reading it."""
        status = self.path.stat()
        return self.raw.name, str(self.path.resolve()), status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield all bytes, `size` at a time; the last block may be shorter."""
        self.size, self.beginning, self.digest = 0, b"", hashlib.sha256()
        try:
            with ExitStack() as stack:
                file = self._open(stack)
                while block := _full(file, size):
                    self.size += len(block)
                    self.digest.update(block)
                    if len(self.beginning) < len(self.raw.begins):
                        self.beginning += block[: len(self.raw.begins)]
                    yield block
        except (
            lzma.LZMAError,
            EOFError,
            zlib.error,
            zipfile.BadZipFile,
            tarfile.TarError,
            RuntimeError,
            OSError,
        ) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's fault, and it says so
            raise ValueError(f"{self.where}: damaged, or cut off: {error}; fetch it again") from error
        if not self.size:
            raise ValueError(f"{self.where}: empty; fetch it again")

    def _open(self, stack: ExitStack) -> IO[bytes]:
        if not self.archived:
            return self._decompress(stack, self.path, self.path.name)
        if self.path.name.endswith(".zip"):
            archive = stack.enter_context(zipfile.ZipFile(self.path))
            for name in archive.namelist():
                if self._is_it(name):
                    return self._decompress(stack, stack.enter_context(archive.open(name)), name)
        else:
            for member in (tar := stack.enter_context(tarfile.open(self.path, "r:*"))):  # noqa: SIM115
                if self._is_it(member.name) and (file := tar.extractfile(member)) is not None:
                    return self._decompress(stack, stack.enter_context(file), member.name)
        raise ValueError(f"{self.path}: {self.raw.name} is not in this archive; fetch it again")

    def _is_it(self, member: str) -> bool:
        return any(member.rpartition("/")[2] == self.raw.name + ending for ending in ENDINGS)

    def _decompress(self, stack: ExitStack, file: Path | IO[bytes], name: str) -> IO[bytes]:
        for ending, opener in OPENERS.items():
            if name == self.raw.name + ending or name.endswith(f"/{self.raw.name}{ending}"):
                result: IO[bytes] = stack.enter_context(opener(file, "rb"))
                return result
        return stack.enter_context(file.open("rb")) if isinstance(file, Path) else file


def _full(file: IO[bytes], size: int) -> bytes:
    """Read `size` bytes; fewer only at the end."""
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
