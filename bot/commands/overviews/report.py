"""The command that shows managers the report of a week, and sends it weekly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.management.requests import GetReport, ScheduleReport
from bot.commands.management.manager import Manager
from bot.commands.management.report import get_report, schedule_report
from bot.i18n import gettext
from bot.platform.models import Card
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.commands.context import CommandContext


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
        gettext("I didn't understand that."),
        hint=gettext("For example: {command}").format(command=call.format_example("report weekly")),
    )
