"""Lists as parameters of SQL statements: `@list(?)` is a table with the column `value`.

SQLite reads them as JSON. PostgreSQL gets them as arrays, whose types tell integers from texts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class IdList(str):
    """Integers as a JSON array."""

    __slots__ = ()


class TextList(str):
    """Texts as a JSON array."""

    __slots__ = ()


def id_list(ids: Iterable[int]) -> IdList:
    """A parameter for a list of integers."""
    return IdList(json.dumps(list(ids)))


def text_list(texts: Iterable[str]) -> TextList:
    """A parameter for a list of texts."""
    return TextList(json.dumps(list(texts)))
