"""Slack's native message streams, with a task above the text that shows the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from adapters.slack.errors import error_code, retry_after_seconds
from adapters.slack.replies.blocks import ID_PREFIX, BlockFormat, build_buttons
from adapters.slack.replies.mrkdwn import status_sentence
from adapters.slack.retries import call_in_turn, is_outcome_unknown
from bot.i18n import N_, gettext
from bot.text.format import pluralize
from bot.text.markdown import clean_line, is_web_link
from engine.scheduling.feature_breaker import FeatureBreaker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.replies.sender import MessageSender, OutgoingMessage
    from adapters.slack.retries import RateLimits
    from adapters.slack.workspace.users import UserDirectory
    from bot.platform.models import FooterSource
    from bot.platform.ports import ReplyTarget

START_TIMEOUT = 2.0  # seconds to wait for a stream to start before posting instead
MAX_TITLE_LENGTH = 100
SEARCHED_TITLE = N_("Searched")
MAX_TASK_SOURCES = 4
MAX_TASK_TEXT_LENGTH = 10_000  # a longer message's task lists no sources
UNSUPPORTED_ERRORS = frozenset(
    [
        "unknown_method",
        "not_allowed_token_type",
        "missing_scope",
        "feature_not_enabled",
        "team_not_allowed",
        "method_deprecated",
    ]
)
INVALID_CHUNK_ERRORS = frozenset(("invalid_chunks", "invalid_arguments", "invalid_chunk", "invalid_blocks"))
PROGRESS_BLOCK = f"{ID_PREFIX}-progress"  # unlike the blocks of finished messages, by which recovery knows them


def text_chunk(text: str) -> dict[str, Any]:
    """Build a chunk of text."""
    return {"type": "markdown_text", "text": text}


def task_chunk(title: str, *, done: bool, sources: Sequence[FooterSource] = ()) -> dict[str, Any]:
    """Build the chunk of the task above an answer."""
    shown = [
        {"type": "url", "url": s.link, "text": clean_line(s.title)[:MAX_TITLE_LENGTH]}
        for s in sources
        if is_web_link(s.link)
    ][:MAX_TASK_SOURCES]
    status = "complete" if done else "in_progress"
    chunk: dict[str, Any] = {
        "type": "task_update",
        "id": "search",
        "title": title[:MAX_TITLE_LENGTH] or "…",
        "status": status,
    }
    return {**chunk, "sources": shown} if shown else chunk


@dataclass(frozen=True, slots=True)
class StartedStream:
    """The id of a stream, and whether it shows the buttons of an answer in progress."""

    ts: str
    has_buttons: bool


class MessageStreams:
    """Starts, extends and ends streams. What Slack refuses in this workspace is left out, and tried again later.

    Streams begin with the buttons of an answer in progress. They stay when a stream ends, so that its message has to be
    edited then.
    """

    def __init__(
        self, client: AsyncWebClient, rate_limits: RateLimits, users: UserDirectory, sender: MessageSender
    ) -> None:
        self._client = client
        self._rate_limits = rate_limits
        self._sender = sender
        self._users = users
        clock = rate_limits.clock
        self._streams, self._tasks, self._buttons = FeatureBreaker(clock), FeatureBreaker(clock), FeatureBreaker(clock)

    async def start(self, target: ReplyTarget, text: str, status: str) -> StartedStream | None:
        """Start a stream in the thread of a question; None if it cannot be started now.

        Raises an error whose outcome is unknown (retries.is_outcome_unknown).
        """
        if not (target.person or target.location.channel.startswith("D")):
            return None  # Slack wants to know for whom a stream in a channel is
        if not self._streams.is_closed:
            return None
        kinds = [self._tasks] if status and self._tasks.is_closed else []
        if target.progress_buttons and self._buttons.is_closed:
            kinds.append(self._buttons)
        return await self._start_with(target, text, status, kinds)

    async def _start_with(
        self, target: ReplyTarget, text: str, status: str, kinds: Sequence[FeatureBreaker]
    ) -> StartedStream | None:
        """Start a stream with these kinds of chunks beside the text, or with fewer if Slack refuses one."""
        if not await self._rate_limits.starts.acquire(within=START_TIMEOUT):
            return None
        try:
            ts = await self._start_stream(target, text, status, kinds)
        except SlackApiError as error:
            if error_code(error) in INVALID_CHUNK_ERRORS and kinds:
                kinds[-1].record_refusal()
                return await self._start_with(target, text, status, kinds[:-1])
            await self._handle_refusal(error)
            return None
        for kind in (self._streams, *kinds):
            kind.record_success()
        return StartedStream(ts, has_buttons=self._buttons in kinds)

    async def _start_stream(self, target: ReplyTarget, text: str, status: str, kinds: Sequence[FeatureBreaker]) -> str:
        is_direct = target.location.channel.startswith("D")
        task = [task_chunk(status_sentence(status), done=False)] if self._tasks in kinds else []
        shown = target.progress_buttons if self._buttons in kinds else ()
        row = build_buttons(shown, BlockFormat.SIMPLE, PROGRESS_BLOCK)
        buttons = [{"type": "blocks", "blocks": row}] if row else []
        response = await self._client.chat_startStream(
            channel=target.location.channel,
            thread_ts=target.location.thread or target.message,
            recipient_user_id=None if is_direct else target.person,
            recipient_team_id=None if is_direct else self._users.get_team(target.person),
            chunks=[*task, *buttons, text_chunk(text)],
        )
        return str(response["ts"])

    async def _handle_refusal(self, error: SlackApiError) -> None:
        """Block or pause streams after a refusal; raises an error whose outcome is unknown."""
        if is_outcome_unknown(error):
            raise error
        pause = retry_after_seconds(error)
        if pause is not None:
            await self._rate_limits.starts.block_for_all(pause)
        if error_code(error) in UNSUPPORTED_ERRORS:
            self._streams.record_refusal()

    async def append(self, channel: str, ts: str, text: str) -> None:
        """Append text. Raises errors of Slack. The caller has acquired a turn of the rate limit."""
        await self._client.chat_appendStream(channel=channel, ts=ts, chunks=[text_chunk(text)])

    async def send_keepalive(self, channel: str, ts: str, status: str) -> None:
        """Update the task to keep the stream open. Raises errors of Slack. The caller has acquired a turn."""
        await self._client.chat_appendStream(
            channel=channel, ts=ts, chunks=[task_chunk(status_sentence(status), done=False)]
        )

    async def stop(self, posted_ref: tuple[str, str], rest: str, status: str, outgoing: OutgoingMessage) -> None:
        """End the stream `posted_ref` (channel, id) with the rest of its text and footer. Raises what Slack refuses."""
        channel, ts = posted_ref
        text = [text_chunk(rest)] if rest else []

        async def send(blocks: Sequence[dict[str, Any]], tasks: Sequence[dict[str, Any]]) -> str:
            await self._client.chat_stopStream(
                channel=channel,
                ts=ts,
                chunks=[*text, *tasks] or None,
                blocks=list(blocks) or None,
                metadata=dict(outgoing.metadata),
            )
            return ts

        task = self._finished_task(outgoing, status)
        await self._sender.send_in_best_format(
            lambda form: call_in_turn(
                self._rate_limits.stops, lambda: send(outgoing.build_footer_blocks(form), task), idempotent=False
            )
        )

    def _finished_task(self, outgoing: OutgoingMessage, status: str) -> list[dict[str, Any]]:
        """Build the chunk of the completed task."""
        if not status or not self._tasks.is_closed:
            return []
        sources = outgoing.footer.sources if outgoing.footer else ()
        if sources:
            title = pluralize(len(sources), "Searched · {count} source used", "Searched · {count} sources used")
        else:
            title = gettext(SEARCHED_TITLE)
        return [task_chunk(title, done=True, sources=sources if len(outgoing.text) < MAX_TASK_TEXT_LENGTH else ())]

    async def abort(self, channel: str, ts: str, *, urgent: bool = False) -> None:
        """End a stream as it is, so that it can be edited. Raises what Slack refuses."""
        window = self._rate_limits.urgent if urgent else self._rate_limits.stops
        await call_in_turn(window, lambda: self._client.chat_stopStream(channel=channel, ts=ts))
