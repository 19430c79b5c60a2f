"""Where people are no entities, no fact about them is stored, and what was stored is removed exactly."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from engine.errors import PeopleNotKept
from engine.models import Document, Extraction, Link, Mention, Passage
from engine.storage.ledger.content import facts as content_facts
from engine.storage.ledger.content import readings
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.names.people import People
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, cut, extraction, only_sqlite

HERE, NOW = {"here"}, 1_800_000_000.0
TALK = (
    ("Nadia Öberg", "The lantern is late", "concept"),
    ("Nadia", "I wait", "concept"),
    ("Bo", "Then Nadia Öberg asks the dock office", "concept"),
    ("Bo", "Nadia and the lantern", "concept"),
)


def talk(key: str, *said: tuple[str, str, str], space: str = "here") -> tuple[Document, list[Extraction]]:
    """A conversation, and what a model that knows no type of people takes from each of its messages."""
    passages = tuple(Passage(f"{n:03}", text, author=author, position=n) for n, (author, text, _) in enumerate(said))
    found = []
    for author, text, type_ in said:
        names = [author, *(word for word in ("Nadia Öberg", "Nadia", "lantern", "dock office") if word in text)]
        mentions = tuple(Mention(name, type_ if name[0].isupper() else "concept", text) for name in names)
        links = tuple(Link(author, name, "talk", text) for name in names[1:])
        found.append(Extraction(mentions, (*links, Link("lantern", "dock office", "near", text))))
    return Document(key, space, f"room of {space}", key, passages, kind="conversation"), found


async def tell(ledger: LedgerFixture, key: str, *said: tuple[str, str, str], space: str = "here") -> None:
    document, found = talk(key, *said, space=space)
    await ledger.ledger.write(Documents.save, document, cut(document.passages))
    sql = "SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.key = ? ORDER BY c.id"
    for id_, each in zip(await ledger.column(sql, key), found, strict=True):
        await ledger.ledger.write(Facts.save_extraction, id_, f"{key} {id_}".encode(), each)


async def remove_all(ledger: LedgerFixture) -> None:
    while await ledger.ledger.removed_people.remove_next(NOW):
        pass
    await ledger.project()


async def facts(ledger: LedgerFixture, *spaces: str) -> list[dict[str, Any]]:
    """All of an export but documents, passages and chunks."""
    return [row for row in await ledger.export(*spaces) if row["kind"] not in {"document", "passage", "chunk"}]


def names(rows: list[dict[str, Any]]) -> set[str]:
    return {row[field] for row in rows for field in ("canonical", "name", "a", "b", "target") if row.get(field)}


async def test_new_texts_state_nothing_about_people(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", *TALK)
    await ledger.project()
    assert names(await facts(ledger)) == {"lantern", "dock office"}


async def test_a_later_message_shows_that_an_earlier_name_is_a_person(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", ("Bo", "Nadia has the lantern", "concept"))
    assert "nadia" in names(await facts(ledger))
    await tell(ledger, "b", ("Nadia", "I am here", "concept"))
    await ledger.project()
    assert names(await facts(ledger)) == {"lantern", "dock office"}


async def test_other_spaces_keep_their_people_and_show_nothing_of_them(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", ("Bo", "Nadia has the lantern", "concept"))
    await tell(ledger, "b", ("Nadia", "I am there", "concept"), space="there")
    await ledger.project()
    assert names(await facts(ledger, "here")) == {"nadia", "Nadia", "lantern", "dock office"}
    assert "nadia" in names(await facts(ledger, "there"))


async def test_a_removal_leaves_exactly_what_a_ledger_without_people_would_have(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", *TALK)
    await tell(ledger, "b", ("Ilse", "Nadia", "person"))
    await ledger.project()
    never = await ledger.export()
    for key in ("a", "b"):
        await ledger.forget(key)
    await ledger.ledger.removed_people.begin(())
    await tell(ledger, "a", *TALK)
    await tell(ledger, "b", ("Ilse", "Nadia", "person"))
    await ledger.project()
    assert {"nadia öberg", "nadia", "bo", "ilse"} <= names(await ledger.export())
    assert await ledger.ledger.removed_people.begin(HERE)
    await remove_all(ledger)
    assert await ledger.export() == never
    assert not await ledger.column("SELECT id FROM name WHERE canonical LIKE '%berg%'")
    state = await ledger.ledger.removed_people.load_state()
    assert (state.finished, state.entities) == (NOW, 4)


@only_sqlite
async def test_corrections_of_people_and_statements_about_them_go_too(ledger: LedgerFixture) -> None:
    await tell(ledger, "a", *TALK)
    await ledger.add_facts("b", extraction("NÖ", "Lantern"))
    await ledger.execute("UPDATE mention SET type = 'concept'")
    corrections = ledger.ledger.corrections
    await corrections.merge("here", "NÖ", "Nadia Öberg")
    await corrections.pin_description("here", ("Bo", "lantern"), "Bo carries it.")
    await corrections.set_hidden("here", ("Bo", ""), hidden=True)
    await corrections.separate("here", "Bo", "dock office")
    await corrections.pin_description("here", ("lantern", ""), "A lamp.")
    await ledger.ledger.removed_people.begin(HERE)
    await remove_all(ledger)
    left = await facts(ledger)
    assert names(left) == {"lantern", "dock office"}
    assert [row["kind"] for row in left if row["kind"] in {"alias", "pin", "hidden", "distinct"}] == ["pin"]
    await ledger.add_facts("c", Extraction((Mention("NÖ", "concept", "again"),)))  # still known as the same person
    assert "nö" not in names(await facts(ledger))


@only_sqlite
async def test_a_statement_about_people_alone_is_refused(ledger: LedgerFixture) -> None:
    await tell(ledger, "a", *TALK)
    await ledger.ledger.removed_people.begin(HERE)
    await remove_all(ledger)
    document = Document("manual:1", "here", "hall", "Stated", (Passage("1", "Bo ~ lantern"),), kind="manual")
    about = Extraction(links=(Link("Bo", "lantern", "", "he carries it"),))
    with pytest.raises(PeopleNotKept):
        await ledger.ledger.write(Documents.save_manual, document, cut(document.passages), about)
    assert "manual:1" not in await ledger.column("SELECT key FROM document")


@only_sqlite
async def test_where_people_become_entities_again_their_texts_are_read_again(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", *TALK)
    await ledger.add_facts("b", Extraction((Mention("lantern", "concept", "x"),)))
    await ledger.ledger.removed_people.begin(())
    assert len(await ledger.column("SELECT id FROM chunk WHERE extraction IS NULL")) == len(TALK)
    assert await ledger.column("SELECT COUNT(*) FROM person_name") == [0]


@only_sqlite
@pytest.mark.parametrize(("before", "after"), [({"", "!here"}, {""}), ({"", "!here", "!there"}, {"", "!there"})])
async def test_an_exception_that_is_taken_back_removes_people_there(
    ledger: LedgerFixture, before: set[str], after: set[str]
) -> None:
    await ledger.ledger.removed_people.begin(before)
    await tell(ledger, "a", *TALK)
    await remove_all(ledger)
    await ledger.ledger.removed_people.begin(after)
    assert (await ledger.ledger.removed_people.load_state()).is_running
    await remove_all(ledger)
    assert names(await facts(ledger)) == {"lantern", "dock office"}


@only_sqlite
async def test_an_exception_that_is_added_removes_nothing(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin({""})
    await tell(ledger, "a", *TALK)
    assert await ledger.ledger.removed_people.begin({"", "!there"})
    assert (await ledger.ledger.removed_people.load_state()).number == 0


async def state(ledger: LedgerFixture, key: str, *mentions: tuple[str, str]) -> None:
    """A file, and what a model takes from it: these names, each linked to the next one."""
    await tell_file(ledger, key, key)
    found = tuple(Mention(name, type_, "said") for name, type_ in mentions)
    links = tuple(Link(a.name, b.name, "", "said") for a, b in pairwise(found))
    [id_] = await chunks_of(ledger, key)
    await ledger.ledger.write(Facts.save_extraction, id_, key.encode(), Extraction(found, links))


async def tell_file(ledger: LedgerFixture, key: str, text: str) -> None:
    document = Document(key, "here", "hall", key, (Passage("1", text, position=0),))
    await ledger.ledger.write(Documents.save, document, cut(document.passages))


async def chunks_of(ledger: LedgerFixture, key: str) -> list[int]:
    return await ledger.column("SELECT c.id FROM chunk c JOIN document d ON d.id = c.document WHERE d.key = ?", key)


async def unread(ledger: LedgerFixture) -> set[str]:
    """The documents that wait to be read again."""
    await ledger.ledger.removed_people.restore_lost()
    sql = "SELECT DISTINCT d.key FROM chunk c JOIN document d ON d.id = c.document WHERE c.extraction IS NULL"
    return set(await ledger.column(sql))


async def test_a_member_who_is_called_like_an_office_removes_nothing_of_it(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "organization"), ("Lantern", "product"))
    await tell(ledger, "b", ("Harbor Office", "I am here", "concept"), ("Lantern Quay", "And I", "concept"))
    await ledger.project()
    assert {"harbor office", "lantern"} <= names(await facts(ledger))
    assert await ledger.column("SELECT COUNT(*) FROM link WHERE chunk IN (?)", *await chunks_of(ledger, "a")) == [1]


async def test_what_was_lost_by_a_message_is_read_again_when_it_is_forgotten(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "concept"), ("lantern", "concept"))
    await state(ledger, "b", ("quay", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Harbor Office", "I am here", "concept"))
    await tell(ledger, "n", ("Harbor Office", "I am there", "concept"))
    assert "harbor office" not in names(await facts(ledger))
    await ledger.forget("m")
    assert await unread(ledger) == set()
    await ledger.forget("n")
    assert await ledger.ledger.removed_people.has_checks()
    assert await unread(ledger) == {"a"}
    assert not await ledger.ledger.removed_people.has_checks()


async def test_all_texts_that_are_alike_are_read_again(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Harbor Office", "I am here", "concept"))
    await tell_file(ledger, "b", "a")
    [id_] = await chunks_of(ledger, "b")
    key, found = await ledger.ledger.facts.find_extraction((b"a", b"-"), id_) or (b"", Extraction())
    await ledger.ledger.write(Facts.save_extraction, id_, key, found)
    await ledger.forget("m")
    assert await unread(ledger) == {"a", "b"}


@only_sqlite
async def test_a_message_that_is_added_to_a_conversation_reads_no_other_text_again(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Harbor Office", "I am here", "concept"))
    document, _ = talk("m", ("Harbor Office", "I am here and there", "concept"))
    await ledger.ledger.write(Documents.save, document, cut(document.passages))
    assert await unread(ledger) == {"m"}


@only_sqlite
async def test_a_reading_that_shows_a_person_no_more_brings_back_what_others_lost(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor", "concept"), ("lantern", "concept"))
    await state(ledger, "b", ("Harbor", "person"))
    assert "harbor" not in names(await facts(ledger))
    [id_] = await chunks_of(ledger, "b")
    await ledger.execute(f"UPDATE chunk SET extraction = NULL WHERE id = {id_}")
    again = Extraction((Mention("Harbor", "location", "said"),))
    await ledger.ledger.write(Facts.save_extraction, id_, b"again", again)
    assert await unread(ledger) == {"a"}


@only_sqlite
async def test_a_name_that_many_texts_have_is_dropped_in_several_transactions(
    ledger: LedgerFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content_facts, "PEOPLE_BATCH", 2)
    monkeypatch.setattr(readings, "PEOPLE_BATCH", 2)
    await ledger.ledger.removed_people.begin(HERE)
    for number in range(5):
        await state(ledger, f"d{number}", ("Nadia", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Nadia", "I am here", "concept"))
    left = "SELECT COUNT(*) FROM mention WHERE surface = 'Nadia'"
    assert await ledger.column(left) == [3]
    assert await ledger.ledger.removed_people.drop_next()
    assert await ledger.column(left) == [1]
    assert await ledger.ledger.removed_people.drop_next()
    assert await ledger.column(left) == [0]
    assert not await ledger.ledger.removed_people.drop_next()


@only_sqlite
async def test_texts_that_lost_facts_by_another_text_are_read_again_after_a_change_to_more(
    ledger: LedgerFixture,
) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "concept"), ("lantern", "concept"))
    await state(ledger, "b", ("quay", "concept"), ("lantern", "concept"))
    await state(ledger, "c", ("@mira", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Harbor Office", "I am here", "concept"))
    await ledger.ledger.removed_people.begin(())
    assert await unread(ledger) == {"a", "c", "m"}


@only_sqlite
async def test_what_a_text_lost_does_not_show_a_person(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await state(ledger, "a", ("Harbor Office", "concept"), ("lantern", "concept"))
    await tell(ledger, "m", ("Harbor Office", "I am here", "concept"))
    await ledger.forget("m")
    await ledger.ledger.write(lambda db: People(db).remember(1, {"harbor office"}))
    assert await ledger.column("SELECT COUNT(*) FROM person_name WHERE evidence > 0") == [0]


@only_sqlite
async def test_a_removal_continues_where_it_stopped(ledger: LedgerFixture) -> None:
    for number in range(60):
        await tell(ledger, f"d{number}", ("Bo", f"The lantern, {number}", "concept"))
    await ledger.ledger.removed_people.begin(HERE)
    assert await ledger.ledger.removed_people.remove_next(NOW)
    first = await ledger.ledger.removed_people.load_state()
    assert (first.read, first.total, first.is_running) == (50, 60, True)
    assert not await ledger.ledger.removed_people.begin(HERE)
    await remove_all(ledger)
    last = await ledger.ledger.removed_people.load_state()
    assert (last.number, last.read, last.is_running) == (1, 60, False)


@only_sqlite
async def test_a_room_that_moves_to_such_a_space_leaves_its_people_behind(ledger: LedgerFixture) -> None:
    await ledger.ledger.removed_people.begin(HERE)
    await tell(ledger, "a", *TALK, space="there")
    await tell(ledger, "b", ("Ilse", "Öberg was here", "concept"))
    await ledger.move_room("room of there", "here")
    await ledger.project()
    assert names(await facts(ledger)) == {"lantern", "dock office"}


@only_sqlite
async def test_texts_to_read_again_are_found_by_their_own_table_not_among_all_chunks(ledger: LedgerFixture) -> None:
    for query, *given in ((readings.Readings.take, 9), (readings.Readings.measure,)):
        [first, *others] = [step for step in await ledger.explain(query, *given) if step.startswith(("SCAN", "SEARCH"))]
        assert "SCAN o" in first
        assert all(step.startswith("SEARCH") for step in others if "chunk" in step or " c " in step)


async def test_a_text_is_queued_exactly_if_taking_finds_it(ledger: LedgerFixture) -> None:
    await tell(ledger, "talk", ("Bo", "Then Nadia asks", "concept"))
    [chunk] = await ledger.column("SELECT id FROM chunk")
    found = list[bool]()
    for queued, state in (
        (False, "UPDATE document SET open = false"),
        (True, "UPDATE document SET open = true"),
        (True, "UPDATE document SET open = false"),
        (True, "UPDATE chunk SET retry_at = @infinity"),
        (True, "UPDATE chunk SET retry_at = 0, extraction = NULL"),
    ):
        await ledger.execute("DELETE FROM outdated_extraction")
        await ledger.execute("INSERT INTO outdated_extraction VALUES (?, ?)", parameters=(chunk, queued))
        await ledger.execute(state)
        is_queued = await ledger.read(readings.Readings.has_queued)
        assert is_queued == bool(await ledger.write(readings.Readings.take, 9)), state
        found.append(is_queued)
    assert found == [False, False, True, False, False]
