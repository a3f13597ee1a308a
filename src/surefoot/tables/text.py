"""Tables written as text: numbers with separators, or LIBSVM's `label index:value ...`.

Numbers are parsed a block at a time, all at once: for the k-th digit from the right there is one array operation. An
integer of at most 15 digits and a power of ten up to 10^15 are exact in float64, so their quotient is the float64
nearest to the decimal, the same as `float(text)`. A block with anything else in it goes through `float`.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from surefoot.tables.rows import Rows, Table
from surefoot.tables.source import Source
from surefoot.tables.stream import Stream

BLOCK = 1 << 17  # bytes; what a block's arrays need stays in the processor's cache
LONGEST = 1 << 20  # bytes of a line
DIGITS = 15
NEWLINE, MINUS, PLUS, DOT, ZERO, COLON = b"\n-+.0:"
POWERS = 10.0 ** np.arange(DIGITS + 1)


def delimited(
    streams: list[Stream], source: Source, separators: bytes, fields: int, label: int, features: slice
) -> Table:
    """Read files of numbers, one row a line, each of so many fields; the label stands in column `label`."""
    rows, labels = Rows(source.expected), np.array(source.labels)
    for stream in streams:
        for line, block in line_blocks(stream):
            values, starts, ends, data = numbers(block, separators, stream, line)
            blank = ends == starts
            if np.any(blank):
                values, ends = values[~blank], ends[~blank]
            last = np.flatnonzero(data[ends] == NEWLINE)
            widths = np.diff(last, prepend=-1)
            if np.any(widths != fields):
                wrong = int(np.argmax(widths != fields))
                number = line + block.count(NEWLINE, 0, int(ends[last[wrong]]))
                raise ValueError(f"{stream.where}, line {number}: expected {fields} fields, found {widths[wrong]}")
            table = values.reshape(-1, fields)
            rows.append(table[:, features], codes(table[:, label], labels, stream, line))
    return rows.table()


def libsvm(streams: list[Stream], source: Source) -> Table:
    """Read LIBSVM files; a feature that a row does not name is 0."""
    rows, labels, width = Rows(source.expected), np.array(source.labels), source.expected.features
    for stream in streams:
        for line, block in line_blocks(stream):
            values, starts, ends, data = numbers(block, b" :", stream, line, empty=True)
            given = ends > starts
            values, starts, before, after = values[given], starts[given], data[starts[given] - 1], data[ends[given]]
            label, index, value = before == NEWLINE, after == COLON, before == COLON
            wrong = label.astype(np.int8) + index + value != 1
            wrong[1:] |= index[:-1] != value[1:]
            wrong |= index & ((values < 1) | (values > width) | (values != np.floor(values)))
            if np.any(wrong):
                number = line + block.count(NEWLINE, 0, int(starts[np.argmax(wrong)]))
                raise ValueError(
                    f"{stream.where}, line {number}: expected 'label index:value index:value ...', indices 1 to {width}"
                )
            row = np.cumsum(label) - 1
            X = np.zeros((np.count_nonzero(label), width))
            X[row[value], values[index].astype(np.int64) - 1] = values[value]
            rows.append(X, codes(values[label], labels, stream, line))
    return rows.table()


def line_blocks(stream: Stream) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line. A lone last line is given its newline."""
    line, rest = 1, b""
    for block in stream.blocks(BLOCK):
        head, newline, tail = block.rpartition(b"\n")
        if not newline:
            rest += tail
            if len(rest) > LONGEST:
                raise ValueError(f"{stream.where}, line {line}: longer than any row; this is not the published table")
            continue
        lines, rest = rest + head + newline, tail
        if b"\r" in lines:
            lines = lines.replace(b"\r\n", b"\n")
        yield line, lines
        line += lines.count(b"\n")
    if rest:
        if stream.alike:
            raise ValueError(f"{stream.where}: ends in the middle of line {line}; it was cut off, fetch it again")
        yield line, rest.rstrip(b"\r") + b"\n"


def numbers(
    block: bytes, separators: bytes, stream: Stream, line: int, empty: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the numbers between separators and newlines, where each starts and ends, and the bytes.

    The bytes carry one newline more at the end, so that `data[starts - 1]` is the byte before a number, also for
    the first. Nothing between two separators is an error unless `empty`; between two newlines it is not.
    """
    data = np.frombuffer(block + b"\n", dtype=np.uint8)
    separates = np.zeros(256, dtype=np.bool_)
    separates[list(separators + b"\n")] = True
    ends = np.flatnonzero(separates[data[:-1]])
    starts = np.empty_like(ends)
    starts[:1], starts[1:] = 0, ends[:-1] + 1
    values = _quick(data, starts, ends)
    if values is None or (not empty and _hollow(data, starts, ends)):
        values = _slow(block, starts, ends, stream, line, empty)
    return values, starts, ends, data


def codes(values: NDArray[np.float64], labels: NDArray[np.generic], stream: Stream, line: int) -> NDArray[np.int64]:
    """Return the place of each value among the sorted labels; row after row, from this line on."""
    found = np.minimum(np.searchsorted(labels, values), len(labels) - 1)
    if not np.array_equal(labels[found], values):
        wrong = int(np.argmax(labels[found] != values))
        expected = ", ".join(map(str, labels))
        raise ValueError(
            f"{stream.where}, line {line + wrong}: expected a label of {expected}, found {values[wrong]:g}"
        )
    return found.astype(np.int64)


def _quick(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64] | None:
    """Parse decimals without exponent; None if there is anything else."""
    digits = ends - starts
    first = data[starts]
    signed = (first == MINUS) | (first == PLUS)
    digits -= signed
    dots = np.flatnonzero(data == DOT)
    decimals = None
    if len(dots):
        owner = np.searchsorted(ends, dots)
        if np.any(np.diff(owner) == 0):
            return None
        decimals = np.zeros_like(digits)
        decimals[owner] = ends[owner] - dots - 1
        digits[owner] -= 1
        dotted = np.zeros_like(signed)
        dotted[owner] = True
    if len(digits) and digits.max() > DIGITS:
        return None
    whole = np.zeros(len(digits), dtype=np.int64)
    left, power = np.flatnonzero(digits > 0), 1
    if len(left) != np.count_nonzero(ends > starts):
        return None  # a sign or a dot alone
    for k in range(DIGITS):
        at = ends[left] - (1 + k)
        if decimals is not None:
            at -= dotted[left] & (k >= decimals[left])
        digit = data[at] - ZERO  # below "0" wraps round to a large number
        if len(digit) and digit.max() > 9:
            return None
        whole[left] += digit.astype(np.int64) * power
        left, power = left[digits[left] > k + 1], 10 * power
        if not len(left):
            break
    values = whole / POWERS[decimals] if decimals is not None else whole.astype(np.float64)
    return np.negative(values, out=values, where=first == MINUS)


def _slow(
    block: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64], stream: Stream, line: int, empty: bool
) -> NDArray[np.float64]:
    """Parse one number after the other; the error says on which line."""
    values = np.zeros(len(ends))
    for k, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        text = block[start:end]
        blank = not text and (empty or (block[end] == NEWLINE and (start == 0 or block[start - 1] == NEWLINE)))
        if blank:
            continue
        try:
            values[k] = float(text)
        except ValueError:
            values[k] = np.nan
        if not np.isfinite(values[k]) or b"_" in text or text != text.strip():
            number = line + block.count(NEWLINE, 0, start)
            raise ValueError(
                f"{stream.where}, line {number}: expected a number, found {text.decode('ascii', 'replace')!r:.40}"
            )
    return values


def _hollow(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> bool:
    """Whether there is nothing between two separators of one line."""
    hollow = ends == starts
    return bool(np.any(hollow & ~((data[ends] == NEWLINE) & (data[starts - 1] == NEWLINE))))
