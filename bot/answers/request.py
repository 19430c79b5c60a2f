"""A question as it is worked on, whatever way it came."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.platform.events import Clicked
from bot.platform.ports import Target
from bot.store import Stored

if TYPE_CHECKING:
    from datetime import datetime

    from bot.platform.events import Asked, Called
    from bot.platform.models import Message, Place, Upload

REFERENCE = 8  # characters of an answer's id that are shown to people

_MENTION = re.compile(r"\A\s*+<@[!&]?\w++(?:\|[^>]*+)?>[\s,:]*+")


@dataclass(frozen=True, slots=True)
class Request:
    """A question, and where its answer goes. `place` names the thread in which it is answered, if there is one.

    `id` is the answer's, always the same for the same question. With `since`, it is about what was said in this
    channel since then. `overheard`: a message that does not mention the bot; nothing is said of failures, or if
    nothing was found.
    """

    id: str
    place: Place
    person: str
    text: str
    time: datetime
    message: str = ""
    private: bool = False
    mode: str = ""
    handle: str = ""
    origin: Message | Asked | None = None
    since: datetime | None = None
    overheard: bool = False

    @property
    def files(self) -> tuple[Upload, ...]:
        """The files that it came with."""
        return self.origin.uploads if self.origin else ()

    @property
    def reference(self) -> str:
        """What finds it in the log."""
        return self.id[:REFERENCE]

    def target(self, mark: str = "") -> Target:
        """Where the answer goes."""
        return Target(
            answer=self.id,
            place=self.place,
            person=self.person,
            message=self.message,
            private=self.private,
            handle=self.handle,
            mark=mark,
            asked=self.time,
        )

    def stored(self) -> Stored:
        """As it is kept before it is worked on."""
        return Stored(
            self.id,
            self.place,
            self.person,
            self.text,
            self.time,
            message=self.message,
            private=self.private,
        )


def heard(message: Message, *, overheard: bool = False) -> Request:
    """A message that is a question. A talk that belongs to no workspace has no threads: it is one itself."""
    place = replace(message.place, thread=message.thread) if message.place.workspace else message.place
    return Request(
        answer_id(message.place, message.id),
        place,
        message.author,
        message.text,
        message.time,
        message=message.id,
        origin=message,
        overheard=overheard,
    )


def commanded(asked: Asked) -> Request:
    """A question by a command."""
    return Request(
        answer_id(asked.place, asked.id),
        asked.place,
        asked.person,
        asked.text,
        asked.time,
        private=asked.private,
        mode=asked.mode,
        handle=asked.handle,
        origin=asked,
    )


def answer_id(place: Place, message: str) -> str:
    """The id of the answer to a message or a command."""
    return sha256(f"{place.room}\0{message}".encode()).hexdigest()[:20]


def shared_id(answer: str) -> str:
    """The id of what all see of an answer that its asker alone saw before."""
    return sha256(f"shared\0{answer}".encode()).hexdigest()[: len(answer)]


def begun(given: Called | Clicked) -> str:
    """The id of the answer that a command or a button begins, if it does."""
    return shared_id(given.value) if isinstance(given, Clicked) else answer_id(given.place, given.id)


def spoken(text: str) -> str:
    """A question without the mention it begins with: that is the bot, to whom it is addressed."""
    found = _MENTION.match(text)
    return text[found.end() :].strip() if found else text.strip()
