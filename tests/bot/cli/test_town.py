from __future__ import annotations

import json
import zipfile
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

import pypdfium2
import pytest

from bot.cli.chat import TOWN_DIR
from tests.acceptance.demo_questions import source_text

ROOMS = sorted(path.name for path in TOWN_DIR.glob("*.jsonl"))
every_room = pytest.mark.parametrize("room", ROOMS)


def messages(room: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TOWN_DIR / room).read_text(encoding="utf-8").splitlines()]


def words(text: str) -> str:
    return " ".join(text.split())


def prose(document: str) -> list[str]:
    """The paragraphs that a typeset document was made from, without marks."""
    lines = source_text(document).splitlines()
    return [line.lstrip("# ") for line in lines if line and not line.startswith(("|", "---"))]


def test_the_town_is_a_dozen_documents_in_several_formats_and_three_rooms() -> None:
    suffixes = [path.suffix for path in TOWN_DIR.iterdir()]
    assert {suffix: suffixes.count(suffix) for suffix in suffixes} == {
        ".md": 5,
        ".txt": 2,
        ".html": 2,
        ".pdf": 2,
        ".docx": 2,
        ".jsonl": 3,
    }
    assert sum(path.stat().st_size for path in TOWN_DIR.iterdir()) < 400_000


def test_a_dozen_people_chat_a_few_hundred_times_over_some_weeks() -> None:
    said = [message for room in ROOMS for message in messages(room)]
    times = [datetime.fromisoformat(message["time"]) for message in said]
    assert 300 <= len(said) <= 400
    assert len({message["user"] for message in said}) == 13
    assert timedelta(weeks=5) < max(times) - min(times) < timedelta(weeks=8)


@every_room
def test_ids_are_unique_and_times_run_forward_in_utc(room: str) -> None:
    said = messages(room)
    assert len({message["id"] for message in said}) == len(said)
    assert all(message["time"].endswith("Z") for message in said)
    assert all(one["time"] <= next_one["time"] for one, next_one in pairwise(said))


@every_room
def test_a_thread_is_named_by_its_first_message(room: str) -> None:
    said = messages(room)
    first: dict[str, str] = {}
    for message in said:
        if "thread" in message:
            first.setdefault(message["thread"], message["id"])
    assert first
    assert all(thread == opener for thread, opener in first.items())


@pytest.mark.parametrize(("name", "pages"), [("harbour-rules.pdf", 4), ("lighthouse-survey.pdf", 3)])
def test_the_pdfs_say_what_their_sources_say(name: str, pages: int) -> None:
    with pypdfium2.PdfDocument(TOWN_DIR / name) as pdf:
        text = words(" ".join(page.get_textpage().get_text_bounded() for page in pdf))
        assert len(pdf) == pages
    assert [line for line in prose(name) if line not in text] == []


@pytest.mark.parametrize("name", ["cooperative-report.docx", "lifeboat-rota.docx"])
def test_the_docx_files_say_what_their_sources_say(name: str) -> None:
    with zipfile.ZipFile(TOWN_DIR / name) as packed:
        text = "\n".join(ET.fromstring(packed.read("word/document.xml")).itertext())
    assert [line for line in prose(name) if line not in text] == []
