"""Scripts for the crash tests: from a seed, what somebody does to an engine, and which documents must be there then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Literal

from engine import Document, Link, Mention, Options, Passage, Reading
from engine.errors import NotFound
from engine.knowledge.manual_facts import stated
from engine.options import Packing
from tests.crash.models import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine import Engine

SPACES = ("open", "crew", "attic")
ROOMS = {"square": "open", "mill": "open", "cellar": "crew"}
CROWD = ("Ada", "Bob", "Old Mill")
OTHERS = ("Carl", "Dora", "Edda", "Finn", "Gale", "Hugo", "Iris", "Jan", "Kai", "Lea")
VERBS = ("met", "praised", "followed", "paid", "forgot")
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)

Upkeep = Literal["settled", "rebuild", "compact", "verify", "retry"]


@dataclass(frozen=True, slots=True)
class Add:
    document: Document


@dataclass(frozen=True, slots=True)
class Amend:
    key: str
    put: tuple[Passage, ...] = ()
    drop: frozenset[str] = frozenset()
    open: bool | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    key: str


@dataclass(frozen=True, slots=True)
class Move:
    room: str
    space: str


@dataclass(frozen=True, slots=True)
class Correct:
    """`what` is a verb of the engine; `into` is the second name, or the description of a pin."""

    what: Literal["merge", "unmerge", "pin", "hide", "unhide"]
    space: str
    name: str
    into: str = ""


@dataclass(frozen=True, slots=True)
class Tell:
    space: str
    room: str
    told: Reading


@dataclass(frozen=True, slots=True)
class Keep:
    what: Upkeep


Operation = Add | Amend | Forget | Move | Correct | Tell | Keep
Documents = dict[str, Document]


def options(seed: int) -> Options:
    """Small chunks and small batches, so that little text makes many steps; short periods, so that they end.

    Every fifth seed is for the other graph, where it is installed.
    """
    random = Random(f"options {seed}")
    return Options(
        graph="ladybug" if seed % 5 == 0 and find_spec("ladybug") else "kuzu",
        packing=Packing(size=64, overlap=8, soft=32, modulo=3),
        readers=random.choice((1, 3, 8)),
        embed_batch=random.choice((2, 7, 64)),
        project_batch=random.choice((6, 40, 512)),
        quiet=random.choice((0.2, 600.0)),
        compact_after=random.choice((1.0, 600.0)),
    )


async def perform(engine: Engine, operation: Operation) -> None:
    """Do it; done twice is done once."""
    match operation:
        case Add(document):
            await engine.add(document)
        case Amend(key, put, drop, open_):
            await engine.amend(key, put, drop, open=open_)
        case Forget(key):
            await engine.forget(key)
        case Move(room, space):
            await engine.move_room(room, space)
        case Tell(space, room, told):
            await engine.state(space, room, told)
        case Correct():
            await _correct(engine, operation)
        case Keep("verify"):
            report = await engine.verify()
            assert report.clean, "; ".join(map(str, report.differences))
        case Keep(what):
            await getattr(engine, what)()


async def _correct(engine: Engine, correction: Correct) -> None:
    await engine.settled()  # what is to be corrected must be known
    arguments = [correction.into] if correction.what in {"merge", "pin"} else []
    try:
        await getattr(engine, correction.what)(correction.space, correction.name, *arguments)
    except NotFound:
        return  # it was taken back before, or its last document was forgotten


def after(documents: Documents, operation: Operation) -> Documents:
    """The documents as they must be once the operation is acknowledged."""
    match operation:
        case Add(document):
            return documents | {document.key: document}
        case Tell(space, room, told):
            document = stated(space, room, told, None)
            return documents | {document.key: document}
        case Forget(key):
            return {other: each for other, each in documents.items() if other != key}
        case Move(room, space):
            return {key: replace(each, space=space) if each.room == room else each for key, each in documents.items()}
        case Amend(key, put, drop, open_):
            former = documents[key]
            passages = {each.key: each for each in former.passages if each.key not in drop}
            passages |= {each.key: each for each in put}
            opened = former.open if open_ is None else open_
            return documents | {key: replace(former, passages=tuple(passages.values()), open=opened)}
        case _:
            return documents


def script(seed: int, length: int = 28) -> list[Operation]:
    """What is done, in order."""
    return _Author(seed).write(length)


class _Author:
    """Writes a script, and keeps in mind what is there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"script {seed}")
        self.documents: Documents = {}
        self.operations: list[Operation] = []
        self.rooms = dict(ROOMS)
        self.merged: list[Correct] = []
        self.number = 0

    def write(self, length: int) -> list[Operation]:
        acts: dict[Callable[[], None], int] = {
            self.add: 30,
            self.chat: 10,
            self.copy: 8,
            self.edit: 12,
            self.amend: 14,
            self.forget: 9,
            self.move: 4,
            self.correct: 10,
            self.tell: 3,
            self.upkeep: 6,
        }
        for _ in range(3):
            self.crowd()
        self.do(Add(self.document("illegible", [f"This is {UNREADABLE}."])))
        chosen = self.random.choices(list(acts), list(acts.values()), k=length)
        chosen += [self.chat, self.amend, self.amend, self.forget, self.move, self.rebuild, self.compact]
        self.random.shuffle(chosen)
        for act in chosen:
            act()
        return self.operations

    def do(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.documents = after(self.documents, operation)

    # Texts.

    def sentence(self) -> str:
        self.number += 1
        known = self.random.sample(CROWD, 2) + self.random.sample(OTHERS, 2)
        one, two, three = self.random.sample(known, 3)
        if self.random.random() < 0.2:
            two = two.upper()
        third = f" with {three}" if self.random.random() < 0.4 else ""
        if self.random.random() < 0.1:
            third = f" with Stranger{_letters(self.number)}"
        return f"{one} {self.random.choice(VERBS)} {two}{third} in week {self.number}."

    def passage(self, key: int) -> Passage:
        time = EPOCH + timedelta(minutes=self.random.randrange(50_000))
        return Passage(f"{key:03}", self.sentence(), author=self.random.choice(OTHERS), time=time, position=key)

    def document(self, key: str, texts: Sequence[str], room: str = "") -> Document:
        room = room or self.random.choice(list(ROOMS))
        passages = tuple(Passage(f"{i:03}", text, f"p. {i}", position=i) for i, text in enumerate(texts))
        time = EPOCH + timedelta(hours=self.random.randrange(1000))
        return Document(key, self.rooms[room], room, key, passages, time)

    def some(self, kind: str = "") -> Document | None:
        found = [each for each in self.documents.values() if each.kind == kind or (not kind and each.kind != "manual")]
        return self.random.choice(found) if found else None

    # Acts.

    def crowd(self) -> None:
        """A document in which everybody is named again and again."""
        self.do(
            Add(self.document(f"crowd {len(self.operations)}", [self.sentence() for _ in range(14)], room="square"))
        )

    def add(self) -> None:
        texts = [self.sentence() for _ in range(self.random.randint(1, 5))]
        self.do(Add(self.document(f"file {len(self.operations)}", texts)))

    def chat(self) -> None:
        room, key = self.random.choice(list(ROOMS)), f"chat {len(self.operations)}"
        passages = tuple(self.passage(i) for i in range(self.random.randint(1, 9)))
        self.do(Add(Document(key, self.rooms[room], room, key, passages, kind="conversation", open=True)))

    def copy(self) -> None:
        """The same words in another room."""
        if other := self.some():
            room = self.random.choice(list(ROOMS))
            self.do(Add(replace(other, key=f"copy {len(self.operations)}", room=room, space=self.rooms[room])))

    def edit(self) -> None:
        """A passage is changed, or goes; often everything is put back at once."""
        if (former := self.some("file")) and len(former.passages) > 1:
            kept = list(former.passages)
            at = self.random.randrange(len(kept))
            if self.random.random() < 0.4:
                del kept[at]
            else:
                kept[at] = replace(kept[at], text=self.sentence())
            self.do(Add(replace(former, passages=tuple(kept))))
            if self.random.random() < 0.5:
                self.do(Add(former))

    def amend(self) -> None:
        if chat := self.some("conversation"):
            keys = [int(each.key) for each in chat.passages]
            put = [self.passage(max(keys) + 1 + i) for i in range(self.random.randint(1, 4))]
            changed = self.random.sample(keys, min(len(keys), self.random.choice((0, 0, 1))))
            put += [self.passage(key) for key in changed]
            dropped = self.random.choice(keys)
            drop = {f"{dropped:03}"} - {each.key for each in put} if self.random.random() < 0.3 else set()
            open_ = self.random.choice((None, False, False, True))
            self.do(Amend(chat.key, tuple(put), frozenset(drop), open_))

    def forget(self) -> None:
        if each := self.some():
            self.do(Forget(each.key))
            if self.random.random() < 0.2:
                self.do(Add(each))

    def move(self) -> None:
        room, space = self.random.choice(list(ROOMS)), self.random.choice(SPACES)
        self.rooms[room] = space
        self.do(Move(room, space))

    def correct(self) -> None:
        if self.merged and self.random.random() < 0.5:
            self.do(replace(self.merged.pop(), what="unmerge", into=""))
            return
        space, name, other = self.random.choice(SPACES[:2]), self.random.choice(OTHERS), self.random.choice(CROWD)
        match self.random.choice(("merge", "pin", "hide", "hide and back")):
            case "merge":
                merge = Correct("merge", space, name, other)
                if all((each.space, each.name) != (space, name) for each in self.merged):
                    self.merged.append(merge)
                self.do(merge)
            case "pin":
                self.do(Correct("pin", space, self.random.choice((name, other)), self.random.choice(("", "Pinned."))))
            case "hide":
                self.do(Correct("hide", space, name))
            case _:
                self.do(Correct("hide", space, other))
                self.do(Correct("unhide", space, other))

    def tell(self) -> None:
        room, name = self.random.choice(list(ROOMS)), self.random.choice(OTHERS)
        text = f"told in week {len(self.operations)}"
        told = Reading((Mention(name, "person", text),), (Link(name, "Ada", "family", text),))
        self.do(Tell(self.rooms[room], room, told))

    def upkeep(self) -> None:
        self.do(Keep(self.random.choice(("settled", "settled", "verify", "retry"))))

    def rebuild(self) -> None:
        self.do(Keep("rebuild"))

    def compact(self) -> None:
        self.do(Keep("compact"))


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
