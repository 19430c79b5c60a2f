"""Scripts for the crash tests: from a seed, what somebody does to an engine, and which documents must be there then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from random import Random
from typing import Literal

from engine import Document, Engine, EngineOptions, Extraction, Link, Mention, Passage
from engine.errors import NotFound
from engine.knowledge.manual_facts import build_manual_document
from engine.options import ChunkingOptions
from tests.crash.models import UNREADABLE

SPACES = ("open", "crew", "attic")
ROOMS = {"square": "open", "mill": "open", "cellar": "crew"}
CROWD = ("Ada", "Bob", "Old Mill")
OTHERS = ("Carl", "Dora", "Edda", "Finn", "Gale", "Hugo", "Iris", "Jan", "Kai", "Lea")
VERBS = ("met", "praised", "followed", "paid", "forgot")
EPOCH = datetime(2026, 3, 1, tzinfo=UTC)

Upkeep = Literal["wait_until_indexed", "reindex", "compact", "verify", "retry"]


@dataclass(frozen=True, slots=True)
class Add:
    document: Document


@dataclass(frozen=True, slots=True)
class Amend:
    key: str
    upserted: tuple[Passage, ...] = ()
    removed: frozenset[str] = frozenset()
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

    action: Literal["merge", "unmerge", "describe", "hide", "unhide"]
    space: str
    name: str
    into: str = ""


@dataclass(frozen=True, slots=True)
class AddFacts:
    space: str
    room: str
    facts: Extraction


@dataclass(frozen=True, slots=True)
class RunUpkeep:
    job: Upkeep


Operation = Add | Amend | Forget | Move | Correct | AddFacts | RunUpkeep
Documents = dict[str, Document]


def build_options(seed: int) -> EngineOptions:
    """Small chunks and small batches, so that little text makes many steps; short periods, so that they end.

    Every fifth seed is for the other graph, where it is installed.
    """
    random = Random(f"options {seed}")
    return EngineOptions(
        graph_backend="ladybug" if seed % 5 == 0 and find_spec("ladybug") else "kuzu",
        chunking=ChunkingOptions(size=64, overlap=8, target_size=32, hash_modulo=3),
        extraction_concurrency=random.choice((1, 3, 8)),
        embed_batch_size=random.choice((2, 7, 64)),
        projection_batch_size=random.choice((6, 40, 512)),
        summary_cooldown=random.choice((0.2, 600.0)),
        compaction_delay=random.choice((1.0, 600.0)),
    )


async def apply_operation(engine: Engine, operation: Operation) -> None:
    """Do it; done twice is done once."""
    match operation:
        case Add(document):
            await engine.documents.add(document)
        case Amend(key, put, drop, open_):
            await engine.documents.amend(key, put, drop, is_open=open_)
        case Forget(key):
            await engine.documents.forget(key)
        case Move(room, space):
            await engine.documents.move_room(room, space)
        case AddFacts(space, room, told):
            await engine.corrections.add_facts(space, room, told)
        case Correct():
            await _apply_correction(engine, operation)
        case RunUpkeep("verify"):
            report = await engine.maintenance.verify()
            assert report.is_clean, "; ".join(map(str, report.differences))
        case RunUpkeep("wait_until_indexed"):
            await engine.wait_until_indexed()
        case RunUpkeep(what):
            await getattr(engine.maintenance, what)()


async def _apply_correction(engine: Engine, correction: Correct) -> None:
    await engine.wait_until_indexed()  # what is to be corrected must be known
    arguments = [correction.into] if correction.action in {"merge", "describe"} else []
    try:
        await getattr(engine.corrections, correction.action)(correction.space, correction.name, *arguments)
    except NotFound:
        return  # it was taken back before, or its last document was forgotten


def expected_documents(documents: Documents, operation: Operation) -> Documents:
    """The documents as they must be once the operation is acknowledged."""
    match operation:
        case Add(document):
            return documents | {document.key: document}
        case AddFacts(space, room, told):
            document = build_manual_document(space, room, told, None)
            return documents | {document.key: document}
        case Forget(key):
            return {other: each for other, each in documents.items() if other != key}
        case Move(room, space):
            return {key: replace(each, space=space) if each.room == room else each for key, each in documents.items()}
        case Amend(key, put, drop, open_):
            former = documents[key]
            passages = {passage.key: passage for passage in former.passages if passage.key not in drop}
            passages |= {each.key: each for each in put}
            opened = former.is_open if open_ is None else open_
            return documents | {key: replace(former, passages=tuple(passages.values()), is_open=opened)}
        case _:
            return documents


def build_script(seed: int, length: int = 28) -> list[Operation]:
    """What is done, in order."""
    return _ScriptBuilder(seed).build(length)


class _ScriptBuilder:
    """Writes a script, and keeps in mind what is there."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"script {seed}")
        self.documents: Documents = {}
        self.operations: list[Operation] = []
        self.rooms = dict(ROOMS)
        self.merged: list[Correct] = []
        self.number = 0

    def build(self, length: int) -> list[Operation]:
        acts: dict[Callable[[], None], int] = {
            self.add: 30,
            self.add_conversation: 10,
            self.add_copy: 8,
            self.edit: 12,
            self.amend: 14,
            self.forget: 9,
            self.move: 4,
            self.correct: 10,
            self.add_facts: 3,
            self.upkeep: 6,
        }
        for _ in range(3):
            self.add_crowd()
        self.append(Add(self.document("illegible", [f"This is {UNREADABLE}."])))
        chosen = self.random.choices(list(acts), list(acts.values()), k=length)
        chosen += [self.add_conversation, self.amend, self.amend, self.forget, self.move, self.reindex, self.compact]
        self.random.shuffle(chosen)
        for act in chosen:
            act()
        return self.operations

    def append(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.documents = expected_documents(self.documents, operation)

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

    def pick_document(self, kind: str = "") -> Document | None:
        found = [
            document
            for document in self.documents.values()
            if document.kind == kind or (not kind and document.kind != "manual")
        ]
        return self.random.choice(found) if found else None

    # Acts.

    def add_crowd(self) -> None:
        """A document in which everybody is named again and again."""
        self.append(
            Add(self.document(f"crowd {len(self.operations)}", [self.sentence() for _ in range(14)], room="square"))
        )

    def add(self) -> None:
        texts = [self.sentence() for _ in range(self.random.randint(1, 5))]
        self.append(Add(self.document(f"file {len(self.operations)}", texts)))

    def add_conversation(self) -> None:
        room, key = self.random.choice(list(ROOMS)), f"chat {len(self.operations)}"
        passages = tuple(self.passage(i) for i in range(self.random.randint(1, 9)))
        self.append(Add(Document(key, self.rooms[room], room, key, passages, kind="conversation", is_open=True)))

    def add_copy(self) -> None:
        """The same words in another room."""
        if other := self.pick_document():
            room = self.random.choice(list(ROOMS))
            self.append(Add(replace(other, key=f"copy {len(self.operations)}", room=room, space=self.rooms[room])))

    def edit(self) -> None:
        """A passage is changed, or goes; often everything is put back at once."""
        if (former := self.pick_document("file")) and len(former.passages) > 1:
            kept = list(former.passages)
            at = self.random.randrange(len(kept))
            if self.random.random() < 0.4:
                del kept[at]
            else:
                kept[at] = replace(kept[at], text=self.sentence())
            self.append(Add(replace(former, passages=tuple(kept))))
            if self.random.random() < 0.5:
                self.append(Add(former))

    def amend(self) -> None:
        if chat := self.pick_document("conversation"):
            keys = [int(passage.key) for passage in chat.passages]
            put = [self.passage(max(keys) + 1 + i) for i in range(self.random.randint(1, 4))]
            changed = self.random.sample(keys, min(len(keys), self.random.choice((0, 0, 1))))
            put += [self.passage(key) for key in changed]
            dropped = self.random.choice(keys)
            drop = {f"{dropped:03}"} - {each.key for each in put} if self.random.random() < 0.3 else set()
            open_ = self.random.choice((None, False, False, True))
            self.append(Amend(chat.key, tuple(put), frozenset(drop), open_))

    def forget(self) -> None:
        if each := self.pick_document():
            self.append(Forget(each.key))
            if self.random.random() < 0.2:
                self.append(Add(each))

    def move(self) -> None:
        room, space = self.random.choice(list(ROOMS)), self.random.choice(SPACES)
        self.rooms[room] = space
        self.append(Move(room, space))

    def correct(self) -> None:
        if self.merged and self.random.random() < 0.5:
            self.append(replace(self.merged.pop(), action="unmerge", into=""))
            return
        space, name, other = self.random.choice(SPACES[:2]), self.random.choice(OTHERS), self.random.choice(CROWD)
        match self.random.choice(("merge", "describe", "hide", "hide and back")):
            case "merge":
                merge = Correct("merge", space, name, other)
                if all((correct.space, correct.name) != (space, name) for correct in self.merged):
                    self.merged.append(merge)
                self.append(merge)
            case "describe":
                self.append(
                    Correct("describe", space, self.random.choice((name, other)), self.random.choice(("", "Pinned.")))
                )
            case "hide":
                self.append(Correct("hide", space, name))
            case _:
                self.append(Correct("hide", space, other))
                self.append(Correct("unhide", space, other))

    def add_facts(self) -> None:
        room, name = self.random.choice(list(ROOMS)), self.random.choice(OTHERS)
        text = f"told in week {len(self.operations)}"
        told = Extraction((Mention(name, "person", text),), (Link(name, "Ada", "family", text),))
        self.append(AddFacts(self.rooms[room], room, told))

    def upkeep(self) -> None:
        self.append(RunUpkeep(self.random.choice(("wait_until_indexed", "wait_until_indexed", "verify", "retry"))))

    def reindex(self) -> None:
        self.append(RunUpkeep("reindex"))

    def compact(self) -> None:
        self.append(RunUpkeep("compact"))


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
