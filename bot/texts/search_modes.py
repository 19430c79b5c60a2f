"""What each mode of retrieval searches, in words for people who never read its name. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from bot.i18n import N_
from engine import RetrievalMode

if TYPE_CHECKING:
    from collections.abc import Mapping

SEARCH_MODES: Mapping[RetrievalMode, str] = {
    "mix": N_("Everything: what was written, and how things are connected"),
    "naive": N_("Only what was written"),
    "local": N_("Only what is known about people and things"),
    "global": N_("Only how things are connected"),
    "hybrid": N_("People and things, and how they are connected"),
    "bypass": N_("Nothing: the language model alone, without sources"),
}
assert set(SEARCH_MODES) == set(get_args(RetrievalMode))  # noqa: S101  - each mode has its words
