"""Implements bot.platform.ports.Platform for all workspaces: each call goes to the workspace of its location."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.slack.context import NAME
from adapters.slack.platform import SlackPlatform
from adapters.slack.settings import TRAITS
from bot.errors import NotConnected, PermissionDenied

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence
    from datetime import datetime

    from adapters.slack.workspaces import Workspaces
    from bot.platform.models import Card, Channel, ListedChannel, Location, Message, Person, Upload
    from bot.platform.ports import Reaction, Reply, ReplyTarget, ThreadPage


class WorkspaceRouter:
    """All workspaces of Slack. A call for one that is not served raises PermissionDenied.

    One that the app is installed in, but that was not reached yet, raises NotConnected: the call is retried.
    """

    name = NAME
    traits = TRAITS
    limits = SlackPlatform.limits

    def __init__(self, workspaces: Workspaces) -> None:
        self._workspaces = workspaces

    def _get(self, team: str) -> SlackPlatform:
        workspace = self._workspaces.get(team)
        if workspace is not None:
            return workspace.platform
        if team in self._workspaces.expected:
            raise NotConnected("There is no connection to this workspace yet.")
        raise PermissionDenied("The app is not installed in this workspace.")

    def serves(self, workspace: str) -> bool:
        """Whether a workspace was reached; requests for one that the app left are answered here, too."""
        return self._workspaces.is_settled(workspace)

    def forget_cached(self, location: Location) -> None:
        """Look up again what is cached of a location, or of all workspaces."""
        for each in self._workspaces:
            if location.workspace in ("", each.team):
                each.platform.forget_cached(location)

    async def fetch_channel(self, location: Location) -> Channel:
        return await self._get(location.workspace).fetch_channel(location)

    @property
    def listable_workspaces(self) -> Collection[str]:
        """The workspaces that let the app list channels."""
        return tuple(team for each in self._workspaces for team in each.platform.listable_workspaces)

    async def list_channels(self, workspace: str, person: str = "") -> Sequence[ListedChannel]:
        return await self._get(workspace).list_channels(workspace, person)

    async def fetch_person(self, workspace: str, person: str) -> Person:
        return await self._get(workspace).fetch_person(workspace, person)

    async def open_direct(self, workspace: str, person: str) -> Location:
        return await self._get(workspace).open_direct(workspace, person)

    async def to_plain_text(self, workspace: str, text: str) -> str:
        return await self._get(workspace).to_plain_text(workspace, text)

    def message_link(self, location: Location, message: str) -> str:
        return self._get(location.workspace).message_link(location, message)

    async def history(self, location: Location, since: datetime, before: str = "") -> AsyncIterator[Sequence[Message]]:
        async for page in self._get(location.workspace).history(location, since, before):
            yield page

    async def fetch_thread(self, location: Location, limit: int) -> ThreadPage:
        return await self._get(location.workspace).fetch_thread(location, limit)

    async def fetch_message(self, location: Location, message: str) -> Message | None:
        return await self._get(location.workspace).fetch_message(location, message)

    async def fetch_file(self, location: Location, upload: Upload, limit: int) -> bytes:
        return await self._get(location.workspace).fetch_file(location, upload, limit)

    async def set_reaction(self, location: Location, message: str, reaction: Reaction | None) -> None:
        await self._get(location.workspace).set_reaction(location, message, reaction)

    async def post(self, location: Location, card: Card) -> str:
        return await self._get(location.workspace).post(location, card)

    async def send_private(self, target: ReplyTarget, card: Card) -> None:
        await self._get(target.location.workspace).send_private(target, card)

    async def replace_answer(self, target: ReplyTarget, text: str) -> None:
        await self._get(target.location.workspace).replace_answer(target, text)

    async def delete_answer(self, target: ReplyTarget) -> None:
        await self._get(target.location.workspace).delete_answer(target)

    def start_reply(self, target: ReplyTarget) -> Reply:
        return self._get(target.location.workspace).start_reply(target)
