"""Records of the bot and the engine with defaults, so that a test names only what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.answers.question import AnswerRequest
from bot.platform.models import Location, Message
from bot.store import StoredAnswer
from engine.models import Source
from engine.storage.ledger.records.query_results import DocumentInfo
from tests.support.fake_platform import START

ROOF = Location("slack", "T1", "ROOF")
HALL = Location("slack", "T1", "HALL")
_MESSAGE = Message("m1", ROOF, "ada", "Hello.", START)
_QUESTION = AnswerRequest("a1", HALL, "ada", "Who?", START)
_ANSWER = StoredAnswer("a1", ROOF, "ada", "When?", START)
_SOURCE = Source(
    number=1,
    document=f"{ROOF.room}:window:m1",
    passage="m1",
    title="#roof",
    label="Ada, 2026-11-20 10:00",
    link="https://chat.example/m1",
    author="Ada",
    time=START,
    text="[2026-11-20 10:00] Ada: The tiles come on Monday.",
    space="slack:T1:open",
    room=ROOF.room,
    chunk="c1",
)
_LISTED = DocumentInfo("k", "console:local", "files", "file", "Rules", "", None, False, "indexed", "", "", 1, 1)


def make_message(id_: str = "m1", text: str = "Hello.", **changes: Any) -> Message:
    """A message of Ada's in the roof channel."""
    return replace(_MESSAGE, id=id_, text=text, **changes)


def make_question(text: str = "Who?", **changes: Any) -> AnswerRequest:
    """A question of Ada's in the hall."""
    return replace(_QUESTION, text=text, **changes)


def make_answer(id_: str = "a1", **changes: Any) -> StoredAnswer:
    """An answer to Ada in the roof channel that was begun."""
    return replace(_ANSWER, id=id_, **changes)


def make_source(**changes: Any) -> Source:
    """A message of the roof channel as a source of an answer."""
    return replace(_SOURCE, **changes)


def make_listed(key: str, title: str = "Rules", **changes: Any) -> DocumentInfo:
    """A file in a list of documents."""
    return replace(_LISTED, key=key, title=title, **changes)
