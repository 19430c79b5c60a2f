"""`make docs` builds the papers as a site: every page is in its contents, every link leads somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[1]


def test_each_paper_is_in_the_contents_of_the_site() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    papers = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert papers <= set(contents)


TASKS = [
    *("ask a question", "one channel", "date", "upload", "forget", "catch up", "watch", "correct", "verify", "export"),
    *("folder", "mailbox", "who can read", "model", "back up and restore", "not read", "summary", "upgrade"),
    *("scans", "e-mails", "join two names", "make it quiet", "program", "GDPR"),
]


def test_what_people_do_most_has_a_heading_of_its_own() -> None:
    text = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
    headings = " ".join(line for line in text.splitlines() if line.startswith("## "))
    assert [task for task in TASKS if task not in headings] == []


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_can_be_searched(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "-c", "docs", "-b", "html", "."]
    subprocess.run([*build, str(tmp_path)], cwd=ROOT, check=True, timeout=300)
    index = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    found = json.loads(index.partition("(")[2].rpartition(")")[0])
    assert "docs/operations" in found["docnames"]
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}
    assert not [path for path, page in pages.items() if '<script src="http' in page]
    assert [link for path, page in pages.items() for link in list_dead_links(path, page, pages)] == []


def list_dead_links(path: Path, page: str, pages: Mapping[Path, str]) -> Iterator[str]:
    """The links of a page within the site that lead to no file, or to no anchor of a page."""
    for link in re.findall(r'href="([^"]+)"', page):
        address = urlsplit(link)
        target = (path.parent / address.path).resolve() if address.path else path
        if address.scheme or address.netloc:
            continue
        anchor = f'id="{address.fragment}"' if address.fragment and target in pages else ""
        if not target.exists() or anchor not in pages.get(target, anchor):
            yield f"{path.name}: {link}"
