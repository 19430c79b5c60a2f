"""The words behind a command, parted as a command line parts them. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_LONG_DASH = re.compile(r"(?<!\S)—(?=[a-z])")  # what some keyboards make of two hyphens


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """`plain` words in their order, and `options`: what stands behind --NAME."""

    positional: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


def parse_arguments(text: str, options: Collection[str] = ()) -> CommandArguments:
    """Words and options (`--name value`, `--name=value`); quotation marks hold words together, also typographic ones.

    Apostrophes are letters. Raises InvalidQuestion.
    """
    plain: list[str] = []
    found: dict[str, str] = {}
    rest = iter(_split_words(text))
    for word in rest:
        if not word.startswith("--"):
            plain.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        if name not in options:
            known = ", ".join(f"--{each}" for each in options) or "none"
            raise InvalidQuestion(f"There is no option --{name}.", hint=f"Options: {known}.")
        given = value if equals else next(rest, "")
        if not given:
            raise InvalidQuestion(f"--{name} needs a word behind it.", hint="Put several words in quotation marks.")
        found[name] = given
    return CommandArguments(tuple(plain), found)


def _split_words(text: str) -> list[str]:
    lexer = shlex.shlex(_LONG_DASH.sub("--", text.translate(_STRAIGHT)), posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.quotes, lexer.escape = True, "", '"', ""
    try:
        return list(lexer)
    except ValueError as error:
        raise InvalidQuestion("A quotation mark is not closed.", hint='Like this: "Ada Lovelace".') from error
