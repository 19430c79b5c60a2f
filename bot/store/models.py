"""The rows of the bot's store as records."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - pydantic reads the fields' types at run time
from typing import Literal

from bot.platform.models import Location  # noqa: TC001  - pydantic reads the fields' types at run time

AnswerState = Literal["started", "done", "failed", "redacted"]


_CONVERSATION = re.compile(r":(?:thread|window):")  # in the key of a document that consists of messages


def message_key(room: str, id_: str) -> str:
    """A single message that an answer used or was told, whether it is a passage of a document or not."""
    return f"{room}:message:{id_}"


def source_keys(document: str, room: str, passage: str) -> frozenset[str]:
    """What a source of an answer is known by: its document, and in a conversation its message."""
    if _CONVERSATION.search(document):
        return frozenset({document, message_key(room, passage)})
    return frozenset({document})


def passage_key(document: str, room: str, passage: str) -> str:
    """What a passage that a model was shown is known by: in a conversation its message, else its document."""
    return message_key(room, passage) if _CONVERSATION.search(document) else document


def unknown_part_key(document: str) -> str:
    """Some part of a document, where nobody knows which; of a file, that is the whole."""
    return f"{document}:part" if _CONVERSATION.search(document) else document


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A source below an answer as it was shown ([number], title, link, words, time), and where it lies in the engine.

    `time` is that of a message, which its title does not tell.
    """

    number: int
    title: str
    link: str
    excerpt: str
    document: str
    passage: str
    space: str
    room: str
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """What an answer came to; `text` still bears its [n].

    `documents` are the keys of what it used, `shown` of all that a model was shown.
    """

    text: str
    sources: tuple[AnswerSource, ...] = ()
    documents: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    shown_keys: frozenset[str] = frozenset()

    @property
    def used_keys(self) -> frozenset[str]:
        """The keys of all that it used, with those of the messages that it shows as sources."""
        found = (source_keys(each.document, each.room, each.passage) - {each.document} for each in self.sources)
        return self.documents.union(*found)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer, finished or not. `message` is the question's, `mark` finds the reply again (Reply.mark).

    `documents` and `shown` as in Outcome.
    """

    id: str
    location: Location
    asker: str
    question: str
    time: datetime
    message_id: str = ""
    private: bool = False
    text: str = ""
    sources: tuple[AnswerSource, ...] = ()
    documents: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    shown_keys: frozenset[str] = frozenset()
    reply_ref: str = ""
    state: AnswerState = "started"

    @property
    def reply_message_ids(self) -> tuple[str, ...]:
        """The messages that it stands in."""
        return parse_message_ids(self.reply_ref)


def parse_message_ids(mark: str) -> tuple[str, ...]:
    """The messages that the mark of a reply names; behind them may stand what the platform needs to change them."""
    _, _, rest = mark.partition(":")
    return tuple(filter(None, rest.partition(":")[0].split(",")))


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """What was set for a channel; empty: as in the settings of the bot.

    `reply_to`: mention | thread | all. `ingest`: whether its messages are read.
    """

    mode: str = ""
    style: str = ""
    language: str = ""
    reply_to: str = ""
    ingest: bool = True


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A message as the store knows it. `document`: the conversation that it is a passage of, empty: of none.

    `digest` is of its text, `thread` as in Place, `tokens` of its line. `settled`: the engine has it too.
    """

    room: str
    id: str
    thread: str
    author: str
    time: datetime
    digest: str
    document: str = ""
    tokens: int = 0
    is_applied: bool = False


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file that became a document. `settled`: the engine has it too."""

    document: str
    room: str
    message_id: str
    upload_id: str
    author: str
    time: datetime
    is_applied: bool = False


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation: its room, the times of its first and last message, its tokens; `thread` is its root, if any."""

    document: str
    room: str
    thread: str
    first: datetime
    last: datetime
    tokens: int
