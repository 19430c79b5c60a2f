"""Words for one person alone: to a response address while it lasts, else as an ephemeral message, else directly."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.api.errors import SLACK_ERRORS, error_code, map_errors
from adapters.slack.api.retries import call_in_turn, response_url_handlers
from adapters.slack.replies.blocks import BlockFormat
from adapters.slack.replies.mrkdwn import defuse_mentions
from adapters.slack.replies.sender import INVALID_BLOCKS_ERRORS, NO_LINKIFY, NO_UNFURL, OutgoingMessage

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
    """What one person alone is told."""

    def __init__(self, study: SlackContext) -> None:
        self._context = study

    async def send(self, target: ReplyTarget, letter: OutgoingMessage) -> None:
        """Tell somebody something where they asked. Raises what Slack refuses in every way."""
        if target.handle and await self._send_response(target, letter):
            return
        if target.location.channel.startswith("D"):
            await self._context.sender.post(target.location.channel, target.location.thread or target.message, letter)
        elif not (target.location.channel and await self._post_ephemeral(target, letter)):
            await self._context.sender.post(await self.open_direct(target.person), "", letter)

    async def open_direct(self, person: str) -> str:
        """The channel of a person's conversation with the bot."""
        opened = await self._context.idempotent_client.conversations_open(users=[person])
        return str((opened.get("channel") or {}).get("id") or "")

    async def _send_response(self, target: ReplyTarget, letter: OutgoingMessage) -> bool:
        """Use the response address: it takes five messages in half an hour. Whether this was one of them."""
        client = self._context.write_client
        hook = AsyncWebhookClient(
            target.handle,
            session=client.session,
            logger=client.logger,
            retry_handlers=response_url_handlers(),
        )
        hook.proxy = client.proxy
        fixed = {"response_type": "ephemeral", "replace_original": False, **NO_UNFURL, **NO_LINKIFY}
        try:
            for form in BlockFormat:
                sent = await hook.send_dict({**fixed, **letter.build_arguments(form)})
                refusal = parse_response_error(sent.status_code, sent.body)
                if not refusal:
                    return True
                log.info("response_refused", status=sent.status_code, error=refusal)
                if refusal not in INVALID_BLOCKS_ERRORS:
                    break
        except SLACK_ERRORS as error:
            log.info("response_refused", error=error_code(error))
        return False

    async def _post_ephemeral(self, target: ReplyTarget, letter: OutgoingMessage) -> bool:
        """Show it to the person in the channel; False if that cannot be."""

        async def send(given: dict[str, Any]) -> str:
            sent = await self._context.write_client.chat_postEphemeral(
                channel=target.location.channel,
                user=target.person,
                thread_ts=target.location.thread or None,
                **NO_LINKIFY,
                **given,
            )
            return str(sent.get("message_ts") or "")

        try:
            turns = self._context.rate_limits.posts(target.person)
            await self._context.sender.send_in_best_format(
                lambda form: call_in_turn(turns, lambda: send(letter.build_arguments(form)), again=False)
            )
        except SlackApiError as error:
            log.info("ephemeral_refused", error=error_code(error))
            return False
        return True


def parse_response_error(status: int, body: str) -> str:
    """Slack's word for why a response address took nothing; empty if it did, which the body alone tells. Pure."""
    text = body.strip()
    if status == HTTP_OK and text == "ok":
        return ""
    try:
        told_ = json.loads(text)
    except ValueError:
        return text[:MAX_ERROR_LENGTH] if ERROR_CODE_PATTERN.fullmatch(text[:MAX_ERROR_LENGTH]) else "unreadable_answer"
    if not isinstance(told_, dict):
        return "unreadable_answer"
    return "" if status == HTTP_OK and told_.get("ok") is True else str(told_.get("error") or "unknown")


class EphemeralReply:
    """An answer that only the asker sees: the whole at the end."""

    reply_ref = ""

    def __init__(self, target: ReplyTarget, study: SlackContext, whispers: PrivateMessages) -> None:
        self._target = target
        self._context = study
        self._private_messages = whispers

    async def show_status(self, words: str) -> None:
        """Nothing: Slack lets nobody take it away again, and it would stay above the answer."""

    async def show(self, parts: Sequence[str]) -> None:
        """Nothing: what was whispered cannot be rewritten."""

    async def finish(self, parts: Sequence[str], closing: AnswerFooter) -> None:
        """The whole answer. Raises PlatformError."""
        letters = [OutgoingMessage(self._defuse(part), self._target.person) for part in parts or ("…",)]
        last = replace(letters[-1], footer=closing)
        ends = [last] if last.is_within_limit else [letters[-1], replace(last, text="")]
        for letter in [*letters[:-1], *ends]:
            await self._send(letter)

    async def replace(self, text: str) -> None:
        """Say this instead of the answer. Raises PlatformError."""
        await self._send(OutgoingMessage(self._defuse(text)))

    async def _send(self, letter: OutgoingMessage) -> None:
        with map_errors():
            await self._private_messages.send(self._target, letter)

    def _defuse(self, text: str) -> str:
        return defuse_mentions(text, self._context.users.get_name)
