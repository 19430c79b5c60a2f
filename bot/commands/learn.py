"""Taking in what a person points at: files that come with the command, or a message with its files and words."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.ingest.files import RejectedFile
from bot.platform.events import MessageReceived
from bot.platform.models import Card
from bot.text.format import pluralize
from bot.text.markdown import escape_markdown
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.commands.context import CommandContext
    from bot.ingest.files import FileResult
    from bot.platform.models import Message, Upload

NOTHING_READABLE = "There is nothing in that message that I can read."
ALREADY_INDEXED = "I know that message already: ask me about it."
MESSAGE_INDEXED = "I have read that message: ask me about it."
BOT_MESSAGE = "That message is a bot's; I learn from people and their files."
AUTHOR_OPTED_OUT = "I leave that message out: it was forgotten, or whoever wrote it asked me to read nothing of theirs."
ADDRESSED_TO_BOT = "I do not learn from what is said to me: I answer it."
DIRECT_MESSAGE = "Alone with you I read files, and no messages: say it in a channel that I read."
CANNOT_POST = "I cannot read that message before I may write in this channel: there I say first that I read it."


async def learn_command(call: CommandContext) -> Card:
    """Read the files of the command, or the message from whose menu it was chosen."""
    message, uploads = call.invocation.message, call.invocation.uploads
    if message is not None:
        return Card("\n".join(await _ingest_message(call, message)))
    if not uploads:
        raise InvalidQuestion("There is no file.", hint="Share one in a channel that I read, or with me alone.")
    outcomes = await call.services.ingest_service.files.ingest_from_command(call.invocation, call.now)
    return Card("\n".join(await _report_files(call, uploads, outcomes)))


async def _report_files(call: CommandContext, uploads: Sequence[Upload], outcomes: Sequence[FileResult]) -> list[str]:
    """What became of files."""
    refused = [each for each in outcomes if isinstance(each, RejectedFile)]
    documents = [each.document for each in outcomes if not isinstance(each, RejectedFile)]
    soon = await call.services.ingest_service.files.wait_for_indexed(documents, call.settings.attachment_wait_seconds)
    kept_back = {each.name for each in refused}
    read = [each.name for each in uploads if each.name not in kept_back]
    lines = [texts.file_refused(each.name, each.reason) for each in refused]
    return [_format_file_status(read, soon=soon), *lines] if read else lines


def _format_file_status(names: Sequence[str], *, soon: bool) -> str:
    listed = ", ".join(f"**{escape_markdown(name)}**" for name in names)
    return f"I have read {listed}: ask me about it." if soon else f"I am still reading {listed}."


async def _ingest_message(call: CommandContext, message: Message) -> list[str]:
    """What became of a message: its files are read anywhere, its words where the channel is read."""
    if reason := await _exclusion_reason(call, message):
        return [reason]
    lines = []
    if message.uploads:
        outcomes = await call.services.ingest_service.files.ingest(
            message, asked=True, quiet=True, wished=_is_author(call, message)
        )
        lines += await _report_files(call, message.uploads, outcomes)
    if message.text.strip():
        lines.append(await _ingest_text(call, message))
    return lines or [NOTHING_READABLE]


async def _exclusion_reason(call: CommandContext, message: Message) -> str:
    """Why nothing of a message may be read; empty if it may."""
    place, store = message.location, call.store
    if message.own or (message.by_bot and not call.settings.index_bot_messages):
        return BOT_MESSAGE
    written = None if _is_author(call, message) else message.time
    out = await store.opt_outs.is_opted_out(place.platform, place.workspace, message.author, written)
    gone = {message.id, *(f"{place.room}:file:{message.id}:{each.id}" for each in message.uploads)}
    return AUTHOR_OPTED_OUT if out or await store.messages.find_tombstones(place.room, gone) else ""


def _is_author(call: CommandContext, message: Message) -> bool:
    """Whether its author points at it: they may also let in what they wrote before they were read again."""
    return message.author == call.invocation.person


async def _ingest_text(call: CommandContext, message: Message) -> str:
    """What became of a message's words: they join what is known of the channel."""
    if reason := await _text_exclusion_reason(call, message):
        return reason
    if await _is_indexed(call, message):
        return ALREADY_INDEXED
    if _is_author(call, message):
        await call.services.ingest_service.add_message(message)
    else:
        await call.services.ingest_service.handle(MessageReceived(message, addressed=False))
    if await _is_indexed(call, message):
        return MESSAGE_INDEXED
    return ADDRESSED_TO_BOT if await call.store.channels.is_announced(message.location.room) else CANNOT_POST


async def _text_exclusion_reason(call: CommandContext, message: Message) -> str:
    """Why the words of a message are not read where it stands; empty if they are."""
    place, kept = message.location, call.settings.retention_days
    if (await call.services.context.audience.get_channel(place)).kind == "direct":
        return DIRECT_MESSAGE
    if not (await call.services.context.get_channel_settings(place.room)).ingest:
        return (
            f"I do not read messages of this channel until a manager says {call.format_example('settings ingest on')}."
        )
    if message.addressed:
        return ADDRESSED_TO_BOT
    if kept and message.time < call.now - timedelta(days=kept):
        return f"That message is older than the {pluralize(kept, 'day')} for which I keep what I read."
    return ""


async def _is_indexed(call: CommandContext, message: Message) -> bool:
    known = await call.store.messages.get(message.location.room, message.id)
    return known is not None and bool(known.document)
