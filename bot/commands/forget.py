"""Forget a document, a message, or a person. Authors may forget their own things, managers everything.

The caller gets no answer about things that they cannot read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.capabilities.erasure.erasing import build_rehearsal
from bot.capabilities.erasure.words import say_receipt
from bot.capabilities.management.requests import ForgetChannel
from bot.capabilities.requests import Forget, ForgetMe, RememberMe
from bot.capabilities.results import Completed, Erased, ErasureRehearsal, Forgotten
from bot.i18n import gettext
from bot.ingest.erasure.service import ErasureReader
from bot.platform.models import Button, Card
from bot.store import Subject
from bot.text.document_match import is_message_link, strip_link_markup
from bot.text.format import format_list, format_local, format_minutes, pluralize
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.commands.context import CommandContext, PersonAtPlace, Result
    from bot.ingest.erasure.service import MeasuredErasure
    from bot.ingest.service import ContentKind
    from engine import DocumentInfo

CHANNEL_WORDS: Mapping[str, ContentKind] = {
    "channel": "",
    "channel messages": "messages",
    "channel files": "files",
}
CONFIRMED = " now"
_DRY_RUN = re.compile(r"(?<!\S)(?:--?|[—–])dry[-_ ]?run(?!\S)", re.IGNORECASE)  # a keyboard may make one dash of two
_OPTION = re.compile(r"(?<!\S)[-—–]")
SELF_WORDS = frozenset({"me", "myself", "everything of me"})


async def forget_command(call: CommandContext) -> Card:
    """Forget a document (by key, title or link), a message (by link), or the caller (`me`)."""
    rehearses = bool(_DRY_RUN.search(call.arguments))
    words = _DRY_RUN.sub(" ", call.arguments).strip().strip('"“”')
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
    if rehearses:
        return _show_rehearsal(await _ask_to_forget(call, words, ErasureRehearsal, dry_run=True))
    if words.casefold().removesuffix(CONFIRMED) in CHANNEL_WORDS:
        kind = CHANNEL_WORDS[words.casefold().removesuffix(CONFIRMED)]
        async with call.recording(ForgetChannel(call.location.room, kind)):
            return Card((await forget_channel(call, kind)).text)
    return await _forget_document_or_message(call, words)


def _show_rehearsal(rehearsal: ErasureRehearsal) -> Card:
    return Card(escape_markdown(rehearsal.text))


async def _forget_document_or_message(call: CommandContext, words: str) -> Card:
    done = await _ask_to_forget(call, words, Forgotten)
    return Card(_join(await _describe_forgotten(call, done), _say_when_erased(call), say_receipt(done.receipt)))


async def _ask_to_forget(call: CommandContext, words: str, kind: type[Result], *, dry_run: bool = False) -> Result:
    """What comes of the request to forget a document or a message. Raises NotFound in words of the chat."""
    is_link = is_message_link(words)
    try:
        return await call.get_result(Forget(strip_link_markup(words) if is_link else words, dry_run=dry_run), kind)
    except NotFound as error:
        if is_link:
            raise
        raise NotFound(
            gettext("I found no “{words}” that you can read.").format(words=words),
            hint=gettext("Give the full title, or better a link."),
        ) from error


async def _describe_forgotten(call: CommandContext, done: Forgotten) -> str:
    if done.time is not None:
        text = gettext("Forgotten: the message of {time} and its files. It remains in the chat.")
        zone = await call.services.context.find_zone(call.location, call.person)
        return text.format(time=format_local(done.time, zone))
    where = await call.store.channels.get_name(done.room)
    return gettext("Forgotten: **{title}** ({passages}{location}).").format(
        title=escape_markdown(done.title),
        passages=pluralize(done.passages, "{count} message or page", "{count} messages and pages"),
        location=f", #{escape_markdown(where)}" if where else "",
    )


async def _confirm_forget_channel(call: CommandContext, kind: ContentKind) -> Card:
    """Show what would be forgotten of this channel, with a button that forgets it."""
    documents = await _list_channel(call, kind)
    if not documents:
        return Card(gettext("There is nothing to forget here."))
    value = next(words for words, each in CHANNEL_WORDS.items() if each == kind)
    files = sum(document.kind != "conversation" for document in documents)
    passages = sum(document.passages for document in documents if document.kind == "conversation")
    kinds = [pluralize(passages, "{count} message", "{count} messages")] if passages else []
    kinds += [pluralize(files, "{count} file", "{count} files")] if files else []
    told = gettext(
        "This forgets {what} of this channel for good, and what I answered from them. They remain in the chat."
    ).format(what=format_list(kinds))
    rehearsal = build_rehearsal(await _measure(call, documents))
    return Card(
        f"{told}\n{escape_markdown(rehearsal.text)}",
        buttons=(Button(gettext("Forget them"), "forget", f"{value}{CONFIRMED}"),),
    )


async def rehearse_forget_channel(call: PersonAtPlace, kind: ContentKind) -> ErasureRehearsal:
    """Say what would go with a channel, or its messages or files. Raises NotAllowed."""
    documents = await _list_channel(call, kind)
    return build_rehearsal(await _measure(call, documents))


async def _list_channel(call: PersonAtPlace, kind: ContentKind) -> list[DocumentInfo]:
    """The documents of a channel that its manager has forgotten. Raises NotAllowed."""
    await call.require_manager(gettext("have a channel forgotten"))
    return await call.services.ingest_service.list_channel_documents(call.location, kind)


async def _measure(call: PersonAtPlace, documents: Sequence[DocumentInfo]) -> MeasuredErasure:
    erasures = call.services.ingest_service.erasures
    plan = await erasures.planner.plan_documents(document.key for document in documents)
    return await erasures.measure(plan, ErasureReader(_find_subject(call), await call.resolve_scope()))


def _find_subject(call: PersonAtPlace) -> Subject:
    return Subject(call.location.platform, call.location.workspace, call.person)


async def forget_channel(call: PersonAtPlace, kind: ContentKind) -> Erased:
    """Forget a channel, or its messages or files. Raises NotAllowed."""
    documents = await _list_channel(call, kind)
    measured = await _measure(call, documents)
    erasures, asked = call.services.ingest_service.erasures, {"channel": call.location.room, "content": kind}
    async with erasures.completing("forget-channel", asked, measured, _find_subject(call)):
        for document in documents:
            await call.services.ingest_service.forget_document(document.key)
    text = gettext("Forgotten: {documents} of this channel. They remain in the chat.").format(
        documents=pluralize(len(documents), "{count} document", "{count} documents")
    )
    receipt = await erasures.give_receipt("forget-channel", asked, measured, _find_subject(call))
    return Erased(_join(text, _say_when_erased(call), say_receipt(receipt)), receipt)


def _join(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _say_when_erased(call: PersonAtPlace) -> str:
    """Within which time the bytes of what was forgotten leave the disk."""
    return gettext("It will be gone from my disk within {minutes}.").format(
        minutes=format_minutes(call.services.context.engine_context.erasing_seconds)
    )


async def forget_me_command(call: CommandContext) -> Card:
    """Forget what the caller wrote, shared and asked, and index nothing further of theirs; or only say how much.

    An option that is written in another way never forgets.
    """
    if _OPTION.search(call.arguments):
        return _show_rehearsal(await call.get_result(ForgetMe(dry_run=True), ErasureRehearsal))
    done = await call.get_result(ForgetMe(), Erased)
    return Card(
        gettext(
            "Done. I've forgotten what you wrote, shared and asked here, and I won't read your "
            "messages anymore. {command} lets me read what you write after that."
        ).format(command=call.format_example("remember-me"))
        + f" {_join(_say_when_erased(call), say_receipt(done.receipt))}"
    )


async def remember_me_command(call: CommandContext) -> Card:
    """Index again what the caller writes from now on, and nothing that is older."""
    await call.get_result(RememberMe(), Completed)
    return Card(gettext("I'll read what you write in channels that I'm in again. What was forgotten stays forgotten."))
