"""Words for one person alone: to a response address while it lasts, else as an ephemeral message, else directly."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.webhook.async_client import AsyncWebhookClient

from adapters.slack.api.errors import TROUBLE, code, told
from adapters.slack.api.retries import in_turn
from adapters.slack.replies.blocks import Form
from adapters.slack.replies.mrkdwn import safe
from adapters.slack.replies.sender import FORM, LITERAL, QUIET, Letter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.slack.context import Study
    from bot.platform.models import Closing
    from bot.platform.ports import Target

HTTP_OK = 200
WORD = 60  # characters of an error's name
WORDS = re.compile(r"[a-z_]+")

log = structlog.get_logger(__name__)


class Whispers:
    """What one person alone is told."""

    def __init__(self, study: Study) -> None:
        self._study = study

    async def say(self, target: Target, letter: Letter) -> None:
        """Tell somebody something where they asked. Raises what Slack refuses in every way."""
        if target.handle and await self._respond(target, letter):
            return
        if target.place.channel.startswith("D"):
            await self._study.letters.post(target.place.channel, target.place.thread or target.message, letter)
        elif not (target.place.channel and await self._ephemeral(target, letter)):
            await self._study.letters.post(await self.direct(target.person), "", letter)

    async def direct(self, person: str) -> str:
        """The channel of a person's conversation with the bot."""
        opened = await self._study.reader.conversations_open(users=[person])
        return str((opened.get("channel") or {}).get("id") or "")

    async def _respond(self, target: Target, letter: Letter) -> bool:
        """Use the response address: it takes five messages in half an hour. Whether this was one of them."""
        client = self._study.writer
        hook = AsyncWebhookClient(
            target.handle,
            session=client.session,
            logger=client.logger,
            retry_handlers=[AsyncRateLimitErrorRetryHandler(max_retry_count=2)],
        )
        hook.proxy = client.proxy
        fixed = {"response_type": "ephemeral", "replace_original": False, **QUIET, **LITERAL}
        try:
            for form in Form:
                sent = await hook.send_dict({**fixed, **letter.arguments(form)})
                refusal = refused(sent.status_code, sent.body)
                if not refusal:
                    return True
                log.info("response_refused", status=sent.status_code, error=refusal)
                if refusal not in FORM:
                    break
        except TROUBLE as error:
            log.info("response_refused", error=code(error))
        return False

    async def _ephemeral(self, target: Target, letter: Letter) -> bool:
        """Show it to the person in the channel; False if that cannot be."""

        async def send(given: dict[str, Any]) -> str:
            sent = await self._study.writer.chat_postEphemeral(
                channel=target.place.channel,
                user=target.person,
                thread_ts=target.place.thread or None,
                **LITERAL,
                **given,
            )
            return str(sent.get("message_ts") or "")

        try:
            turns = self._study.pace.posts(target.person)
            await self._study.letters.formed(
                lambda form: in_turn(turns, lambda: send(letter.arguments(form)), again=False)
            )
        except SlackApiError as error:
            log.info("ephemeral_refused", error=code(error))
            return False
        return True


def refused(status: int, body: str) -> str:
    """Slack's word for why a response address took nothing; empty if it did, which the body alone tells. Pure."""
    text = body.strip()
    if status == HTTP_OK and text == "ok":
        return ""
    try:
        told_ = json.loads(text)
    except ValueError:
        return text[:WORD] if WORDS.fullmatch(text[:WORD]) else "unreadable_answer"
    if not isinstance(told_, dict):
        return "unreadable_answer"
    return "" if status == HTTP_OK and told_.get("ok") is True else str(told_.get("error") or "unknown")


class WhisperedReply:
    """An answer that only the asker sees: the whole at the end."""

    mark = ""

    def __init__(self, target: Target, study: Study, whispers: Whispers) -> None:
        self._target = target
        self._study = study
        self._whispers = whispers

    async def status(self, words: str) -> None:
        """Nothing: Slack lets nobody take it away again, and it would stay above the answer."""

    async def show(self, parts: Sequence[str]) -> None:
        """Nothing: what was whispered cannot be rewritten."""

    async def finish(self, parts: Sequence[str], closing: Closing) -> None:
        """The whole answer. Raises PlatformError."""
        letters = [Letter(self._safe(part), self._target.person) for part in parts or ("…",)]
        last = replace(letters[-1], end=closing)
        ends = [last] if last.fits else [letters[-1], replace(last, text="")]
        for letter in [*letters[:-1], *ends]:
            await self._say(letter)

    async def replace(self, text: str) -> None:
        """Say this instead of the answer. Raises PlatformError."""
        await self._say(Letter(self._safe(text)))

    async def _say(self, letter: Letter) -> None:
        with told():
            await self._whispers.say(self._target, letter)

    def _safe(self, text: str) -> str:
        return safe(text, self._study.people.name)
