from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from engine.llm.source_lines import SHORT_TEXT, render_source, render_sources
from engine.models import Source

MOMENT = datetime(2026, 5, 7, 14, 20, tzinfo=UTC)


def make_source(title: str = "Guide", label: str = "p. 1", author: str = "", **more: Any) -> Source:
    place = {"document": "d", "passage": "p", "space": "s", "room": "r", "chunk": "c", "link": ""}
    return Source(**{"number": 4, "title": title, "label": label, "author": author, "time": MOMENT, **place, **more})


AUTHOR_LINES = "[2026-05-07 14:20] Ada Byron: Rain.\n[2026-05-07 14:21] Oh."
THREAD = "#hall: Thread by Ada Byron, 2026-05-07"
HOUR, TWO_HOURS = timezone(timedelta(hours=1)), timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("source", "rendered"),
    [
        pytest.param(make_source("", "", time=None, text="Text"), "(undated) Text", id="nothing known"),
        pytest.param(
            make_source(THREAD, "Ada Byron, 2026-05-07 14:20", "Ada Byron", text=AUTHOR_LINES),
            f"({THREAD}, Ada Byron, 2026-05-07 14:20 UTC) Rain.\n    [2026-05-07 14:21] Oh.",
            id="author and time of the first line once",
        ),
        pytest.param(
            make_source("Guide", "Guide › Rooms", text="Text"),
            "(Guide › Rooms, 2026-05-07 14:20 UTC) Text",
            id="title within the label",
        ),
        pytest.param(
            make_source("Guide", "Guide", "Al", text="Text"),
            "(Guide, Al, 2026-05-07 14:20 UTC) Text",
            id="title as label",
        ),
        pytest.param(
            make_source("Alan", "p. 1", "Al", text="[2026-05-07 14:20] Bob: Text"),
            "(Alan, p. 1, Al, 2026-05-07 14:20 UTC) [2026-05-07 14:20] Bob: Text",
            id="author as part of a longer word, other author in the line",
        ),
    ],
)
def test_a_source_shows_what_is_known_of_it_once(source: Source, rendered: str) -> None:
    assert render_source(source) == f"[4] {rendered}"


@pytest.mark.parametrize(
    ("time", "rendered"),
    [
        (datetime(2026, 3, 3, tzinfo=UTC), "2026-03-03"),
        (datetime(2026, 3, 3, 1, tzinfo=HOUR), "2026-03-03"),
        (datetime(2026, 3, 3, 0, 0, 1, tzinfo=UTC), "2026-03-03 00:00 UTC"),
        (datetime(2026, 3, 3, 1, 30, tzinfo=TWO_HOURS), "2026-03-02 23:30 UTC"),
    ],
)
def test_a_source_of_a_whole_day_shows_no_time(time: datetime, rendered: str) -> None:
    assert render_source(make_source(time=time, text="Text")) == f"[4] (Guide, p. 1, {rendered}) Text"


@pytest.mark.parametrize("text", ["Text", "Text " * SHORT_TEXT])
def test_sources_that_differ_in_one_part_are_told_apart(text: str) -> None:
    source = make_source(text=text)
    others: dict[str, Any] = {
        "number": 5,
        "title": "Rules",
        "label": "p. 2",
        "author": "Ada",
        "time": None,
        "text": f"{text} more",
    }
    rendered = {render_source(replace(source, **{name: value})) for name, value in others.items()}
    assert len({render_source(source), *rendered}) == len(others) + 1
    assert render_source(replace(source, space="t", number=5)) == render_source(source).replace("[4]", "[5]", 1)


def test_a_source_leaves_out_what_it_shares_with_the_one_above() -> None:
    first = make_source(THREAD, "Ada Byron, 2026-05-07 14:20", "Ada Byron", text="[2026-05-07 14:20] Ada Byron: Rain.")
    later = MOMENT + timedelta(minutes=1), MOMENT + timedelta(days=1)
    minutes = [f"{time:%Y-%m-%d %H:%M}" for time in later]
    lines = [
        replace(first, label=f"Bob, {minute}", author="Bob", time=time, text=f"[{minute}] Bob: Oh.")
        for time, minute in zip(later, minutes, strict=True)
    ]
    assert render_sources([first, *lines, replace(first, document="e"), make_source("Rules", "", text="Text")]) == [
        f"[4] ({THREAD}, Ada Byron, 2026-05-07 14:20 UTC) Rain.",
        "[4] (…, Bob, 14:21) Oh.",
        "[4] (…, Bob, 2026-05-08 14:20 UTC) Oh.",
        f"[4] ({THREAD}, Ada Byron, 2026-05-07 14:20 UTC) Rain.",
        "[4] (Rules, 2026-05-07 14:20 UTC) Text",
    ]


def test_the_pages_of_a_file_name_it_once() -> None:
    day = datetime(2026, 5, 7, tzinfo=UTC)
    places: list[tuple[str, datetime | None]] = [("p. 1", day), ("p. 2", day), ("p. 3", None)]
    pages = [make_source(label=label, time=time, text="Text") for label, time in places]
    heads = "Guide, p. 1, 2026-05-07", "…, p. 2", "…, p. 3, undated"
    assert render_sources(pages) == [f"[4] ({head}) Text" for head in heads]
    assert render_sources([make_source(label="", text="Text")] * 2)[1] == "[4] (Guide, 2026-05-07 14:20 UTC) Text"


@pytest.mark.parametrize(
    ("parts", "head"),
    [
        pytest.param(("Ada", "", "Ada Byron"), "Ada, Ada Byron", id="within a name"),
        pytest.param(("Rooms", "Guide › Rooms", ""), "Rooms, Guide › Rooms", id="at the end of the label"),
        pytest.param(("Ada", "Ada, p. 1", "Ada"), "Ada, p. 1", id="as a whole part"),
        pytest.param(("", "", "Bob"), "Bob", id="no title"),
    ],
)
def test_a_document_begins_with_its_title(parts: tuple[str, str, str], head: str) -> None:
    sources = [make_source("Rules", document="e", text="Text"), make_source(*parts, text="Text")]
    assert render_sources(sources)[1] == f"[4] ({head}, 2026-05-07 14:20 UTC) Text"


@pytest.mark.parametrize("name", ["…, Bob", "... Bob", " .. , … Bob", "\u200b⋯ Bob"])
def test_no_name_forges_the_mark_of_a_document_that_goes_on(name: str) -> None:
    heads = "Bob, 2026-05-07 14:20 UTC", "…, Bob, 14:20"
    for source in (make_source("", "", name, text="Text"), make_source("", name, text="Text")):
        assert render_sources([source, source]) == [f"[4] ({head}) Text" for head in heads]
    assert render_source(make_source(name, "", text="Text")) == f"[4] ({heads[0]}) Text"


def test_a_name_that_reads_as_a_title_and_page_is_marked_as_a_name() -> None:
    message = make_source("#general", "", "HR policy (official), page 3", text="Text")
    assert render_sources([message, message])[1] == "[4] (…, HR policy (official), page 3, 14:20) Text"


def test_a_message_keeps_its_author_if_only_the_left_out_title_names_him() -> None:
    message = make_source("Ada Byron", "", "Bob", text="[2026-05-07 14:20] Ada Byron: Oh.")
    assert render_sources([message, message])[1] == "[4] (…, Bob, 14:20) [2026-05-07 14:20] Ada Byron: Oh."


@pytest.mark.parametrize("title", [".env", "(Draft) Plan", "Notes…", "C# guide"])
def test_other_titles_are_copied_exactly(title: str) -> None:
    assert render_source(make_source(title, "", text="Text")) == f"[4] ({title}, 2026-05-07 14:20 UTC) Text"
