"""List the files that were shared and not read, as far as the caller may read where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.documents.results import UnreadFileInfo
from bot.texts.unread_files import describe_families

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store import BotStore
    from engine import Scope

MAX_UNREAD = 200  # files in a list; the status counts all


async def list_unread(store: BotStore | None, scope: Scope, search: str = "") -> tuple[UnreadFileInfo, ...]:
    """The newest files in scope that were not read, or those with the words of `search` in their names."""
    if store is None:
        return ()
    words = search.casefold().strip()
    found = [each for each in await store.unread_files.list_newest(scope) if words in each.name.casefold()][:MAX_UNREAD]
    names = {room: await store.channels.get_name(room) for room in {each.room for each in found}}
    return tuple(
        UnreadFileInfo(
            each.name,
            f"#{names[each.room]}" if names[each.room] else each.room,
            each.author,
            each.time,
            each.family,
            each.reason,
        )
        for each in found
    )


def describe_counts(counts: Iterable[tuple[str, int]]) -> str:
    """How many files of each family were not read: "8 pictures, 3 films"."""
    return describe_families(dict(counts))


async def count_unread(store: BotStore | None, scope: Scope) -> tuple[tuple[str, int], ...]:
    """How many files of each family in scope were not read."""
    return () if store is None else tuple((await store.unread_files.count_families(scope)).items())
