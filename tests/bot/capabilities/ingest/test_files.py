from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.capabilities.documents.lookup import chat_key
from bot.capabilities.ingest import files
from bot.capabilities.ingest.files import IngestTarget
from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, EmptyDocument, NotFound
from engine.models import Document

TARGET = IngestTarget("console:local", "files")
MAY_12 = datetime(2026, 5, 12, tzinfo=UTC)
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def message(number: int, hour: int, text: str = "Hello", **more: str) -> str:
    time = f"2026-05-12T{hour:02}:00:00Z"
    return json.dumps({"id": f"m{number}", "user": "Ada", "text": text, "time": time, **more})


async def build(path: Path, text: str, target: IngestTarget = TARGET) -> Document:
    async with FileParser(ParserLimits(workers=1)) as parser:
        return await anext(files.build_documents(path, text.encode(), target, parser, NOW))


def test_files_are_found_once_in_the_order_of_names_and_hidden_ones_if_they_are_named(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.txt", "a/b/c.md", ".hidden/x.md", "a/.y.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = files.find_files([str(tmp_path / "a" / ".y.md"), str(tmp_path / "b.md"), str(tmp_path)])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["a/.y.md", "b.md", "a/z.txt", "a/b/c.md"]
    with pytest.raises(NotFound, match="nowhere"):
        files.find_files([str(tmp_path / "nowhere")])


async def test_a_file_becomes_a_document_with_its_path_as_key(tmp_path: Path) -> None:
    path = tmp_path / "a b.md"
    document = await build(path, "# Tea\n\nIt is hot.")
    assert (document.key, document.link) == (f"file:{path}", path.as_uri())
    assert (document.space, document.room, document.kind) == ("console:local", "files", "file")
    assert document.time is None  # the time of a copy says nothing of its content
    assert "It is hot." in "".join(passage.text for passage in document.passages)
    assert (await build(path, "Tea.", IngestTarget("team", "files"))).key == f"file:team:{path}"


@pytest.mark.parametrize(
    ("name", "text", "time"),
    [
        ("minutes-2026-05-12.md", "# Minutes\n\nTea.", MAY_12),
        ("minutes.md", "# Minutes of 12 May 2026\n\nTea.", MAY_12),
        ("forecast.md", "# Forecast of 12 May 2999\n\nTea.", None),
    ],
)
async def test_a_file_has_the_date_that_it_states(tmp_path: Path, name: str, text: str, time: datetime | None) -> None:
    assert (await build(tmp_path / name, text)).time == time


def test_an_exported_room_becomes_its_conversations(tmp_path: Path) -> None:
    path = tmp_path / "harbour.jsonl"
    lines = [message(1, 8), message(2, 8, "Back"), message(3, 12, link="https://a.example/3")]
    documents = files.build_conversations(path, "\n".join(lines).encode(), TARGET, len)
    assert [document.key for document in documents] == [chat_key(path, TARGET.space, key) for key in ("m1", "m3")]
    assert {(document.room, document.kind) for document in documents} == {("harbour", "conversation")}
    assert documents[0].title.startswith("#harbour: ")
    assert documents[1].passages[0].link == "https://a.example/3"


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [(f"{message(1, 8)}\nHello", CorruptFile, "Line 2"), (message(1, 8, " "), EmptyDocument, r"x\.jsonl")],
)
def test_an_export_without_messages_or_text_is_refused(
    tmp_path: Path, content: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        files.build_conversations(tmp_path / "x.jsonl", content.encode(), TARGET, len)


@pytest.mark.parametrize(("name", "chat"), [("a.jsonl", True), ("a.NDJSON", True), ("a.json", False), ("a.md", False)])
def test_chats_are_known_by_their_names_and_messages(tmp_path: Path, name: str, *, chat: bool) -> None:
    assert files.is_chat(tmp_path / name, message(1, 8).encode()) is chat
    assert not files.is_chat(tmp_path / name, b'{"berth": 4, "boat": "Gudgeon"}')
