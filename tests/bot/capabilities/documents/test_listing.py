"""Documents are listed by place and order, and folders say nothing of where they lie on the machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.capabilities.documents.listing import select_documents
from bot.capabilities.requests import ListDocuments
from engine.models import Omission
from tests.support.builders import make_listed

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
ROOM, OWN = "slack:T1:ROOF", "slack:T1:dm:ada"
NOT_READ = (Omission("page 2", "is a picture"),)
LISTED = [
    make_listed("file:/home/ada/notes/a.md", "b", room="files", time=NOON, passages=3),
    make_listed("file:/home/ada/notes/2024/b.md", "C", room="files", time=NOON + timedelta(days=1), passages=9),
    make_listed("file:/home/ada/notes/2024/b.md#part-2", "d", room="files", time=None, passages=1),
    make_listed(f"{ROOM}:file:f:1", "a", room=ROOM, time=NOON - timedelta(days=1), passages=2),
    make_listed("u", "e", room="slack:T1:D1", space=OWN, time=NOON, passages=2, omissions=NOT_READ),
]


def list_titles(**chosen: object) -> str:
    return "".join(document.title for document in select_documents(LISTED, ListDocuments(**chosen)).documents)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sort", "titles"),
    [("", "bCdae"), ("newest", "Cbead"), ("oldest", "abeCd"), ("title", "abCde"), ("length", "Cbaed")],
)
def test_the_order_is_chosen(sort: str, titles: str) -> None:
    assert list_titles(sort=sort) == titles


def test_places_are_channels_and_folders_without_the_path() -> None:
    found = select_documents(LISTED, ListDocuments(limit=2), names={ROOM: "roof"})
    names = {each.name: (each.place, count) for each, count in found.places}
    assert names == {
        "#roof": (ROOM, 1),
        "2024": ("folder:2024", 2),
        "Files": ("folder:.", 1),
        "Only you": ("own", 1),
    }
    assert [place.name for place in found.located] == ["Files", "2024"]
    assert "home" not in str(found.places) + str(found.located)


@pytest.mark.parametrize(
    ("place", "titles"), [(ROOM, "a"), ("folder:2024", "Cd"), ("folder:.", "b"), ("own", "e"), ("elsewhere", "")]
)
def test_one_place_is_listed_alone(place: str, titles: str) -> None:
    assert list_titles(place=place) == titles


def test_what_was_not_read_is_listed_alone() -> None:
    assert list_titles(status="partial") == "e"
