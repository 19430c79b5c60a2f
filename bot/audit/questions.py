"""What the audit log says of a question: who asked, where, how it ended, and which sources its answer drew on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from bot.audit.ids import is_personal
from bot.store.models import passage_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.store.audit.chain import Details

MAX_IDS = 200  # of one answer; the number of further ones is kept


class Located(Protocol):
    """A passage by its place in the engine."""

    @property
    def document(self) -> str: ...
    @property
    def room(self) -> str: ...
    @property
    def passage(self) -> str: ...
    @property
    def space(self) -> str: ...


def describe_sources(cited: Iterable[Located], shown: Iterable[Located] = ()) -> Details:
    """The messages and documents that an answer cites (`sources`), and the documents that were `shown` for it.

    What one person shared with the bot alone is counted (`private`), not named: its ids name them.
    """
    cited, shown = list(cited), list(shown)
    sources = {_identify(each) for each in cited if not is_personal(each.space)}
    documents = {each.document for each in (*cited, *shown) if each.document and not is_personal(each.space)}
    private = {each.document for each in (*cited, *shown) if is_personal(each.space)}
    return {
        name: value
        for name, value in (
            ("sources", sorted(sources)[:MAX_IDS]),
            ("shown", sorted(documents - sources)[:MAX_IDS]),
            ("private", len(private)),
            ("omitted", max(0, len(sources) - MAX_IDS) + max(0, len(documents - sources) - MAX_IDS)),
        )
        if value
    }


def _identify(source: Located) -> str:
    """The key of a message or a document; a message that is not indexed has no document."""
    return passage_key(source.document or f"{source.room}:window:", source.room, source.passage)
