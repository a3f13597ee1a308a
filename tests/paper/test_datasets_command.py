import subprocess
import sys

import miniatures
import pytest

from surefoot import datasets
from surefoot.paper.cli import main


def test_the_table_names_every_set_its_counts_and_where_it_is(private, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setattr("surefoot.datasets.covtype.read", None)  # nothing is parsed
    miniatures.write(private / "covtype", {"covtype.data": b"1,2"}, ".xz")
    assert main(["datasets", "--data-home", str(private)]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.split()}
    assert set(datasets.names()) <= set(lines)
    assert lines["covtype"].split() == [*"covtype 581,012 54 7 75 MB raw files".split(), str(private / "covtype")]
    assert "package" in lines["adult"]
    assert lines["cifar10"].split()[-2:] == ["no", "www.cs.toronto.edu"]


def test_a_folder_that_is_not_there_is_an_error(capsys):
    with pytest.raises(SystemExit):
        main(["datasets", "--data-home", "/nowhere/at/all"])
    assert "is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["pooch", "rich", "pyarrow", "matplotlib"])
def test_data_sets_load_without_any_extra(private, package):
    code = f"import sys; sys.modules[{package!r}] = None\nfrom surefoot import datasets; datasets.load('adult')"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
