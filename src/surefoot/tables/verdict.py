"""Published, another table of the same format, or wrong: the rule.

1. A file that cannot be read to its end is an error: a damaged compressed stream, a field that is no number, a line
   with too few or too many fields, fewer or more bytes than its header promises, a label that does not exist, nothing
   at all. The readers raise it.
2. A file with the SHA-256 of another published file is an error: two files were swapped.
3. A file that begins as the published one does, but does not give its counts (rows, rows of each class), is an error:
   it was cut off between two lines, added to, or altered. So is one of unknown checksum that has not the published
   size while another file of the table has.
4. Any other file that can be read is another table of the same format (a sample, the rows in another order, a
   corrected value) and loads with a warning that says what differs.

Where no checksum of the published file is known, a file is the published one if its size and the counts are.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from surefoot.tables.rows import Table
from surefoot.tables.source import RawFile, Source
from surefoot.tables.stream import Stream


def judge(name: str, source: Source, streams: list[Stream], table: Table, siblings: Mapping[str, Source]) -> str:
    """Return "" for the published table and a warning for another; raise an error for a wrong one.

    The streams were read to their ends; `siblings` are all data sets there are.
    """
    differences = _differences(source, table)
    others = [stream for stream in streams if not _published(stream)]
    for stream in others:
        for sibling, raw in _everything(name, siblings):
            if _mistaken(stream, raw, sibling == name):
                whose = "" if sibling == name else f"{sibling}'s "
                raise ValueError(f"{name}: {stream.where} is {whose}{raw.name}, not {stream.raw.name}")
    if not others and not differences:
        return ""
    complete = any(_published(stream) for stream in streams)
    altered = [stream.where for stream in others if stream.alike or (complete and not stream.raw.sha256)]
    if differences and altered:
        raise ValueError(
            f"{name}: {', '.join(altered)}: nearly the published file, but cut off, added to or altered: "
            f"{'; '.join(differences)}; fetch it again"
        )
    if not others and all(raw.sha256 for raw in source.files):
        raise ValueError(f"{name}: the files are the published ones, but were misread: {'; '.join(differences)}")
    what = ", ".join(stream.where for stream in others or streams)
    differences = differences or ["rows, features and classes are as many as published, so values or order differ"]
    return f"{name}: this is not the published table: {what} is another file; {'; '.join(differences)}"


def _differences(source: Source, table: Table) -> list[str]:
    """Say how the counts differ from the published ones."""
    X, y = table
    counts = tuple(int(count) for count in np.bincount(y, minlength=len(source.labels)))
    return [
        f"expected {_words(wanted)} {what}, found {_words(found)}"
        for what, found, wanted in (
            ("rows", X.shape[0], source.expected.rows),
            ("features", X.shape[1], source.expected.features),
            ("classes", len(counts), len(source.expected.class_counts)),
            ("rows of each class", counts, source.expected.class_counts),
        )
        if found != wanted
    ]


def _words(count: int | tuple[int, ...]) -> str:
    return f"{count:,}" if isinstance(count, int) else " / ".join(f"{each:,}" for each in count)


def _published(stream: Stream) -> bool:
    raw = stream.raw
    return stream.sha256 == raw.sha256 if raw.sha256 else stream.size == raw.size


def _mistaken(stream: Stream, raw: RawFile, own: bool) -> bool:
    """Whether the stream is this file and should be another; without a checksum its size must tell."""
    if raw.sha256:
        return stream.sha256 == raw.sha256
    return own and stream.size == raw.size != stream.raw.size


def _everything(name: str, siblings: Mapping[str, Source]) -> Iterable[tuple[str, RawFile]]:
    """Yield all raw files, the set's own first."""
    for sibling in (name, *siblings):
        for raw in siblings[sibling].files:
            yield sibling, raw
