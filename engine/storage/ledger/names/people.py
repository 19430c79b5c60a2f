"""The names of people, by the chunks that show them, and the spaces in which people are no entities."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from engine.knowledge.merge import description_hash
from engine.knowledge.people import (
    Evidence,
    drop_people,
    is_listed,
    is_person_name,
    list_author_names,
    list_stated_names,
    name_keys,
)
from engine.knowledge.splits import base_name
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.lists import id_list, text_list
from engine.storage.sql.topic import Place_co, Topic, reading, writing
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from engine.knowledge.people import PersonName
    from engine.models import Extraction

SETTING = "spaces_without_people"  # prefixes of the names of spaces, as JSON


class People(Topic[Place_co]):
    """Keeps people out of the facts of some spaces. Their names are kept as hashes, with the chunks that show them."""

    @reading
    def load_prefixes(self) -> tuple[str, ...]:
        """The prefixes of the names of spaces in which people are no entities; one after "!" excepts some of them."""
        return tuple(json.loads(Settings(self.db).get(SETTING) or "[]"))

    @writing
    def save_prefixes(self, prefixes: Iterable[str]) -> None:
        """Set the prefixes."""
        Settings(self.db).set(SETTING, json.dumps(sorted(prefixes)))

    def list_spaces(self) -> list[int]:
        """The spaces in which people are no entities."""
        prefixes = self.load_prefixes()
        rows = self.db.execute_fetchall("SELECT id, name FROM space ORDER BY id") if prefixes else []
        return [id_ for id_, name in rows if is_listed(name, prefixes)]

    def keep_out(self, found: Mapping[int, Extraction]) -> tuple[dict[int, Extraction], set[int]]:
        """The extractions of chunks without people where these are no entities.

        Also the other chunks that were extracted before and name those who were not known as people until now.
        """
        kept, outdated = dict(found), set[int]()
        by_space = self._group_chunks(found) if self.load_prefixes() else {}
        for space, texts in by_space.items():
            outdated |= self._learn(space, {id_: self._list_names(id_, texts[id_], found[id_]) for id_ in texts})
            evidence = self._find_evidence(space, {name for id_ in texts for name in _list_keys(found[id_])})
            kept |= {id_: drop_people(found[id_], evidence) for id_ in texts}
        return kept, outdated - found.keys()

    def find_people(self, space: int, names: Collection[str]) -> set[str]:
        """Those of the canonical names in a space that are names of people."""
        evidence = self._find_evidence(space, names)
        return {name for name in names if is_person_name(name, evidence.get(name, Evidence.NOTHING))}

    def remember(self, space: int, people: Collection[str]) -> None:
        """Keep it known that names are of people, which only aliases show, when these aliases go."""
        for name, same in self._find_same(space, people).items():
            hashes = [description_hash(key) for each in sorted(same) for key in name_keys(each)]
            self.db.executemany(
                "INSERT INTO person_name (chunk, hash, evidence) SELECT p.chunk, ?2, p.evidence FROM json_each(?1) j"
                " CROSS JOIN person_name p ON p.hash = j.value CROSS JOIN chunk c ON c.id = p.chunk"
                " WHERE c.space = ?3 ORDER BY p.evidence DESC, p.chunk LIMIT 1 ON CONFLICT DO NOTHING",
                [(id_list(hashes), description_hash(key), space) for key in name_keys(name)],
            )

    def _group_chunks(self, chunks: Iterable[int]) -> dict[int, dict[int, str]]:
        """The texts of these chunks by space, where people are no entities."""
        rows = self.db.execute_fetchall(
            "SELECT c.space, c.id, c.text FROM json_each(?) j CROSS JOIN chunk c ON c.id = j.value"
            " WHERE c.space IN (SELECT value FROM json_each(?)) ORDER BY c.id",
            (id_list(sorted(chunks)), id_list(self.list_spaces())),
        )
        found: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for space, id_, text in rows:
            found[space][id_] = text
        return dict(found)

    def _list_names(self, chunk: int, text: str, found: Extraction) -> list[PersonName]:
        """The names of people that a chunk shows: of its authors, and those that it states."""
        authors = self.db.execute_fetchall(
            "SELECT DISTINCT p.author FROM chunk_passage i CROSS JOIN passage p ON p.id = i.passage"
            " WHERE i.chunk = ? AND p.author <> '' ORDER BY p.author",
            (chunk,),
        )
        names = [name for (author,) in authors for name in list_author_names(author)]
        return [*names, *list_stated_names(found, text)]

    def _learn(self, space: int, shown: Mapping[int, Collection[PersonName]]) -> set[int]:
        """Record what chunks show; returns the chunks of the space that name those who were not known before."""
        rows = {
            (chunk, description_hash(key)): max(name.evidence for name in names if key in name.keys)
            for chunk, names in shown.items()
            for key in {key for name in names for key in name.keys}
        }
        hashes = {hash_ for _, hash_ in rows}
        before = self._load_evidence(space, hashes)
        self.db.executemany(
            "INSERT INTO person_name (chunk, hash, evidence) VALUES (?, ?, ?) ON CONFLICT (chunk, hash)"
            " DO UPDATE SET evidence = excluded.evidence WHERE person_name.evidence < excluded.evidence",
            [(chunk, hash_, int(evidence)) for (chunk, hash_), evidence in sorted(rows.items())],
        )
        after = self._load_evidence(space, hashes)
        news = {hash_ for hash_, evidence in after.items() if evidence > before.get(hash_, Evidence.NOTHING)}
        names = [
            name for each in shown.values() for name in each if not news.isdisjoint(map(description_hash, name.keys))
        ]
        return self._find_chunks(space, names)

    def _find_chunks(self, space: int, names: Collection[PersonName]) -> set[int]:
        """The chunks of a space with facts about names that may be these people's."""
        spelled, keys = (
            {each for name in names for each in name.spelling_keys},
            {k for name in names for k in name.keys},
        )
        rows = self.db.execute_fetchall(
            "SELECT n.id, n.canonical FROM json_each(?) j"
            " CROSS JOIN name n ON n.space = ? AND n.spelling_key = j.value",
            (text_list(sorted(spelled)), space),
        )
        same = {canonical: id_ for id_, canonical in rows if not keys.isdisjoint(name_keys(canonical))}
        led = Names(self.db).find_aliased_names(space, same) if same else set[str]()
        mentions = self.db.execute_fetchall(
            "SELECT DISTINCT m.chunk FROM json_each(?) j CROSS JOIN name n ON n.space = ? AND n.canonical = j.value"
            " CROSS JOIN mention m ON m.name = n.id",
            (text_list(sorted(led)), space),
        )
        return {row[0] for row in mentions}

    def _find_evidence(self, space: int, names: Collection[str]) -> dict[str, Evidence]:
        """What shows that canonical names of a space, or others that mean the same by an alias, are of people."""
        same = self._find_same(space, names)
        keys = {name: {description_hash(key) for each in same[name] for key in name_keys(each)} for name in names}
        known = self._load_evidence(space, {hash_ for each in keys.values() for hash_ in each})
        return {
            name: max((known[hash_] for hash_ in hashes if hash_ in known), default=Evidence.NOTHING)
            for name, hashes in keys.items()
        }

    def _find_same(self, space: int, names: Collection[str]) -> dict[str, set[str]]:
        """Each of the names with those that it is joined with by aliases."""
        ends = Names(self.db).resolve_aliases(space, names)
        joined = {end: Names(self.db).find_aliased_names(space, {end}) for name, end in ends.items() if end != name}
        targets = self.db.execute_fetchall(
            "SELECT DISTINCT target FROM alias WHERE space = ? AND target IN (SELECT value FROM json_each(?))",
            (space, text_list(sorted(names))),
        )
        joined |= {target: Names(self.db).find_aliased_names(space, {target}) for (target,) in targets}
        return {name: {base_name(each) for each in {name, *joined.get(ends[name], ())}} for name in names}

    def _load_evidence(self, space: int, hashes: Collection[int]) -> dict[int, Evidence]:
        """What chunks of a space show, by the hashes of keys."""
        shown = (
            "EXISTS (SELECT 1 FROM person_name p CROSS JOIN chunk c ON c.id = p.chunk"
            " WHERE p.hash = j.value AND p.evidence = {} AND c.space = ?)"
        )
        rows = self.db.execute_fetchall(
            f"SELECT j.value, {shown.format(2)}, {shown.format(1)} FROM json_each(?) j",
            (space, space, id_list(sorted(hashes))),
        )
        found = {hash_: Evidence.AUTHOR if author else Evidence(int(named)) for hash_, author, named in rows}
        return {hash_: evidence for hash_, evidence in found.items() if evidence}


def _list_keys(found: Extraction) -> set[str]:
    """The canonical names of an extraction."""
    ends = (end for link in found.links for end in (link.source, link.target))
    return {normalize_name(name) for name in (*(each.name for each in found.mentions), *ends)} - {""}
