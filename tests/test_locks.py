"""The locks: hashed, disjoint, and the first without anything that only developers need."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TypeGuard

import pytest

from tests.support.source_trees import list_imports, list_modules, list_nodes

ROOT = Path(__file__).parents[1]
RUNTIME, EXTRAS, DEV = "requirements.lock", "requirements-extras.lock", "requirements-dev.lock"
TOOLS = "locking/tools.lock"
NODE, NPM = "locking/node.lock", "adapters/web/frontend/package-lock.json"
CONTAINER_EXTRAS = {"multilingual", "otel", "pictures", "postgres"}  # the container image contains them
SHARED = {"packaging"}  # the build backend and the program need it alike
PINNED = re.compile(r"^([a-z0-9._-]+)==\S+(?: ;[^\\]*)? \\$", re.MULTILINE)


def read_lock(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pinned(path: str) -> set[str]:
    return set(PINNED.findall(read_lock(path)))


@pytest.mark.parametrize("path", [RUNTIME, EXTRAS, DEV, TOOLS, NODE])
def test_every_package_of_a_lock_is_hashed_and_no_index_is_named(path: str) -> None:
    text = read_lock(path)
    starts = [line for line in text.splitlines() if line and not line.startswith(("#", " "))]
    assert starts
    assert all(PINNED.match(line) for line in starts)
    assert len(re.findall(r"(?:^|\n)[a-z0-9].* \\\n    --hash=sha256:", text)) == len(starts)
    assert "://" not in text


def test_every_package_of_npm_is_pinned_and_hashed_and_no_registry_is_named() -> None:
    wanted = json.loads(read_lock("adapters/web/frontend/package.json"))
    versions = [*wanted["dependencies"].values(), *wanted["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    packages = json.loads(read_lock(NPM))["packages"]
    assert all(each["integrity"].startswith("sha512-") for name, each in packages.items() if name)
    assert not any("resolved" in package for package in packages.values())


def test_no_package_is_in_two_locks() -> None:
    assert pinned(RUNTIME) & pinned(TOOLS) <= SHARED
    assert not pinned(EXTRAS) & (pinned(RUNTIME) | pinned(TOOLS)) - SHARED
    assert not pinned(DEV) & (pinned(RUNTIME) | pinned(EXTRAS) | pinned(TOOLS))


def test_development_tools_extras_and_unused_packages_stay_out_of_what_runs() -> None:
    extras = tomllib.loads(read_lock("pyproject.toml"))["project"]["optional-dependencies"]
    names, contained = (
        {
            re.split(r"[<>=\[]", each)[0].lower()
            for name in extras
            if (name in CONTAINER_EXTRAS) is kept
            for each in extras[name]
        }
        for kept in (False, True)
    )
    assert contained <= pinned(EXTRAS)
    names -= {"pyyaml"}  # the program's libraries need it, too
    assert names <= pinned(DEV)
    unwanted = {"boto3", "botocore", "huggingface-hub", "hf-xet", "torch", "sentence-transformers"}
    assert not (names | unwanted) & (pinned(RUNTIME) | pinned(EXTRAS))
    assert not contained & pinned(RUNTIME)


def is_word(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()


def test_every_dependency_is_imported_by_the_program() -> None:
    declared = tomllib.loads(read_lock("pyproject.toml"))["project"]["dependencies"]
    names = {re.split(r"[<>=]", dependency)[0].lower().replace("_", "-") for dependency in declared}
    named = {module.partition(".")[0] for path in list_modules() for module, _ in list_imports(path)}
    # Some are imported by a name that is a string.
    named |= {"tzdata"}  # the standard library imports it where the system has no time zones
    named |= {str(node.value) for path in list_modules() for node in list_nodes(path) if is_word(node)}
    owners = {owner for module, found in packages_distributions().items() if module in named for owner in found}
    assert names <= {owner.lower().replace("_", "-") for owner in owners}
