from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.clock import SYSTEM_CLOCK
from engine.errors import NotFound
from engine.knowledge.manual_facts import build_manual_document
from engine.models import Extraction, Mention, Passage
from engine.storage.ledger import Ledger
from engine.storage.ledger.cache import Cache
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.records.projection import CachedAnswer
from engine.storage.ledger.work.settings import Settings
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, cut, extraction
from tests.support.engine_fixture import doc


async def entities(ledger: LedgerFixture) -> set[tuple[str, str, int]]:
    """Space, name and mentions of every entity."""
    await ledger.project()
    rows = [row for row in await ledger.export() if row["kind"] == "entity"]
    return {(row["space"], row["canonical"], row["mentions"]) for row in rows}


async def spaces_of(ledger: LedgerFixture, **fields: str) -> set[str]:
    """The spaces of what has these fields in the export."""
    return {row["space"] for row in await ledger.export() if fields.items() <= row.items()}


async def test_a_room_moves_with_its_documents_and_follows_the_aliases_of_its_new_space(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Lovelace"))
    await ledger.add_facts("b", extraction("Lovelace", "Bob"), space="there")
    await ledger.write(Corrections.merge_names, "here", "Lovelace", "Ada")
    assert await ledger.move_room("room of there", "here") == 1
    assert await entities(ledger) == {("here", "ada", 2), ("here", "bob", 1)}
    assert await spaces_of(ledger) == {"here"}


async def test_what_moved_and_came_back_is_as_it_was(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add_facts("b", extraction("Ada", "Bob", "Carla"), space="there")
    await ledger.project()
    before = await ledger.export()
    for space, left in (("there", []), ("here", before)):
        await ledger.move_room("room of here", space)
        await ledger.project()
        assert await ledger.export("here") == [row for row in left if row["space"] == "here"]
    assert await ledger.export() == before
    assert await ledger.move_room("room of here", "here") == 0


async def test_moved_chunks_are_stale_and_answers_that_used_them_go(ledger: LedgerFixture) -> None:
    [chunk] = await ledger.add_facts("a", extraction("Ada"))
    now = await ledger.read(Settings.current_generation)
    await ledger.write(Cache.save_answer, CachedAnswer(b"k", "text", now, frozenset({chunk})), 1.0)
    await ledger.clear_stale()
    await ledger.move_room("room of here", "there")
    assert await ledger.column("SELECT id FROM stale_key WHERE kind = 0") == [chunk]
    assert await ledger.read(Cache.find_answer, b"k") is None


async def test_a_document_added_again_with_another_space_moves(ledger: LedgerFixture) -> None:
    [chunk] = await ledger.add_facts("a", extraction("Ada", "Bob"))
    assert await ledger.add(doc("a", "a tells 0", space="there", room="attic"))
    assert await entities(ledger) == {("there", "ada", 1), ("there", "bob", 1)}
    assert await ledger.column("SELECT id FROM chunk") == [chunk]


async def test_a_room_that_moved_decides_where_later_documents_are(ledger: LedgerFixture) -> None:
    assert await ledger.move_room("square", "there") == 0
    await ledger.add(doc("a", "one", room="square"))
    await ledger.add(doc("b", "two", room="hall"))
    await ledger.add(doc("b", "two", room="square"))
    await ledger.amend("a", Passage("p9", "late"))
    await ledger.add(doc("c", "elsewhere", room="hall"))
    assert (await spaces_of(ledger, room="square"), await spaces_of(ledger, room="hall")) == ({"there"}, {"here"})


async def correct(ledger: LedgerFixture, room: str) -> None:
    """Every kind of correction, made in a room of the space "here"."""
    await ledger.write(Corrections.change_description, "here", ("Ada", ""), "Knows the zanzibarine.", room)
    await ledger.write(Corrections.change_description, "here", ("Ada", "Bob"), "Both know the zanzibarine.", room)
    await ledger.write(Corrections.change_hidden, "here", ("Bob", ""), room, hidden=True)
    await ledger.write(Corrections.merge_names, "here", "Zanzibarine", "Ada", room)


async def corrections_by_space(ledger: LedgerFixture) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in await ledger.export():
        if row["kind"] in {"pin", "hidden", "alias"}:
            found.setdefault(row["space"], set()).add(row["kind"])
    return found


async def test_a_room_that_was_deleted_holds_nothing_and_decides_nothing(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add_facts("b", extraction("Ada", "Bob", "Carla"), space="there")
    await ledger.move_room("room of there", "here")
    await correct(ledger, "room of there")
    assert await ledger.write(Documents.delete_room, "room of there") == 1
    assert {row["document"] for row in await ledger.export() if "document" in row} == {"a"}
    assert await corrections_by_space(ledger) == {}
    await ledger.add_facts("b", extraction("Zoe"), space="there")
    assert await spaces_of(ledger, document="b") == {"there"}


async def test_corrections_follow_the_room_in_which_they_were_made(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    await ledger.add(doc("b", "Ada and Bob", room="square"))
    await correct(ledger, "square")
    await ledger.project()
    await ledger.move_room("square", "there")
    assert await corrections_by_space(ledger) == {"there": {"pin", "hidden", "alias"}}
    assert "anzibarine" not in str(await ledger.export("here"))
    await ledger.project()
    assert "anzibarine" not in str(await ledger.export("here"))
    assert "bob" in {row["canonical"] for row in await ledger.export("here") if row["kind"] == "entity"}
    await ledger.move_room("square", "here")
    await ledger.project()
    [ada] = [row for row in await ledger.export("here") if row["kind"] == "entity"]
    assert ada["description"] == "Knows the zanzibarine."


@pytest.mark.parametrize(("room", "space"), [("", "here"), ("room of here", "there")])
async def test_a_correction_of_the_whole_space_stays_and_one_that_comes_late_is_made_where_its_room_is(
    ledger: LedgerFixture, room: str, space: str
) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob"))
    if room:
        await ledger.move_room("room of here", "there")
    await correct(ledger, room)
    await ledger.move_room("square", "there")
    await ledger.move_room("room of here", "there")
    assert await corrections_by_space(ledger) == {space: {"pin", "hidden", "alias"}}
    await ledger.write(Corrections.unmerge_name, "here", "Zanzibarine", room)
    assert await corrections_by_space(ledger) == {space: {"pin", "hidden"}}


async def test_corrections_of_the_space_that_a_room_comes_to_stay(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", extraction("Ada", "Bob", "Zanzibarine"))
    await ledger.add_facts("b", extraction("Ada", "Bob"), space="there")
    await correct(ledger, "room of here")
    await ledger.write(Corrections.change_description, "there", ("Ada", ""), "Theirs.")
    # With the alias of the other space this would be a circle.
    await ledger.write(Corrections.merge_names, "there", "Ada", "Zanzibarine")
    await ledger.move_room("room of here", "there")
    assert await ledger.column("SELECT description FROM description_override WHERE b = ''") == ["Theirs."]
    assert await ledger.rows("SELECT name, target FROM alias") == [("ada", "zanzibarine")]
    await ledger.project()


STEPS = ("add old", "add new", "move old", "move new", "amend", "forget", "state")


@pytest.mark.long
@given(st.lists(st.sampled_from(STEPS), max_size=7))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_once_moved_a_room_is_never_in_two_spaces(tmp_path_factory: Any, steps: list[str]) -> None:
    ledger, moved = (
        LedgerFixture(await Ledger.open(tmp_path_factory.mktemp("ledger") / "ledger.db", clock=SYSTEM_CLOCK)),
        "",
    )
    for number, step in enumerate(steps):
        what, _, space = step.partition(" ")
        if what == "add":
            await ledger.add(doc(f"d{number % 3}", f"text {number}", space=space, room="square"))
        elif what == "move":
            moved = space
            await ledger.move_room("square", space)
        elif what == "state":
            facts = Extraction((Mention("Ada", "person", f"said {number}"),))
            document = build_manual_document("old", "square", facts, None)
            await ledger.write(Documents.save_manual, document, cut(document.passages), Extraction())
        elif what == "forget":
            await ledger.forget("d0")
        else:
            with suppress(NotFound):
                await ledger.amend("d1", Passage(f"q{number}", "more"))
        if moved:
            assert await spaces_of(ledger) <= {moved}
    await ledger.ledger.close()
