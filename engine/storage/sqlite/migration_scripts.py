"""Numbered migration scripts: each changes the schema from the version before it to its own number."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

FIRST_NUMBER = 2  # version 1 is the schema itself
_NUMBER = re.compile(r"\d+")


def load_migration_scripts(package: str) -> list[str]:
    """The scripts in the package's folder `migrations`, in order."""
    return load_numbered_scripts(files(package) / "migrations")


def load_numbered_scripts(folder: Traversable) -> list[str]:
    """The SQL files of a folder in order. Raises ValueError unless their names count from 2 without a gap."""
    scripts = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    for number, script in enumerate(scripts, FIRST_NUMBER):
        found = _NUMBER.match(script.name)
        if found is None or int(found[0]) != number:
            raise ValueError(f"The migration {script.name} has the position of number {number:04d}.")
    return [script.read_text() for script in scripts]
