"""Parse chat messages in JSON Lines, and group them into conversations: threads and runs of messages. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from engine.errors import CorruptFile, EmptyDocument
from engine.models import Omission, Passage
from engine.parsers import json_records
from engine.parsers.base import stream_passages, word_reason
from engine.parsers.encodings.decoding import decode_text
from engine.text.cleanup import MESSAGE_TIME, MINUTE_FORMAT, clean_multiline, clean_single_line, render_message_line
from engine.text.conversations.disentanglement import ConversationWindows, Utterance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engine.parsers.base import ParsedFile

CONVERSATION_GAP = timedelta(minutes=15)
CONVERSATION_TOKENS = 1200
SAMPLE_LINES = 20  # first lines that are checked for chat messages
_HINT = "Each line is one JSON object with id, user, text and time; thread and link are optional."
# The beginning of a line that looks like the head of a message: [2026-05-18 09:20] Ada: …
_MESSAGE_HEAD = re.compile(rf"^[^\S\n]*+(?=\[{MESSAGE_TIME}\])", re.MULTILINE)
_DAY = "%Y-%m-%d"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A chat message. `thread` is the id of the message it answers, empty outside of threads; `time` is UTC."""

    id: str
    user: str
    text: str
    time: datetime
    thread: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread or a run of messages, which becomes one document. `key` is the id of its first message."""

    key: str
    title: str
    passages: tuple[Passage, ...]
    time: datetime


def parse_messages(data: bytes) -> list[ChatMessage]:
    """The messages of a JSON Lines file in its order; of messages with the same id the last one counts.

    Times are ISO 8601 (UTC without a time zone) or seconds since 1970. Raises CorruptFile, naming the line, and
    EmptyDocument.
    """
    messages: dict[str, ChatMessage] = {}
    for read in _read_messages(data):
        if isinstance(read, CorruptFile):
            raise read
        messages[read.id] = read
    if not messages:
        raise EmptyDocument("There are no messages in the file.", hint=_HINT)
    return list(messages.values())


def _read_messages(data: bytes) -> Iterator[ChatMessage | CorruptFile]:
    """The messages, and for each line that is none why not."""
    for number, line in enumerate(decode_text(data).split("\n"), 1):
        if line.strip():
            try:
                yield _parse_message(line, number)
            except CorruptFile as error:
                yield error


def has_chat_messages(data: bytes) -> bool:
    """Whether one of the first JSON Lines is a chat message. Raises CorruptFile if the file is not text."""
    lines = (line for line in decode_text(data).split("\n") if line.strip())
    return any(_is_chat_message(line) for line in islice(lines, SAMPLE_LINES))


def _is_chat_message(line: str) -> bool:
    try:
        _parse_message(line, 0)
    except CorruptFile:
        return False
    return True


def group_conversations(
    messages: Iterable[ChatMessage],
    count: Callable[[str], int],
    *,
    gap: timedelta = CONVERSATION_GAP,
    budget: int = CONVERSATION_TOKENS,
) -> list[Conversation]:
    """Threads, and windows of the messages outside of threads, by the time of their first message.

    A window has messages of one conversation, of several that may run at once. It ends with a pause of at least `gap`
    and before it would exceed `budget` tokens by `count`. Messages without text are left out.
    """
    with_text = sorted((m for m in messages if m.text.strip()), key=_sort_key)
    answered = {message.thread for message in with_text if message.thread}
    threads: dict[str, list[ChatMessage]] = {}
    loose: list[ChatMessage] = []
    for message in with_text:
        root = message.thread or (message.id if message.id in answered else "")
        (threads.setdefault(root, []) if root else loose).append(message)
    conversations = [_build_conversation(group, _thread_title(group)) for group in threads.values()]
    conversations += [
        _build_conversation(group, _window_title(group)) for group in _split_windows(loose, count, gap, budget)
    ]
    return sorted(conversations, key=lambda conversation: (conversation.passages[0].time, conversation.key))


def parse(name: str, data: bytes) -> ParsedFile:
    """The whole file as one document with a passage per message, each marked as a claim of the file.

    Anyone can write any author, time and link into a file, so these are only part of the passage's text. A line that is
    no message is omitted. JSON Lines without chat messages are read as records. Raises CorruptFile.
    """
    if not has_chat_messages(data):
        return json_records.parse(name, data)
    read = list(_read_messages(data))
    omissions = tuple(Omission("a line", word_reason(message)) for message in read if isinstance(message, CorruptFile))
    messages = {message.id: message for message in read if isinstance(message, ChatMessage) and message.text.strip()}
    ordered = sorted(messages.values(), key=_sort_key)
    parsed = stream_passages(name, (_build_claim(name, position, each) for position, each in enumerate(ordered)))
    return replace(parsed, omissions=omissions)


def _parse_time(value: Any) -> datetime:
    """Parse a time; without a time zone it is UTC. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("a time is ISO 8601 or seconds since 1970")  # noqa: TRY004  - pydantic reports ValueErrors
    try:
        return _parse_unix_time(value) or _parse_iso_time(str(value))
    except (OverflowError, OSError) as error:
        raise ValueError("the time is out of range") from error


def _parse_unix_time(value: str | float) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(value), UTC)
    except ValueError:
        return None


def _parse_iso_time(text: str) -> datetime:
    time = datetime.fromisoformat(text.strip())
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)


def _clean_field(value: Any) -> Any:
    return "" if value is None else clean_multiline(value) if isinstance(value, str) else value


class _MessageRow(BaseModel):
    """A message as written by other programs."""

    model_config = ConfigDict(coerce_numbers_to_str=True, extra="ignore")

    id: Annotated[str, BeforeValidator(_clean_field), Field(min_length=1)]
    user: Annotated[str, BeforeValidator(_clean_field)]
    text: Annotated[str, BeforeValidator(_clean_field)]
    time: Annotated[datetime, BeforeValidator(_parse_time)]
    thread: Annotated[str, BeforeValidator(_clean_field)] = ""
    link: Annotated[str, BeforeValidator(_clean_field)] = ""


def _parse_message(line: str, number: int) -> ChatMessage:
    try:
        row = _MessageRow.model_validate(json_records.parse_json_line(line, number))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the line"
        raise CorruptFile(f"Line {number} is not a chat message: {field}: {first['msg']}.", hint=_HINT) from error
    return ChatMessage(
        row.id,
        clean_single_line(row.user) or "unknown",
        row.text,
        row.time,
        row.thread,
        clean_single_line(row.link),
    )


def _sort_key(message: ChatMessage) -> tuple[datetime, str]:
    return (message.time, message.id)


def _split_windows(
    messages: Iterable[ChatMessage], count: Callable[[str], int], gap: timedelta, budget: int
) -> list[list[ChatMessage]]:
    windows = ConversationWindows(gap, budget)
    groups: dict[str, list[ChatMessage]] = {}
    for message in messages:
        utterance = Utterance(message.id, message.user, message.text, message.time)
        groups.setdefault(windows.assign(utterance, count(_render_line(message))), []).append(message)
    return list(groups.values())


def _build_conversation(messages: list[ChatMessage], title: str) -> Conversation:
    passages = tuple(_build_passage(message) for message in messages)
    return Conversation(messages[0].id, title, passages, messages[-1].time)


def _build_passage(message: ChatMessage) -> Passage:
    label = f"{message.user}, {message.time:{MINUTE_FORMAT}}"
    return Passage(message.id, _render_line(message), label, message.link, message.user, message.time)


def _build_claim(name: str, position: int, message: ChatMessage) -> Passage:
    attribution = f"{message.user}, {message.time:{MINUTE_FORMAT}}"
    quoted = _quote_forged_heads(message.text)
    text = f"According to the file {name}, {message.user} wrote ({message.time:{MINUTE_FORMAT}}): {quoted}"
    return Passage(message.id, text, f"claimed by this file: {attribution}", position=position)


def _render_line(message: ChatMessage) -> str:
    return render_message_line(message.time, message.user, _quote_forged_heads(message.text))


def _quote_forged_heads(text: str) -> str:
    """The text of a message, with "> " before lines that look like the head of another message."""
    return _MESSAGE_HEAD.sub("> ", text)


def _thread_title(messages: list[ChatMessage]) -> str:
    return f"Thread by {messages[0].user}, {messages[0].time:{_DAY}}"


def _window_title(messages: list[ChatMessage]) -> str:
    first, last = messages[0].time, messages[-1].time
    if first.strftime(MINUTE_FORMAT) == last.strftime(MINUTE_FORMAT):
        return f"Messages of {first:{MINUTE_FORMAT}}"
    return f"Messages of {first:{MINUTE_FORMAT}}–{last:{'%H:%M' if first.date() == last.date() else MINUTE_FORMAT}}"
