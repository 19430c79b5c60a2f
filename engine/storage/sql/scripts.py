"""Numbered migration scripts of a package."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_NUMBER = re.compile(r"\d+")


def load_numbered_scripts(folder: Traversable) -> list[str]:
    """The SQL files of a folder in order. Raises ValueError unless their names count from 1 without a gap."""
    scripts = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    for number, script in enumerate(scripts, 1):
        number_match = _NUMBER.match(script.name)
        if number_match is None or int(number_match[0]) != number:
            raise ValueError(f"The migration {script.name} has the position of number {number:04d}.")
    return [script.read_text() for script in scripts]
