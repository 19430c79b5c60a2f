"""Tell the managers of workspaces once, in direct messages, what they or whoever runs the program should act upon."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import PlatformError
from bot.i18n import gettext, use_language
from bot.permissions.audience import workspace_space
from bot.platform.models import Card, Location
from bot.texts.permissions import describe_lacking
from engine import Scope
from engine.errors import BadModelSettings, InvalidApiKey, ModelNotFound, ModelNotInstalled, OutOfCredit

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bot.context import BotContext
    from engine.errors import EngineError


log = structlog.get_logger(__name__)

MAX_LOOKED_UP, MAX_TOLD = 30, 3  # people of a workspace of whom is asked whether they manage it; managers that are told


class ManagerNotices:
    """Notices of the workspaces that this process serves; each has a name, by which it is told once."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store

    async def tell_all(self, name: str, word: Callable[[], str]) -> None:
        """Tell the managers of every workspace. `word`: the notice, in the language that is active."""
        for platform, workspace in await self.list_workspaces():
            await self.tell(platform, workspace, name, word)

    async def list_workspaces(self) -> list[tuple[str, str]]:
        """The platforms and workspaces that this process serves."""
        found = set[tuple[str, str]]()
        for platform in self._context.platforms:
            joined = await self._store.channels.list_joined(platform)
            found |= {(platform, channel.workspace) for channel in joined if self._context.serves(channel)}
        return sorted(found)

    async def tell(self, platform: str, workspace: str, name: str, word: Callable[[], str]) -> bool:
        """Tell managers of a workspace, unless some were told before; false if none can be told now."""
        if not await self._store.hints.record_if_new(platform, workspace, name):
            return True
        try:
            told = await self._tell_workspace(platform, workspace, word)
        except BaseException:
            await self._store.hints.delete(platform, workspace, name)
            raise
        log.info("managers.told", platform=platform, workspace=workspace, notice=name, managers=told)
        if not told:
            await self._store.hints.delete(platform, workspace, name)
        return bool(told)

    async def _tell_workspace(self, platform: str, workspace: str, word: Callable[[], str]) -> int:
        """Tell the managers among those who write most; returns how many were told."""
        told = 0
        for person in await self._store.messages.list_frequent_authors(platform, workspace, MAX_LOOKED_UP):
            with suppress(PlatformError):
                found = await self._context.audience.get_person(platform, workspace, person)
                if found.is_manager and not found.is_deactivated:
                    await self._tell(platform, workspace, person, word)
                    told += 1
            if told >= MAX_TOLD:
                break
        return told

    async def _tell(self, platform: str, workspace: str, person: str, word: Callable[[], str]) -> None:
        direct = await self._context.platforms[platform].open_direct(workspace, person)
        language = await self._context.find_person_language(Location(platform, workspace, ""), person)
        with use_language(language):
            card = Card(word())
        await self._context.platforms[platform].post(direct, card)


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


class PermissionNotices:
    """Tells of each permission that the bot lacks in a channel, or in a workspace, once a month."""

    def __init__(self, context: BotContext, notices: ManagerNotices) -> None:
        self._context = context
        self._notices = notices

    async def tell(self) -> None:
        """Tell of what was refused in this process since the last time; what cannot be told now is kept."""
        for location, permissions in self._context.denials.take():
            if location.platform not in self._context.platforms:
                self._context.denials.add(location, permissions)
                continue
            traits = self._context.traits_of(location.platform)
            channel = (await self._context.store.channels.get_name(location.room) or "") if location.channel else None
            name = f"lacks {', '.join(permissions)} in {location.channel} in {self._context.clock.now():%Y-%m}"
            word = partial(describe_lacking, permissions, traits, channel)
            if not await self._notices.tell(location.platform, location.workspace, name, word):
                self._context.denials.add(location, permissions)


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
