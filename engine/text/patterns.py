"""Regular expressions that are compiled when they are first used: a question needs a quarter of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

# What a compiled pattern has; the first use of any of them compiles it.
_MEMBERS = (
    *("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"),
    *("pattern", "flags", "groups", "groupindex"),
)


class LatePattern:
    """A pattern that becomes a compiled one with its first use, and costs nothing more from then on."""

    def __init__(self, text: str | Callable[[], str], flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _MEMBERS:
            raise AttributeError(name)
        compiled = self.compile()
        vars(self).update((each, getattr(compiled, each)) for each in _MEMBERS)
        return getattr(compiled, name)

    def compile(self) -> re.Pattern[str]:
        """The compiled pattern. Raises re.error."""
        text, flags = self._given
        return re.compile(text if isinstance(text, str) else text(), flags)


def compile_late(text: str | Callable[[], str], flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but what is wrong with a text is raised with the first use; a function writes a long text."""
    return cast("re.Pattern[str]", LatePattern(text, flags))
