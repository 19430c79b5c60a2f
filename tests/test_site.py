"""`make docs` builds the papers as a site: every page is in its contents, every link leads somewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_each_paper_is_in_the_contents_of_the_site() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    papers = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert papers <= set(contents)


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_can_be_searched(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-c", "docs", "-b", "html", "."]
    subprocess.run([*build, str(tmp_path)], cwd=ROOT, check=True, timeout=300)
    index = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.partition("(")[2].rpartition(")")[0])
    assert "docs/operations" in found["docnames"]
    pages = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")]
    assert not [page for page in pages if '<script src="http' in page]
