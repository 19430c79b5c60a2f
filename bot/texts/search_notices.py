"""The words above quotations: these are only the closest, what was searched instead; and the modes of a search.

The engine writes them in English as the first lines of an answer; they are shown in the language of its readers, and
recognized in stored answers of any language.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, get_args

from bot.i18n import N_, gettext, list_translations
from bot.text.markdown import sanitize_inline
from bot.text.search_filters import format_filter
from engine import RetrievalMode
from engine.llm.offline.quoting.notices import match_closest, match_corrections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from engine.models import InferredFilters


CLOSEST = N_("Nothing I can use here says this outright. The closest I found:")
CLOSEST_WITHOUT = N_("I found nothing about {words}. The closest I found:")
SEARCHED_INSTEAD = N_("I searched for {found} instead of {written}.")
MAX_LINES = 2
_UNTIL = re.compile(r"^(- )?Until (\d{4}-\d\d-\d\d): (?=.*“)", re.MULTILINE)
SEARCHED_WITH = N_(
    "I searched with {filters}, as the question seems to say. Add `filter:none` to a question to search without that."
)
NOTHING_MATCHED = N_("Nothing was found with {filters}, so I searched without.")
NOTHING_IN_CHANNEL = N_("Nothing that can be read here is in the channel that the question names.")
CHECK_NAME = N_("Check the name {channels}.")
WHEN_SEARCHED = N_(
    "What is in a private channel is found there and, by its members, in private answers; any other channel is "
    "searched once I read it."
)
SEARCH_MODES: Mapping[RetrievalMode, str] = {
    "mix": N_("Everything: what was written, and how things are connected"),
    "naive": N_("Only what was written"),
    "local": N_("Only what is known about people and things"),
    "global": N_("Only how things are connected"),
    "hybrid": N_("People and things, and how they are connected"),
    "bypass": N_("Nothing: the language model alone, without sources"),
}


def translate_lead(text: str) -> str:
    """An answer of the engine with its first lines in the active language, if they are such notices."""
    *lines, rest = text.split("\n", MAX_LINES)
    return "\n".join([*map(_translate_line, lines), rest])


def translate_quotations(text: str) -> str:
    """An answer of quotations of the engine in the active language."""
    return translate_lead(_translate_until(text))


def _translate_until(text: str) -> str:
    """An answer of quotations with "Until 2026-05-03:" before what was replaced in the active language."""
    until = gettext("Until {day}:")
    return _UNTIL.sub(lambda found: f"{found[1] or ''}{until.format(day=found[2])} ", text)


def is_closest(text: str) -> bool:
    """Whether an answer in any language shows only the closest passages."""
    return any(_closest_pattern().fullmatch(line) for line in text.split("\n", MAX_LINES)[:MAX_LINES])


def _translate_line(line: str) -> str:
    if line == CLOSEST:
        return gettext(CLOSEST)
    if found := match_closest(line):
        return gettext(CLOSEST_WITHOUT).format(words=found["words"])
    if found := match_corrections(line):
        return gettext(SEARCHED_INSTEAD).format(found=found["found"], written=found["written"])
    return line


@cache
def _closest_pattern() -> re.Pattern[str]:
    """Matches the line above the closest passages in every language."""
    sentences = sorted(list_translations(CLOSEST) | list_translations(CLOSEST_WITHOUT))
    return re.compile(
        "|".join(re.escape(sentence).replace(re.escape("{words}"), "“.{1,640}”") for sentence in sentences)
    )


def describe_inferred_filters(inferred: InferredFilters) -> str:
    """The filters as they could be typed, and how to search without them; or that nothing matched them."""
    tokens = [format_filter("in", channel) for channel in inferred.channels]
    tokens += [format_filter("from", author) for author in inferred.authors]
    tokens += [f"since:{inferred.since}"] if inferred.since else []
    tokens += [f"until:{inferred.until}"] if inferred.until else []
    tokens += ["has:file"] if inferred.only_files else []
    shown = sanitize_inline(" ".join(tokens).replace("`", "'"))
    return gettext(SEARCHED_WITH if inferred.found else NOTHING_MATCHED).format(filters=f"`{shown}`")


def describe_empty_channels(names: Iterable[str]) -> str:
    """The answer to a question that names channels in which nothing can be read; `names`: those that were typed.

    It is the same for a channel that does not exist as for one that the readers of the answer may not read.
    """
    shown = ", ".join(f"`#{sanitize_inline(name.replace('`', chr(39)))}`" for name in sorted(names))
    check = [gettext(CHECK_NAME).format(channels=shown)] if shown else []
    return " ".join([gettext(NOTHING_IN_CHANNEL), *check, gettext(WHEN_SEARCHED)])


assert set(SEARCH_MODES) == set(get_args(RetrievalMode))  # noqa: S101  - each mode has its words
