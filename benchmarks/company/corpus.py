"""The invented company: its files, what its people wrote, and the questions about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from engine import Document, Passage
from engine.parsers.chat_export import CONVERSATION_GAP
from engine.text.cleanup import render_message_line
from engine.text.conversations.disentanglement import ConversationWindows, Utterance

FOLDER = Path(__file__).parent
SPACE = "company"
WINDOW_TOKENS = 400
_MESSAGE = re.compile(r"(#\w+) (\d{4}-\d\d-\d\d \d\d:\d\d) ([^:]+): (.*)")
_FILE = re.compile(r"^=== (.+)\n", re.MULTILINE)

# What people write all day, of which nobody asks.
_CHATTER_PEOPLE = ("Brian Ashe", "Mirela Costa", "Samir Haddad", "Rosa Quint", "Joris Bakker", "Tamsin Roe")
_CHATTER = (
    "Good morning, all.",
    "I will be ten minutes late.",
    "Does anybody want coffee?",
    "Thanks, that helps a lot.",
    "I have pushed my part, please have a look when you can.",
    "The call starts now, are you coming?",
    "Can somebody open the window, please?",
    "Done. Next one.",
    "I am on the phone with a customer, back soon.",
    "Looks good to me.",
    "Nice weather today, who walks with me at noon?",
    "It works again after a restart.",
)
CHATTER_COUNT = 320


@dataclass(frozen=True, slots=True)
class CompanyQuestion:
    """A question with the words that its answer must have: of each group one.

    `is_held_out`: nothing was chosen on it. A question without words has no answer.
    """

    kind: str
    is_held_out: bool
    text: str
    words: tuple[tuple[str, ...], ...]


def load_files() -> dict[str, str]:
    """The text of each file by its name."""
    _, *parts = _FILE.split((FOLDER / "files.txt").read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def load_questions() -> list[CompanyQuestion]:
    """The questions in the order of the file: `kind|half|question|words;words|other words`."""
    found = []
    for line in (FOLDER / "questions.txt").read_text("utf-8").splitlines():
        kind, half, text, *ways = line.split("|")
        every = [tuple(filter(None, way.split(";"))) for way in ways]
        first = every[0]
        words = tuple((word, *(way[0] for way in every[1:])) for word in first)
        found.append(CompanyQuestion(kind, half == "held", text, words))
    return found


def load_conversations() -> list[Document]:
    """The conversations of each channel, as the bot stores them."""
    documents = []
    for room, rows in groupby(sorted(_list_messages()), lambda row: row[0]):
        windows = ConversationWindows(CONVERSATION_GAP, WINDOW_TOKENS)
        by_window: dict[str, list[Passage]] = {}
        for number, (_, time, author, text) in enumerate(rows):
            key = f"{room}-{number}"
            window = windows.assign(Utterance(key, author, text, time), len(text) // 4)
            line = render_message_line(time, author, text)
            by_window.setdefault(window, []).append(Passage(key, line, f"{author}, {line[1:17]}", "", author, time))
        documents += [
            Document(f"{SPACE}:{key}", SPACE, f"{SPACE}:{room}", room, tuple(passages), kind="conversation")
            for key, passages in by_window.items()
        ]
    return documents


def _list_messages() -> Iterator[tuple[str, datetime, str, str]]:
    for line in (FOLDER / "messages.txt").read_text("utf-8").splitlines():
        found = _MESSAGE.fullmatch(line)
        assert found is not None, line
        yield found[1], datetime.fromisoformat(f"{found[2]}+00:00"), found[3], found[4]
    begin = datetime(2026, 5, 4, 7, 2, tzinfo=UTC)
    for number in range(CHATTER_COUNT):
        room = ("#general", "#ops", "#sales", "#workshop")[number % 4]
        author = _CHATTER_PEOPLE[number * 7 % len(_CHATTER_PEOPLE)]
        yield room, begin + timedelta(hours=number * 1.43), author, _CHATTER[number * 5 % len(_CHATTER)]
