"""docs/dependencies.md names what pyproject.toml, the locks and the imports name."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.support.lock_graph import PROJECT, find_brought, find_reachable, read_needs
from tests.support.source_trees import list_imports

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = ROOT / "requirements.lock"
LOCKS = [RUNTIME, ROOT / "requirements-extras.lock", ROOT / "requirements-dev.lock"]
MAX_PACKAGES = 115
NEEDED_BY_OTHERS, NOTHING = "needed by others", "–"


def find_name(requirement: str) -> str:
    """The name of a package in a requirement, as indexes write it."""
    return re.split(r"[<>=!\[]", requirement)[0].strip().lower().replace(".", "-").replace("_", "-")


@cache
def read_table(heading: str) -> dict[str, list[str]]:
    """The rows below a heading: the further cells, by the name of the package."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    return {find_name(row[0].strip("`")): row[1:] for row in rows}


read_owners = cache(packages_distributions)  # reads the metadata of every installed package
ROWS = [(heading, name) for heading in ("Every installation", "Extras") for name in read_table(heading)]


def test_every_dependency_has_a_row() -> None:
    assert list(read_table("Every installation")) == [find_name(dependency) for dependency in DECLARED["dependencies"]]


def test_every_package_of_an_extra_has_a_row_that_names_the_extra() -> None:
    extras = DECLARED["optional-dependencies"]
    declared = {(find_name(each), extra) for extra in extras if extra != "dev" for each in extras[extra]}
    assert {(name, row[0].split("`")[1]) for name, row in read_table("Extras").items()} == declared


def test_every_package_for_development_has_a_row() -> None:
    declared = [find_name(each) for each in DECLARED["optional-dependencies"]["dev"]]
    assert list(read_table("Development")) == declared


def test_what_other_inputs_of_the_locks_name_is_on_the_page() -> None:
    for file in (ROOT / "locking").glob("*.in"):
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        assert all(f"`{find_name(line)}`" in PAGE for line in lines)


@pytest.mark.parametrize(("heading", "name"), ROWS)
def test_what_needs_a_package_imports_it(heading: str, name: str) -> None:
    purpose, places, licence, size, _ = read_table(heading)[name]
    assert licence
    assert float(size) > 0
    modules = {module for module, owners in read_owners().items() if name in map(find_name, owners)}
    for place in re.findall(r"`(.+?)`", places):
        path = ROOT / place
        assert path.exists()
        files = [path] if path.is_file() else path.rglob("*.py")
        if "imports it" not in purpose:
            assert any(names_module(file, modules) for file in files), f"{place} does not import {name}"


def names_module(file: Path, modules: set[str]) -> bool:
    """Whether a file imports one of the modules, or has its name as a text, to import it later."""
    imported = {module.partition(".")[0] for module, _ in list_imports(file)}
    return bool(imported & modules) or any(f'"{module}"' in file.read_text(encoding="utf-8") for module in modules)


@pytest.mark.parametrize(("heading", "name"), ROWS)
def test_what_a_package_brings_is_what_the_locks_say(heading: str, name: str) -> None:
    needs = read_needs([RUNTIME] if heading == "Every installation" else LOCKS)
    assert name in needs[PROJECT]
    brought = find_brought(needs, name)
    expected = ", ".join(sorted(brought - {name})) or NOTHING if name in brought else NEEDED_BY_OTHERS
    assert read_table(heading)[name][-1] == expected


def test_a_plain_installation_stays_small() -> None:
    assert len(find_reachable(read_needs([RUNTIME]), [PROJECT])) - 1 <= MAX_PACKAGES
