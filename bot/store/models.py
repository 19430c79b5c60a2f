"""The rows of the bot's store as records, and the keys of messages and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003  - pydantic reads the fields' types at run time
from typing import Literal, get_args

from pydantic import TypeAdapter

from bot.platform.models import Location  # noqa: TC001  - pydantic reads the fields' types at run time

AnswerState = Literal["started", "done", "failed", "redacted"]
Permission = Literal["ask", "read", "write", "manage"]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)


_CONVERSATION = re.compile(r":(?:thread|window):")  # part of the keys of conversations


def message_key(room: str, id_: str) -> str:
    """Return the key of a single message, whether it is a passage of a document or not."""
    return f"{room}:message:{id_}"


def parse_message_key(key: str) -> tuple[str, str]:
    """The room and the id of a message; the inverse of `message_key`."""
    room, _, id_ = key.partition(":message:")
    return room, id_


def source_keys(document: str, room: str, passage: str) -> frozenset[str]:
    """Return the keys of an answer's source: its document, and in a conversation also its message."""
    if _CONVERSATION.search(document):
        return frozenset({document, message_key(room, passage)})
    return frozenset({document})


def passage_key(document: str, room: str, passage: str) -> str:
    """Return the key of a passage that a model was shown: in a conversation its message, else its document."""
    return message_key(room, passage) if _CONVERSATION.search(document) else document


def unknown_part_key(document: str) -> str:
    """Return the key of an unknown part of a conversation; a file has no parts, so its key is returned."""
    return f"{document}:part" if _CONVERSATION.search(document) else document


VERIFIED_PREFIX = "verified:"
REPORT_PREFIX, CONTRADICTION_PREFIX = "report-", "contradiction-"  # of the ids of answers that nobody asked for


def verified_key(id_: str) -> str:
    """Return the key of a verified answer, in answers that repeat it."""
    return f"{VERIFIED_PREFIX}{id_}"


CLOSEST_KEY = "closest:"  # in answers that only show the closest passages
UNSEARCHED_KEY = "unsearched:"  # in answers of the language model alone
ANSWER_KINDS = frozenset({CLOSEST_KEY, UNSEARCHED_KEY})  # keys of no source


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A source as it was shown below an answer, and its location in the engine.

    `time`: of a message, whose title has none.
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


ANSWER_SOURCES: TypeAdapter[tuple[AnswerSource, ...]] = TypeAdapter(tuple[AnswerSource, ...])


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """The result of an answer; `text` still contains its [n].

    `documents`: keys of the documents that it used. `shown_keys`: keys of everything that the model was shown.
    `suggestions`: the questions suggested below it.
    """

    text: str
    sources: tuple[AnswerSource, ...] = ()
    documents: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    shown_keys: frozenset[str] = frozenset()
    suggestions: tuple[str, ...] = ()

    @property
    def used_keys(self) -> frozenset[str]:
        """The keys of everything that it used, including the messages shown as sources."""
        found = (
            source_keys(source.document, source.room, source.passage) - {source.document} for source in self.sources
        )
        return self.documents.union(*found)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer, finished or not.

    `message_id`: of the question. `reply_ref`: how the adapter finds the reply again (Reply.reply_ref). `stopped_by`:
    who stopped it while it was written; empty if nobody did. `attempt`: how often it was begun again. The other fields
    are as in AnswerResult.
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
    stopped_by: str = ""
    attempt: int = 0
    suggestions: tuple[str, ...] = ()

    @property
    def reply_message_ids(self) -> tuple[str, ...]:
        """The ids of the messages that contain the answer."""
        return parse_message_ids(self.reply_ref)


def parse_message_ids(reply_ref: str) -> tuple[str, ...]:
    """Parse the message ids in a reply reference, `PLATFORM:ID,ID[:what the adapter needs to edit them]`."""
    _, _, rest = reply_ref.partition(":")
    return tuple(filter(None, rest.partition(":")[0].split(",")))


MESSAGES_ONLY, FILES_ONLY = "messages", "files"  # what of a channel is read, if not both


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """Settings of one channel; an empty value means the bot's own setting.

    `reply_to`: mention | thread | all. `ingest`: whether the channel is read, and `content` what of it: messages |
    files, empty for both. `links`: whether the pages are read that messages link to. `bot_messages`: on | off, also
    `suggestions`, of further questions below answers.
    `askers`: who may ask here, as in bot/permissions/askers.py; empty for everyone.
    """

    mode: str = ""
    style: str = ""
    language: str = ""
    reply_to: str = ""
    ingest: bool = True
    links: bool = False
    model: str = ""
    askers: str = ""
    content: str = ""
    bot_messages: str = ""
    suggestions: str = ""


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """A stored message.

    `document`: the conversation that it is a passage of, or empty. `digest`: of its text. `thread`: as in Location.
    `tokens`: of its line. `is_applied`: the engine has it, too.
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
    """A file that became a document. `is_applied`: the engine has it, too."""

    document: str
    room: str
    message_id: str
    upload_id: str
    author: str
    time: datetime
    is_applied: bool = False


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that was shared and not read, or only its beginning.

    `key`: of the document that it would be. `family`: as in bot/ingest/shared_file.py; empty for a document that is
    broken, locked or too large. `reason`: a sentence in English, which is translated where it is shown.
    """

    key: str
    space: str
    room: str
    message_id: str
    upload_id: str
    author: str
    time: datetime
    name: str
    family: str
    reason: str


@dataclass(frozen=True, slots=True)
class ConversationRecord:
    """A conversation: its room, the times of its first and last message, its tokens; `thread` is its root, if any."""

    document: str
    room: str
    thread: str
    first: datetime
    last: datetime
    tokens: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a token: a person of a workspace, or with `space` alone a space of the terminal."""

    platform: str = ""
    workspace: str = ""
    person: str = ""
    space: str = ""

    def __str__(self) -> str:
        return f"space:{self.space}" if self.space else f"{self.platform}:{self.workspace}:{self.person}"


@dataclass(frozen=True, slots=True)
class AccessToken:
    """A token without its secret. `expires_at` is None for one that lasts until it is revoked."""

    id: str
    name: str
    subject: Subject
    permissions: tuple[Permission, ...]
    requests_per_minute: int
    created_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Whether the token is too old to be accepted."""
        return self.expires_at is not None and self.expires_at <= now
