"""The command that says who could find something."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.i18n import gettext
from bot.ingest.sources.places import OPEN
from bot.platform.models import Card
from bot.text.markdown import escape_markdown
from engine.errors import NotFound

if TYPE_CHECKING:
    from bot.commands.context import CommandContext

MAX_TEXT = 2000  # characters
_CHANNEL = re.compile(
    r"#(?P<id>[^\s:#|]{1,100})(?:\|(?P<name>[^\s:#|]{0,100}))?"
)  # as people type it, or a mention of it
QUOTES = '"“”„«»<>'


async def readers_command(call: CommandContext) -> Card:
    """Say who could find what is shared here, in a channel or the open ones, or a document. Raises NotFound."""
    words = call.arguments.strip().strip(QUOTES)
    if channel := _CHANNEL.fullmatch(words):
        found = await _find_channel_readers(call, channel["id"], channel["name"] or channel["id"])
    elif words.casefold() == OPEN:
        found = await call.get_result(FindReaders(channel=OPEN), ReadersFound)
    else:
        found = await _find_document_readers(call, words)
    return Card(escape_markdown(found.text, MAX_TEXT))


async def _find_document_readers(call: CommandContext, words: str) -> ReadersFound:
    try:
        return await call.get_result(FindReaders(document=words), ReadersFound)
    except NotFound as error:
        raise NotFound(
            gettext("I found no “{words}” that you can read.").format(words=words),
            hint=gettext("Give the full title, or better a link."),
        ) from error


async def _find_channel_readers(call: CommandContext, id_: str, name: str) -> ReadersFound:
    """Of the first channel with this id or name that the caller reads; the others are as unknown as none."""
    place = call.location
    known = await call.store.channels.find_rooms(place.platform, place.workspace, names=(name.lower(),), ids=(id_,))
    for room in sorted(known):
        with suppress(NotFound):
            return await call.get_result(FindReaders(channel=room), ReadersFound)
    raise NotFound(gettext("I found no “{words}” that you can read.").format(words=f"#{name}"))
