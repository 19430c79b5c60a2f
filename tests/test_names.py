"""Names keep to the vocabulary: each class name has one meaning, and no identifier is a metaphor."""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.support.source_trees import ROOT, list_modules, list_nodes

METAPHORS = frozenset(
    "house desk shelf shelve whisper haste courtesy wish owe owed believe belief lent heard noted".split()  # noqa: SIM905
)
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
AREAS = ["engine", "bot", *(f"adapters/{path.name}" for path in (ROOT / "adapters").iterdir() if path.is_dir())]
AREAS = [area for area in AREAS if any((ROOT / area).rglob("*.py"))]


@cache
def defined(path: Path) -> frozenset[str]:
    """The names that a module gives: of classes, functions, parameters, variables and attributes."""
    found = set[str]()
    for node in list_nodes(path):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
    return frozenset(found)


@pytest.mark.parametrize("area", AREAS)
def test_a_class_name_is_given_once(area: str) -> None:
    names = Counter(
        node.name for path in list_modules(area) for node in list_nodes(path) if isinstance(node, ast.ClassDef)
    )
    assert {name for name, times in names.items() if times > 1} == set()


@pytest.mark.parametrize("area", AREAS)
def test_no_name_is_a_metaphor(area: str) -> None:
    names = {name for path in list_modules(area) for name in defined(path)}
    assert {name for name in names if METAPHORS & {word.lower() for word in WORD.findall(name)}} == set()


NO_ERRORS = frozenset({"Slack", "Discord"})
RAISES = re.compile(r"\bRaises ((?:[^.;:]|\.\w)+)")
CAPITALIZED = re.compile(r"(?<![.\w])[A-Z]\w*[a-z]\w*")


@cache
def docstrings(path: Path) -> tuple[str, ...]:
    """The docstrings of a module, its classes and functions."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return tuple(ast.get_docstring(node) or "" for node in list_nodes(path) if isinstance(node, documented))


@pytest.mark.long
def test_the_errors_that_docstrings_name_exist() -> None:
    nodes = (node for path in list_modules() for node in list_nodes(path))
    known = {node.name for node in nodes if isinstance(node, ast.ClassDef)} | set(dir(builtins)) | NO_ERRORS
    unknown = {
        (path.name, name)
        for path in list_modules()
        for text in docstrings(path)
        for sentence in RAISES.findall(text)
        for name in CAPITALIZED.findall(sentence)
        if name not in known
    }
    assert unknown == set()


CODE_NAME = re.compile(r"`([A-Za-z_]\w*)`")
# Names of libraries, formats, APIs and SQL.
EXTERNAL = frozenset({"rich", "quick_check", "mimetype", "input", "query", "value"})


def test_the_names_that_docstrings_quote_exist() -> None:
    """A quoted name is one of its module, or a class, function or constant of any module."""
    shared = EXTERNAL | {name for path in list_modules() for name in (*path.relative_to(ROOT).parts, path.stem)}
    for path in list_modules():
        shared |= {name for name in defined(path) if not name.islower()}
        shared |= {node.name for node in list_nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    foreign = {path: quoted_names(path) - shared for path in list_modules()}
    unknown = {f"{path.name}: {name}" for path, names in foreign.items() if names for name in names - words_of(path)}
    assert unknown == set()


def quoted_names(path: Path) -> set[str]:
    return {name for text in docstrings(path) for name in CODE_NAME.findall(text)}


def words_of(path: Path) -> set[str]:
    """The names that a module uses, and the words of its strings but docstrings."""
    found = set[str]()
    for node in list_nodes(path):
        for key in ("id", "attr", "arg", "name"):
            found.update(str(getattr(node, key, "")).split("."))
    unused = {id(node.value) for node in list_nodes(path) if isinstance(node, ast.Expr)}
    for node in list_nodes(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in unused:
            found.update(re.findall(r"\w+", node.value))
    return found
