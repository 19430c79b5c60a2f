"""Taking in what a person points at: files that come with the command, or a message with its files and words."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bot import texts
from bot.cli.render.tables import counted
from bot.ingest.files import Refused
from bot.platform.events import Heard
from bot.platform.models import Card
from bot.text.markdown import plain
from engine.errors import BadQuestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.commands.context import Call
    from bot.ingest.files import Outcome
    from bot.platform.models import Message, Upload

NOTHING = "There is nothing in that message that I can read."
KNOWN = "I know that message already: ask me about it."
READ = "I have read that message: ask me about it."
A_BOTS = "That message is a bot's; I learn from people and their files."
WANTED_OUT = "I leave that message out: it was forgotten, or whoever wrote it asked me to read nothing of theirs."
SAID_TO_ME = "I do not learn from what is said to me: I answer it."
ALONE = "Alone with you I read files, and no messages: say it in a channel that I read."
MUTE = "I cannot read that message before I may write in this channel: there I say first that I read it."


async def learn(call: Call) -> Card:
    """Read the files of the command, or the message from whose menu it was chosen."""
    message, uploads = call.called.message, call.called.uploads
    if message is not None:
        return Card("\n".join(await _message(call, message)))
    if not uploads:
        raise BadQuestion("There is no file.", hint="Share one in a channel that I read, or with me alone.")
    outcomes = await call.parts.listening.filing.learn(call.called, call.now)
    return Card("\n".join(await _files(call, uploads, outcomes)))


async def _files(call: Call, uploads: Sequence[Upload], outcomes: Sequence[Outcome]) -> list[str]:
    """What became of files."""
    refused = [each for each in outcomes if isinstance(each, Refused)]
    documents = [each.document for each in outcomes if not isinstance(each, Refused)]
    soon = await call.parts.listening.filing.wait(documents, call.settings.file_wait)
    kept_back = {each.name for each in refused}
    read = [each.name for each in uploads if each.name not in kept_back]
    lines = [texts.refused_file(each.name, each.reason) for each in refused]
    return [_read(read, soon=soon), *lines] if read else lines


def _read(names: Sequence[str], *, soon: bool) -> str:
    listed = ", ".join(f"**{plain(name)}**" for name in names)
    return f"I have read {listed}: ask me about it." if soon else f"I am still reading {listed}."


async def _message(call: Call, message: Message) -> list[str]:
    """What became of a message: its files are read anywhere, its words where the channel is read."""
    if reason := await _left_out(call, message):
        return [reason]
    lines = []
    if message.uploads:
        outcomes = await call.parts.listening.filing.take(
            message, asked=True, quiet=True, wished=_his_own(call, message)
        )
        lines += await _files(call, message.uploads, outcomes)
    if message.text.strip():
        lines.append(await _words(call, message))
    return lines or [NOTHING]


async def _left_out(call: Call, message: Message) -> str:
    """Why nothing of a message may be read; empty if it may."""
    place, store = message.place, call.store
    if message.own or (message.by_bot and not call.settings.index_bots):
        return A_BOTS
    written = None if _his_own(call, message) else message.time
    out = await store.people.opted_out(place.platform, place.workspace, message.author, written)
    gone = {message.id, *(f"{place.room}:file:{message.id}:{each.id}" for each in message.uploads)}
    return WANTED_OUT if out or await store.messages.deleted(place.room, gone) else ""


def _his_own(call: Call, message: Message) -> bool:
    """Whether its author points at it: they may also let in what they wrote before they were read again."""
    return message.author == call.called.person


async def _words(call: Call, message: Message) -> str:
    """What became of a message's words: they join what is known of the channel."""
    if reason := await _unread(call, message):
        return reason
    if await _known(call, message):
        return KNOWN
    if _his_own(call, message):
        await call.parts.listening.add(message)
    else:
        await call.parts.listening.take(Heard(message, addressed=False))
    if await _known(call, message):
        return READ
    return SAID_TO_ME if await call.store.rooms.announced(message.place.room) else MUTE


async def _unread(call: Call, message: Message) -> str:
    """Why the words of a message are not read where it stands; empty if they are."""
    place, kept = message.place, call.settings.retention_days
    if (await call.parts.house.readers.channel(place)).kind == "direct":
        return ALONE
    if not (await call.store.channels.get(place.room)).ingest:
        return f"I do not read messages of this channel until a manager says {call.example('settings ingest on')}."
    if message.addressed:
        return SAID_TO_ME
    if kept and message.time < call.now - timedelta(days=kept):
        return f"That message is older than the {counted(kept, 'day')} for which I keep what I read."
    return ""


async def _known(call: Call, message: Message) -> bool:
    known = await call.store.messages.get(message.place.room, message.id)
    return known is not None and bool(known.document)
