"""Group messages into documents: threads, and windows of messages outside of threads. Pure.

A window has messages of one conversation, of several that may run at once in a channel. It ends before a pause of 15
minutes, or before it would exceed 1200 tokens. The document of a message is chosen once, when it arrives; windows are
never split again. Only the root of a thread moves later, into the thread.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.store.models import MessageRecord
from bot.text.format import EPOCH
from engine.parsers.chat_export import CONVERSATION_GAP, CONVERSATION_TOKENS, ChatMessage, group_conversations
from engine.text.cleanup import clean_multiline, clean_single_line, message_text
from engine.text.conversations.disentanglement import ConversationWindows, Utterance

_TITLE_BY_TIME = re.compile(r"(?:^|: )(?:Messages of|Thread by .{1,200},) \d{4}-\d\d-\d\d[-–: \d]*$")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class StoredWindow:
    """A stored window of messages outside of threads, with its passages."""

    record: ConversationRecord
    passages: tuple[Passage, ...]


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


def first_message(document: str) -> str:
    """The id of the message after which a conversation is named."""
    return document.rpartition(":")[2]


def has_own_title(title: str) -> bool:
    """Whether a conversation has a title that somebody wrote: that of a post."""
    return _TITLE_BY_TIME.search(title) is None


def rename_conversation(document: str, title: str, first: Passage) -> str:
    """The title of a conversation by the passage that is its first one now; its channel stays."""
    thread = document == thread_key(document.rpartition(":thread:")[0], first_message(document))
    root, time = first.key if thread else "", first.time or EPOCH
    message = ChatMessage(first.key, first.author, first.text, time, root, first.link)
    [found] = group_conversations((message,), len)
    return retitle_conversation(title, found.title)


def retitle_conversation(title: str, own: str) -> str:
    """A title of a conversation with another one in its channel."""
    channel, colon, _ = title.partition(": ")
    return f"{channel}{colon}{own}" if colon and channel.startswith("#") else own


def author_key(platform: str, workspace: str, person: str) -> str:
    """The key of everything that a person wrote in a workspace, in the sources of answers."""
    return f"{platform}:{workspace}:author:{person}"


def message_digest(message: Message) -> str:
    """A digest that changes with what is indexed: what its author posted, and the previews of its links."""
    return _text_digest(message.content)


def posted_digest(message: Message) -> str:
    """A digest that changes when the author edits a message, not when a preview is added."""
    return _text_digest(message.posted)


def is_edited(message: Message, digest: str) -> bool:
    """Whether the author edited a message since this digest was stored; a preview that came or went is no edit."""
    return digest not in {message_digest(message), posted_digest(message)}


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
        posted_digest(message),
        is_applied=True,
    )


def choose_window(indexed: IndexedMessage, nearby: Sequence[StoredWindow]) -> str:
    """The window of the conversation that a message continues; a new one if it starts a conversation.

    A message that is older than all those nearby joins the nearest window that has room.
    """
    room = indexed.message.location.room
    earlier = sorted(
        ((held.time or EPOCH, held.key, held, window.record) for window in nearby for held in window.passages),
        key=lambda found: found[:2],
    )
    earlier = [found for found in earlier if found[:2] <= (indexed.message.time, indexed.message.id)]
    if not earlier:
        return _choose_nearest(indexed, [window.record for window in nearby])
    windows = ConversationWindows(CONVERSATION_GAP, CONVERSATION_TOKENS)
    for _, _, passage, record in earlier:
        windows.restore(_to_utterance(passage), record.document, record.tokens)
    found = windows.assign(_to_utterance(indexed.passage, indexed.message.replies_to), indexed.tokens)
    return window_key(room, found) if found == indexed.message.id else found


def _choose_nearest(indexed: IndexedMessage, windows: Iterable[ConversationRecord]) -> str:
    """The nearest window that a message fits into; otherwise a new one."""
    nearest = min(windows, key=lambda each: (_gap_to_window(each, indexed), -each.last.timestamp()), default=None)
    if (
        nearest
        and _gap_to_window(nearest, indexed) < CONVERSATION_GAP
        and nearest.tokens + indexed.tokens <= CONVERSATION_TOKENS
    ):
        return nearest.document
    return window_key(indexed.message.location.room, indexed.message.id)


def _to_utterance(passage: Passage, replies_to: str = "") -> Utterance:
    """A message for disentanglement, from the line that its readers see."""
    return Utterance(passage.key, passage.author, message_text(passage.text), passage.time or EPOCH, replies_to)


def group_into_runs(
    indexed: Sequence[IndexedMessage],
    room: str,
    roots: Collection[str] = (),
    assigned: Mapping[str, str] = MappingProxyType({}),
) -> list[MessageRun]:
    """Group past messages into documents: threads by root, the others by conversation.

    `roots`: messages with known replies. `assigned`: the documents of the messages that are stored already, by id; the
    others are grouped as if all were new.
    """
    ordered = sorted(indexed, key=lambda each: (each.message.time, each.message.id))
    answered = ({message.message.location.thread for message in ordered} | set(roots)) - {""}
    threads: dict[str, list[IndexedMessage]] = {}
    loose: list[IndexedMessage] = []
    for message in ordered:
        root = message.message.location.thread or (message.message.id if message.message.id in answered else "")
        if not root:
            loose.append(message)
        elif message.message.id not in assigned:
            threads.setdefault(root, []).append(message)
    found = [MessageRun(thread_key(room, root), root, group[0].title, tuple(group)) for root, group in threads.items()]
    return found + _group_into_windows(loose, room, assigned)


def _group_into_windows(loose: Sequence[IndexedMessage], room: str, assigned: Mapping[str, str]) -> list[MessageRun]:
    """Group messages outside of threads, oldest first, into windows; those that are assigned only show the way."""
    tokens: Counter[str] = Counter()
    for message in loose:
        tokens[assigned.get(message.message.id, "")] += message.tokens
    windows = ConversationWindows(CONVERSATION_GAP, CONVERSATION_TOKENS)
    groups: dict[str, list[IndexedMessage]] = {}
    for message in loose:
        utterance = _to_utterance(message.passage, message.message.replies_to)
        if message.message.id not in assigned:
            groups.setdefault(windows.assign(utterance, message.tokens), []).append(message)
        elif (document := assigned[message.message.id]).startswith(window_key(room, "")):
            windows.restore(utterance, document, tokens[document])
    return [
        MessageRun(key if key in tokens else window_key(room, key), "", group[0].title, tuple(group))
        for key, group in groups.items()
    ]


def merge_runs(runs: Iterable[MessageRun]) -> list[MessageRun]:
    """One run for each document, because runs are written at once and each may create its document."""
    by_document: dict[str, list[MessageRun]] = {}
    for run in runs:
        by_document.setdefault(run.document, []).append(run)
    return [_merge(group) for group in by_document.values()]


def _merge(runs: Sequence[MessageRun]) -> MessageRun:
    messages = sorted(
        (message for run in runs for message in run.messages), key=lambda each: (each.message.time, each.message.id)
    )
    thread = next((run.thread for run in runs if run.thread), "")
    return MessageRun(runs[0].document, thread, messages[0].title, tuple(messages))


def split_at_silence(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """Split a page where a window surely ends: messages to ingest, and messages that older ones may join.

    The latter are the oldest run of messages without a pause, with their threads.
    """
    ordered, loose = _order(messages)
    open_ids: set[str] = set()
    for index, each in enumerate(loose):
        if index and each.time - loose[index - 1].time >= CONVERSATION_GAP:
            break
        open_ids.add(each.id)
    return _part(ordered, open_ids)


def split_before_silence(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """Split a page where a window surely ends: messages to ingest, and messages that newer ones may join.

    The latter are the newest run of messages without a pause, with their threads.
    """
    ordered, loose = _order(messages)
    open_ids: set[str] = set()
    for index in range(len(loose) - 1, -1, -1):
        open_ids.add(loose[index].id)
        if index and loose[index].time - loose[index - 1].time >= CONVERSATION_GAP:
            break
    return _part(ordered, open_ids)


def _order(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """The messages of a page by time, and those of them that are no replies in a thread."""
    ordered = sorted(messages, key=lambda message: (message.time, message.id))
    return ordered, [message for message in ordered if message.location.thread in {"", message.id}]


def _part(ordered: Iterable[Message], open_ids: Collection[str]) -> tuple[list[Message], list[Message]]:
    """The messages outside of an open run and its threads, and those of them."""
    parts: tuple[list[Message], list[Message]] = [], []
    for message in ordered:
        parts[(message.location.thread or message.id) in open_ids].append(message)
    return parts


def find_page_boundary(finished: Iterable[Message], open_run: Iterable[Message]) -> str:
    """The message before which the next page starts; newer ones are ingested. Empty if there is none."""
    newest = max((message.time for message in open_run), default=None)
    safe = [m for m in finished if m.location.thread in {"", m.id} and (newest is None or m.time > newest)]
    return min(safe, key=lambda each: (each.time, each.id)).id if safe else ""


def _gap_to_window(window: ConversationRecord, indexed: IndexedMessage) -> timedelta:
    """The time between a message and the nearest end of a window; zero within it."""
    time = indexed.message.time
    return max(window.first - time, time - window.last, timedelta(0))
