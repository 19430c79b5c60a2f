"""The loaders, on tiny made-up files in the format of each data set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from benchmarks.quality.__main__ import BENCH, run_set
from benchmarks.quality.across_languages import hash_byte, read_paragraphs
from benchmarks.quality.sets import SETS, BenchSet, add_passages, load_passages, load_set, missing_file
from benchmarks.replay_language import StoredEmbedder
from engine.models import Excerpt
from engine.usage import UsageMeter
from tests.support.fake_embedder import HashEmbedder

SetFiles: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]  # rows of each file

PASSAGES: Sequence[Mapping[str, Any]] = [
    {"id": "p1", "title": "Ferry", "text": "The ferry to Norderney leaves at noon."},
    {"id": "p2", "title": "", "text": "Mara Venn repairs the lighthouse lamp."},
    {"id": "p3", "title": "Lamp", "text": "The lamp burns oil."},
]
QUESTIONS: Sequence[Mapping[str, Any]] = [
    {"id": "q1", "question": "Who repairs the lamp?", "gold": ["p2"]},
    {"id": "q2", "question": "What does nobody answer?", "gold": []},
]
READINGS: Sequence[Mapping[str, Any]] = [
    {
        "id": "p2",
        "title": "",
        "text": PASSAGES[1]["text"],
        "entities": ["Mara Venn", "lighthouse lamp"],
        "triples": [["Mara Venn", "repairs", "lighthouse lamp"], ["only", "two"]],
    }
]
CHAT: Sequence[Mapping[str, Any]] = [
    {"id": "c1/1", "session": 1, "session_time": "1:56 pm on 8 May, 2026", "user": "Ida", "text": "Hello"},
    {"id": "c1/2", "session": 1, "session_time": "1:56 pm on 8 May, 2026", "user": "Ole", "text": "Look"},
    {"id": "c1/3", "session": 2, "session_time": "9:05 am on 9 May, 2026", "user": "Ida", "text": "A boat"},
]
CAPTIONS = (None, "a red boat", None)
CHAT_QUESTIONS: Sequence[Mapping[str, Any]] = [
    {"id": "c1/q", "conv": "c1", "question": "Which boat did Ole show?", "gold": ["c1/2"]}
]
TURNS: Sequence[Mapping[str, Any]] = [
    {"id": "m1/0", "conv": "m1", "turn": 0, "user": "Chair", "text": "Let us begin."},
    {"id": "m1/1", "conv": "m1", "turn": 1, "user": "Clerk", "text": "The budget is agreed."},
]
TURN_QUESTIONS: Sequence[Mapping[str, Any]] = [
    {"id": "m1/q", "conv": "m1", "question": "What was agreed?", "gold": ["m1/1"]}
]

PASSAGE_FILES: SetFiles = {"corpus.jsonl": PASSAGES, "queries.jsonl": QUESTIONS}
FILES: Mapping[str, SetFiles] = {
    "musique": {**PASSAGE_FILES, "openie.jsonl": READINGS},
    "hotpotqa": PASSAGE_FILES,
    "2wiki": PASSAGE_FILES,
    "cranfield": PASSAGE_FILES,
    "locomo": {
        "messages.jsonl": [
            {**row, "conv": "c1", "image_caption": caption} for row, caption in zip(CHAT, CAPTIONS, strict=True)
        ],
        "queries.jsonl": CHAT_QUESTIONS,
    },
    "qmsum": {"messages.jsonl": TURNS, "queries.jsonl": TURN_QUESTIONS},
}
STATED: Sequence[Mapping[str, Any]] = [{"conv": "c1", "evidence": ["3"], "observation": "Ida has a boat."}]
FILES = {
    **FILES,
    "locomo-windows": FILES["locomo"],
    "locomo-facts": {**FILES["locomo"], "observations_gpt35.jsonl": STATED},
}


def write_set(data: Path, name: str) -> BenchSet:
    folder = data / SETS[name].folder
    folder.mkdir(parents=True, exist_ok=True)
    for file, rows in FILES[name].items():
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return load_set(data, name)


def passage_texts(data: BenchSet) -> list[list[str]]:
    return [[passage.text for passage in document.passages] for document in data.documents]


@pytest.mark.parametrize("name", ["musique", "hotpotqa", "2wiki", "cranfield"])
def test_passages_are_documents_with_their_title_and_unanswerable_questions_are_left_out(
    tmp_path: Path, name: str
) -> None:
    data = write_set(tmp_path, name)
    assert passage_texts(data) == [
        ["Ferry\nThe ferry to Norderney leaves at noon."],
        ["Mara Venn repairs the lighthouse lamp."],
        ["Lamp\nThe lamp burns oil."],
    ]
    assert [document.key for document in data.documents] == ["p1", "p2", "p3"]
    [question] = data.questions
    assert (question.id, question.gold) == ("q1", frozenset({"p2"}))
    assert {document.space for document in data.documents} == {question.space}


async def test_a_stored_extraction_is_replayed_for_exactly_its_passage(tmp_path: Path) -> None:
    language = write_set(tmp_path, "musique").language
    assert language is not None
    found = await language.extract(Excerpt(str(PASSAGES[1]["text"])), UsageMeter())
    assert [mention.name for mention in found.mentions] == ["Mara Venn", "lighthouse lamp"]
    assert [(link.source, link.target) for link in found.links] == [("Mara Venn", "lighthouse lamp")]
    assert not (await language.extract(Excerpt(str(PASSAGES[0]["text"])), UsageMeter())).mentions


def test_cranfield_is_measured_by_its_gain_at_ten(tmp_path: Path) -> None:
    data = write_set(tmp_path, "cranfield")
    assert (data.ndcg_at, data.all_at, data.by_passage) == (10, 0, False)


def test_a_message_is_a_document_of_its_own_with_author_caption_and_minute(tmp_path: Path) -> None:
    data = write_set(tmp_path, "locomo")
    assert passage_texts(data) == [["Ida: Hello"], ["Ole: Look [a red boat]"], ["Ida: A boat"]]
    assert [document.key for document in data.documents] == ["c1/1", "c1/2", "c1/3"]
    times = [str(document.passages[0].time) for document in data.documents]
    assert times == ["2026-05-08 13:56:00+00:00", "2026-05-08 13:57:00+00:00", "2026-05-09 09:05:00+00:00"]
    assert [(question.space, question.gold) for question in data.questions] == [("c1", frozenset({"c1/2"}))]


def test_a_session_is_a_document_with_a_passage_a_message(tmp_path: Path) -> None:
    data = write_set(tmp_path, "locomo-windows")
    assert passage_texts(data) == [["Ida: Hello", "Ole: Look [a red boat]"], ["Ida: A boat"]]
    assert data.by_passage
    assert data.questions[0].gold <= {passage.key for document in data.documents for passage in document.passages}


def test_a_meeting_is_a_document_with_a_passage_a_turn(tmp_path: Path) -> None:
    data = write_set(tmp_path, "qmsum")
    assert passage_texts(data) == [["Chair: Let us begin.", "Clerk: The budget is agreed."]]
    assert [passage.key for passage in data.documents[0].passages] == ["m1/0", "m1/1"]
    assert (data.by_passage, data.questions[0].space, data.questions[0].gold) == (True, "m1", frozenset({"m1/1"}))


@pytest.mark.parametrize("name", list(SETS))
def test_a_set_without_its_files_is_named_with_the_file_that_is_missing(tmp_path: Path, name: str) -> None:
    place = tmp_path / SETS[name].folder
    assert missing_file(tmp_path, name) == place
    write_set(tmp_path, name)
    assert missing_file(tmp_path, name) is None
    last = place / list(FILES[name])[-1]
    last.unlink()
    assert missing_file(tmp_path, name) == last


@pytest.mark.long
@pytest.mark.parametrize("name", list(SETS))
async def test_every_set_is_measured_in_each_mode(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    data = write_set(tmp_path, name)
    embedder = StoredEmbedder(HashEmbedder(), tmp_path / BENCH.name / "vectors.npz")
    await run_set(data, tmp_path / "home", embedder, ["naive", "mix"])
    table = capsys.readouterr().out.splitlines()
    assert table[1].startswith(f"{data.name}: 1 questions")
    rows = {line[:24].strip(): line[24:].split() for line in table[3:]}
    assert list(rows) == ["BM25", "vectors", "BM25 and vectors (RRF)", "naive", "mix"]
    assert rows["naive"][0] == rows["mix"][0] == "100.0"


def test_a_whole_corpus_is_added_without_the_passages_that_a_set_has(tmp_path: Path) -> None:
    folder = tmp_path / SETS["hotpotqa"].folder
    folder.mkdir(parents=True)
    for name, rows in (("corpus", PASSAGES), ("queries", QUESTIONS)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    corpus = tmp_path / "corpus.json"
    known = {"title": "Ferry", "text": "The ferry to Norderney leaves at noon."}
    corpus.write_text(json.dumps([known, {"title": "Mole", "text": "The mole is closed."}]), encoding="utf-8")
    whole = add_passages(load_set(tmp_path, "hotpotqa"), corpus)
    assert [document.title for document in whole.documents] == ["Ferry", "p2", "Lamp", "Mole"]
    assert whole.documents[-1].passages[0].text == "Mole\nThe mole is closed."
    assert {document.space for document in whole.documents} == {"hotpotqa"}


def test_empty_passages_are_left_out(tmp_path: Path) -> None:
    rows = [*PASSAGES, {"id": "p4", "title": "", "text": ""}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert list(load_passages(tmp_path)) == ["p1", "p2", "p3"]


def test_each_paragraph_of_several_languages_is_in_one_of_them(tmp_path: Path) -> None:
    for language in ("en", "de"):
        folder = tmp_path / f"xquad_{language}"
        folder.mkdir()
        rows = [{"id": f"p{number}", "text": f"{language} {number}"} for number in range(9)]
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    mixed = read_paragraphs(tmp_path, ["en", "de"])
    assert [row["text"] for row in mixed] == [f"{'de' if hash_byte(f'p{n}') % 2 else 'en'} {n}" for n in range(9)]
    assert [row["text"] for row in read_paragraphs(tmp_path, ["de"])] == [f"de {number}" for number in range(9)]
