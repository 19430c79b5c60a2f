"""Group messages into documents: threads, and windows of messages outside of threads. Pure.

A window ends before a pause of 15 minutes, or before it would exceed 1200 tokens. The document of a message is chosen
once, when it arrives; windows are never split again. Only the root of a thread moves later, into the thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.store.models import MessageRecord
from engine import (
    CONVERSATION_GAP,
    CONVERSATION_TOKENS,
    ChatMessage,
    clean_multiline,
    clean_single_line,
    group_conversations,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from bot.platform.models import Message
    from bot.store.models import ConversationRecord
    from engine import Passage


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    """A message as indexed: names resolved, its passage, and the tokens of its line."""

    message: Message
    passage: Passage
    tokens: int
    title: str


@dataclass(frozen=True, slots=True)
class MessageRun:
    """Messages of one document, oldest first; `thread` is its root, if it has one."""

    document: str
    thread: str
    title: str
    messages: tuple[IndexedMessage, ...]


def to_indexed_message(
    message: Message, author: str, text: str, link: str, count: Callable[[str], int]
) -> IndexedMessage | None:
    """Render a message for its readers; None if it has no text."""
    chat_message = ChatMessage(
        message.id,
        clean_single_line(author) or "unknown",
        clean_multiline(text),
        message.time,
        message.location.thread,
        link,
    )
    for found in group_conversations((chat_message,), count):
        passage = found.passages[0]
        return IndexedMessage(message, passage, count(passage.text), clean_single_line(message.title) or found.title)
    return None


def thread_key(room: str, root: str) -> str:
    """The key of the document of a thread."""
    return f"{room}:thread:{root}"


def window_key(room: str, first: str) -> str:
    """The key of the document of a run of messages."""
    return f"{room}:window:{first}"


def author_key(platform: str, workspace: str, person: str) -> str:
    """The key of everything that a person wrote in a workspace, in the sources of answers."""
    return f"{platform}:{workspace}:author:{person}"


def message_digest(message: Message) -> str:
    """A digest that changes when the author edits the text, not when a preview is added."""
    return _text_digest(message.text)


def _text_digest(text: str) -> str:
    return sha256(text.strip().encode(errors="surrogatepass")).hexdigest()[:32]


EMPTY_DIGEST = _text_digest("")


def to_message_record(indexed: IndexedMessage, document: str) -> MessageRecord:
    """A message as stored."""
    message = indexed.message
    return MessageRecord(
        room=message.location.room,
        id=message.id,
        thread=message.location.thread,
        author=message.author,
        time=message.time,
        digest=message_digest(message),
        document=document,
        tokens=indexed.tokens,
    )


def to_unindexed_record(message: Message) -> MessageRecord:
    """A stored message without a passage."""
    location = message.location
    return MessageRecord(
        location.room,
        message.id,
        location.thread,
        message.author,
        message.time,
        message_digest(message),
        is_applied=True,
    )


def choose_window(indexed: IndexedMessage, windows: Iterable[ConversationRecord]) -> str:
    """The nearest window that has room for a message; otherwise a new one."""
    nearest = min(windows, key=lambda each: (_gap_to_window(each, indexed), -each.last.timestamp()), default=None)
    if (
        nearest
        and _gap_to_window(nearest, indexed) < CONVERSATION_GAP
        and nearest.tokens + indexed.tokens <= CONVERSATION_TOKENS
    ):
        return nearest.document
    return window_key(indexed.message.location.room, indexed.message.id)


def group_into_runs(indexed: Sequence[IndexedMessage], room: str, roots: Collection[str] = ()) -> list[MessageRun]:
    """Group past messages into documents: threads by root, the others at pauses and by the token budget.

    `roots`: messages with known replies.
    """
    ordered = sorted(indexed, key=lambda each: (each.message.time, each.message.id))
    answered = ({each.message.location.thread for each in ordered} | set(roots)) - {""}
    threads: dict[str, list[IndexedMessage]] = {}
    loose: list[list[IndexedMessage]] = []
    for each in ordered:
        root = each.message.location.thread or (each.message.id if each.message.id in answered else "")
        if root:
            threads.setdefault(root, []).append(each)
        elif loose and not _should_split(loose[-1], each):
            loose[-1].append(each)
        else:
            loose.append([each])
    found = [MessageRun(thread_key(room, root), root, group[0].title, tuple(group)) for root, group in threads.items()]
    return found + [MessageRun(window_key(room, run[0].message.id), "", run[0].title, tuple(run)) for run in loose]


def split_at_silence(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """Split a page where a window surely ends: messages to ingest, and messages that older ones may join.

    The latter are the oldest run of messages without a pause, with their threads.
    """
    ordered = sorted(messages, key=lambda each: (each.time, each.id))
    loose = [each for each in ordered if each.location.thread in {"", each.id}]
    open_ids: set[str] = set()
    for index, each in enumerate(loose):
        if index and each.time - loose[index - 1].time >= CONVERSATION_GAP:
            break
        open_ids.add(each.id)
    return (
        [each for each in ordered if (each.location.thread or each.id) not in open_ids],
        [each for each in ordered if (each.location.thread or each.id) in open_ids],
    )


def split_before_silence(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """Split a page where a window surely ends: messages to ingest, and messages that newer ones may join.

    The latter are the newest run of messages without a pause, with their threads.
    """
    ordered = sorted(messages, key=lambda each: (each.time, each.id))
    loose = [each for each in ordered if each.location.thread in {"", each.id}]
    open_ids: set[str] = set()
    for index in range(len(loose) - 1, -1, -1):
        open_ids.add(loose[index].id)
        if index and loose[index].time - loose[index - 1].time >= CONVERSATION_GAP:
            break
    return (
        [each for each in ordered if (each.location.thread or each.id) not in open_ids],
        [each for each in ordered if (each.location.thread or each.id) in open_ids],
    )


def find_page_boundary(finished: Iterable[Message], open_run: Iterable[Message]) -> str:
    """The message before which the next page starts; newer ones are ingested. Empty if there is none."""
    newest = max((each.time for each in open_run), default=None)
    safe = [m for m in finished if m.location.thread in {"", m.id} and (newest is None or m.time > newest)]
    return min(safe, key=lambda each: (each.time, each.id)).id if safe else ""


def _should_split(run: Sequence[IndexedMessage], following: IndexedMessage) -> bool:
    silence = following.message.time - run[-1].message.time
    return silence >= CONVERSATION_GAP or sum(each.tokens for each in run) + following.tokens > CONVERSATION_TOKENS


def _gap_to_window(window: ConversationRecord, indexed: IndexedMessage) -> timedelta:
    """The time between a message and the nearest end of a window; zero within it."""
    time = indexed.message.time
    return max(window.first - time, time - window.last, timedelta(0))
