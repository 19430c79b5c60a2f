"""Files that were shared and not read, as far as the caller may read where they are, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.documents.requests import UnreadFileInfo
from bot.text.format import pluralize
from bot.texts.omissions import describe_families

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store import BotStore, UnreadFile
    from engine import IndexProblem, Scope


MAX_UNREAD = 200  # files in a list; the status counts all
MAX_SEARCHED = 5000  # files of which names are searched
WHAT = {
    "cut_off": "not read to its end",
    "rowless": "the model gave nothing",
    "refused": "the model refused",
    "empty": "the model gave nothing",
}
FORMER_VERSION = (
    "a former version found no fact, and did not record whether the model said so. `threadlore retry` reads them again."
)


async def list_unread(store: BotStore | None, scope: Scope, search: str = "") -> tuple[UnreadFileInfo, ...]:
    """The newest files in scope that were not read, or those with the words of `search` in their names."""
    if store is None:
        return ()
    found = await _find(store, scope, search.casefold().strip())
    names = {room: await store.channels.get_name(room) for room in {file.room for file in found}}
    return tuple(
        UnreadFileInfo(
            file.name,
            f"#{names[file.room]}" if names[file.room] else file.room,
            file.author,
            file.time,
            file.family,
            file.reason,
        )
        for file in found
    )


async def _find(store: BotStore, scope: Scope, words: str) -> list[UnreadFile]:
    """The newest files with these words in their names, among as many as are looked through."""
    found: list[UnreadFile] = []
    for skip in range(0, MAX_SEARCHED, MAX_UNREAD):
        page = await store.unread_files.list_newest(scope, MAX_UNREAD, skip=skip)
        found += [message for message in page if words in message.name.casefold()]
        if len(found) >= MAX_UNREAD or len(page) < MAX_UNREAD:
            break
    return found[:MAX_UNREAD]


def describe_counts(counts: Iterable[tuple[str, int]]) -> str:
    """How many files of each family were not read: "8 pictures, 3 films"."""
    return describe_families(dict(counts))


async def count_unread(store: BotStore | None, scope: Scope) -> tuple[tuple[str, int], ...]:
    """How many files of each family in scope were not read."""
    return () if store is None else tuple((await store.unread_files.count_families(scope)).items())


def describe_problem(problem: IndexProblem) -> str:
    """What was not read: the document, the number of its chunks, the reason and what to do."""
    count = pluralize(problem.chunks, "chunk")
    if not problem.key:
        return f"{count}: {FORMER_VERSION}"
    what = WHAT.get(problem.outcome, "failed")
    reasons = " ".join(filter(None, (problem.error, problem.hint)))
    return f"{problem.title or problem.key} ({count}, {what}): {reasons}"
