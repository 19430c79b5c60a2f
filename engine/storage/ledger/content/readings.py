"""Chunks that are read again: those of another choice of extraction, and those with facts about people.

Their facts stay until those of the next reading replace them. The rows, and the place up to which chunks are compared,
are durable, so that both go on after a kill.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from engine.knowledge.splits import Split
from engine.storage.ledger.clauses import UNPAUSED, paused_parameters, row_clause
from engine.storage.ledger.content.documents import Documents
from engine.storage.ledger.content.facts import PEOPLE_BATCH, Facts, excerpt_section
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.people import People
from engine.storage.ledger.names.splits import Splits
from engine.storage.ledger.records.content import ReadChunk
from engine.storage.ledger.records.query_results import OutdatedTexts, PeopleRemovalState
from engine.storage.ledger.work.settings import Settings
from engine.storage.ledger.work.work_queue import NOTHING_PAUSED
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list, text_list

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.storage.ledger.records.query_results import ScopeIds
    from engine.usage import PausedTexts


CHOICE, CHECKED = "extraction_choice", "extraction_checked"  # settings: the choice, and the last chunk compared with it
# A condition on chunks `c` of documents `d` with rows `o`: they can be read again.
QUEUED = "o.queued AND c.extraction IS NOT NULL AND NOT d.open AND c.retry_at < @infinity"
BATCH = PEOPLE_BATCH  # chunks in one transaction
SETTING = "people_removal"
REACH_SETTING, REACH = "people_removal_reach", 1  # what is removed; 1: sentences of descriptions, too
_EITHER = "({} IN (SELECT value FROM @list(?2)) OR {} IN (SELECT value FROM @list(?2)))"
_CORRECTED_NAMES = " UNION ".join(
    f"SELECT {column} FROM {table} WHERE space = ?1{condition}"
    for table, columns, condition in (
        ("alias", ("name", "target"), " AND reason = ''"),
        ("distinct_names", ("a", "b"), ""),
        ("description_override", ("a", "b"), ""),
        ("hidden_key", ("a", "b"), ""),
        ("name_split", ("name", "part"), ""),
    )
    for column in columns
)


class Readings(Topic[Place_co]):
    """Chunks that another choice of extraction read."""

    @writing
    def begin_check(self, choice: str) -> None:
        """Compare all chunks from the first one on, if the choice is another one than last time."""
        if Settings(self.db).get(CHOICE) != choice:
            Settings(self.db).set(CHOICE, choice)
            Settings(self.db).set(CHECKED, 0)

    @reading
    def list_unchecked(self, limit: int) -> list[ReadChunk]:
        """The next chunks with facts to compare; those entered by hand are left out."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.text, d.title, d.kind, c.space, c.extraction,"
            " (SELECT p.label FROM chunk_passage i JOIN passage p ON p.id = i.passage WHERE i.chunk = c.id"
            "  ORDER BY i.ordinal LIMIT 1)"
            " FROM chunk c JOIN document d ON d.id = c.document"
            " WHERE c.id > ? AND c.extraction IS NOT NULL AND d.kind <> 'manual' ORDER BY c.id LIMIT ?",
            (Settings(self.db).get_int(CHECKED), limit),
        )
        return [
            ReadChunk(id_, text, excerpt_section(kind, title, label or ""), space, kind, bytes(key))
            for id_, text, title, kind, space, key, label in rows
        ]

    @writing
    def record_check(self, checked: Collection[ReadChunk], outdated: Collection[int]) -> None:
        """Record which of the chunks another choice read; one that was read again meanwhile is left alone."""
        ids = [chunk.id for chunk in checked]
        self.db.execute(
            "DELETE FROM outdated_extraction WHERE chunk IN (SELECT value FROM @list(?))",
            (id_list([id_ for id_ in ids if id_ not in outdated]),),
        )
        self.db.executemany(
            "INSERT INTO outdated_extraction (chunk, queued) SELECT id, false FROM chunk"
            " WHERE id = ? AND extraction = ? ON CONFLICT DO NOTHING",
            [(chunk.id, chunk.key) for chunk in checked if chunk.id in outdated],
        )
        Settings(self.db).set(CHECKED, max(ids))

    def count(self, scope_ids: ScopeIds) -> int:
        """Chunks within a scope that another choice read; for all spaces without a look at the chunks."""
        if not (number := self._count_rows()) or self._is_everything(scope_ids):
            return number
        [[number]] = self.db.execute_fetchall(
            "SELECT COUNT(*) FROM outdated_extraction o @then JOIN chunk c ON c.id = o.chunk"
            f" WHERE c.extraction IS NOT NULL AND {row_clause(scope_ids, 'c')}"
        )
        return int(number)

    @reading
    def count_all(self) -> int:
        """All chunks that another choice read."""
        return self._count_rows()

    def _count_rows(self) -> int:
        [[number]] = self.db.execute_fetchall("SELECT COUNT(*) FROM outdated_extraction")
        return int(number)

    def _is_everything(self, scope_ids: ScopeIds) -> bool:
        """Whether a scope has all spaces."""
        return {row[0] for row in self.db.execute_fetchall("SELECT id FROM space")} <= scope_ids.spaces

    @reading
    def measure(self) -> OutdatedTexts:
        """All chunks that another choice of extraction read."""
        rows = self.db.execute_fetchall(
            "SELECT d.kind = 'conversation', COUNT(*), SUM(c.tokens) FROM outdated_extraction o"
            " @then JOIN chunk c ON c.id = o.chunk @then JOIN document d ON d.id = c.document"
            " WHERE c.extraction IS NOT NULL GROUP BY 1"
        )
        rows = list(map(tuple, rows))
        tokens = {bool(kind): int(size) for kind, _, size in rows}
        return OutdatedTexts(sum(int(row[1]) for row in rows), tokens.get(False, 0), tokens.get(True, 0))

    @writing
    def queue(self) -> int:
        """Have all chunks that another choice read be read again; returns their number."""
        rows = self.db.execute_fetchall("UPDATE outdated_extraction SET queued = true RETURNING chunk")
        return len(list(rows))

    @reading
    def has_queued(self, paused: PausedTexts = NOTHING_PAUSED) -> bool:
        """Whether `take` would find any chunk."""
        [[exists]] = self.db.execute_fetchall(
            "SELECT EXISTS (SELECT 1 FROM outdated_extraction o @then JOIN chunk c ON c.id = o.chunk"
            f" @then JOIN document d ON d.id = c.document WHERE {QUEUED} AND {UNPAUSED})",
            paused_parameters(paused),
        )
        return bool(exists)

    @writing
    def take(self, limit: int, paused: PausedTexts = NOTHING_PAUSED) -> int:
        """Let the next queued chunks wait for extraction; returns their number. Search finds them meanwhile."""
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.document FROM outdated_extraction o @then JOIN chunk c ON c.id = o.chunk"
            f" @then JOIN document d ON d.id = c.document WHERE {QUEUED} AND {UNPAUSED} ORDER BY o.chunk LIMIT ?",
            (*paused_parameters(paused), limit),
        )
        chunks, documents = [row[0] for row in rows], {row[1] for row in rows}
        if not chunks:
            return 0
        listed = (id_list(chunks),)
        self.db.execute("UPDATE chunk SET extraction = NULL WHERE id IN (SELECT value FROM @list(?))", listed)
        self.db.execute("DELETE FROM outdated_extraction WHERE chunk IN (SELECT value FROM @list(?))", listed)
        self.db.execute(
            "UPDATE document SET status = 'searchable' WHERE status = 'indexed' AND id IN (SELECT value FROM @list(?))",
            (id_list(sorted(documents)),),
        )
        return len(chunks)


class PeopleRemoval(Topic[Place_co]):
    """The removal of stored facts about people; each batch is durable, and the next start continues."""

    @reading
    def load_state(self) -> PeopleRemovalState:
        """How far the present removal is, or that the last one is finished."""
        found = Settings(self.db).get(SETTING)
        return PeopleRemovalState(**json.loads(found)) if found else PeopleRemovalState()

    def describe(self, spaces: Collection[int]) -> str:
        """What is told of people where they are no entities, without numbers, which are of all spaces; else ""."""
        if not set(People(self.db).list_spaces()) & set(spaces):
            return ""
        return "are being removed from the graph" if self.load_state().is_running else "are no entities of the graph"

    @writing
    def begin(self, prefixes: Collection[str]) -> bool:
        """Let people be no entities in spaces with these prefixes of names; returns whether that is a change.

        Where they become none, stored facts about them are removed by `remove_next`. Where they become entities, the
        texts that name people are read again.
        """
        before = People(self.db).load_prefixes()
        is_behind = bool(before) and Settings(self.db).get_int(REACH_SETTING) < REACH  # an earlier version removed less
        if set(before) == set(prefixes) and not is_behind:
            return False
        former = People(self.db).list_spaces()
        People(self.db).save_prefixes(prefixes)
        spaces = People(self.db).list_spaces()
        self._read_again(sorted(set(former) - set(spaces)))
        if set(spaces) - set(former) or (is_behind and spaces):
            [[total]] = self.db.execute_fetchall(
                "SELECT COUNT(*) FROM chunk WHERE space IN (SELECT value FROM @list(?))", (id_list(spaces),)
            )
            self._save(PeopleRemovalState(self.load_state().number + 1, total=int(total)))
        Settings(self.db).set(REACH_SETTING, REACH)
        return True

    @writing
    def remove_next(self, now: float) -> bool:
        """Remove the facts about people of the next chunks; returns whether there may be more."""
        state, spaces = self.load_state(), People(self.db).list_spaces()
        if not state.is_running or self.drop_next():
            return state.is_running
        rows = self.db.execute_fetchall(
            "SELECT id FROM chunk WHERE id > ? AND space IN (SELECT value FROM @list(?)) ORDER BY id LIMIT ?",
            (state.after, id_list(spaces), BATCH),
        )
        before, chunks = self._count_entities(), [row[0] for row in rows]
        if chunks:
            Facts(self.db).drop_people(chunks, last=chunks[-1])  # later ones have their turn
        else:
            self._remove_statements(spaces)
            self._remove_corrections(spaces)
        removed = state.entities + max(before - self._count_entities(), 0)
        read = replace(state, after=max(chunks, default=state.after), read=state.read + len(chunks), entities=removed)
        self._save(read if chunks else replace(read, finished=now))
        return bool(chunks)

    @reading
    def has_checks(self) -> bool:
        """Whether facts of chunks are to be looked at, or what chunks lost is in doubt."""
        [[exists]] = self.db.execute_fetchall("SELECT EXISTS (SELECT 1 FROM person_name WHERE evidence < 0)")
        return bool(exists)

    @writing
    def drop_next(self) -> bool:
        """Drop people from the facts of the next chunks that name somebody new; returns whether there were any."""
        chunks = People(self.db).take_unchecked(PEOPLE_BATCH)
        Facts(self.db).drop_people(chunks)
        return bool(chunks)

    @writing
    def restore_lost(self) -> bool:
        """Have chunks be read again that lost facts by what is forgotten; returns whether there were any."""
        lost = {chunk for chunks in People(self.db).list_doubtful().values() for chunk in chunks}
        if lost:
            self._extract_again(lost)
        return bool(lost)

    def _extract_again(self, chunks: Collection[int]) -> None:
        """Let chunks wait for extraction, all at once: one of the same text would give the others its facts."""
        rows = self.db.execute_fetchall(
            "UPDATE chunk SET extraction = NULL WHERE id IN (SELECT value FROM @list(?)) AND retry_at < @infinity"
            " AND (SELECT kind FROM document WHERE id = chunk.document) <> 'manual' RETURNING document",
            (id_list(sorted(chunks)),),
        )
        self.db.execute(
            "UPDATE document SET status = 'searchable' WHERE status = 'indexed' AND id IN (SELECT value FROM @list(?))",
            (id_list(sorted({row[0] for row in rows})),),
        )

    def _save(self, state: PeopleRemovalState) -> None:
        Settings(self.db).set(SETTING, json.dumps(asdict(state)))

    def _count_entities(self) -> int:
        [[count]] = self.db.execute_fetchall("SELECT COUNT(*) FROM entity")
        return int(count)

    def _remove_statements(self, spaces: Collection[int]) -> None:
        """Delete what was stated by hand about nothing but people."""
        rows = self.db.execute_fetchall(
            "SELECT d.key FROM document d WHERE d.kind = 'manual' AND d.space IN (SELECT value FROM @list(?))"
            " AND NOT EXISTS (SELECT 1 FROM chunk c JOIN mention m ON m.chunk = c.id WHERE c.document = d.id)",
            (id_list(spaces),),
        )
        for (key,) in rows:
            Documents(self.db).delete(key)

    def _remove_corrections(self, spaces: Collection[int]) -> None:
        """Remove the corrections by hand of names of people, which have no facts any more."""
        for space in spaces:
            corrected = {row[0] for row in self.db.execute_fetchall(_CORRECTED_NAMES, (space,))} - {""}
            if people := People(self.db).find_people(space, corrected):
                People(self.db).remember(space, people)
                self._remove_corrections_of(space, people)

    def _remove_corrections_of(self, space: int, people: Collection[str]) -> None:
        listed = (space, text_list(sorted(people)))
        for table in ("description_override", "hidden_key", "distinct_names"):
            self.db.execute(f"DELETE FROM {table} WHERE space = ?1 AND {_EITHER.format('a', 'b')}", listed)
        splits = self.db.execute_fetchall(
            f"SELECT name, part, rule FROM name_split WHERE space = ?1 AND {_EITHER.format('name', 'part')}", listed
        )
        Splits(self.db).remove_rules(space, [Split(*row) for row in splits])
        aliases = self.db.execute_fetchall(
            f"SELECT name, target FROM alias WHERE space = ?1 AND reason = '' AND {_EITHER.format('name', 'target')}",
            listed,
        )
        Joins(self.db).change_aliases(space, {name: None for name, _ in aliases})
        Joins(self.db).refresh(space, {*people, *(name for row in aliases for name in row)})
        Settings(self.db).set("last_removal", Settings(self.db).next_generation())

    def _read_again(self, spaces: Collection[int]) -> None:
        """Let the texts of these spaces that name people be extracted again; their names are forgotten."""
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT c.id, c.document FROM chunk c JOIN person_name p ON p.chunk = c.id"
            " JOIN document d ON d.id = c.document"
            " WHERE d.kind <> 'manual' AND c.space IN (SELECT value FROM @list(?))",
            (id_list(spaces),),
        )
        chunks, documents = [(row[0],) for row in rows], {row[1] for row in rows}
        self.db.executemany("UPDATE chunk SET extraction = NULL WHERE id = ? AND retry_at < @infinity", chunks)
        for document in sorted(documents):
            Documents(self.db).reset_to_pending(document)
        self.db.execute(
            "DELETE FROM person_name WHERE chunk IN (SELECT id FROM chunk WHERE space IN (SELECT value FROM @list(?)))",
            (id_list(spaces),),
        )
