"""Tell managers once that stored facts about people were removed from the graph of their workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.i18n import gettext
from bot.permissions.audience import workspace_space
from engine import Scope

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.ingest.sync.manager_notices import ManagerNotices


class PeopleNotices:
    """Tells of each removal once, when it is finished and removed anything."""

    def __init__(self, context: BotContext, notices: ManagerNotices) -> None:
        self._context = context
        self._notices = notices

    async def tell(self) -> None:
        """Tell the managers of workspaces in which people are no entities."""
        engine = self._context.engine_context.engine
        state = await engine.maintenance.get_people_removal()
        if not (state.number and state.finished and state.entities):
            return
        for platform, workspace in await self._notices.list_workspaces():
            if not await engine.graph.has_people(Scope.of(workspace_space(platform, workspace))):
                name = f"{texts.PEOPLE_HINT} {state.number}"
                await self._notices.tell(platform, workspace, name, lambda: gettext(texts.PEOPLE_REMOVED))
