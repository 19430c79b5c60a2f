from __future__ import annotations

import random
from typing import Any

import pytest

from engine.errors import InvalidQuestion, NotFound
from engine.knowledge.splits import Split
from engine.models import Extraction, Link, Mention
from engine.storage.ledger.content.rooms import Rooms
from engine.storage.ledger.names.splits import Splits
from engine.storage.ledger.queries.search import Search
from engine.storage.ledger.records import CorrectionChange
from engine.storage.sql.connection import Connection
from tests.engine.storage.ledger.ledger_fixture import LedgerFixture, only_sqlite

PERSON, TOWN = "type person", "type location"
PART = "Avon (Person)"


def says(name: str, type_: str, *others: str) -> Extraction:
    """A chunk about a name of this type, and what it is beside."""
    links = tuple(Link(name, other, "beside", f"{name} of type {type_}") for other in others)
    stated = (Mention(name, type_, f"{name} is a {type_}"),) if type_ else ()
    return Extraction((*stated, *(Mention(other, "thing", other) for other in others)), links)


async def split(ledger: LedgerFixture, *rules: str, name: str = "Avon", part: str = PART) -> CorrectionChange:
    return await ledger.ledger.corrections.split("here", name, part, rules)


async def export(ledger: LedgerFixture) -> list[dict[str, Any]]:
    await ledger.project()
    return await ledger.export()


async def profiles(ledger: LedgerFixture, space: str = "here") -> dict[str, tuple[str, int]]:
    """Type and mentions of entities by displayed name, and keywords and weight of relations by "name ~ name"."""
    rows = [row for row in await export(ledger) if row["space"] == space]
    entities = {row["name"]: (row["type"], row["mentions"]) for row in rows if row["kind"] == "entity"}
    return entities | {
        f"{row['a']} ~ {row['b']}": (row["keywords"], row["weight"]) for row in rows if row["kind"] == "relation"
    }


async def leftovers(ledger: LedgerFixture) -> list[str]:
    """Names without facts that nothing leads to."""
    return await ledger.column(
        "SELECT canonical FROM name n WHERE NOT EXISTS (SELECT 1 FROM mention m WHERE m.name = n.id)"
        " AND NOT EXISTS (SELECT 1 FROM name o WHERE o.target = n.id AND o.id <> n.id)"
        " AND NOT EXISTS (SELECT 1 FROM alias a WHERE n.canonical IN (a.name, a.target))"
    )


async def test_a_type_tells_the_person_from_the_town_with_their_relations(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location", "Bridge"), says("Avon", "person", "Violin"))
    await ledger.add_facts("b", says("Avon", "person", "Bridge"), says("Avon", ""))
    before = await export(ledger)
    change = await split(ledger, PERSON)
    assert await profiles(ledger) == {
        "Avon": ("location", 1),
        PART: ("person", 2),
        "Bridge": ("thing", 2),
        "Violin": ("thing", 1),
        "avon ~ bridge": ("beside", 1),
        "avon (person) ~ bridge": ("beside", 1),
        "avon (person) ~ violin": ("beside", 1),
    }
    await ledger.ledger.corrections.undo("here", change)
    assert await export(ledger) == before
    assert await leftovers(ledger) == []


async def test_a_document_moves_all_of_its_facts_whatever_their_types(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location"))
    await ledger.add_facts("b", says("Avon", "location", "Violin"), says("Avon", "person"))
    await split(ledger, "document b")
    found = await profiles(ledger)
    assert (found["Avon"], found[PART]) == (("location", 1), ("location", 2))


async def test_a_split_makes_only_what_it_changes_stale(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location", "Bridge"), says("Avon", "person", "Violin"))
    await ledger.project()
    await split(ledger, PERSON)
    part = "avon (person)"
    assert ("bridge", "") not in await ledger.stale()
    assert {name for row in await ledger.stale() for name in row} >= {"avon", part, "violin"}


async def test_text_that_names_the_part_itself_is_about_the_part_and_stays_when_the_split_is_undone(
    ledger: LedgerFixture,
) -> None:
    await ledger.add_facts("a", says("Avon", "person", PART), says(PART, "person", "Violin"), says("Avon", "location"))
    before = await export(ledger)
    change = await split(ledger, PERSON)
    found = await profiles(ledger)
    assert found[PART][1] == 2  # its link with itself is none
    assert "avon ~ avon (person)" not in found
    await ledger.ledger.corrections.undo("here", change)
    assert await export(ledger) == before


async def test_the_other_spellings_of_an_entity_are_split_with_it(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location"), says("Avonn", "person", "Avon"), says("Avonn", "location"))
    await ledger.ledger.corrections.merge("here", "Avonn", "Avon")
    before = await export(ledger)
    change = await split(ledger, PERSON)
    found = await profiles(ledger)
    assert (found["Avon"][1], found[PART]) == (3, ("person", 1))
    await ledger.ledger.corrections.undo("here", change)
    assert await export(ledger) == before


async def test_a_part_can_be_merged_and_merged_back(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location"), says("Avon", "person"), says("Mira Avon", "person"))
    await split(ledger, PERSON)
    await ledger.ledger.corrections.merge("here", PART, "Mira Avon")
    found = await profiles(ledger)
    assert (found["Avon"][1], found["Mira Avon"][1]) == (1, 2)
    await ledger.ledger.corrections.unmerge("here", PART)
    await ledger.ledger.corrections.merge("here", PART, "Avon")
    assert (await profiles(ledger))["Avon"][1] == 2


async def test_a_part_is_never_joined_with_its_origin_by_itself(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon Falls", "location"), says("Avon Falls", "person"))
    change = await split(ledger, PERSON, name="Avon Falls", part="The Avon Falls")
    assert [correction.kind for correction in change.made] == ["separate", "split"]
    assert (await profiles(ledger)).keys() == {"Avon Falls", "The Avon Falls"}


async def test_new_texts_follow_the_rule_and_the_last_one_takes_the_part_along(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "person"))
    await split(ledger, PERSON)
    assert await profiles(ledger) == {PART: ("person", 1)}
    await ledger.add_facts("b", says("Avon", "person", "Bridge"), says("Avon", "location"))
    assert (await profiles(ledger))[PART] == ("person", 2)
    await ledger.forget("a")
    await ledger.forget("b")
    assert await profiles(ledger) == {}
    assert await ledger.column("SELECT canonical FROM name") == []
    await ledger.add_facts("c", says("Avon", "person"))
    assert await profiles(ledger) == {PART: ("person", 1)}


async def test_unsplit_gives_everything_back(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "location"), says("Avon", "person"))
    before, made = await export(ledger), ledger.ledger.corrections
    await split(ledger, PERSON)
    await split(ledger, "document a")
    await made.unsplit("here", PART.upper())
    assert await export(ledger) == before
    with pytest.raises(NotFound, match="was not split"):
        await made.unsplit("here", PART)


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("name", "part", "rule", "error"),
    [
        ("Orwell", PART, PERSON, NotFound),
        ("Avon", PART, "type event", NotFound),
        ("Avon", PART, "document there", NotFound),
        ("Avon", PART, "document gone", NotFound),
        ("Avon", "AVON", PERSON, InvalidQuestion),
        ("Avon", "Avonn", PERSON, InvalidQuestion),
        ("Avon", "", PERSON, InvalidQuestion),
    ],
)
async def test_what_is_unknown_or_the_same_is_not_split(
    ledger: LedgerFixture, name: str, part: str, rule: str, error: type[Exception]
) -> None:
    await ledger.add_facts("a", says("Avon", "person"), says("Avonn", "person"))
    await ledger.add_facts("there", says("Avon", "person"), says("Orwell", "person"), space="there")
    await ledger.ledger.corrections.merge("here", "Avonn", "Avon")
    before = await export(ledger)
    with pytest.raises(error):
        await split(ledger, rule, name=name, part=part)
    assert await export(ledger) == before


async def test_a_split_neither_changes_nor_shows_anything_of_another_space(ledger: LedgerFixture) -> None:
    for space in ("here", "there"):
        await ledger.add_facts(space, says("Avon", "person"), says("Avon", "location"), space=space)
    before = await profiles(ledger, "there")
    await split(ledger, PERSON, "document here")
    assert await profiles(ledger, "there") == before
    there = await ledger.scope_ids(["there"])
    assert await ledger.read(Search.list_corrections, there, 10, 0) == []
    here = await ledger.read(Search.list_corrections, await ledger.scope_ids(["here"]), 10, 0)
    assert [
        (correction.kind, correction.name, correction.other, correction.description)
        for correction in here
        if correction.kind == "split"
    ] == [
        ("split", "Avon", PART, "document here"),
        ("split", "Avon", PART, PERSON),
    ]


async def test_a_rule_for_a_document_goes_with_the_document(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "person"))
    await ledger.add_facts("b", says("Avon", "location"))
    await split(ledger, "document a")
    await ledger.move_room("room of here", "elsewhere")
    assert await ledger.rows("SELECT * FROM name_split") == []
    assert (await profiles(ledger, "elsewhere")).keys() == {"Avon"}


async def test_a_split_moves_with_the_room_where_it_was_made(ledger: LedgerFixture) -> None:
    await ledger.add_facts("a", says("Avon", "person", "Bridge"))
    await ledger.add_facts("b", says("Avon", "location"))
    await ledger.ledger.corrections.split("here", "Avon", PART, ["document a"], "room of here")
    before = await profiles(ledger)
    await ledger.move_room("room of here", "elsewhere")
    assert await profiles(ledger, "elsewhere") == before
    assert await profiles(ledger) == {}
    assert await ledger.column("SELECT COUNT(*) FROM name n JOIN space s ON s.id = n.space WHERE s.name = 'here'") == [
        0
    ]


class Town:
    """Adds, forgets, moves, splits and gives back at random, and remembers what is left."""

    def __init__(self, ledger: LedgerFixture, seed: int) -> None:
        self.ledger, self.random = ledger, random.Random(seed)
        self.documents: dict[str, list[Extraction]] = {}
        self.rules: dict[tuple[str, str], str] = {}

    async def add(self) -> None:
        pick = self.random.choice
        key = pick("abcd")
        if key in self.documents:
            return
        self.documents[key] = [
            says(pick(["Avon", "Tamar"]), pick(["person", "location", ""]), pick(["Avon", "Bridge", PART]))
            for _ in range(pick([1, 2, 3]))
        ]
        await self.ledger.add_facts(key, *self.documents[key])

    async def forget(self) -> None:
        key = self.random.choice("abcd")
        self.documents.pop(key, None)
        self.rules = {each: part for each, part in self.rules.items() if each[1] != f"document {key}"}
        await self.ledger.forget(key)

    async def split(self) -> None:
        name, part = self.random.choice(["Avon", "Tamar"]), self.random.choice([PART, "Tamar (River)"])
        rule = self.random.choice([PERSON, TOWN, "document a", "document b"])
        try:
            await split(self.ledger, rule, name=name, part=part)
        except NotFound:
            return
        self.rules[name.lower(), rule] = part

    async def unsplit(self) -> None:
        part = self.random.choice([PART, "Tamar (River)"])
        if part in self.rules.values():
            await self.ledger.ledger.corrections.unsplit("here", part)
            self.rules = {each: other for each, other in self.rules.items() if other != part}


@pytest.mark.share(3)
@only_sqlite
@pytest.mark.parametrize("seed", range(6))
async def test_after_any_history_the_facts_lie_as_if_only_what_is_left_had_come(
    ledger: LedgerFixture, seed: int
) -> None:
    town = Town(ledger, seed)
    for _ in range(40):
        await town.random.choices([town.add, town.forget, town.split, town.unsplit], [6, 4, 3, 1])[0]()
        if town.random.random() < 0.3:
            await ledger.project()
    assert await leftovers(ledger) == []
    lived = [row for row in await export(ledger) if row["kind"] in {"mention", "link", "entity", "relation", "split"}]
    for key in town.documents:
        await ledger.forget(key)
    here = await ledger.write(Rooms.get_or_create_id, "space", "here")
    await ledger.execute("DELETE FROM name_split")
    for key, extractions in town.documents.items():
        await ledger.add_facts(key, *extractions)

    def save(db: Connection) -> None:
        for (name, rule), part in town.rules.items():
            Splits(db).save_rules(here, [Split(name, part.lower(), rule)], part, 0)

    await ledger.write(save)
    plain = [row for row in await export(ledger) if row["kind"] in {"mention", "link", "entity", "relation", "split"}]
    assert plain == lived
