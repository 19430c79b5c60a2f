"""Tell managers that texts wait: for a budget of indexing, for credit, or for other settings of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot import texts
from bot.i18n import gettext
from engine.errors import BadModelSettings, InvalidApiKey, ModelNotFound, ModelNotInstalled, OutOfCredit

if TYPE_CHECKING:
    from datetime import datetime

    from bot.context import BotContext
    from bot.ingest.sync.manager_notices import ManagerNotices
    from engine.errors import EngineError

LASTING = (OutOfCredit, BadModelSettings, InvalidApiKey, ModelNotFound, ModelNotInstalled)  # a person has to act


class ModelNotices:
    """Tells of each period of a budget once, and of each kind of error once a month."""

    def __init__(self, context: BotContext, notices: ManagerNotices) -> None:
        self._context = context
        self._notices = notices

    async def tell(self, now: datetime) -> None:
        """Tell what there is to tell."""
        maintenance = self._context.engine_context.engine.maintenance
        for spent in await maintenance.list_spent_budgets():
            name = f"indexing budget until {spent.resumes.isoformat()}"
            for platform, workspace in await self._notices.list_workspaces():
                if f"{platform}:{workspace}" == spent.workspace:
                    await self._notices.tell(platform, workspace, name, _word_budget)
        error = maintenance.indexing_error
        if isinstance(error, LASTING):
            name = f"{type(error).__name__} in {now:%Y-%m}"
            await self._notices.tell_all(name, lambda: _word_error(error))


def _word_budget() -> str:
    return gettext(texts.INDEXING_BUDGET_SPENT)


def _word_error(error: EngineError) -> str:
    return gettext(texts.TEXTS_WAIT_FOR_MODEL).format(reason=texts.describe_error(error))
