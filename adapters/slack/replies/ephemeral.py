"""Send messages that one person sees: by response URL, else ephemerally, else as a direct message."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.replies.blocks import BlockFormat
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.sender import INVALID_BLOCKS_ERRORS, NO_LINKIFY, NO_UNFURL, OutgoingMessage
from adapters.slack.retries import call_in_turn, response_url_handlers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import SlackContext
    from bot.platform.models import AnswerFooter
    from bot.platform.ports import ReplyTarget

HTTP_OK = 200
MAX_ERROR_LENGTH = 60  # characters of an error's name
ERROR_CODE_PATTERN = re.compile(r"[a-z_]+")

log = structlog.get_logger(__name__)


class PrivateMessages:
    """Sends messages that only one person sees."""

    def __init__(self, context: SlackContext) -> None:
        self._context = context

    async def send(self, target: ReplyTarget, outgoing: OutgoingMessage) -> None:
        """Send a message to the person of `target`. Raises the last refusal if all ways fail."""
        if target.handle and await self._send_response(target, outgoing):
            return
        if target.location.channel.startswith("D"):
            await self._context.sender.post(target.location.channel, target.location.thread or target.message, outgoing)
        elif not (target.location.channel and await self._post_ephemeral(target, outgoing)):
            await self._context.sender.post(await self.open_direct(target.person), "", outgoing)

    async def open_direct(self, person: str) -> str:
        """Open the direct message channel of a person; gives its id."""
        opened = await self._context.idempotent_client.conversations_open(users=[person])
        return str((opened.get("channel") or {}).get("id") or "")

    async def _send_response(self, target: ReplyTarget, outgoing: OutgoingMessage) -> bool:
        """Send by response URL, which takes five messages within 30 minutes; whether it was accepted."""
        client = self._context.write_client
        webhook = AsyncWebhookClient(
            target.handle,
            session=client.session,
            logger=client.logger,
            retry_handlers=response_url_handlers(),
        )
        webhook.proxy = client.proxy
        options = {"response_type": "ephemeral", "replace_original": False, **NO_UNFURL, **NO_LINKIFY}
        try:
            for form in BlockFormat:
                response = await webhook.send_dict({**options, **outgoing.build_arguments(form)})
                refusal = parse_response_error(response.status_code, response.body)
                if not refusal:
                    return True
                log.info("slack.response_url_rejected", status=response.status_code, error=refusal)
                if refusal not in INVALID_BLOCKS_ERRORS:
                    break
        except SLACK_ERRORS as error:
            log.info("slack.response_url_rejected", error=error_code(error))
        return False

    async def _post_ephemeral(self, target: ReplyTarget, outgoing: OutgoingMessage) -> bool:
        """Post an ephemeral message in the channel; False if Slack refuses."""

        async def send(arguments: dict[str, Any]) -> str:
            response = await self._context.write_client.chat_postEphemeral(
                channel=target.location.channel,
                user=target.person,
                thread_ts=target.location.thread or None,
                **NO_LINKIFY,
                **arguments,
            )
            return str(response.get("message_ts") or "")

        try:
            turns = self._context.rate_limits.posts(target.person)
            await self._context.sender.send_in_best_format(
                lambda form: call_in_turn(turns, lambda: send(outgoing.build_arguments(form)), idempotent=False)
            )
        except SlackApiError as error:
            log.info("slack.ephemeral_rejected", error=error_code(error))
            return False
        return True


def parse_response_error(status: int, body: str) -> str:
    """The error code of a response URL's reply; empty on success, which only the body shows. Pure."""
    text = body.strip()
    if status == HTTP_OK and text == "ok":
        return ""
    try:
        payload = json.loads(text)
    except ValueError:
        return text[:MAX_ERROR_LENGTH] if ERROR_CODE_PATTERN.fullmatch(text[:MAX_ERROR_LENGTH]) else "unreadable_answer"
    if not isinstance(payload, dict):
        return "unreadable_answer"
    return "" if status == HTTP_OK and payload.get("ok") is True else str(payload.get("error") or "unknown")


class EphemeralReply:
    """An answer that only the asker sees, sent once complete."""

    reply_ref = ""

    def __init__(self, target: ReplyTarget, context: SlackContext, private_messages: PrivateMessages) -> None:
        self._target = target
        self._context = context
        self._private_messages = private_messages

    async def show_status(self, status: str) -> None:
        """Do nothing: an ephemeral status could not be removed and would stay above the answer."""

    async def show(self, parts: Sequence[str]) -> None:
        """Do nothing: an ephemeral message cannot be edited."""

    async def finish(self, parts: Sequence[str], footer: AnswerFooter) -> None:
        """Send the whole answer. Raises PlatformError."""
        messages = [OutgoingMessage(self._defuse(part)) for part in parts or ("…",)]
        last = replace(messages[-1], footer=footer)
        ends = [last] if last.is_within_limit else [messages[-1], replace(last, text="")]
        for outgoing in [*messages[:-1], *ends]:
            await self._send(outgoing)

    async def replace(self, text: str) -> None:
        """Send `text` instead of the answer. Raises PlatformError."""
        await self._send(OutgoingMessage(self._defuse(text)))

    async def _send(self, outgoing: OutgoingMessage) -> None:
        with map_errors():
            await self._private_messages.send(self._target, outgoing)

    def _defuse(self, text: str) -> str:
        return defuse_mentions(text, self._context.users.get_name)
