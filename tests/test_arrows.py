from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {"engine": ("bot", "adapters", "tests"), "bot": ("adapters", "tests"), "adapters": ("tests",)}

# These speak to libraries that can be told some things through the environment only; they read nothing of ours.
ENVIRONMENT = {
    "bot/settings.py",
    "engine/text/tokenizer.py",
    "engine/storage/vectors/lance.py",
    "engine/llm/client/provider_process.py",
    "engine/llm/client/litellm.py",
}
TOUCHES = {"environ", "environb", "getenv", "putenv"}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it; `import_module("a.b")` counts too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
            }
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("package", FORBIDDEN)
def test_imports_point_only_inwards(package: str) -> None:
    wrong = {str(path): imported(path) & set(FORBIDDEN[package]) for path in modules(package)}
    assert {path: names for path, names in wrong.items() if names} == {}


def test_the_engine_has_never_heard_of_a_platform() -> None:
    names = {name for path in [*modules("engine"), *modules("bot")] for name in imported(path)}
    assert names.isdisjoint({"slack_sdk", "slack_bolt", "discord", "prompt_toolkit"})


def test_only_the_settings_read_the_environment() -> None:
    touching = set()
    for path in [path for package in FORBIDDEN for path in modules(package)]:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if any(isinstance(node, ast.Attribute) and node.attr in TOUCHES for node in nodes):
            touching.add(str(path.relative_to(ROOT)))
    assert touching <= ENVIRONMENT


@pytest.mark.parametrize("package", FORBIDDEN)
def test_no_file_has_more_than_three_hundred_lines(package: str) -> None:
    long = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules(package)}
    assert {path: lines for path, lines in long.items() if lines > 300} == {}


FOLDERS = sorted({path.parent for package in FORBIDDEN for path in modules(package)})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_holds_at_most_twelve_modules_and_says_what_it_is_for(folder: Path) -> None:
    names = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(names) <= 12
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
