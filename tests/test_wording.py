"""What people read of the program, wherever it stands: people are called they."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HE = re.compile(r"\b(he|him|his|himself)\b", re.IGNORECASE)
TEXTS = ("README.md", ".env.example", "CHANGELOG.md", "compose.yaml", "adapters/**/*.json", "docs/**/*.md")
RULES = (
    "engine/language/",
    "engine/ledger/matching",
    "bot/phrases",
    "bot/follow_up",
    "bot/addressee",
    "bot/social_patterns",
    "engine/overview_request",
)  # about words, not for people


def said(path: Path) -> list[str]:
    """The strings of a module that are no docstrings."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
    return [each.value for each in strings if isinstance(each.value, str)]


@pytest.mark.parametrize("package", ["bot", "adapters", "engine"])
def test_people_are_they_in_what_the_program_says(package: str) -> None:
    modules = [path for path in (ROOT / package).rglob("*.py") if not str(path.relative_to(ROOT)).startswith(RULES)]
    assert modules
    assert [(path.name, text) for path in modules for text in said(path) if HE.search(text)] == []


def test_people_are_they_in_what_comes_with_it() -> None:
    paths = [path for pattern in TEXTS for path in ROOT.glob(pattern)]
    assert ROOT / "README.md" in paths
    assert [path.name for path in paths if HE.search(path.read_text())] == []
