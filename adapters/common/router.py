"""Calls of the bot that go to the part of an adapter that serves the workspace of their location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

    from bot.platform.models import Card, Channel, ListedChannel, Location, Message, Person, Upload
    from bot.platform.ports import Reaction, Reply, ReplyTarget, ThreadPage, WorkspacePlatform


class RoutedCalls(Protocol):
    """Implements `WorkspacePlatform` for all workspaces."""

    def get_workspace(self, workspace: str) -> WorkspacePlatform:
        """What serves a workspace. Raises PlatformError."""

    async def fetch_channel(self, location: Location) -> Channel:
        return await self.get_workspace(location.workspace).fetch_channel(location)

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        return await self.get_workspace(workspace).list_channels(workspace, person)

    async def fetch_person(self, workspace: str, person: str) -> Person:
        return await self.get_workspace(workspace).fetch_person(workspace, person)

    async def is_in_group(self, workspace: str, person: str, group: str) -> bool:
        return await self.get_workspace(workspace).is_in_group(workspace, person, group)

    async def open_direct(self, workspace: str, person: str) -> Location:
        return await self.get_workspace(workspace).open_direct(workspace, person)

    async def to_plain_text(self, workspace: str, text: str) -> str:
        return await self.get_workspace(workspace).to_plain_text(workspace, text)

    def message_link(self, location: Location, message: str) -> str:
        return self.get_workspace(location.workspace).message_link(location, message)

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        async for page in self.get_workspace(location.workspace).history(location, since, before):
            yield page

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        return await self.get_workspace(location.workspace).fetch_thread(location, limit)

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        return await self.get_workspace(location.workspace).fetch_message(location, message)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:
        return await self.get_workspace(location.workspace).fetch_file(location, upload, limit)

    async def set_reaction(self, location: Location, message: str, reaction: Reaction | None) -> None:
        await self.get_workspace(location.workspace).set_reaction(location, message, reaction)

    async def post(self, location: Location, card: Card) -> str:
        return await self.get_workspace(location.workspace).post(location, card)

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        await self.get_workspace(target.location.workspace).send_private(target, card)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        await self.get_workspace(target.location.workspace).replace_answer(target, text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        await self.get_workspace(target.location.workspace).delete_answer(target)

    def start_reply(self, target: ReplyTarget) -> Reply:
        return self.get_workspace(target.location.workspace).start_reply(target)
