"""What came of posted answers whose sources changed, for the operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.store import BotStore

_WORDS = {
    "renewed": "written anew",
    "shortened": "shortened",
    "marked": "marked because a newer message says otherwise",
    "nothing": "replaced by a notice because nothing answers them now",
    "command": "replaced by a notice because the words of a command are not kept",
    "old": "replaced by a notice because they are too old",
    "failed": "not editable any more",
    "private": "private, which stay as they were shown",
}


async def count_renewals(store: BotStore | None) -> tuple[tuple[str, int], ...]:
    """How many stored answers had which outcome, in all workspaces."""
    return () if store is None else tuple((await store.answer_renewals.count_outcomes()).items())


def describe_renewals(outcomes: tuple[tuple[str, int], ...]) -> str:
    """The outcomes in words: "3 written anew, 1 shortened"."""
    counts = dict(outcomes)
    return ", ".join(f"{counts[name]:,} {words}" for name, words in _WORDS.items() if counts.get(name))
