"""The command that shows managers the report of a week, and sends it weekly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.management.requests import GetReport, ScheduleReport
from bot.capabilities.results import Completed, ExportLine
from bot.i18n import gettext
from bot.platform.models import Card
from engine.errors import InvalidQuestion

if TYPE_CHECKING:
    from bot.commands.context import CommandContext


async def report_command(call: CommandContext) -> Card:
    """Show the report of the last seven days, or send it weekly from now on. Raises NotAllowed and InvalidQuestion."""
    match call.arguments.casefold():
        case "":
            return Card((await call.get_result(GetReport(), ExportLine)).text)
        case "weekly" | "off" as word:
            return Card((await call.get_result(ScheduleReport(word), Completed)).text)
    raise InvalidQuestion(
        gettext("I did not understand that."),
        hint=gettext("For example: {command}").format(command=call.format_example("report weekly")),
    )
