from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import get_args

import pytest

from bot.admin import requests, results
from bot.admin.requests import Request
from bot.admin.results import Event
from bot.admin.rpc import codec
from engine.errors import EngineError, FolderInUse, NotFound, OtherEmbedder
from engine.models import Condensed, Context, EntityRow, Message, RelationRow, Source, Turn
from engine.storage.ledger.queries.stats import Listed, Status
from engine.usage import Usage

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
SOURCE = Source(1, "file:/a", "p1", "A", "p. 1", "file:///a", "Ada", NOON, "Tea “ü”\n", "s", "r", "c1")
REQUESTS: list[Request] = [
    requests.Ask("Why?", ("s",), "local", (Turn("user", "Hm"),), "prompt", ("d",), ("r",), ("a",), NOON, None, "m"),
    requests.Ingest(("/a", "/b"), "s", "files"),
    requests.Tell(("s",)),
    requests.Catalogue(("s",)),
    requests.Look("Ada", ("s",)),
    requests.Forget("x", ("s",)),
    requests.Merge("s", "a", "b"),
    requests.Pin("s", "a", "words", "b"),
    requests.Hide("s", "a", hidden=False),
    requests.State("s", "a", "words", type="person"),
    requests.Rebuild(),
    requests.Verify(repair=True),
    requests.Export(("s",), "graphml"),
    requests.Backup("/b"),
    requests.Retry(("s",)),
]
EVENTS: list[Event] = [
    results.Recalled(1, 2, 3),
    results.Said("a “b”\n"),
    results.Cited((SOURCE,), (Usage("answer", "m", 1, 2, 0.5),)),
    results.Found(
        Context(
            Condensed("q", ("h",), ("l",)),
            "mix",
            (EntityRow("A", "t", "d", (1,)),),
            (RelationRow("A", "B", "k", "d", 2.0, (1,)),),
            (SOURCE,),
            {"search": 1.5},
        )
    ),
    results.Prompted((Message("system", "x"),)),
    results.Advanced("reading", 1, 2),
    results.Ingested(1, 2, 1, 0.5, (results.Failure("a", "b", "c"),)),
    results.Told(Status({"indexed": 3}, 1, 2, 3, 4, 5, 6, 7)),
    results.Catalogued((Listed("k", "s", "r", "file", "t", "l", NOON, False, "indexed", "", "", 1, 2),)),
    results.Seen(EntityRow("A", "t", "d"), ()),
    results.Compared(("x",), repaired=True),
    results.Line("{}"),
    results.Done("Well."),
]


def test_every_kind_of_request_and_event_is_tried_here() -> None:
    assert {type(each) for each in REQUESTS} == set(get_args(Request))
    assert {type(each) for each in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("record", REQUESTS, ids=lambda record: type(record).__name__)
def test_a_request_comes_over_whole(record: Request) -> None:
    assert codec.request(codec.encode(record)) == record


@pytest.mark.parametrize("record", EVENTS, ids=lambda record: type(record).__name__)
def test_an_event_comes_over_whole_and_on_one_line(record: Event) -> None:
    line = codec.encode(record)
    assert line.index(b"\n") == len(line) - 1
    assert codec.event(line) == record


@pytest.mark.parametrize("error", [NotFound("Nothing.", hint="Look."), FolderInUse("In use."), OtherEmbedder("Other.")])
def test_an_error_is_raised_on_the_other_side_as_it_was(error: EngineError) -> None:
    with pytest.raises(type(error)) as caught:
        codec.event(codec.encode_error(error))
    assert (str(caught.value), caught.value.hint) == (str(error), error.hint)


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b"[]\n", b"{}\n", b'{"kind": "Unheard"}\n', b'{"kind": "Ask", "text": 3}\n']
)
def test_a_line_that_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(codec.BadLine):
        codec.request(line)


def test_an_error_of_a_foreign_name_is_still_an_error() -> None:
    line = json.dumps({"kind": "Trouble", "name": "annotations", "message": "Hm."}).encode()
    with pytest.raises(EngineError, match=r"Hm\."):
        codec.event(line)
