from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from engine.text.patterns import LatePattern, compile_late
from tests.support.source_trees import ROOT, list_imports, list_modules, list_nodes, relative_name


def test_a_pattern_is_compiled_by_its_first_use_and_then_costs_as_much_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, original = list[str](), re.compile

    def record(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return original(text, flags)

    monkeypatch.setattr(re, "compile", record)
    late = compile_late("(?P<one>A)b", re.IGNORECASE)
    assert not compiled
    found = late.search("xab")
    assert found
    assert (found["one"], late.pattern, late.groups) == ("a", "(?P<one>A)b", 1)
    assert late.sub("-", "ab ab", count=1) == "- ab"
    assert compiled == ["(?P<one>A)b"]
    assert vars(late)["findall"]("ab") == ["a"]


def test_what_is_wrong_with_a_pattern_is_raised_by_its_use() -> None:
    late = compile_late("(")
    with pytest.raises(re.error):
        late.search("")
    assert isinstance(late, LatePattern)
    assert not hasattr(late, "other")


def test_a_long_text_is_written_when_the_pattern_is_used() -> None:
    texts = ["a+"]
    late = compile_late(texts.pop, re.IGNORECASE)
    assert texts == ["a+"]
    assert late.findall("aAbA") == late.findall("aAbA") == ["aA", "A"]
    assert not texts


def names_in(node: ast.AST) -> set[str]:
    """The names and attributes that occur in a part of a module."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


@cache
def list_bound(path: Path) -> set[str]:
    """The names in a module that `compile_late` makes, alone or among others."""
    bound = set[str]()
    for node in list_nodes(path) if "compile_late" in path.read_text(encoding="utf-8") else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value and "compile_late" in names_in(node.value):
            bound |= names_in(node) - names_in(node.value)
    return bound


def list_late_names(path: Path) -> set[str]:
    """The names of late patterns in a module: its own, and those that it imports."""
    late = set(list_bound(path))
    for module, name in list_imports(path):
        source = (ROOT / module.replace(".", "/")).with_suffix(".py")
        if name and source.is_file() and name in list_bound(source):
            late.add(name)
    return late


def find_misuses(path: Path) -> list[int]:
    """The lines that give a late pattern to a function of `re`, or ask for a compiled one."""
    if "re" not in {module for module, _ in list_imports(path)}:
        return []
    late, lines = list_late_names(path), list[int]()
    for node in list_nodes(path):
        match node:
            case ast.Call(ast.Attribute(ast.Name("re"))):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
                if any(late & names_in(each) for each in given if isinstance(each, ast.Name | ast.Attribute)):
                    lines.append(node.lineno)
            case ast.Call(ast.Name("isinstance"), [_, kind]) if "Pattern" in names_in(kind):
                lines.append(node.lineno)
    return lines


def test_no_late_pattern_is_given_to_what_takes_only_compiled_ones() -> None:
    wrong = [f"{relative_name(path)}:{line}" for path in list_modules() for line in find_misuses(path)]
    assert wrong == []


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("A = compile_late('a')\nre.sub(A, '', text)", [3]),
        ("A = compile_late('a')\nre.sub('a', '', A.sub('', text))", []),
        ("class B:\n    A: Any = compile_late('a')\nre.search(string=text, pattern=B.A)", [4]),
        ("from engine.text.few_tokens import _PIECE\nre.split(_PIECE, text)", [3]),
        ("isinstance(value, str | re.Pattern)", [2]),
        ("A = re.compile('a')\nre.sub(A, '', text)", []),
    ],
)
def test_late_patterns_in_wrong_places_are_found(tmp_path: Path, code: str, lines: list[int]) -> None:
    (tmp_path / "module.py").write_text(f"import re\n{code}")
    assert find_misuses(tmp_path / "module.py") == lines
