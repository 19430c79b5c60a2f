"""Messages as documents: threads, and windows of what is said outside of them. Pure.

A window ends before a silence of 15 minutes and before it would have more than 1200 tokens. Which document a message
belongs to is decided once, when it is heard; a window is never cut anew. Only a message that turns out to be the root
of a thread moves, into the thread's document.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.store.models import Known
from engine.parsers.chat_export import BUDGET, GAP, ChatMessage, conversations
from engine.text.cleaning import one_line, tidy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from bot.platform.models import Message
    from bot.store.models import Window
    from engine.models import Passage


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message as it is indexed: resolved names, the passage it becomes, the tokens of its line."""

    message: Message
    passage: Passage
    tokens: int
    title: str


@dataclass(frozen=True, slots=True)
class Run:
    """Messages that belong to one document, the oldest first; `thread` is its root, if it has one."""

    document: str
    thread: str
    title: str
    spoken: tuple[Spoken, ...]


def spoken(message: Message, author: str, text: str, link: str, count: Callable[[str], int]) -> Spoken | None:
    """A message in words of its readers; None if there is no text in it."""
    said = ChatMessage(message.id, one_line(author) or "unknown", tidy(text), message.time, message.place.thread, link)
    for found in conversations((said,), count):
        passage = found.passages[0]
        return Spoken(message, passage, count(passage.text), one_line(message.title) or found.title)
    return None


def thread_key(room: str, root: str) -> str:
    """The document of a thread."""
    return f"{room}:thread:{root}"


def window_key(room: str, first: str) -> str:
    """The document of a run of messages."""
    return f"{room}:window:{first}"


def author_key(platform: str, workspace: str, person: str) -> str:
    """All that somebody wrote in a workspace, as far as answers were told it word for word."""
    return f"{platform}:{workspace}:author:{person}"


def digest(message: Message) -> str:
    """What changes when the author changes the words, and not when a preview is added."""
    return _digest(message.text)


def _digest(text: str) -> str:
    return sha256(text.strip().encode(errors="surrogatepass")).hexdigest()[:32]


WORDLESS = _digest("")


def known(said: Spoken, document: str) -> Known:
    """A message as the store keeps it."""
    message = said.message
    return Known(
        room=message.place.room,
        id=message.id,
        thread=message.place.thread,
        author=message.author,
        time=message.time,
        digest=digest(message),
        document=document,
        tokens=said.tokens,
    )


def unread(message: Message) -> Known:
    """A message that is known, but a passage of nothing."""
    place = message.place
    return Known(place.room, message.id, place.thread, message.author, message.time, digest(message), settled=True)


def joined(said: Spoken, windows: Iterable[Window]) -> str:
    """The window that a message joins: the nearest one, if it has room for it; else it begins its own."""
    nearest = min(windows, key=lambda each: (_silence(each, said), -each.last.timestamp()), default=None)
    if nearest and _silence(nearest, said) < GAP and nearest.tokens + said.tokens <= BUDGET:
        return nearest.document
    return window_key(said.message.place.room, said.message.id)


def runs(said: Sequence[Spoken], room: str, roots: Collection[str] = ()) -> list[Run]:
    """Messages of the past as documents: threads by their root, the others cut at silences and at the budget.

    `roots`: those of them to which replies are known already.
    """
    ordered = sorted(said, key=lambda each: (each.message.time, each.message.id))
    answered = ({each.message.place.thread for each in ordered} | set(roots)) - {""}
    threads: dict[str, list[Spoken]] = {}
    loose: list[list[Spoken]] = []
    for each in ordered:
        root = each.message.place.thread or (each.message.id if each.message.id in answered else "")
        if root:
            threads.setdefault(root, []).append(each)
        elif loose and not _ends(loose[-1], each):
            loose[-1].append(each)
        else:
            loose.append([each])
    found = [Run(thread_key(room, root), root, group[0].title, tuple(group)) for root, group in threads.items()]
    return found + [Run(window_key(room, run[0].message.id), "", run[0].title, tuple(run)) for run in loose]


def parted(messages: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """A page's messages, split where a window surely ends: those to take in, and those which older ones may yet join.

    The latter are the oldest run of messages without a silence, with their threads.
    """
    ordered = sorted(messages, key=lambda each: (each.time, each.id))
    loose = [each for each in ordered if each.place.thread in {"", each.id}]
    held: set[str] = set()
    for place, each in enumerate(loose):
        if place and each.time - loose[place - 1].time >= GAP:
            break
        held.add(each.id)
    return (
        [each for each in ordered if (each.place.thread or each.id) not in held],
        [each for each in ordered if (each.place.thread or each.id) in held],
    )


def edge(whole: Iterable[Message], held: Iterable[Message]) -> str:
    """The message of the channel from which an older page may begin: what is newer was taken in; empty if none is."""
    newest = max((each.time for each in held), default=None)
    safe = [m for m in whole if m.place.thread in {"", m.id} and (newest is None or m.time > newest)]
    return min(safe, key=lambda each: (each.time, each.id)).id if safe else ""


def _ends(run: Sequence[Spoken], following: Spoken) -> bool:
    silence = following.message.time - run[-1].message.time
    return silence >= GAP or sum(each.tokens for each in run) + following.tokens > BUDGET


def _silence(window: Window, said: Spoken) -> timedelta:
    """The time between a message and the nearest one of a window, as far as its ends tell; none within them."""
    time = said.message.time
    return max(window.first - time, time - window.last, timedelta(0))
