"""What people read of the program, wherever it stands: people are called they."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HE = re.compile(r"\b(he|him|his|himself)\b", re.IGNORECASE)
TEXTS = (
    "README.md",
    "CONTRIBUTING.md",
    ".env.example",
    "CHANGELOG.md",
    "compose.yaml",
    "adapters/**/*.json",
    "docs/**/*.md",
)
RULES = (
    "engine/llm/",
    "engine/storage/ledger/full_text/search_words",
    "bot/text/speech/phrases",
    "bot/text/speech/question_rules",
    "bot/text/speech/addressee",
    "bot/text/speech/grammars",
    "bot/text/speech/kinds/constructions",
    "engine/text/overviews",
    "engine/text/languages/detection",
    "engine/text/overview_words",
    "engine/text/conversations/small_talk",
    "engine/text/word_lists",
)  # about words, not for people


@pytest.mark.parametrize("package", ["bot", "adapters", "engine"])
def test_people_are_they_in_the_program_its_docstrings_and_comments(package: str) -> None:
    modules = [path for path in (ROOT / package).rglob("*.py") if not str(path.relative_to(ROOT)).startswith(RULES)]
    assert modules
    assert [(path.name, line) for path in modules for line in path.read_text().splitlines() if HE.search(line)] == []


def test_people_are_they_in_what_comes_with_it() -> None:
    paths = [path for pattern in TEXTS for path in ROOT.glob(pattern)]
    assert ROOT / "README.md" in paths
    assert [path.name for path in paths if HE.search(path.read_text())] == []
