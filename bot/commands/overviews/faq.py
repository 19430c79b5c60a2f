"""The commands that give the page of frequent questions as a file, and the report of a week."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.management.requests import GetReport, ScheduleReport
from bot.commands.management.faq import get_faq
from bot.commands.management.manager import Manager
from bot.commands.management.report import get_report, schedule_report
from bot.i18n import gettext
from bot.platform.models import Card, Picture
from engine.errors import InvalidQuestion

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


async def report_command(call: CommandContext) -> Card:
    """Show the report of the last seven days, or send it weekly from now on. Raises NotAllowed and InvalidQuestion."""
    await call.require_workspace_manager(gettext("see the report of a week"))
    manager = Manager(call.services, call.subject)
    match call.arguments.casefold():
        case "":
            return Card((await get_report(manager, GetReport())).text)
        case "weekly" | "off" as word:
            request = ScheduleReport(word)
            async with call.recording(request):
                return Card((await schedule_report(manager, request)).text)
    raise InvalidQuestion(
        gettext("I did not understand that."),
        hint=gettext("For example: {command}").format(command=call.format_example("report weekly")),
    )
