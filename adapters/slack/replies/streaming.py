"""Slack's native streaming: a message that grows, with a task above it that says what was searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from adapters.slack.api.errors import code, slowed
from adapters.slack.api.retries import in_turn, lost
from adapters.slack.replies.blocks import leads
from adapters.slack.replies.mrkdwn import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.api.rate_limits import Pace
    from adapters.slack.replies.sender import Letter, Letters
    from adapters.slack.workspace.users import People
    from bot.platform.models import Cited
    from bot.platform.ports import Target

PATIENCE = 2.0  # seconds that somebody waits for the start of a stream before they are answered by a plain message
TITLE = 100
SEARCHED = "Searched"
LISTED = 4  # sources of a task
FULL = 10_000  # characters of a message beyond which a task is not told its sources
LASTING = frozenset(
    [
        "unknown_method",
        "not_allowed_token_type",
        "missing_scope",
        "feature_not_enabled",
        "team_not_allowed",
        "method_deprecated",
    ]
)
CHUNKS = frozenset(("invalid_chunks", "invalid_arguments", "invalid_chunk"))


def words_chunk(text: str) -> dict[str, Any]:
    """Text to be appended."""
    return {"type": "markdown_text", "text": text}


def task_chunk(title: str, *, done: bool, sources: Sequence[Cited] = ()) -> dict[str, Any]:
    """The task above an answer."""
    shown = [{"type": "url", "url": s.link, "text": s.title[:TITLE]} for s in sources if leads(s.link)][:LISTED]
    status = "complete" if done else "in_progress"
    chunk: dict[str, Any] = {"type": "task_update", "id": "search", "title": title[:TITLE] or "…", "status": status}
    return {**chunk, "sources": shown} if shown else chunk


class Streams:
    """Starts, continues and ends streams. `off`: this workspace has none."""

    def __init__(self, client: AsyncWebClient, pace: Pace, people: People, letters: Letters) -> None:
        self._client = client
        self._pace = pace
        self._letters = letters
        self._people = people
        self._tasks = True
        self.off = False

    async def start(self, target: Target, text: str, words: str) -> str | None:
        """Begin a message in the thread of a question; None if it cannot be done now.

        Raises an error that leaves open whether it was begun (`calls.lost`).
        """
        if self.off or not await self._pace.starts.take(within=PATIENCE):
            return None
        try:
            return await self._started(target, text, words)
        except SlackApiError as error:
            if self._tasks and words and code(error) in CHUNKS:
                self._tasks = False
                return await self.start(target, text, "")
            self._refused(error)
            return None

    async def _started(self, target: Target, text: str, words: str) -> str:
        direct = target.place.channel.startswith("D")
        task = [task_chunk(sentence(words), done=False)] if words and self._tasks else []
        begun = await self._client.chat_startStream(
            channel=target.place.channel,
            thread_ts=target.place.thread or target.message,
            recipient_user_id=None if direct else target.person,
            recipient_team_id=None if direct else self._people.team(target.person),
            chunks=[*task, words_chunk(text)],
        )
        return str(begun["ts"])

    def _refused(self, error: SlackApiError) -> None:
        """Learn from a refusal; one that says nothing is raised."""
        if lost(error):
            raise error
        pause = slowed(error)
        if pause is not None:
            self._pace.starts.close(pause)
        self.off = self.off or code(error) in LASTING

    async def append(self, channel: str, ts: str, text: str) -> None:
        """Let a message grow. Raises what Slack says; a turn must have been taken."""
        await self._client.chat_appendStream(channel=channel, ts=ts, chunks=[words_chunk(text)])

    async def beat(self, channel: str, ts: str, words: str) -> None:
        """Show that it is still worked on. Raises what Slack says; a turn must have been taken."""
        await self._client.chat_appendStream(channel=channel, ts=ts, chunks=[task_chunk(sentence(words), done=False)])

    async def stop(self, where: tuple[str, str], rest: str, words: str, letter: Letter) -> None:
        """End a message (channel, id) with the rest of its text and what stands below it. Raises what Slack refuses."""
        channel, ts = where
        text = [words_chunk(rest)] if rest else []

        async def send(blocks: Sequence[dict[str, Any]], tasks: Sequence[dict[str, Any]]) -> str:
            await self._client.chat_stopStream(
                channel=channel,
                ts=ts,
                chunks=[*text, *tasks] or None,
                blocks=list(blocks) or None,
                metadata=dict(letter.about),
            )
            return ts

        task = self._ended(letter, words)
        await self._letters.formed(
            lambda form: in_turn(self._pace.stops, lambda: send(letter.below(form), task), again=False)
        )

    def _ended(self, letter: Letter, words: str) -> list[dict[str, Any]]:
        """The task as done."""
        if not words or not self._tasks:
            return []
        sources = letter.end.sources if letter.end else ()
        title = f"{SEARCHED} · {len(sources)} source{'s' * (len(sources) > 1)} used" if sources else SEARCHED
        return [task_chunk(title, done=True, sources=sources if len(letter.text) < FULL else ())]

    async def break_off(self, channel: str, ts: str, *, urgent: bool = False) -> None:
        """End a message as it stands, so that it can be rewritten. Raises what Slack refuses."""
        window = self._pace.urgent if urgent else self._pace.stops
        await in_turn(window, lambda: self._client.chat_stopStream(channel=channel, ts=ts))
