"""The command line: `surefoot reproduce` runs the paper's experiment, `surefoot datasets` shows what it can run on."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import surefoot
from surefoot import datasets
from surefoot.paper.experiments import Row, carry_out, runs, write
from surefoot.paper.methods import METHODS

INSTALL = "this needs more packages: pip install 'surefoot[paper]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="surefoot", description=surefoot.__doc__)
    parser.add_argument("--version", action="version", version=f"surefoot {surefoot.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    reproduce_parser = commands.add_parser(
        "reproduce",
        help="run the paper's experiment",
        description="Run the experiment of Holland (2022), section 5: the paper's three methods, and carried feedback "
        "beside them, on the same rows from the same start. Leaves results.csv, figure.png and figure.svg.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    option = reproduce_parser.add_argument
    option("--datasets", default="adult", type=_datasets, help=f"comma-separated, of: {', '.join(datasets.names())}")
    option("--trials", default=3, type=_count, help="independent splits, starts and orders")
    option("--epochs", default=10, type=_count, help="passes over the training rows")
    option("--data-home", default=None, type=_folder, help="folder of the raw files; adult comes with the package")
    option("--out", default="reproduction", type=Path, help="folder for what it writes")
    option("--jobs", default=os.cpu_count() or 1, type=_count, help="processes")
    option("--seed", default=0, type=_seed, help="the same seed gives the same results, with however many jobs")
    reproduce_parser.set_defaults(carry_out=reproduce)
    datasets_parser = commands.add_parser(
        "datasets",
        help="show the data sets: which there are, which are here, where they come from",
        description="Show the data sets: rows, features, classes, bytes of the raw files, and whether they are at "
        "hand: as raw files, parsed in the cache, or in the package. What is missing is downloaded when it is needed.",
    )
    datasets_parser.add_argument("--data-home", default=None, type=_folder, help="folder of the raw files")
    datasets_parser.set_defaults(carry_out=list_datasets)
    options = parser.parse_args(arguments)
    try:
        code: int = options.carry_out(options)
        return code
    except (OSError, ValueError) as error:
        print(f"surefoot: {error}", file=sys.stderr)
        return 1


def reproduce(options: argparse.Namespace) -> int:
    """Run the experiment, show a table, write results and figure."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        from surefoot.paper.figures import draw
    except ImportError as error:
        raise ValueError(f"{INSTALL} ({error})") from error
    console, begin = Console(), time.perf_counter()
    options.out.mkdir(parents=True, exist_ok=True)
    everything = runs(options.datasets, options.trials, options.epochs, options.seed, options.data_home)
    columns = TextColumn("{task.description:32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("starting", total=len(everything))
        rows = carry_out(
            everything,
            min(options.jobs, len(everything)),
            lambda run: bar.update(task, advance=1, description=f"{run.dataset}, {run.method}"),
        )
        bar.update(task, description="done")
    write(rows, options.out / "results.csv")
    paths = [options.out / "results.csv", *draw(rows, options.out)]
    show(console, rows, options.epochs)
    console.print(f"{time.perf_counter() - begin:.0f} s; wrote {', '.join(map(str, paths))}", soft_wrap=True)
    return 0


def list_datasets(options: argparse.Namespace) -> int:
    """Print a table of all data sets."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError as error:
        raise ValueError(f"{INSTALL} ({error})") from error
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("name", no_wrap=True)
    for column in ("rows", "features", "classes", "size"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("present", no_wrap=True)
    table.add_column("where from", no_wrap=True)
    for name in datasets.names():
        source, (kind, where) = datasets.source(name), datasets.presence(name, options.data_home)
        expected = source.expected
        counts = (f"{count:,}" for count in (expected.rows, expected.features, len(expected.class_counts)))
        table.add_row(name, *counts, f"{source.size / 1e6:.0f} MB", kind, urlsplit(where).hostname or where)
    console = Console()
    console.width = max(console.width, console.measure(table, options=console.options.update(width=1000)).maximum)
    console.print(table)
    return 0


def show(console: "rich.console.Console", rows: list[Row], epochs: int) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Print a table: mean and spread of the test loss after a few epochs, error and truncations at the end."""
    from rich.table import Table

    chosen = sorted({1, (epochs + 1) // 2, epochs})
    for dataset in dict.fromkeys(row.dataset for row in rows):
        title = f"\n{dataset}: test log loss ± standard deviation over trials"
        table = Table(title=title, title_justify="left", box=None, padding=(0, 1), pad_edge=False)
        table.add_column("method", no_wrap=True)
        for epoch in chosen:
            table.add_column(f"epoch {epoch}", justify="right", no_wrap=True)
        table.add_column("error", justify="right")
        table.add_column("fired", justify="right")
        for method in METHODS:
            mine = [row for row in rows if (row.dataset, row.method) == (dataset, method)]
            cells = []
            for epoch in chosen:
                losses = [row.test_loss for row in mine if row.epoch == epoch]
                spread = f"±{np.std(losses, ddof=1):.4f}" if len(losses) > 1 else ""
                cells.append(f"{np.mean(losses):.4f}{spread}")
            error = np.mean([row.test_error for row in mine if row.epoch == epochs])
            table.add_row(method, *cells, f"{error:.2%}", f"{np.mean([row.truncated for row in mine]):.2%}")
        console.print(table)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def _datasets(text: str) -> list[str]:
    chosen = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in datasets.names()]
    if unknown or not chosen:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(datasets.names())}, got {text!r}")
    return list(dict.fromkeys(chosen))


def _folder(text: str) -> str:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return text


if __name__ == "__main__":
    sys.exit(main())
