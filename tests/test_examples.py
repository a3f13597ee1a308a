"""Every example runs, small, and shows what its text says.

All of them have fixed seeds, so what they print does not vary; the orderings asserted here are those of the text.
"""

from importlib import import_module
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def numbers(printed, line):
    """The numbers of the line that starts so."""
    found = next(row for row in printed.splitlines() if row.strip().startswith(line))
    return [float(word) for word in found.strip().removeprefix(line).split()]


def test_every_example_has_its_test():
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {path.stem for path in EXAMPLES} <= tests


def test_constant_step(capsys):
    """T = 20,000, seed 0. The corollary's step leaves .08: h_t is +1/2 nine times in ten, whatever T is.

    hbar averages 20,000 such bits; it lies within .02 of .4 but for an event of probability below 1e-20.
    """
    import_module("constant_step").main(20_000)
    printed = capsys.readouterr().out
    excess, certificate, _ = numbers(printed, "step 1/smoothness")
    assert excess == pytest.approx(0.08, abs=0.008)
    assert excess <= certificate
    corrected, certificate, _ = numbers(printed, "corrected step")
    assert corrected < 0.003
    assert corrected <= certificate < 0.3


def test_pricing(capsys):
    import_module("pricing").main(repetitions=5)
    printed = capsys.readouterr().out
    raw, last, average = (
        numbers(printed, name)
        for name in ("raw feedback, last iterate", "clipped feedback, last iterate", "clipped feedback, average")
    )
    assert average[0] < last[0] < raw[0]
    assert average[3] < 0.5 < 1.0 < last[2] < raw[2]


def test_portfolio(capsys):
    import_module("portfolio").main(repetitions=3)
    printed = capsys.readouterr().out
    mean = {name: numbers(printed, name)[0] for name in ("equal shares", "raw, fresh", "clipped, carried")}
    assert 0 < mean["clipped, carried"] < mean["raw, fresh"] < mean["equal shares"]


def test_claims(capsys):
    import_module("claims").main(repetitions=1)
    printed = capsys.readouterr().out
    least, auto, free = (
        numbers(printed.replace("%", " "), name)
        for name in ("least squares", "surefoot, auto: a gap means errors", "surefoot, clip nothing")
    )
    assert auto[1] < 3 < least[1]
    assert auto[3] < 3 < 50 < least[3]
    assert abs(free[0] - 1) < 0.02 < 0.1 < 1 - auto[0]


def test_fresh_or_carried(capsys, tmp_path):
    import_module("fresh_or_carried").main(str(tmp_path / "figure.svg"), trials=4, rows=3000)
    printed = capsys.readouterr().out
    last, average, carried = (
        numbers(printed, f"{name}")[0]
        for name in ("fresh, asked at the last iterate", "fresh, asked at the average", "carried, asked at the average")
    )
    assert carried < last < average
    assert (tmp_path / "figure.svg").stat().st_size > 0
