"""The command that gives the page of frequent questions as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.faq.requests import GetFaq
from bot.commands.management.faq import get_faq
from bot.commands.management.manager import Manager
from bot.i18n import gettext
from bot.platform.models import Card, Picture

if TYPE_CHECKING:
    from bot.commands.context import CommandContext


FILE_NAME = "faq.md"
HERE = "here"


async def faq_command(call: CommandContext) -> Card:
    """Give the page of what the caller, or everyone in this channel (`here`), can read. Raises NotFound."""
    room = call.location.room if call.arguments.casefold() == HERE else ""
    page = await get_faq(Manager(call.services, call.subject), GetFaq(room))
    about = gettext("Frequent questions, as a page in Markdown.")
    return Card(about, picture=Picture(FILE_NAME, f"{page.text}\n".encode(), about))
