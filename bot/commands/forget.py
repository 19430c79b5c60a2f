"""Forget a document, a message, or a person. Authors may forget their own things, managers everything.

The caller gets no answer about things that they cannot read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.capabilities.document_lookup import list_with_inner
from bot.capabilities.requests import ForgetMe, RememberMe
from bot.capabilities.results import Completed
from bot.errors import NotAllowed
from bot.i18n import gettext
from bot.permissions.authors import AUTHOR_OR_MANAGER, find_authors, not_only_yours
from bot.platform.models import Button, Card
from bot.text.document_match import choose_document, match_title
from bot.text.format import format_list, format_utc, pluralize
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bot.commands.context import CommandContext
    from bot.ingest.service import ContentKind
    from bot.platform.models import Location
    from bot.store import MessageRecord
    from engine import DocumentInfo

CHANNEL_WORDS: Mapping[str, ContentKind] = {
    "channel": "",
    "channel messages": "messages",
    "channel files": "files",
}
CONFIRMED = " now"
SELF_WORDS = frozenset({"me", "myself", "everything of me"})

_LINK_PATTERN = re.compile(r"<?https?://[^\s<>|]++(?:\|[^<>]*+)?>?")


async def forget_command(call: CommandContext) -> Card:
    """Forget a document (by key, title or link), a message (by link), or the caller (`me`)."""
    words = call.arguments.strip('"“”')
    if not words:
        raise InvalidQuestion(
            gettext("What should I forget?"),
            hint=gettext("For example {command}, or the link to a message.").format(
                command=call.format_example("forget minutes.pdf")
            ),
        )
    if words.casefold() in SELF_WORDS:
        return await forget_me_command(call)
    if words.casefold() in CHANNEL_WORDS:
        return await _confirm_forget_channel(call, CHANNEL_WORDS[words.casefold()])
    if words.casefold().removesuffix(CONFIRMED) in CHANNEL_WORDS:
        return await _forget_channel(call, CHANNEL_WORDS[words.casefold().removesuffix(CONFIRMED)])
    documents = await call.engine.documents.list(await call.resolve_scope())
    if found := _find_document(words, documents):
        return await _forget_document(call, found, documents)
    if is_message_link(words):
        return await _forget_message(call, words)
    raise NotFound(
        gettext("I found no “{words}” that you can read.").format(words=words),
        hint=gettext("Give the full title, or better a link."),
    )


async def _confirm_forget_channel(call: CommandContext, kind: ContentKind) -> Card:
    """Show what would be forgotten of this channel, with a button that forgets it."""
    await call.require_manager(gettext("have a channel forgotten"))
    documents = await call.services.ingest_service.list_channel_documents(call.location, kind)
    if not documents:
        return Card(gettext("There is nothing to forget here."))
    value = next(words for words, each in CHANNEL_WORDS.items() if each == kind)
    files = sum(each.kind != "conversation" for each in documents)
    passages = sum(each.passages for each in documents if each.kind == "conversation")
    kinds = [pluralize(passages, "{count} message", "{count} messages")] if passages else []
    kinds += [pluralize(files, "{count} file", "{count} files")] if files else []
    return Card(
        gettext(
            "This forgets {what} of this channel for good, and what I answered from them. They remain in the chat."
        ).format(what=format_list(kinds)),
        buttons=(Button(gettext("Forget them"), "forget", f"{value}{CONFIRMED}"),),
    )


async def _forget_channel(call: CommandContext, kind: ContentKind) -> Card:
    await call.require_manager(gettext("have a channel forgotten"))
    documents = await call.services.ingest_service.list_channel_documents(call.location, kind)
    for each in documents:
        await call.services.ingest_service.forget_document(each.key)
    return Card(
        gettext("Forgotten: {documents} of this channel. They remain in the chat.").format(
            documents=pluralize(len(documents), "{count} document", "{count} documents")
        )
    )


def _find_document(words: str, documents: Sequence[DocumentInfo]) -> DocumentInfo | None:
    """Find a document by key, link or title. Raises InvalidQuestion if several match."""
    link = strip_link_markup(words) if is_message_link(words) else ""
    return choose_document(
        words,
        [each for each in documents if each.key == words],
        [each for each in documents if link and each.link == link and each.kind != "conversation"],
        match_title(words, documents),
    )


async def _forget_document(call: CommandContext, document: DocumentInfo, documents: Sequence[DocumentInfo]) -> Card:
    """Forget a document, and what lies within it."""
    await _check_can_forget(call, await find_authors(call.store, document.key), f"“{document.title}”")
    for key in list_with_inner(document.key, documents):
        await call.services.ingest_service.forget_document(key)
    where = await call.store.channels.get_name(document.room)
    location = f", #{escape_markdown(where)}" if where else ""
    return Card(
        gettext("Forgotten: **{title}** ({passages}{location}).").format(
            title=escape_markdown(document.title),
            passages=pluralize(document.passages, "{count} passage", "{count} passages"),
            location=location,
        )
    )


async def _check_can_forget(call: CommandContext, authors: set[str], what: str) -> None:
    if authors != {call.person} and not await call.is_manager():
        raise NotAllowed(not_only_yours(what), hint=gettext(AUTHOR_OR_MANAGER))


async def _forget_message(call: CommandContext, address: str) -> Card:
    found = await find_message(call, address)
    if found is None:
        raise NotFound(
            gettext("I found no indexed message there that you can read."),
            hint=gettext("It may never have been indexed, or was already forgotten."),
        )
    location, message = found
    await _check_can_forget(call, {message.author}, gettext("That message"))
    await call.services.ingest_service.forget_message(location, message.id)
    return Card(
        gettext("Forgotten: the message of {time} and its files. It remains in the chat.").format(
            time=format_utc(message.time)
        )
    )


async def find_message(call: CommandContext, address: str) -> tuple[Location, MessageRecord] | None:
    """The message that a link leads to, if the caller may read it."""
    ids, scope = candidate_message_ids(address, call.traits.parse_link_part), await call.resolve_scope()
    known = await call.store.channels.list_joined(call.location.platform)
    for location in sorted(
        {*known, call.location.without_thread}, key=lambda each: (each.channel not in ids, each.room)
    ):
        for message in await call.store.messages.list_by_ids(location.room, ids):
            if (
                location.room in scope.rooms
                or await call.services.context.audience.get_home_space(location) in scope.spaces
            ):
                return location, message
    return None


async def forget_me_command(call: CommandContext) -> Card:
    """Forget what the caller wrote, shared and asked, and index nothing further of theirs."""
    await call.get_result(ForgetMe(), Completed)
    return Card(
        gettext(
            "Done. I've forgotten what you wrote, shared and asked here, and I won't read your "
            "messages anymore. {command} lets me read what you write after that."
        ).format(command=call.format_example("remember-me"))
    )


async def remember_me_command(call: CommandContext) -> Card:
    """Index again what the caller writes from now on, and nothing that is older."""
    await call.get_result(RememberMe(), Completed)
    return Card(gettext("I'll read what you write in channels that I'm in again. What was forgotten stays forgotten."))


def is_message_link(words: str) -> bool:
    """Whether the words are one web link, with or without the angle brackets of chat markup."""
    return _LINK_PATTERN.fullmatch(words.strip()) is not None


def strip_link_markup(words: str) -> str:
    """The link without angle brackets and label."""
    return words.strip().strip("<>").partition("|")[0]


def candidate_message_ids(address: str, parse_part: Callable[[str], str]) -> tuple[str, ...]:
    """The parts of the link's path, the last one first, each converted to a message id; none of a broken link."""
    try:
        path = urlsplit(strip_link_markup(address)).path
    except ValueError:  # a broken IPv6 host, for example
        return ()
    return tuple(parse_part(part) for part in reversed(path.split("/")) if part)
