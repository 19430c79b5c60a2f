"""Who wrote a document, and may therefore have it forgotten: the same in the chat and for access tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.i18n import N_, gettext

if TYPE_CHECKING:
    from bot.store import BotStore

AUTHOR_OR_MANAGER = N_("The author, or a manager, can have it forgotten.")


async def find_authors(store: BotStore, document: str) -> set[str]:
    """Who wrote or shared a document (a key); empty if it was not ingested from a chat."""
    file = await store.files.get(document)
    return {file.author} if file else {message.author for message in await store.messages.list_by_document(document)}


def not_only_yours(what: str) -> str:
    """The sentence for somebody who may not have it forgotten."""
    return gettext("{what} isn't only yours.").format(what=what)
