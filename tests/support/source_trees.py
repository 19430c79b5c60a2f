"""The modules of the product and their syntax trees, each parsed once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("engine", "bot", "adapters")


@cache
def list_modules(*areas: str) -> tuple[Path, ...]:
    """The modules below these folders, of the whole product if there are none."""
    return tuple(path for area in areas or PACKAGES for path in sorted((ROOT / area).rglob("*.py")))


def relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def parse_module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def list_nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parse_module(path)))


def name_of(call: ast.Call) -> str:
    """The last name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


@cache
def list_imports(path: Path) -> tuple[tuple[str, str], ...]:
    """The modules that a file imports, wherever in it, each with the imported name; empty for `import x`."""
    found = []
    for node in list_nodes(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found += [(node.module or "", alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and name_of(node) == "import_module":
            literals = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            found += [(literal, "") for literal in literals if isinstance(literal, str)]
    return tuple(found)
