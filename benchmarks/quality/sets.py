"""Load the data sets: documents, questions, and the documents or passages that answer them.

Every set is a folder of files with one JSON object a line; other fields are ignored.

* `corpus.jsonl`: `id`, `title` (may be empty) and `text` of a passage.
* `messages.jsonl`: `id`, `conv`, `user` and `text` of a message, and `turn` (QMSum: its number), or `session`,
  `session_time` ("1:56 pm on 8 May, 2023") and `image_caption` (LoCoMo; may be null).
* `queries.jsonl`: `id`, `question` and `gold`, a list of ids; for messages also `conv`.
* `openie.jsonl` (MuSiQue): `id`, `title`, `text`, `entities` and `triples` of a passage.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.replay_language import ReplayLanguage, StoredFactsLanguage, parse_reading
from engine import Document, Passage
from engine.llm.base import LanguageModel
from engine.parsers.chat_export import CONVERSATION_GAP
from engine.text.conversations.disentanglement import ConversationWindows, Utterance


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """A question, the space it is asked in, and the keys of what answers it."""

    id: str
    text: str
    space: str
    gold: frozenset[str]

    @property
    def is_reported(self) -> bool:
        """Whether it is in the half that is reported; numbers are chosen on the other half."""
        return sha256(self.id.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class BenchSet:
    """A data set. `by_passage`: the gold keys are those of passages, else of documents.

    `cuts`: numbers of results at which recall is measured. `all_at`: a number of results that must hold all gold keys.
    `language`: replays a stored extraction; None for the embedded skill.
    """

    name: str
    documents: list[Document]
    questions: list[BenchQuestion]
    cuts: tuple[int, ...]
    all_at: int = 0
    ndcg_at: int = 0
    by_passage: bool = False
    language: LanguageModel | None = field(default=None, compare=False)


def load_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load_passages(data: Path, space: str = "musique") -> dict[str, Document]:
    """One document a passage: its title, then its text; empty passages are left out."""
    documents = {}
    for row in load_rows(data / "corpus.jsonl"):
        if not row["text"]:
            continue
        text = f"{row['title']}\n{row['text']}" if row.get("title") else row["text"]
        documents[row["id"]] = Document(row["id"], space, space, row.get("title") or row["id"], (Passage("1", text),))
    return documents


def load_questions(data: Path, space: str | None = None) -> list[BenchQuestion]:
    """The questions with gold keys; without a space, each is asked in its conversation."""
    rows = [row for row in load_rows(data / "queries.jsonl") if row["gold"]]
    return [BenchQuestion(row["id"], row["question"], space or row["conv"], frozenset(row["gold"])) for row in rows]


def load_musique(data: Path) -> BenchSet:
    """Questions of several hops, with what GPT-3.5 once extracted from each passage."""
    documents = load_passages(data)
    stored = {
        documents[row["id"]].passages[0].text: parse_reading(row["text"], row["entities"], row["triples"])
        for row in load_rows(data / "openie.jsonl")
    }
    questions = load_questions(data, "musique")
    return BenchSet("MuSiQue", list(documents.values()), questions, (2, 5, 10), language=ReplayLanguage(stored))


def load_hotpotqa(data: Path) -> BenchSet:
    """Questions of two hops."""
    documents = load_passages(data, "hotpotqa")
    return BenchSet("HotpotQA", list(documents.values()), load_questions(data, "hotpotqa"), (2, 5, 10))


def load_2wiki(data: Path) -> BenchSet:
    """Questions of two and four hops."""
    documents = load_passages(data, "2wiki")
    return BenchSet("2Wiki", list(documents.values()), load_questions(data, "2wiki"), (2, 5, 10), all_at=8)


def load_cranfield(data: Path) -> BenchSet:
    """Abstracts of aerodynamics."""
    documents = load_passages(data, "cranfield")
    return BenchSet("Cranfield", list(documents.values()), load_questions(data, "cranfield"), (5, 10, 20), ndcg_at=10)


def add_passages(data: BenchSet, file: Path) -> BenchSet:
    """A set among the passages of a larger corpus: a JSON list of `title` and `text`. Those it has are not repeated."""
    known = {document.passages[0].text for document in data.documents}
    space = data.documents[0].space
    added = [
        Document(f"corpus {number}", space, space, row["title"], (Passage("1", text),))
        for number, row in enumerate(json.loads(file.read_text(encoding="utf-8")))
        if (text := f"{row['title']}\n{row['text']}") not in known
    ]
    return replace(data, documents=[*data.documents, *added])


@dataclass(frozen=True, slots=True)
class BenchMessage:
    """A message of a conversation."""

    key: str
    conversation: str
    session: str
    author: str
    text: str
    time: datetime

    @property
    def passage(self) -> Passage:
        return Passage(self.key, f"{self.author}: {self.text}", author=self.author, time=self.time)


def load_locomo_messages(data: Path) -> Iterable[BenchMessage]:
    """Messages of long chats, one minute apart within a session."""
    for (conv, session), rows in groupby(load_rows(data / "messages.jsonl"), lambda row: (row["conv"], row["session"])):
        for minute, row in enumerate(rows):
            caption = f" [{row['image_caption']}]" if row["image_caption"] else ""
            start = datetime.strptime(row["session_time"] + " +0000", "%I:%M %p on %d %B, %Y %z")
            time = start + timedelta(minutes=minute)
            yield BenchMessage(row["id"], conv, f"{conv}/{session}", row["user"], row["text"] + caption, time)


def load_qmsum_messages(data: Path) -> Iterable[BenchMessage]:
    """Turns of meetings."""
    for row in load_rows(data / "messages.jsonl"):
        time = datetime.fromisoformat("2020-01-01T09:00:00+00:00") + timedelta(seconds=10 * row["turn"])
        yield BenchMessage(row["id"], row["conv"], row["conv"], row["user"], row["text"], time)


def build_single_messages(messages: Iterable[BenchMessage]) -> list[Document]:
    """One document a message."""
    return [
        Document(
            message.key,
            message.conversation,
            message.conversation,
            message.session,
            (message.passage,),
            kind="conversation",
        )
        for message in messages
    ]


def build_sessions(messages: Iterable[BenchMessage]) -> list[Document]:
    """The conversations of each session, with a passage a message, as the bot ingests them but of any length."""
    documents = []
    for session, group in groupby(messages, lambda each: each.session):
        windows = ConversationWindows(CONVERSATION_GAP, sys.maxsize)
        conversations: dict[str, list[BenchMessage]] = {}
        for each in group:
            utterance = Utterance(each.key, each.author, each.text, each.time)
            conversations.setdefault(windows.assign(utterance, 0), []).append(each)
        for first, some in conversations.items():
            key, place = f"{session} {first}", some[0].conversation
            passages = tuple(each.passage for each in some)
            documents.append(Document(key, place, place, session, passages, kind="conversation"))
    return documents


def load_locomo_single(data: Path) -> BenchSet:
    documents = build_single_messages(load_locomo_messages(data))
    return BenchSet("LoCoMo, single messages", documents, load_questions(data), (5, 10, 25, 50))


def load_locomo_windows(data: Path) -> BenchSet:
    documents = build_sessions(load_locomo_messages(data))
    return BenchSet("LoCoMo, windows", documents, load_questions(data), (5, 10, 25, 50), by_passage=True)


def load_locomo_facts(data: Path) -> BenchSet:
    """Windows, with the sentences that GPT-3.5 once stated about single messages."""
    texts = {row["id"]: row["text"] for row in load_rows(data / "messages.jsonl")}
    stored: dict[str, list[str]] = {}
    for row in load_rows(data / "observations_gpt35.jsonl"):
        for evidence in row["evidence"]:
            if text := texts.get(f"{row['conv']}/{evidence}"):
                stored.setdefault(text, []).append(row["observation"])
    found = load_locomo_windows(data)
    return replace(found, name="LoCoMo, windows, stored facts", language=StoredFactsLanguage(stored))


def load_qmsum(data: Path) -> BenchSet:
    documents = build_sessions(load_qmsum_messages(data))
    return BenchSet("QMSum, windows", documents, load_questions(data), (25, 50, 100), by_passage=True)


@dataclass(frozen=True, slots=True)
class SetSource:
    """Where a data set is, below the folder of all data, and how it is loaded."""

    folder: str
    files: Sequence[str]
    load: Callable[[Path], BenchSet]


PASSAGES, MESSAGES = ("corpus.jsonl", "queries.jsonl"), ("messages.jsonl", "queries.jsonl")
SETS: Mapping[str, SetSource] = {
    "musique": SetSource("musique_openie", (*PASSAGES, "openie.jsonl"), load_musique),
    "hotpotqa": SetSource("hotpotqa_train", PASSAGES, load_hotpotqa),
    "2wiki": SetSource("2wiki_fgr", PASSAGES, load_2wiki),
    "locomo": SetSource("locomo", MESSAGES, load_locomo_single),
    "locomo-windows": SetSource("locomo", MESSAGES, load_locomo_windows),
    "locomo-facts": SetSource("locomo", (*MESSAGES, "observations_gpt35.jsonl"), load_locomo_facts),
    "qmsum": SetSource("qmsum", MESSAGES, load_qmsum),
    "cranfield": SetSource("cranfield", PASSAGES, load_cranfield),
}


def missing_file(data: Path, name: str) -> Path | None:
    """The folder or the first file of a set that does not exist."""
    place = data / SETS[name].folder
    return next((each for each in (place, *(place / file for file in SETS[name].files)) if not each.exists()), None)


def load_set(data: Path, name: str) -> BenchSet:
    """A data set by its name on the command line."""
    return SETS[name].load(data / SETS[name].folder)
