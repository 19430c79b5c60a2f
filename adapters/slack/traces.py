"""What a former run of the bot left in a thread: messages of an answer that was never finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.slack.errors import told
from adapters.slack.letters import ANSWER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.identity import Us
    from bot.ports import Target

PAGE = 200


def about(answer: str, part: int, *, done: bool) -> dict[str, Any]:
    """The metadata of a message of an answer."""
    return {"event_type": ANSWER, "event_payload": {"answer": answer, "part": part, "done": done}}


def left(said: Iterable[Mapping[str, Any]], answer: str, us: Us, taken: Collection[str]) -> list[str]:
    """The ids of messages that belong to an answer: those marked with it, and one that was never marked.

    A stream is marked when it ends, so one of ours without a mark was broken off; files are no answers.
    """
    found: list[str] = []
    unmarked: list[str] = []
    for message in said:
        ts, mark = str(message.get("ts")), message.get("metadata") or {}
        if ts in taken or not us.wrote(str(message.get("user") or ""), str(message.get("bot_id") or "")):
            continue
        if mark.get("event_type") == ANSWER and (mark.get("event_payload") or {}).get("answer") == answer:
            found.append(ts)
        elif not mark.get("event_type") and not message.get("files") and not _marked(message):
            unmarked.append(ts)
    behind = [ts for ts in unmarked if not found or ts > max(found)]
    return sorted(found) + behind[:1]


def _marked(message: Mapping[str, Any]) -> bool:
    """Whether its blocks bear the id of an answer: it was finished."""
    return any(str(block.get("block_id") or "").startswith("threadlore.") for block in message.get("blocks") or ())


async def unfinished(client: AsyncWebClient, target: Target, us: Us, taken: Collection[str]) -> list[str]:
    """Look through the thread behind a question. Raises PlatformError."""
    root = target.place.thread or target.message
    if not root:
        return []
    said = await _replies(client, target.place.channel, root)
    behind = [each for each in said if str(each.get("ts")) > (target.message or root)]
    return left(behind, target.answer, us, taken)


async def _replies(client: AsyncWebClient, channel: str, root: str) -> Sequence[Mapping[str, Any]]:
    said: list[Mapping[str, Any]] = []
    cursor = ""
    while True:
        with told():
            page = await client.conversations_replies(
                channel=channel, ts=root, limit=PAGE, cursor=cursor or None, include_all_metadata=True
            )
        said += page.get("messages") or ()
        cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
        if not cursor:
            return said
