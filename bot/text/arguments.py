"""Parse the arguments of a command like a command line. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.i18n import gettext
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_STRAIGHT = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})
_LONG_DASH = re.compile(r"(?<!\S)—(?=[a-z])")  # some keyboards turn two hyphens into a dash


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """The positional arguments in order, and the value of each --NAME option."""

    positional: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)


def parse_arguments(text: str, options: Collection[str] = ()) -> CommandArguments:
    """Parse words and options (`--name value`, `--name=value`); straight or typographic quotation marks group words.

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
            known = ", ".join(f"--{option}" for option in options) or "none"
            raise InvalidQuestion(
                gettext("There is no option --{name}.").format(name=name),
                hint=gettext("Options: {options}.").format(options=known),
            )
        given = value if equals else next(rest, "")
        if not given:
            raise InvalidQuestion(
                gettext("--{name} needs a value.").format(name=name),
                hint=gettext("Put several words in quotation marks."),
            )
        found[name] = given
    return CommandArguments(tuple(plain), found)


def _split_words(text: str) -> list[str]:
    lexer = shlex.shlex(_LONG_DASH.sub("--", text.translate(_STRAIGHT)), posix=True)
    lexer.whitespace_split, lexer.commenters, lexer.quotes, lexer.escape = True, "", '"', ""
    try:
        return list(lexer)
    except ValueError as error:
        raise InvalidQuestion(
            gettext("A quotation mark is not closed."), hint=gettext('For example "Ada Lovelace".')
        ) from error
