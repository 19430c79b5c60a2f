from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import chat_key
from bot.admin.ingest import files
from bot.admin.ingest.files import IngestTarget
from engine import FileParser, ParserLimits
from engine.errors import CorruptFile, EmptyDocument, NotFound

if TYPE_CHECKING:
    from pathlib import Path

PLACE = IngestTarget("console:local", "files")


def message(number: int, hour: int, text: str = "Hello", **more: str) -> str:
    time = f"2026-05-12T{hour:02}:00:00Z"
    return json.dumps({"id": f"m{number}", "user": "Ada", "text": text, "time": time, **more})


def test_folders_are_searched_through_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.txt", "a/b/c.md", ".hidden/x.md", "a/.y.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = files.find_files([str(tmp_path)])
    assert [str(path.relative_to(tmp_path)) for path in found] == ["b.md", "a/z.txt", "a/b/c.md"]


def test_a_file_that_is_named_twice_is_found_once(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    assert files.find_files([str(path), str(tmp_path)]) == [path]


def test_a_hidden_file_is_found_if_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / ".a.md"
    path.write_text("x")
    assert files.find_files([str(path)]) == [path]


def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        files.find_files([str(tmp_path / "nowhere")])


def test_a_room_without_a_word_is_empty(tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument, match=r"x\.jsonl"):
        files.build_conversations(tmp_path / "x.jsonl", message(1, 8, " ").encode(), PLACE, len)


async def test_a_file_becomes_a_document_with_its_path_as_key(tmp_path: Path) -> None:
    path = tmp_path / "a b.md"
    path.write_text("# Tea\n\nIt is hot.")
    async with FileParser(ParserLimits(workers=1)) as reader:
        document = await files.build_document(path, path.read_bytes(), PLACE, reader)
    assert document.key == f"file:{path}"
    assert document.link == path.as_uri()
    assert (document.space, document.room, document.kind) == ("console:local", "files", "file")
    assert document.time is None  # the time of a copy says nothing of what stands in it
    assert "It is hot." in "".join(passage.text for passage in document.passages)


@pytest.mark.parametrize(
    ("name", "text", "time"),
    [
        ("minutes-2026-05-12.md", "# Minutes\n\nTea.", datetime(2026, 5, 12, tzinfo=UTC)),
        ("minutes.md", "# Minutes of 12 May 2026\n\nTea.", datetime(2026, 5, 12, tzinfo=UTC)),
        ("forecast.md", "# Forecast of 12 May 2999\n\nTea.", None),
    ],
)
async def test_a_file_has_the_date_that_it_states(tmp_path: Path, name: str, text: str, time: datetime | None) -> None:
    async with FileParser(ParserLimits(workers=1)) as reader:
        assert (await files.build_document(tmp_path / name, text.encode(), PLACE, reader)).time == time


async def test_the_same_file_in_another_space_is_another_document(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("Tea.")
    async with FileParser(ParserLimits(workers=1)) as reader:
        document = await files.build_document(path, b"Tea.", IngestTarget("team", "files"), reader)
    assert document.key == f"file:team:{path}"


def test_an_exported_room_becomes_its_conversations(tmp_path: Path) -> None:
    path = tmp_path / "harbour.jsonl"
    lines = [message(1, 8), message(2, 8, "Back"), message(3, 12, link="https://a.example/3")]
    documents = files.build_conversations(path, "\n".join(lines).encode(), PLACE, len)
    assert [document.key for document in documents] == [chat_key(path, PLACE.space, key) for key in ("m1", "m3")]
    assert {document.room for document in documents} == {"harbour"}
    assert {document.kind for document in documents} == {"conversation"}
    assert documents[0].title.startswith("#harbour: ")
    assert documents[1].passages[0].link == "https://a.example/3"


def test_what_is_no_chat_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="Line 2"):
        files.build_conversations(tmp_path / "x.jsonl", f"{message(1, 8)}\nHello".encode(), PLACE, len)


@pytest.mark.parametrize(("name", "chat"), [("a.jsonl", True), ("a.NDJSON", True), ("a.json", False), ("a.md", False)])
def test_chats_are_known_by_their_names_and_messages(tmp_path: Path, name: str, *, chat: bool) -> None:
    assert files.is_chat(tmp_path / name, message(1, 8).encode()) is chat
    assert not files.is_chat(tmp_path / name, b'{"berth": 4, "boat": "Gudgeon"}')
