"""What a former run of the bot left in a thread or a channel: messages of an answer that was never finished."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from adapters.slack.api.errors import told
from adapters.slack.replies.sender import ANSWER

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from slack_sdk.web.async_client import AsyncWebClient
    from slack_sdk.web.async_slack_response import AsyncSlackResponse

    from adapters.slack.identity import Us
    from bot.platform.ports import Target

    Row = Mapping[str, Any]

PAGE = 200
PAGES = 5  # of a channel, the newest ones
APART = timedelta(minutes=1)  # as far as our clock and Slack's may differ


def about(answer: str, part: int, *, done: bool) -> dict[str, Any]:
    """The metadata of a message of an answer."""
    return {"event_type": ANSWER, "event_payload": {"answer": answer, "part": part, "done": done}}


async def unfinished(client: AsyncWebClient, target: Target, us: Us, taken: Collection[str]) -> list[str]:
    """Look through the thread behind a question, or through the channel since it was asked. Raises PlatformError."""
    root = target.place.thread or target.message
    if root:
        said = await _replies(client, target.place.channel, root)
        behind = [each for each in said if str(each.get("ts")) > (target.message or root)]
        return left(_ours(behind, us, taken), target.answer)
    if target.asked is None:
        return []
    said = await _since(client, target.place.channel, target.asked - APART)
    return marked(_ours(said, us, taken), target.answer)


def left(ours: Collection[Row], answer: str) -> list[str]:
    """The ids of messages that belong to an answer: those marked with it, and one that was never marked.

    A stream is marked when it ends, so one of ours without a mark was broken off; files are no answers.
    """
    found = marked(ours, answer)
    unmarked = [_id(each) for each in ours if not (_mark(each) or each.get("files") or _finished(each))]
    behind = [ts for ts in unmarked if not found or ts > max(found)]
    return found + behind[:1]


def marked(ours: Iterable[Row], answer: str) -> list[str]:
    """The ids of messages that are marked with an answer: in a channel nothing is streamed, and all are."""
    return sorted(_id(each) for each in ours if _mark(each) == ANSWER and _answer(each) == answer)


def _ours(said: Iterable[Row], us: Us, taken: Collection[str]) -> list[Row]:
    """What we said and what is not being written now."""
    ours = (each for each in said if us.wrote(str(each.get("user") or ""), str(each.get("bot_id") or "")))
    return [each for each in ours if _id(each) not in taken]


def _id(message: Row) -> str:
    return str(message.get("ts"))


def _mark(message: Row) -> str:
    return str((message.get("metadata") or {}).get("event_type") or "")


def _answer(message: Row) -> str:
    return str(((message.get("metadata") or {}).get("event_payload") or {}).get("answer") or "")


def _finished(message: Row) -> bool:
    """Whether its blocks bear the id of an answer."""
    return any(str(block.get("block_id") or "").startswith("threadlore.") for block in message.get("blocks") or ())


async def _replies(client: AsyncWebClient, channel: str, root: str) -> Sequence[Row]:
    return await _pages(
        lambda cursor: client.conversations_replies(
            channel=channel, ts=root, limit=PAGE, cursor=cursor or None, include_all_metadata=True
        )
    )


async def _since(client: AsyncWebClient, channel: str, time: datetime) -> Sequence[Row]:
    oldest = f"{time.timestamp():.6f}"
    return await _pages(
        lambda cursor: client.conversations_history(
            channel=channel, oldest=oldest, limit=PAGE, cursor=cursor or None, include_all_metadata=True
        ),
        PAGES,
    )


async def _pages(page_at: Callable[[str], Awaitable[AsyncSlackResponse]], most: int | None = None) -> Sequence[Row]:
    """What all pages say, or so many of them at most."""
    said: list[Row] = []
    cursor = ""
    for _ in count() if most is None else range(most):
        with told():
            page = await page_at(cursor)
        said += page.get("messages") or ()
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            break
    return said
