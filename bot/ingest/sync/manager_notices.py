"""Tell the managers of workspaces once, in direct messages, what they or whoever runs the program should act upon."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import structlog

from bot.errors import PlatformError
from bot.i18n import use_language
from bot.platform.models import Card, Location

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.context import BotContext

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

    async def tell(self, platform: str, workspace: str, name: str, word: Callable[[], str]) -> None:
        """Tell managers of a workspace, unless some were told before; later if none can be told now."""
        if not await self._store.hints.record_if_new(platform, workspace, name):
            return
        try:
            told = await self._tell_workspace(platform, workspace, word)
        except BaseException:
            await self._store.hints.delete(platform, workspace, name)
            raise
        log.info("managers.told", platform=platform, workspace=workspace, notice=name, managers=told)
        if not told:
            await self._store.hints.delete(platform, workspace, name)

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
