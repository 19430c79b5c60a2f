"""Answers to commands and buttons, written with the token of the interaction for as long as Discord takes it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import discord
from discord.webhook.async_ import async_context

from adapters.discord.api.calls import Missing, Over, patiently
from adapters.discord.replies.channel_messages import ALONE, QUIET, Posted, Sheet, changed, fresh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adapters.discord.replies.refs import Handle

ORIGINAL = 0  # the part that is the interaction's first response


class Acknowledged:
    """Which interactions wait to be acknowledged: nothing may be written before."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}

    def begin(self, interaction: str) -> None:
        """It came, and is not acknowledged yet."""
        self._waiting[interaction] = asyncio.Event()

    def done(self, interaction: str) -> None:
        """It is acknowledged, or cannot be."""
        self._waiting.pop(interaction, asyncio.Event()).set()

    async def wait(self, interaction: str) -> None:
        """Until it is acknowledged; at once for one of a former run."""
        if event := self._waiting.get(interaction):
            await event.wait()


class ByToken:
    """Messages that answer an interaction. Raises Over when its time is."""

    def __init__(
        self,
        client: discord.Client,
        handle: Handle,
        acknowledged: Acknowledged,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._handle = handle
        self._acknowledged = acknowledged
        self._now = now
        self._session = discord.Webhook.partial(int(handle.application), handle.token, client=client).session

    @property
    def handle(self) -> str:
        """The handle, if one person alone sees the messages: a channel does not know them."""
        return str(self._handle) if self._handle.private else ""

    async def put(self, part: int, message: str, sheet: Sheet) -> Posted:
        """Send a part, or if it was sent before as this message, change it."""
        await self._ready()
        try:
            sent = await self._put(part, message, sheet)
        except Missing as error:
            raise Over(str(error)) from None
        return str(sent.get("channel_id", "")), str(sent["id"])

    async def _put(self, part: int, message: str, sheet: Sheet) -> Mapping[str, Any]:
        if part == ORIGINAL and not self._handle.click:
            return await patiently("to answer a command", lambda: self._change_original(sheet))
        if message:
            return await patiently("to change an answer to a command", lambda: self._change(message, sheet))
        return await self.add(sheet)

    async def add(self, sheet: Sheet) -> Mapping[str, Any]:
        """Send one more message."""
        await self._ready()
        # Nothing tells such a message from its repetition, so it is not repeated when the network fails.
        return await patiently("to answer a command", lambda: self._send(sheet), again=False)

    async def take(self, message: str) -> None:
        """Delete a part."""
        await self._ready()
        with suppress(Missing):
            await patiently("to delete an answer to a command", lambda: self._delete(message))

    async def _ready(self) -> None:
        await self._acknowledged.wait(self._handle.interaction)
        if self._now() >= self._handle.until:
            raise Over("The time to answer this command is over.")

    async def _change_original(self, sheet: Sheet) -> Any:
        params = changed(sheet)
        return await async_context.get().edit_original_interaction_response(
            int(self._handle.application),
            self._handle.token,
            session=self._session,
            payload=params.payload,
            multipart=params.multipart,
            files=params.files,
        )

    async def _change(self, message: str, sheet: Sheet) -> Any:
        params = changed(sheet)
        return await async_context.get().edit_webhook_message(
            int(self._handle.application),
            self._handle.token,
            int(message),
            session=self._session,
            payload=params.payload,
            multipart=params.multipart,
            files=params.files,
        )

    async def _send(self, sheet: Sheet) -> Any:
        params = fresh(sheet, flags=ALONE if self._handle.private else QUIET)
        return await async_context.get().execute_webhook(
            int(self._handle.application),
            self._handle.token,
            session=self._session,
            payload=params.payload,
            multipart=params.multipart,
            files=params.files,
            wait=True,
        )

    async def _delete(self, message: str) -> Any:
        return await async_context.get().delete_webhook_message(
            int(self._handle.application), self._handle.token, int(message), session=self._session
        )
