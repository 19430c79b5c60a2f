"""Respond to commands and buttons with the interaction's token until it expires."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import discord
from discord.webhook.async_ import async_context

from adapters.discord.calls import TokenExpired, UnknownResource, call_with_retries
from adapters.discord.replies.channel_messages import (
    EPHEMERAL,
    NO_EMBEDS,
    MessageContent,
    PostedIds,
    build_create_params,
    build_edit_params,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discord.http import MultipartParameters

    from adapters.discord.replies.refs import InteractionHandle
    from engine import Clock

ORIGINAL_PART = 0  # the interaction's first response


class PendingAcks:
    """Tracks interactions that are not acknowledged yet; responses must wait for that."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Event] = {}

    def start(self, interaction: str) -> None:
        """Record a new interaction."""
        self._waiting[interaction] = asyncio.Event()

    def finish(self, interaction: str) -> None:
        """Record that an interaction is acknowledged or cannot be."""
        self._waiting.pop(interaction, asyncio.Event()).set()

    async def wait(self, interaction: str) -> None:
        """Wait until an interaction is acknowledged; returns at once for one of an earlier run."""
        if event := self._waiting.get(interaction):
            await event.wait()


class InteractionSink:
    """Messages that respond to an interaction. Raises TokenExpired once its token has expired."""

    def __init__(
        self, client: discord.Client, handle: InteractionHandle, pending_acks: PendingAcks, clock: Clock
    ) -> None:
        self._handle = handle
        self._pending_acks = pending_acks
        self._clock = clock
        self._session = discord.Webhook.partial(int(handle.application), handle.token, client=client).session

    @property
    def handle(self) -> str:
        """The handle, if the messages are ephemeral; those cannot be edited through the channel."""
        return str(self._handle) if self._handle.is_private else ""

    async def write_part(self, part: int, message: str, outgoing: MessageContent) -> PostedIds:
        """Send a part, or edit `message` if it was sent before; gives its ids."""
        await self._wait_until_ready()
        try:
            sent = await self._write_part(part, message, outgoing)
        except UnknownResource as error:
            raise TokenExpired(str(error)) from None
        return str(sent.get("channel_id", "")), str(sent["id"])

    async def _write_part(self, part: int, message: str, outgoing: MessageContent) -> Mapping[str, Any]:
        if part == ORIGINAL_PART and not self._handle.is_button:
            return await call_with_retries("to answer a command", lambda: self._edit_original(outgoing))
        if message:
            return await call_with_retries("to change an answer to a command", lambda: self._edit(message, outgoing))
        return await self.send_followup(outgoing)

    async def send_followup(self, outgoing: MessageContent) -> Mapping[str, Any]:
        """Send one more message."""
        await self._wait_until_ready()
        # Follow-ups have no nonce, so a retry after a network failure could duplicate them.
        return await call_with_retries("to answer a command", lambda: self._send(outgoing), idempotent=False)

    async def delete_part(self, message: str) -> None:
        """Delete the message of a part within the life of the command's token. Raises TokenExpired."""
        await self._wait_until_ready()
        with suppress(UnknownResource):
            await call_with_retries("to delete an answer to a command", lambda: self._delete(message))

    async def _wait_until_ready(self) -> None:
        await self._pending_acks.wait(self._handle.interaction)
        if self._clock.time() >= self._handle.expires_at:
            raise TokenExpired("The time to answer this command has passed.")

    def _carry(self, params: MultipartParameters) -> dict[str, Any]:
        """The session and the body of a call of a webhook."""
        return {
            "session": self._session,
            "payload": params.payload,
            "multipart": params.multipart,
            "files": params.files,
        }

    async def _edit_original(self, outgoing: MessageContent) -> Any:
        params = build_edit_params(outgoing)
        return await async_context.get().edit_original_interaction_response(
            int(self._handle.application),
            self._handle.token,
            **self._carry(params),
        )

    async def _edit(self, message: str, outgoing: MessageContent) -> Any:
        params = build_edit_params(outgoing)
        return await async_context.get().edit_webhook_message(
            int(self._handle.application),
            self._handle.token,
            int(message),
            **self._carry(params),
        )

    async def _send(self, outgoing: MessageContent) -> Any:
        params = build_create_params(outgoing, flags=EPHEMERAL if self._handle.is_private else NO_EMBEDS)
        return await async_context.get().execute_webhook(
            int(self._handle.application),
            self._handle.token,
            **self._carry(params),
            wait=True,
        )

    async def _delete(self, message: str) -> Any:
        return await async_context.get().delete_webhook_message(
            int(self._handle.application), self._handle.token, int(message), session=self._session
        )
