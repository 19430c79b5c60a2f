"""Tell the managers of workspaces once, in direct messages, what they or whoever runs the program should act upon."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.errors import PlatformError
from bot.i18n import gettext, use_language
from bot.permissions.audience import workspace_space
from bot.permissions.provenance import can_read, provenance_of_room
from bot.platform.models import Card, Location
from bot.texts.permissions import describe_lacking
from engine import Scope
from engine.errors import BadModelSettings, InvalidApiKey, ModelNotFound, ModelNotInstalled, OutOfCredit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from bot.context import BotContext
    from bot.platform.traits import PlatformTraits
    from engine.errors import EngineError


log = structlog.get_logger(__name__)

MAX_LOOKED_UP, MAX_TOLD = 30, 3  # people of a workspace of whom is asked whether they manage it; managers that are told
KEPT = "untold: "  # begins the hint of a permission of which no manager could be told yet


@dataclass(frozen=True, slots=True)
class Closed:
    """A room that a notice names, and what is said, in place of the notice, to those who cannot read it."""

    room: str
    permissions: Sequence[str]
    traits: PlatformTraits


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

    async def tell(
        self, platform: str, workspace: str, name: str, word: Callable[[], str], closed: Closed | None = None
    ) -> bool:
        """Tell managers of a workspace, unless some were told before; false if none can be told now.

        `closed`: what those are told instead who cannot read the channel that the notice names.
        """
        if not await self._store.hints.record_if_new(platform, workspace, name):
            return True
        try:
            told = await self._tell_workspace(platform, workspace, word, closed)
        except BaseException:
            await self._store.hints.delete(platform, workspace, name)
            raise
        log.info("managers.told", platform=platform, workspace=workspace, notice=name, managers=told)
        if not told:
            await self._store.hints.delete(platform, workspace, name)
        return bool(told)

    async def _tell_workspace(
        self, platform: str, workspace: str, word: Callable[[], str], closed: Closed | None
    ) -> int:
        """Tell the managers among those who write most; returns how many were told."""
        told = 0
        for person in await self._store.messages.list_frequent_authors(platform, workspace, MAX_LOOKED_UP):
            with suppress(PlatformError):
                found = await self._context.audience.get_person(platform, workspace, person)
                if found.is_manager and not found.is_deactivated:
                    await self._tell(platform, workspace, person, word, closed)
                    told += 1
            if told >= MAX_TOLD:
                break
        return told

    async def _tell(
        self, platform: str, workspace: str, person: str, word: Callable[[], str], closed: Closed | None
    ) -> None:
        direct = await self._context.platforms[platform].open_direct(workspace, person)
        if closed is not None:
            about = provenance_of_room(closed.room)
            if not await can_read(self._context.audience, about, direct, person):
                word = partial(describe_lacking, closed.permissions, closed.traits, "")
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
        self._hints = context.store.hints

    async def tell(self) -> None:
        """Tell of what was refused since the last time; what cannot be told now is kept, also over a restart."""
        for location, permissions in self._context.denials.take():
            await self._hints.record_if_new(location.platform, location.workspace, _name_kept(location, permissions))
        for platform in self._context.platforms:
            for workspace, name in await self._hints.list_named(platform, KEPT):
                channel, *permissions = json.loads(name.removeprefix(KEPT))
                location = Location(platform, workspace, channel)
                if self._context.serves(location) and await self._tell_of(location, permissions):
                    await self._hints.delete(platform, workspace, name)

    async def _tell_of(self, location: Location, permissions: Sequence[str]) -> bool:
        """Tell of permissions; false if none can be told now."""
        traits = self._context.traits_of(location.platform)
        channel = (await self._context.store.channels.get_name(location.room) or "") if location.channel else None
        name = f"lacks {', '.join(permissions)} in {location.channel} in {self._context.clock.now():%Y-%m}"
        closed = Closed(location.room, permissions, traits) if channel else None
        word = partial(describe_lacking, permissions, traits, channel)
        return await self._notices.tell(location.platform, location.workspace, name, word, closed)


def _name_kept(location: Location, permissions: Sequence[str]) -> str:
    """The hint under which a notice is kept until it is told."""
    return f"{KEPT}{json.dumps([location.channel, *permissions])}"


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
