from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.tables import text
from surefoot.tables.source import RawFile
from surefoot.tables.stream import Stream


def parse(block, separators=b",", **options):
    stream = Stream(RawFile("table", 0, None), None)
    stream.path = type("Path", (), {"name": "table", "__str__": lambda _: "table"})()
    return text.numbers(block, separators, stream, 1, **options)


decimals = st.from_regex(r"[-+]?([0-9]{1,20}(\.[0-9]{0,8})?|\.[0-9]{1,8})", fullmatch=True)
exponents = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.one_of(decimals, exponents, st.integers().map(str)), min_size=1, max_size=6), max_size=6))
def test_numbers_are_what_float_reads(rows):
    block = "".join(",".join(row) + "\n" for row in rows).encode()
    values, starts, ends, data = parse(block)
    np.testing.assert_array_equal(values, [float(field) for row in rows for field in row])
    fields = [bytes(data[start:end]).decode() for start, end in zip(starts, ends, strict=True)]
    assert fields == [field for row in rows for field in row]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.decimals(-10_000, 10_000, places=2).map(lambda d: f"{d:.2f}"), min_size=1))
def test_the_quick_way_reads_two_decimals_alone(fields):
    data = np.frombuffer("\t".join([*fields, ""]).encode(), dtype=np.uint8)
    ends = np.flatnonzero(data == ord("\t"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    np.testing.assert_array_equal(text._quick(data, starts, ends), [float(field) for field in fields])


@pytest.mark.parametrize(
    "field", ["x", "1x", "--1", "1-", "+", "-", ".", "-.", "1.2.3", "", "nan", "inf", "1_0", "1 ", "é"]
)
def test_what_is_no_number_is_an_error_that_names_the_line(field):
    with pytest.raises(ValueError, match="table, line 2: expected a number, found"):
        parse(f"1,2\n3,{field}\n".encode())


@given(st.binary(max_size=60))
def test_any_bytes_give_finite_numbers_or_a_clear_error(content):
    with suppress(ValueError):
        assert np.isfinite(parse(content + b"\n")[0]).all()


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 17])
def test_blocks_end_with_lines_wherever_the_bytes_are_cut(tmp_path, monkeypatch, block):
    monkeypatch.setattr(text, "BLOCK", block)
    path = tmp_path / "table"
    path.write_bytes(b"".join(b"%d,%d\r\n" % (k, k * k) for k in range(200)) + b"\n7,7\r")
    blocks = list(text.line_blocks(Stream(RawFile("table", 0, None), path)))
    expected = b"".join(b"%d,%d\n" % (k, k * k) for k in range(200)) + b"\n7,7\n"
    assert b"".join(lines for _, lines in blocks) == expected
    assert [line for line, _ in blocks] == list(1 + np.cumsum([0, *(lines.count(b"\n") for _, lines in blocks)])[:-1])


def test_a_file_without_lines_is_an_error(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(b"1" * (3 << 20))
    with pytest.raises(ValueError, match="line 1: longer than any row"):
        list(text.line_blocks(Stream(RawFile("table", 0, None), path)))
