"""Post and edit messages within rate limits, in the richest block format that Slack accepts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import error_code
from adapters.slack.replies import blocks
from adapters.slack.replies.blocks import ID_PREFIX, BlockFormat
from adapters.slack.replies.mrkdwn import notification_text, to_mrkdwn
from adapters.slack.replies.tables import split_at_table
from adapters.slack.retries import call_in_turn
from engine.scheduling.feature_breaker import FeatureBreaker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.common.sliding_window import SlidingWindow
    from adapters.slack.retries import RateLimits
    from bot.platform.models import AnswerFooter, Button

log = structlog.get_logger(__name__)

ANSWER_EVENT = f"{ID_PREFIX}_answer"
CARD_EVENT = f"{ID_PREFIX}_card"
MAX_FALLBACK_LENGTH = 3000  # characters of the text that notifications show
INVALID_BLOCKS_ERRORS = frozenset(
    ("invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_attachments", "only_one_table_allowed")
)
TOO_LONG_ERRORS = frozenset(("msg_too_long", "msg_blocks_too_long", "too_long", "markdown_text_too_long"))
MAX_REFUSED_FORMATS = 3  # refusals in a row after which a format is tried only now and then
NO_LINKIFY: dict[str, Any] = {"parse": "none", "link_names": False}  # Slack adds no links
NO_UNFURL: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False}

KEEPALIVE_AFTER = 45.0  # seconds of silence before a keepalive; Slack ends idle streams


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to send. `text` is Markdown with defused mentions; `footer` and `buttons` are shown below it.

    `mentions`: ids of people who are notified; they are named above the text. `is_card`: its names were written by
    others or by a model, and were not compared with sources: Slack makes links of nothing in it. `draws_table`: in the
    RICH format, the first table of the text is one of Slack's.
    """

    text: str
    footer: AnswerFooter | None = None
    buttons: tuple[Button, ...] = ()
    mentions: tuple[str, ...] = ()
    is_card: bool = False
    draws_table: bool = False
    metadata: Mapping[str, Any] = field(default_factory=lambda: {"event_type": CARD_EVENT, "event_payload": {}})

    @property
    def is_within_limit(self) -> bool:
        """Whether all of it fits into one message."""
        return blocks.blocks_length(self.build_blocks(BlockFormat.RICH)) <= blocks.MAX_BLOCKS_LENGTH

    @property
    def has_table(self) -> bool:
        """Whether the text has a table that Slack can show."""
        return not self.is_card and split_at_table(self.text)[1] is not None

    def build_blocks(self, form: BlockFormat) -> list[dict[str, Any]]:
        """Lay the message out as blocks: mentions, text or table, footer, and the row of buttons."""
        row = blocks.build_buttons(self.buttons, form, block=f"{ID_PREFIX}.card")
        named = [blocks.build_mentions(self.mentions)] if self.mentions else []
        if self.draws_table and form is BlockFormat.RICH:
            body = blocks.build_body_with_table(self.text)
        else:
            body = blocks.build_body(self.text, max(form, BlockFormat.SIMPLE) if self.is_card else form)
        return [*named, *body, *self.build_footer_blocks(form), *row]

    def build_footer_blocks(self, form: BlockFormat) -> list[dict[str, Any]]:
        """The blocks below the text, within what is left of the length of a message; none without a footer."""
        if self.footer is None:
            return []
        return blocks.build_footer(self.footer, form, max_length=blocks.MAX_BLOCKS_LENGTH - len(self.text))

    def build_arguments(self, form: BlockFormat) -> dict[str, Any]:
        """Build the arguments for Slack; in the BARE format, `text` has the whole message."""
        if form is not BlockFormat.BARE:
            named = blocks.format_mentions(self.mentions)
            text = named + notification_text(self.text, MAX_FALLBACK_LENGTH)
            return {"text": text or "…", "blocks": self.build_blocks(form)}
        text = (
            f"{to_mrkdwn(self.text)}\n\n{to_mrkdwn(blocks.footer_text(self.footer))}"
            if self.footer
            else to_mrkdwn(self.text)
        )
        return {"text": (blocks.format_mentions(self.mentions) + text.strip()) or "…"}


class MessageSender:
    """Posts and edits messages."""

    def __init__(self, client: AsyncWebClient, rate_limits: RateLimits) -> None:
        self._client = client
        self._rate_limits = rate_limits
        rich = (BlockFormat.RICH, BlockFormat.SIMPLE)
        self._tables = FeatureBreaker(rate_limits.clock, MAX_REFUSED_FORMATS)
        self._formats = {form: FeatureBreaker(rate_limits.clock, MAX_REFUSED_FORMATS) for form in rich}

    async def post(self, channel: str, thread: str, outgoing: OutgoingMessage) -> str:
        """Post a message; gives its id. Raises what Slack refuses; see retries.is_outcome_unknown."""

        async def send(arguments: Mapping[str, Any]) -> str:
            response = await self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread or None,
                metadata=dict(outgoing.metadata),
                **NO_UNFURL,
                **NO_LINKIFY,
                **arguments,
            )
            return str(response["ts"])

        window = self._rate_limits.posts(channel)
        return await self._send(
            outgoing, lambda arguments: self._call_in_turn(window, send, arguments, idempotent=False)
        )

    async def update(self, channel: str, ts: str, outgoing: OutgoingMessage, *, urgent: bool = False) -> None:
        """Edit a message; `urgent` has an own rate limit. Raises what Slack refuses."""
        window = self._rate_limits.urgent if urgent else self._rate_limits.updates

        async def send(arguments: Mapping[str, Any]) -> str:
            await self._client.chat_update(
                channel=channel, ts=ts, metadata=dict(outgoing.metadata), **NO_LINKIFY, **{"blocks": [], **arguments}
            )
            return ts

        await self._send(outgoing, lambda arguments: self._call_in_turn(window, send, arguments, idempotent=True))

    async def _send(self, outgoing: OutgoingMessage, send: Callable[[Mapping[str, Any]], Awaitable[str]]) -> str:
        """Send as rich blocks, with a native table if the text has one; as Markdown if Slack refuses them."""
        is_rich = self._formats[BlockFormat.RICH].is_closed
        if is_rich and self._tables.is_closed and outgoing.has_table:
            try:
                sent = await send(replace(outgoing, draws_table=True).build_arguments(BlockFormat.RICH))
            except SlackApiError as error:
                if error_code(error) not in INVALID_BLOCKS_ERRORS | TOO_LONG_ERRORS:
                    raise
                log.warning("slack.table_rejected", error=error_code(error))
                self._tables.record_refusal()
            else:
                self._tables.record_success()
                return sent
        return await self.send_in_best_format(lambda form: send(outgoing.build_arguments(form)))

    async def send_in_best_format(self, send: Callable[[BlockFormat], Awaitable[str]]) -> str:
        """Send in the richest format that is not refused. Raises the refusal of the last format."""
        refused = list[BlockFormat]()
        for form in BlockFormat:
            if form in self._formats and not self._formats[form].is_closed:
                continue
            try:
                response = await send(form)
            except SlackApiError as error:
                if error_code(error) not in INVALID_BLOCKS_ERRORS or form is BlockFormat.BARE:
                    raise
                log.warning("slack.blocks_rejected", form=form.name)
                refused.append(form)
                continue
            self._record_formats(refused, form)
            return response
        raise AssertionError

    def _record_formats(self, refused: Sequence[BlockFormat], accepted: BlockFormat) -> None:
        """Record that a message was accepted in one format after it was refused in richer ones."""
        for form in refused:
            self._formats[form].record_refusal()
        if accepted in self._formats:
            self._formats[accepted].record_success()

    @staticmethod
    async def _call_in_turn(
        window: SlidingWindow,
        send: Callable[[Mapping[str, Any]], Awaitable[str]],
        arguments: Mapping[str, Any],
        *,
        idempotent: bool,
    ) -> str:
        return await call_in_turn(window, lambda: send(arguments), idempotent=idempotent)


@dataclass(slots=True)
class PostedMessage:
    """A posted message. `text`: its content, None if unknown. `overflow_ids`: messages with the rest of a long text.

    `has_buttons`: those of an answer in progress.
    """

    ts: str
    text: str | None
    is_streaming: bool
    updated_at: float
    overflow_ids: list[str] = field(default_factory=list)
    has_buttons: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the message and of its overflow messages."""
        return (self.ts, *self.overflow_ids)

    def is_silent(self, now: float) -> bool:
        """Whether the message is a stream that needs a keepalive."""
        return self.is_streaming and self.text is not None and now - self.updated_at >= KEEPALIVE_AFTER

    def can_grow_to(self, text: str) -> bool:
        """Whether the message is a stream whose text can be extended to `text`."""
        return self.is_streaming and self.text is not None and text.startswith(self.text)
