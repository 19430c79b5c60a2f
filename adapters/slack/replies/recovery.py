"""Find messages of an answer that an earlier run started and did not finish."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from adapters.slack.errors import map_errors, next_cursor
from adapters.slack.replies.sender import ANSWER_EVENT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.context import BotIdentity
    from bot.platform.ports import ReplyTarget

    Row = Mapping[str, Any]

GENERATOR = "threadlore"
PAGE_SIZE = 200
MAX_PAGES = 5  # of a channel, the newest ones
CLOCK_SKEW = timedelta(minutes=1)  # possible difference between the local and Slack's clock


def answer_metadata(answer: str, part: int, *, done: bool) -> dict[str, Any]:
    """Build the metadata of a message of an answer, which say that it was written automatically."""
    payload = {"answer": answer, "part": part, "done": done, "generated_by": GENERATOR, "ai_generated": True}
    return {"event_type": ANSWER_EVENT, "event_payload": payload}


async def find_unfinished_messages(
    client: AsyncWebClient, target: ReplyTarget, identity: BotIdentity, active_messages: Collection[str]
) -> list[str]:
    """Search the thread after the question, or the channel since it was asked. Raises PlatformError."""
    root = target.location.thread or target.message
    if root:
        messages = await _fetch_replies(client, target.location.channel, root)
        later = [message for message in messages if str(message.get("ts")) > (target.message or root)]
        return select_unfinished_ids(_own_messages(later, identity, active_messages), target.answer)
    if target.asked_at is None:
        return []
    messages = await _fetch_since(client, target.location.channel, target.asked_at - CLOCK_SKEW)
    return select_answer_ids(_own_messages(messages, identity, active_messages), target.answer)


def select_unfinished_ids(own_messages: Collection[Row], answer: str) -> list[str]:
    """The ids of messages that belong to an answer: those with its metadata, and one without metadata.

    A stream gets metadata when it ends, so a message of the bot without metadata is an interrupted stream, unless
    it is a file.
    """
    found = select_answer_ids(own_messages, answer)
    unmarked = [
        _message_id(message)
        for message in own_messages
        if not (_metadata_type(message) or message.get("files") or _has_answer_blocks(message))
    ]
    later = [ts for ts in unmarked if not found or ts > max(found)]
    return found + later[:1]


def select_answer_ids(own_messages: Iterable[Row], answer: str) -> list[str]:
    """The ids of messages with an answer's metadata; outside of threads nothing is streamed, so all have it."""
    return sorted(
        _message_id(message)
        for message in own_messages
        if _metadata_type(message) == ANSWER_EVENT and _answer_id(message) == answer
    )


def _own_messages(messages: Iterable[Row], identity: BotIdentity, active_messages: Collection[str]) -> list[Row]:
    """The bot's own messages, without those in progress."""
    own_messages = (
        message
        for message in messages
        if identity.is_author(str(message.get("user") or ""), str(message.get("bot_id") or ""))
    )
    return [message for message in own_messages if _message_id(message) not in active_messages]


def _message_id(message: Row) -> str:
    return str(message.get("ts"))


def _metadata_type(message: Row) -> str:
    return str((message.get("metadata") or {}).get("event_type") or "")


def _answer_id(message: Row) -> str:
    return str(((message.get("metadata") or {}).get("event_payload") or {}).get("answer") or "")


def _has_answer_blocks(message: Row) -> bool:
    """Whether a block id of the message is the bot's."""
    return any(str(block.get("block_id") or "").startswith("threadlore.") for block in message.get("blocks") or ())


async def _fetch_replies(client: AsyncWebClient, channel: str, root: str) -> Sequence[Row]:
    return await _fetch_pages(
        lambda cursor: client.conversations_replies(
            channel=channel, ts=root, limit=PAGE_SIZE, cursor=cursor or None, include_all_metadata=True
        )
    )


async def _fetch_since(client: AsyncWebClient, channel: str, time: datetime) -> Sequence[Row]:
    oldest = f"{time.timestamp():.6f}"
    return await _fetch_pages(
        lambda cursor: client.conversations_history(
            channel=channel, oldest=oldest, limit=PAGE_SIZE, cursor=cursor or None, include_all_metadata=True
        ),
        MAX_PAGES,
    )


async def _fetch_pages(
    fetch_page: Callable[[str], Awaitable[AsyncSlackResponse]], max_pages: int | None = None
) -> Sequence[Row]:
    """Fetch the messages of all pages, or of at most `max_pages`."""
    messages: list[Row] = []
    cursor = ""
    for _ in count() if max_pages is None else range(max_pages):
        with map_errors():
            page = await fetch_page(cursor)
        messages += page.get("messages") or ()
        cursor = next_cursor(page)
        if not cursor:
            break
    return messages
