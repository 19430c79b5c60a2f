from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import NotFound
from engine.ingest.rechunk import rechunk_region
from engine.knowledge.manual_facts import build_manual_document
from engine.models import Extraction, Mention, Passage
from engine.storage.ledger import Ledger, cache, corrections
from engine.storage.ledger.content import documents
from engine.storage.ledger.records.content import DocumentChange
from engine.storage.ledger.records.projection import CachedAnswer
from engine.storage.ledger.work.work_queue import current_generation
from tests.engine.storage.ledger.ledger_fixture import CUT, Desk, cut, reading
from tests.support.engine_fixture import doc
from tests.support.tokenizers import CharacterTokenizer


async def spaces_of(desk: Desk) -> set[tuple[str, str, int]]:
    """Space, name and mentions of every entity."""
    await desk.project()
    rows = [row for row in await desk.canonical() if row["kind"] == "entity"]
    return {(row["space"], row["canonical"], row["mentions"]) for row in rows}


async def test_a_room_moves_with_all_its_documents_and_what_they_say(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Carla"), space="there")
    assert await desk.ledger.write(documents.move_room, "room of there", "here") == 1
    assert await spaces_of(desk) == {("here", "ada", 2), ("here", "bob", 1), ("here", "carla", 1)}
    assert {row["space"] for row in await desk.canonical()} == {"here"}


async def test_what_moved_and_came_back_is_as_it_was(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Bob", "Carla"), space="there")
    await desk.project()
    before = await desk.canonical()
    await desk.ledger.write(documents.move_room, "room of here", "there")
    await desk.project()
    assert await desk.canonical("here") == []
    await desk.ledger.write(documents.move_room, "room of here", "here")
    await desk.project()
    assert await desk.canonical() == before


async def test_moving_to_where_it_is_moves_nothing(desk: Desk) -> None:
    await desk.tell("a", reading("Ada"))
    assert await desk.ledger.write(documents.move_room, "room of here", "here") == 0
    assert await desk.ledger.write(documents.move_room, "no such room", "there") == 0


async def test_what_moves_follows_the_aliases_of_the_space_that_it_comes_to(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Lovelace"))
    await desk.tell("b", reading("Lovelace", "Bob"), space="there")
    await desk.ledger.write(corrections.merge_names, "here", "Lovelace", "Ada")
    await desk.ledger.write(documents.move_room, "room of there", "here")
    assert await spaces_of(desk) == {("here", "ada", 2), ("here", "bob", 1)}


async def test_moved_chunks_are_stale_and_answers_that_drew_on_them_go(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada"))
    now = await desk.ledger.read(current_generation)
    await desk.ledger.write(cache.save_cached_answer, CachedAnswer(b"k", "text", now, frozenset({chunk})), 1.0)
    await desk.clear_marks()
    await desk.ledger.write(documents.move_room, "room of here", "there")
    assert await desk.column("SELECT id FROM stale_key WHERE kind = 0") == [chunk]
    assert await desk.ledger.read(cache.find_cached_answer, b"k") is None


async def test_a_document_put_again_with_another_space_moves(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada", "Bob"))
    assert await desk.put(doc("a", "a tells 0", space="there", room="attic"))
    assert await spaces_of(desk) == {("there", "ada", 1), ("there", "bob", 1)}
    assert await desk.column("SELECT id FROM chunk") == [chunk]


async def test_a_room_that_moved_decides_where_later_documents_are(desk: Desk) -> None:
    await desk.put(doc("a", "one", room="square"))
    await desk.ledger.write(documents.move_room, "square", "there")
    for stale in (doc("a", "one", "more", room="square"), doc("b", "two", room="square")):
        await desk.put(stale)
    assert await desk.column("SELECT DISTINCT s.name FROM chunk c JOIN space s ON s.id = c.space") == ["there"]
    late = DocumentChange((Passage("p9", "late"),), frozenset(), None)
    await desk.ledger.documents.amend("a", late, lambda region: rechunk_region(region, CharacterTokenizer(), CUT))
    await desk.put(doc("c", "elsewhere", room="hall"))
    assert {row["space"] for row in await desk.canonical() if row.get("room") == "square"} == {"there"}
    assert {row["space"] for row in await desk.canonical() if row.get("room") == "hall"} == {"here"}


async def test_a_room_without_documents_moves_too(desk: Desk) -> None:
    assert await desk.ledger.write(documents.move_room, "square", "there") == 0
    await desk.put(doc("a", "one", room="square"))
    await desk.put(doc("b", "two", room="hall"))
    await desk.put(doc("b", "two", room="square"))
    assert {row["space"] for row in await desk.canonical()} == {"there"}


async def test_a_room_that_was_left_holds_nothing_and_decides_nothing(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.tell("b", reading("Ada", "Bob", "Carla"), space="there")
    await desk.ledger.write(documents.move_room, "room of there", "here")
    await corrected(desk, "room of there")
    assert await desk.ledger.write(documents.delete_room, "room of there") == 1
    assert {row["document"] for row in await desk.canonical() if "document" in row} == {"a"}
    assert (
        await desk.rows(
            "SELECT a FROM description_override UNION SELECT a FROM hidden_key UNION SELECT name FROM alias"
        )
        == []
    )
    await desk.tell("b", reading("Zoe"), space="there")
    assert {row["space"] for row in await desk.canonical() if row.get("document") == "b"} == {"there"}


async def corrected(desk: Desk, room: str) -> None:
    """Everything that can be corrected by hand, said in a room of the space "here"."""
    await desk.ledger.write(corrections.pin_description, "here", ("Ada", ""), "Knows the zanzibarine.", room)
    await desk.ledger.write(corrections.pin_description, "here", ("Ada", "Bob"), "Both know the zanzibarine.", room)
    await desk.ledger.write(corrections.set_hidden, "here", ("Bob", ""), room, hidden=True)
    await desk.ledger.write(corrections.merge_names, "here", "Zanzibarine", "Ada", room)


async def by_hand(desk: Desk) -> dict[str, set[str]]:
    """The kinds of corrections by space."""
    rows = await desk.canonical()
    found: dict[str, set[str]] = {}
    for row in rows:
        if row["kind"] in {"pin", "hidden", "alias"}:
            found.setdefault(row["space"], set()).add(row["kind"])
    return found


async def test_corrections_follow_the_room_in_which_they_were_made(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.put(doc("b", "Ada and Bob", room="square"))
    await corrected(desk, "square")
    await desk.project()
    await desk.ledger.write(documents.move_room, "square", "there")
    assert await by_hand(desk) == {"there": {"pin", "hidden", "alias"}}
    assert "anzibarine" not in str(await desk.canonical("here"))
    await desk.project()
    assert "anzibarine" not in str(await desk.canonical("here"))
    assert "bob" in {row["canonical"] for row in await desk.canonical("here") if row["kind"] == "entity"}
    await desk.ledger.write(documents.move_room, "square", "here")
    await desk.project()
    [ada] = [row for row in await desk.canonical("here") if row["kind"] == "entity"]
    assert ada["description"] == "Knows the zanzibarine."


async def test_what_was_corrected_for_the_whole_space_or_elsewhere_stays(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await corrected(desk, "")
    await desk.ledger.write(documents.move_room, "square", "there")
    await desk.ledger.write(documents.move_room, "room of here", "there")
    assert await by_hand(desk) == {"here": {"pin", "hidden", "alias"}}


async def test_a_correction_that_comes_late_is_made_where_its_room_is(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob"))
    await desk.ledger.write(documents.move_room, "room of here", "there")
    await corrected(desk, "room of here")
    assert await by_hand(desk) == {"there": {"pin", "hidden", "alias"}}
    await desk.ledger.write(corrections.unmerge_name, "here", "Zanzibarine", "room of here")
    assert await by_hand(desk) == {"there": {"pin", "hidden"}}


async def test_what_is_corrected_already_where_a_room_comes_to_stays_so(desk: Desk) -> None:
    await desk.tell("a", reading("Ada", "Bob", "Zanzibarine"))
    await desk.tell("b", reading("Ada", "Bob"), space="there")
    await corrected(desk, "room of here")
    await desk.ledger.write(corrections.pin_description, "there", ("Ada", ""), "Theirs.")
    await desk.ledger.write(
        corrections.merge_names, "there", "Ada", "Zanzibarine"
    )  # a circle, were the other one to come
    await desk.ledger.write(documents.move_room, "room of here", "there")
    assert await desk.column("SELECT description FROM description_override WHERE b = ''") == ["Theirs."]
    assert await desk.pairs("SELECT name, target FROM alias") == [("ada", "zanzibarine")]
    await desk.project()


@given(
    st.lists(
        st.sampled_from(["add old", "add new", "move to old", "move to new", "amend", "forget", "state"]), max_size=7
    )
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_once_moved_a_room_is_never_in_two_spaces(tmp_path_factory: Any, steps: list[str]) -> None:
    desk, moved = Desk(await Ledger.open(tmp_path_factory.mktemp("ledger") / "ledger.db")), ""
    for number, step in enumerate(steps):
        what, _, space = step.rpartition(" ")
        if what == "add":
            await desk.put(doc(f"d{number % 3}", f"text {number}", space=space, room="square"))
        elif what == "move to":
            moved = space
            await desk.ledger.write(documents.move_room, "square", space)
        elif space == "state":
            told = build_manual_document(
                "old", "square", Extraction((Mention("Ada", "person", f"said {number}"),)), None
            )
            await desk.ledger.write(documents.save_manual_document, told, cut(told.passages), Extraction())
        elif space == "forget":
            await desk.ledger.write(documents.delete_document, "d0")
        else:
            with suppress(NotFound):
                change = DocumentChange((Passage(f"q{number}", "more"),), frozenset(), None)
                await desk.ledger.documents.amend(
                    "d1", change, lambda region: rechunk_region(region, CharacterTokenizer(), CUT)
                )
        if moved:
            assert {row["space"] for row in await desk.canonical()} <= {moved}
    await desk.ledger.close()
