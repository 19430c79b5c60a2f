"""Forgetting: a document, a message, or a person. Whoever wrote or shared something may, and managers may anything.

What the caller cannot read does not exist for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.render.tables import counted
from bot.commands.message_links import bare, candidates, is_address
from bot.errors import NotAllowed
from bot.platform.models import Card, utc
from bot.text.markdown import plain
from engine.errors import BadQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.commands.context import Call
    from bot.platform.models import Place
    from bot.store import Known
    from engine.storage.ledger.queries.stats import Listed

ME = frozenset({"me", "myself", "everything of me"})
SHOWN = 5


async def forget(call: Call) -> Card:
    """Forget what the words name: a document by key, title or link; a message by its link; the caller by `me`."""
    words = call.words.strip('"“”')
    if not words:
        raise BadQuestion(
            "What should I forget?",
            hint=f"For instance {call.example('forget minutes.pdf')}, or the link of a message.",
        )
    if words.casefold() in ME:
        return await forget_me(call)
    found = _named(words, await call.engine.documents(await call.scope()))
    if found:
        return await _forget_document(call, found)
    if is_address(words):
        return await _forget_message(call, words)
    raise NotFound(f"There is no “{words}” that you may read.", hint="A title has to be whole; a link is the surest.")


def _named(words: str, documents: Sequence[Listed]) -> Listed | None:
    """The one document that is meant: by key, by link, by title. Raises BadQuestion if several could be."""
    link = bare(words) if is_address(words) else ""
    for meant in (
        [each for each in documents if each.key == words],
        [each for each in documents if link and each.link == link and each.kind != "conversation"],
        [each for each in documents if each.title.casefold() == words.casefold()],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            keys = "; ".join(f"{each.key} ({each.time:%Y-%m-%d})" if each.time else each.key for each in meant[:SHOWN])
            raise BadQuestion(
                f"“{words}” could be {counted(len(meant), 'document')}.", hint=f"Name one by its key: {keys}"
            )
    return None


async def _forget_document(call: Call, document: Listed) -> Card:
    await _may_forget(call, await _authors(call, document), f"“{document.title}”")
    await call.parts.listening.forget_document(document.key)
    where = await call.store.rooms.name(document.room)
    place = f", #{plain(where)}" if where else ""
    return Card(f"Forgotten: **{plain(document.title)}** ({counted(document.passages, 'passage')}{place}).")


async def _authors(call: Call, document: Listed) -> set[str]:
    """Who wrote or shared a document; nobody that is known, if it came in another way."""
    file = await call.store.files.get(document.key)
    return {file.author} if file else {each.author for each in await call.store.messages.of_document(document.key)}


async def _may_forget(call: Call, authors: set[str], what: str) -> None:
    if authors != {call.called.person} and not await call.manages():
        raise NotAllowed(
            f"{what} is not yours alone.", hint="Whoever wrote or shared it can have it forgotten, or a manager."
        )


async def _forget_message(call: Call, address: str) -> Card:
    found = await message_at(call, address)
    if found is None:
        raise NotFound(
            "I know of no message there that you may read.", hint="Perhaps it was never read, or is forgotten already."
        )
    place, message = found
    await _may_forget(call, {message.author}, "That message")
    await call.parts.listening.forget_message(place, message.id)
    return Card(f"Forgotten: the message of {utc(message.time)}, with its files. In the chat it still stands.")


async def message_at(call: Call, address: str) -> tuple[Place, Known] | None:
    """The message that an address leads to, if it lies where the caller may read."""
    ids, scope = candidates(address), await call.scope()
    known = await call.store.rooms.known(call.place.platform)
    for place in sorted({*known, call.place.main}, key=lambda each: (each.channel not in ids, each.room)):
        for message in await call.store.messages.several(place.room, ids):
            if place.room in scope.rooms or await call.parts.house.readers.home(place) in scope.spaces:
                return place, message
    return None


async def forget_me(call: Call) -> Card:
    """Forget what the caller wrote, shared and asked, and index nothing further of theirs."""
    place, person = call.place, call.called.person
    await call.parts.listening.forget_person(place.platform, place.workspace, person)
    return Card(
        "Done: what you wrote, shared and asked here is forgotten, and I read nothing further of yours. "
        f"{call.example('remember-me')} changes that for what you write from then on."
    )


async def remember_me(call: Call) -> Card:
    """Index again what the caller writes from now on, and nothing that is older."""
    place = call.place
    for workspace in {place.workspace, ""}:  # a talk with the bot alone may belong to none
        await call.store.people.opt_in(place.platform, workspace, call.called.person, call.now)
    return Card("From now on I read what you write in channels that I am in. What was forgotten stays forgotten.")
