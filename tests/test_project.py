"""What the project promises about itself: a light import, names that exist, documents whose references do."""

import re
import subprocess
import sys
from pathlib import Path

import surefoot as sf

ROOT = Path(__file__).parent.parent
HEAVY = ("scipy", "numba", "sklearn", "matplotlib", "rich", "pandas", "torch")


def test_import_loads_numpy_and_nothing_heavier():
    code = f"import sys, surefoot; print([name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_exists_and_is_explained():
    for name in sf.__all__:
        assert getattr(sf, name).__doc__, name
    assert set(sf.__all__) <= set(dir(sf))


def test_the_readme_has_two_commands_of_one_line():
    start = (ROOT / "README.md").read_text().split("\n## Start")[1].split("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```", start, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    assert all(block.count("\n") == 1 for block in blocks)
    assert "surefoot reproduce" in blocks[0]
    assert "pytest" in blocks[1]


def test_the_documents_point_at_what_exists():
    """Every linked file, and every test, module and class of the table "How the code follows the paper"."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in link:
                assert (page.parent / link).exists(), f"{page.name}: {link}"
    table = (ROOT / "docs" / "how_the_code_follows_the_paper.md").read_text()
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("test_*.py"))
    for name in re.findall(r"`(test_\w+)`", table):
        assert f"def {name}(" in tests or (ROOT / "tests" / f"{name}.py").exists(), name
    for dotted in re.findall(r"`sf\.([\w.]+)", table):
        value = sf
        for part in dotted.split("."):
            value = getattr(value, part)
