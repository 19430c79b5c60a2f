from __future__ import annotations

from typing import TYPE_CHECKING

from engine.ledger import corrections, documents, memos
from engine.ledger.memos import Reply
from engine.ledger.work import generation
from tests.engine.ledger.desk import reading
from tests.fakes.engines import doc

if TYPE_CHECKING:
    from tests.engine.ledger.desk import Desk


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
    await desk.ledger.write(corrections.merge, "here", "Lovelace", "Ada")
    await desk.ledger.write(documents.move_room, "room of there", "here")
    assert await spaces_of(desk) == {("here", "ada", 2), ("here", "bob", 1)}


async def test_moved_chunks_are_stale_and_answers_that_drew_on_them_go(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada"))
    now = await desk.ledger.read(generation)
    await desk.ledger.write(memos.keep_reply, Reply(b"k", "text", now, frozenset({chunk})), 1.0)
    await desk.clear_marks()
    await desk.ledger.write(documents.move_room, "room of here", "there")
    assert await desk.column("SELECT id FROM stale WHERE kind = 0") == [chunk]
    assert await desk.ledger.read(memos.reply, b"k") is None


async def test_a_document_put_again_with_another_space_moves(desk: Desk) -> None:
    [chunk] = await desk.tell("a", reading("Ada", "Bob"))
    assert await desk.put(doc("a", "a tells 0", space="there", room="attic"))
    assert await spaces_of(desk) == {("there", "ada", 1), ("there", "bob", 1)}
    assert await desk.column("SELECT id FROM chunk") == [chunk]
