"""The command that says who could find something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.readers.requests import FindReaders, ReadersFound
from bot.ingest.sources.places import OPEN
from bot.platform.models import Card
from bot.text.markdown import escape_markdown

if TYPE_CHECKING:
    from bot.commands.context import CommandContext

MAX_TEXT = 2000  # characters
QUOTES = '"“”„«»<>'


async def readers_command(call: CommandContext) -> Card:
    """Say who could find what is shared here, in the open channels, or a document. Raises NotFound."""
    words = call.arguments.strip().strip(QUOTES)
    request = FindReaders(channel=OPEN) if words.casefold() == OPEN else FindReaders(document=words)
    found = await call.get_result(request, ReadersFound)
    return Card(escape_markdown(found.text, MAX_TEXT))
