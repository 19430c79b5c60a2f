"""A question with the place of its answer, from a message or a command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from bot.platform.events import ButtonPressed, QuestionAsked
from bot.platform.ports import ReplyTarget
from bot.store import StoredAnswer
from bot.text.speech.mentions import strip_mention

if TYPE_CHECKING:
    from datetime import datetime

    from bot.platform.events import CommandInvoked, FormSubmitted
    from bot.platform.models import Location, Message, Upload

REFERENCE_LENGTH = 8  # characters of an answer's id that are shown to people


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question, and where its answer goes: `location` includes the thread, if there is one.

    `id` is that of the answer, always the same for the same question. `since`: only messages of this channel since
    then are searched, for a personal digest those of all channels. `overheard`: a message that does not mention the
    bot; without sources or after a failure, the bot stays silent. `attempt`: how often the question was asked again.
    `question_keys`: of what the text itself rests on, if somebody else's words may be in it.
    """

    id: str
    location: Location
    person: str
    text: str
    time: datetime
    message: str = ""
    private: bool = False
    mode: str = ""
    handle: str = ""
    origin: Message | QuestionAsked | None = None
    since: datetime | None = None
    overheard: bool = False
    digest: Literal["", "channel", "personal"] = ""
    attempt: int = 0
    question_keys: frozenset[str] = frozenset()

    @property
    def uploads(self) -> tuple[Upload, ...]:
        """The files attached to the question."""
        return self.origin.uploads if self.origin else ()

    @property
    def locale(self) -> str:
        """The locale of the asker's client, if the platform reported it with the question."""
        return self.origin.locale if isinstance(self.origin, QuestionAsked) else ""

    @property
    def can_repeat(self) -> bool:
        """Whether another answer needs nothing of the question but what is stored of it."""
        is_stored = not (self.mode or self.since or self.digest) and bool(self.message or not self.uploads)
        return is_stored and bool(strip_mention(self.text))

    @property
    def sole_reader(self) -> str:
        """The only person who reads the answer; empty if everyone in its location does."""
        return self.person if self.private else ""

    @property
    def reference(self) -> str:
        """The short id that is shown to people and written to the log."""
        return self.id[:REFERENCE_LENGTH]

    def reply_target(self, reply_ref: str = "") -> ReplyTarget:
        """Where the answer is posted."""
        return ReplyTarget(
            answer=self.id,
            location=self.location,
            person=self.person,
            message=self.message,
            private=self.private,
            handle=self.handle,
            reply_ref=reply_ref,
            asked_at=self.time,
        )

    def to_stored_answer(self) -> StoredAnswer:
        """The row that is stored before the question is answered."""
        return StoredAnswer(
            self.id,
            self.location,
            self.person,
            self.text,
            self.time,
            message_id=self.message,
            private=self.private,
        )


def request_from_message(message: Message, *, overheard: bool = False) -> AnswerRequest:
    """The request of a message. Direct messages outside of workspaces have no threads."""
    location = (
        replace(message.location, thread=message.reply_thread) if message.location.workspace else message.location
    )
    return AnswerRequest(
        answer_id(message.location, message.id),
        location,
        message.author,
        message.posted,
        message.time,
        message=message.id,
        origin=message,
        overheard=overheard,
    )


def request_from_command(asked: QuestionAsked) -> AnswerRequest:
    """What is to be answered of a question that was asked by `/ask` or a form."""
    return AnswerRequest(
        answer_id(asked.location, asked.id),
        asked.location,
        asked.person,
        asked.text,
        asked.time,
        private=asked.private,
        mode=asked.mode,
        handle=asked.handle,
        origin=asked,
    )


def answer_id(location: Location, message: str) -> str:
    """The id of the answer to a message or a command."""
    return sha256(f"{location.room}\0{message}".encode()).hexdigest()[:20]


def shared_answer_id(answer: str) -> str:
    """The id of the public copy of a private answer."""
    return sha256(f"shared\0{answer}".encode()).hexdigest()[: len(answer)]


def started_answer_id(given: CommandInvoked | ButtonPressed | FormSubmitted) -> str:
    """The id of the answer that a command, a button or a form starts."""
    return shared_answer_id(given.value) if isinstance(given, ButtonPressed) else answer_id(given.location, given.id)
