"""Ingest the files of a command, or a message that a person chose, with its files."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.i18n import N_, gettext
from bot.ingest.files import RejectedFile
from bot.ingest.messages import is_for_bot
from bot.platform.events import PRIVATE_WORD, MessageReceived
from bot.platform.models import Card
from bot.store import FILES_ONLY, FileRecord
from bot.store.models import message_key
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from bot.texts.overviews.readers import describe_readers
from engine.errors import EngineError, InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.commands.context import CommandContext
    from bot.ingest.files import FileResult
    from bot.platform.models import Message, Upload

NOTHING_READABLE = N_("There is nothing in that message that I can read.")
ALREADY_INDEXED = N_("I've already indexed that message. You can ask me about it.")
MESSAGE_INDEXED = N_("I've indexed that message. You can ask me about it.")
BOT_MESSAGE = N_("That message is from a bot. I only index what people write and share.")
AUTHOR_OPTED_OUT = N_(
    "I can't index that message: it was forgotten, or its author asked me not to read their messages."
)
ADDRESSED_TO_BOT = N_("I don't index questions and commands to me.")
DIRECT_MESSAGE = N_("In direct messages I only read files. Post it in a channel that I read.")
MESSAGES_NOT_READ = N_("I only index files in this channel; a manager can change that.")
CANNOT_POST = N_("I can't index that message until I'm allowed to post in this channel, because I announce it first.")


PRIVATE_HINT = N_("With the option “private”, only you can.")


async def learn_command(call: CommandContext) -> Card:
    """Ingest the files of the command, or the message whose menu it was chosen from.

    With the word `private`, files go to the caller's own space.
    """
    message, uploads = call.invocation.message, call.invocation.uploads
    if message is not None:
        async with call.recording(None, "upload") as change:
            is_direct = await call.services.context.audience.is_direct(message.location)
            key = message_key(message.location.room, message.id)
            change.observe({"private": 1} if is_direct else {"documents": [key]})
            return Card("\n".join(await _ingest_message(call, message)))
    if not uploads:
        hint = gettext("Attach one, or share it in a channel that I read or in a direct message to me.")
        raise InvalidQuestion(
            gettext("There is no file in that command."), hint=f"{hint} {await _tell_readers(call)}".strip()
        )
    private = call.arguments.strip().casefold() == PRIVATE_WORD
    files = call.services.ingest_service.files
    async with call.recording(None, "upload") as change:
        outcomes = await files.ingest_from_command(call.invocation, call.now, private=private)
        filed = [outcome.document for outcome in outcomes if isinstance(outcome, FileRecord)]
        is_named = not (private or await call.is_direct())
        change.observe({"documents": filed if is_named else [], "count": len(filed)})
    lines = await _report_files(call, uploads, outcomes)
    if not all(isinstance(outcome, RejectedFile) for outcome in outcomes):
        lines.append(await _describe_readers(call, private=private))
    return Card("\n".join(lines))


async def _tell_readers(call: CommandContext) -> str:
    """Who could find what is shared here, before it is; empty if that is unknown."""
    with suppress(EngineError):
        return (await call.get_result(FindReaders(), ReadersFound)).text
    return ""


async def _describe_readers(call: CommandContext, *, private: bool) -> str:
    """Who can read the files of the command from now on."""
    channel = None if private else await call.services.context.audience.get_channel(call.location)
    readers = describe_readers(channel)
    return readers if channel is None or channel.kind == "direct" else f"{readers} {gettext(PRIVATE_HINT)}"


async def _report_files(call: CommandContext, uploads: Sequence[Upload], outcomes: Sequence[FileResult]) -> list[str]:
    """Wait until files are indexed, and describe the result for each."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, RejectedFile)]
    documents = [outcome.document for outcome in outcomes if not isinstance(outcome, RejectedFile)]
    soon = await call.services.ingest_service.files.wait_for_indexed(documents, call.settings.attachment_wait_seconds)
    kept_back = {outcome.name for outcome in refused}
    read = [upload.name for upload in uploads if upload.name not in kept_back]
    lines = [texts.file_refused(outcome.name, outcome.reason) for outcome in refused]
    names = {upload.id: upload.name for upload in uploads}
    filed = [outcome for outcome in outcomes if isinstance(outcome, FileRecord)]
    lines += await call.services.ingest_service.files.describe_gaps(
        (outcome.document, names.get(outcome.upload_id, "")) for outcome in filed
    )
    return [_format_file_status(read, soon=soon), *lines] if read else lines


def _format_file_status(names: Sequence[str], *, soon: bool) -> str:
    listed = ", ".join(f"**{escape_markdown(name)}**" for name in names)
    return (
        gettext("I've indexed {listed}. You can ask me about it.").format(listed=listed)
        if soon
        else gettext("I'm still reading {listed}.").format(listed=listed)
    )


async def _ingest_message(call: CommandContext, message: Message) -> list[str]:
    """Ingest a message: its files in any case, its text if the channel is read. Returns a line for each result."""
    if reason := await _exclusion_reason(call, message):
        return [reason]
    lines = []
    if message.uploads:
        outcomes = await call.services.ingest_service.files.ingest(
            message, with_question=True, quiet=True, is_explicit=_is_author(call, message)
        )
        lines += await _report_files(call, message.uploads, outcomes)
    if message.content.strip():
        lines.append(await _ingest_text(call, message))
    if await _is_indexed(call, message) or await call.store.files.list_by_messages(message.location.room, [message.id]):
        lines.append(describe_readers(await call.services.context.audience.get_channel(message.location)))
    return lines or [gettext(NOTHING_READABLE)]


async def _exclusion_reason(call: CommandContext, message: Message) -> str:
    """Why a message may not be ingested (the bot is not there, by a bot, opted out, forgotten); empty if it may."""
    location, store = message.location, call.store
    if not (await call.services.context.audience.get_channel(location)).has_bot:
        return texts.channel_not_indexed(call.traits, inside=False)
    is_read = await call.services.context.indexes_bot_messages(location.room)
    if message.own or (message.by_bot and not is_read):
        return gettext(BOT_MESSAGE)
    written = None if _is_author(call, message) else message.time
    out = await store.opt_outs.is_opted_out(location.platform, location.workspace, message.author, written)
    gone = {message.id, *(f"{location.room}:file:{message.id}:{upload.id}" for upload in message.uploads)}
    return gettext(AUTHOR_OPTED_OUT) if out or await store.messages.find_tombstones(location.room, gone) else ""


def _is_author(call: CommandContext, message: Message) -> bool:
    """Whether the caller wrote it; then it may be older than the end of their opt-out."""
    return message.author == call.person


async def _ingest_text(call: CommandContext, message: Message) -> str:
    """Ingest the text of a message into its channel, and describe the result."""
    if reason := await _text_exclusion_reason(call, message):
        return reason
    if await _is_indexed(call, message):
        return gettext(ALREADY_INDEXED)
    if _is_author(call, message):
        await call.services.ingest_service.add_message(message)
    else:
        await call.services.ingest_service.handle(MessageReceived(message, addressed=False))
    if await _is_indexed(call, message):
        return gettext(MESSAGE_INDEXED)
    return (
        gettext(ADDRESSED_TO_BOT)
        if await call.store.channels.is_announced(message.location.room)
        else gettext(CANNOT_POST)
    )


async def _text_exclusion_reason(call: CommandContext, message: Message) -> str:
    """Why the text of a message may not be ingested; empty if it may."""
    location, kept = message.location, call.settings.retention_days
    if (await call.services.context.audience.get_channel(location)).kind == "direct":
        return gettext(DIRECT_MESSAGE)
    chosen = await call.services.context.get_channel_settings(location.room)
    if not chosen.ingest:
        return gettext("I don't index this channel until a manager runs {command}.").format(
            command=call.format_example("settings ingest on")
        )
    if chosen.content == FILES_ONLY:
        return gettext(MESSAGES_NOT_READ)
    if is_for_bot(message):
        return gettext(ADDRESSED_TO_BOT)
    if kept and message.time < call.now - timedelta(days=kept):
        return pluralize(
            kept,
            "That message is older than one day, the time for which I keep messages.",
            "That message is older than {count} days, the time for which I keep messages.",
        )
    return ""


async def _is_indexed(call: CommandContext, message: Message) -> bool:
    known = await call.store.messages.get(message.location.room, message.id)
    return known is not None and bool(known.document)
