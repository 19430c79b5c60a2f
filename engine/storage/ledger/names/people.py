"""The names of people, by the chunks that show them or lost facts by them, and the spaces without people."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from engine.knowledge.merge import description_hash
from engine.knowledge.people import (
    Evidence,
    drop_people,
    find_people,
    is_listed,
    is_person_name,
    list_author_names,
    list_stated_names,
    name_keys,
)
from engine.knowledge.people_texts import NamedPeople, drop_sentences, list_keys
from engine.knowledge.splits import base_name
from engine.storage.ledger.names.names import Names
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import id_list, text_list
from engine.text.names import normalize_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from engine.knowledge.people import PersonName
    from engine.models import Extraction

SETTING = "spaces_without_people"  # prefixes of the names of spaces, as JSON
NO_NAME = 0  # instead of the hash of a name, for a chunk whose facts are to be looked at


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

    def keep_out(
        self, found: Mapping[int, Extraction], *, is_new: bool = False
    ) -> tuple[dict[int, Extraction], set[int]]:
        """The extractions of chunks without people where these are no entities; what each loses is recorded.

        Also the other chunks that were extracted before and name those who were not known as people until now.
        `is_new`: they were read again, so that what the last reading showed does not count any more.
        """
        kept, outdated = dict(found), set[int]()
        by_space = self._group_chunks(found) if self.load_prefixes() else {}
        for space, texts in by_space.items():
            replaced = self._forget_reading(list(texts)) if is_new else set[int]()
            names = {id_: self._list_names(id_, texts[id_], found[id_]) for id_ in texts}
            outdated |= self._learn(space, names, replaced)
            same = self._find_same(space, {name for id_ in texts for name in _list_keys(found[id_])})
            shown = self._find_shown_names(space, same)
            for id_ in texts:
                people = find_people(found[id_], shown)
                self._record_losses(
                    id_, {key for name in people for spelling in same[name] for key in name_keys(spelling)}
                )
                kept[id_] = self._drop_sentences(space, id_, drop_people(found[id_], people), people)
        return kept, outdated - found.keys()

    def _drop_sentences(self, space: int, chunk: int, left: Extraction, people: Collection[str]) -> Extraction:
        """The facts of a chunk without people, without what their descriptions say of people, which is recorded."""
        names = {mention.name for mention in left.mentions} | {end for x in left.links for end in (x.source, x.target)}
        hashes = {description_hash(key): key for key in list_keys(left, names)}
        shown = {hashes[number] for number in self._find_shown(space, hashes)}
        cleaned = drop_sentences(left, NamedPeople({*people, *self._list_authors(chunk)}, shown, names))
        if cleaned != left:
            self._record_losses(chunk, shown)
        return cleaned

    def mark_unchecked(self, chunks: Iterable[int]) -> None:
        """Have people be dropped from the stored facts of chunks later."""
        self._record(((chunk, NO_NAME) for chunk in chunks), Evidence.UNCHECKED)

    def take_unchecked(self, limit: int) -> list[int]:
        """The next chunks whose facts are to be looked at; they are not marked any more."""
        rows = self.db.execute_fetchall(
            "DELETE FROM person_name WHERE hash = ?1 AND chunk IN (SELECT chunk FROM person_name"
            " WHERE evidence = ?2 AND evidence < 0 AND hash = ?1 ORDER BY chunk LIMIT ?3) RETURNING chunk",
            (NO_NAME, int(Evidence.UNCHECKED), limit),
        )
        return sorted(row[0] for row in rows)

    def list_shown(self, chunks: Iterable[int]) -> dict[int, set[int]]:
        """The hashes of names of people that chunks show, by space."""
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT c.space, p.hash FROM @list(?, j) @then JOIN person_name p ON p.chunk = j.value"
            " @then JOIN chunk c ON c.id = p.chunk WHERE p.evidence > 0",
            (id_list(sorted(chunks)),),
        )
        found = defaultdict[int, set[int]](set)
        for space, hash_ in rows:
            found[space].add(hash_)
        return dict(found)

    def doubt(self, shown: Mapping[int, Collection[int]]) -> None:
        """Doubt what chunks lost by these hashes of names, by space, where no chunk shows the name any more."""
        for space, hashes in shown.items():
            gone = set(hashes) - self._find_shown(space, hashes)
            self.db.execute(
                "UPDATE person_name SET evidence = ?3 WHERE evidence = ?4 AND hash IN (SELECT value FROM @list(?1))"
                " AND (SELECT space FROM chunk WHERE id = person_name.chunk) = ?2",
                (id_list(sorted(gone)), space, int(Evidence.DOUBTFUL), int(Evidence.LOST)),
            )

    def list_doubtful(self) -> dict[int, set[int]]:
        """Chunks that lost facts about names which nothing shows as those of people any more, by space.

        Authors of texts that wait to be read show their names, too. What is shown again is in doubt no more.
        """
        rows = self.db.execute_fetchall(
            "SELECT c.space, p.chunk, p.hash FROM person_name p JOIN chunk c ON c.id = p.chunk"
            " WHERE p.evidence < 0 AND p.evidence = ?",
            (int(Evidence.DOUBTFUL),),
        )
        by_space = defaultdict[int, dict[int, set[int]]](lambda: defaultdict(set))
        for space, chunk, hash_ in rows:
            by_space[space][hash_].add(chunk)
        found = dict[int, set[int]]()
        for space, chunks in by_space.items():
            gone = chunks.keys() - self._find_shown(space, chunks) - self._list_waiting_authors(space)
            found[space] = {chunk for hash_ in gone for chunk in chunks[hash_]}
        self.db.execute(
            "UPDATE person_name SET evidence = ? WHERE evidence < 0 AND evidence = ?",
            (int(Evidence.LOST), int(Evidence.DOUBTFUL)),
        )
        return found

    def copy_losses(self, chunk: int, key: bytes) -> None:
        """Record that a chunk lost what another one of its space lost, or showed, whose facts by this key it has."""
        if not self.load_prefixes():
            return
        self.db.execute(
            "INSERT INTO person_name (chunk, hash, evidence) SELECT ?1, p.hash, ?3 FROM person_name p WHERE p.chunk ="
            " (SELECT x.id FROM chunk x WHERE x.extraction = ?2 AND x.id <> ?1"
            " AND @unindexed x.space = (SELECT space FROM chunk WHERE id = ?1) LIMIT 1) AND p.evidence >= -1"
            " ON CONFLICT DO NOTHING",
            (chunk, key, int(Evidence.LOST)),
        )

    def find_people(self, space: int, names: Collection[str]) -> set[str]:
        """Those of the canonical names in a space that are names of people."""
        shown = self._find_shown_names(space, self._find_same(space, names))
        return {name for name in names if is_person_name(name, is_shown=name in shown)}

    def remember(self, space: int, people: Collection[str]) -> None:
        """Keep it known that names are of people, which only aliases show, when these aliases go."""
        for name, same in self._find_same(space, people).items():
            hashes = [description_hash(key) for spelling in sorted(same) for key in name_keys(spelling)]
            self.db.executemany(
                "INSERT INTO person_name (chunk, hash, evidence) SELECT p.chunk, ?2, ?4 FROM @list(?1, j)"
                " @then JOIN person_name p ON p.hash = j.value @then JOIN chunk c ON c.id = p.chunk"
                " WHERE c.space = ?3 AND p.evidence > 0 ORDER BY p.chunk LIMIT 1 ON CONFLICT (chunk, hash)"
                " DO UPDATE SET evidence = excluded.evidence",
                [(id_list(hashes), description_hash(key), space, int(Evidence.REMEMBERED)) for key in name_keys(name)],
            )

    def _group_chunks(self, chunks: Iterable[int]) -> dict[int, dict[int, str]]:
        """The texts of these chunks by space, where people are no entities."""
        rows = self.db.execute_fetchall(
            "SELECT c.space, c.id, c.text FROM @list(?, j) @then JOIN chunk c ON c.id = j.value"
            " WHERE c.space IN (SELECT value FROM @list(?)) ORDER BY c.id",
            (id_list(sorted(chunks)), id_list(self.list_spaces())),
        )
        found: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for space, id_, text in rows:
            found[space][id_] = text
        return dict(found)

    def _list_names(self, chunk: int, text: str, found: Extraction) -> list[PersonName]:
        """The names of people that a chunk shows: of its authors, and those that it states."""
        names = [name for author in self._list_authors(chunk) for name in list_author_names(author)]
        return [*names, *list_stated_names(found, text)]

    def _list_authors(self, chunk: int) -> list[str]:
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT p.author FROM chunk_passage i @then JOIN passage p ON p.id = i.passage"
            " WHERE i.chunk = ? AND p.author <> '' ORDER BY p.author",
            (chunk,),
        )
        return [row[0] for row in rows]

    def _list_waiting_authors(self, space: int) -> set[int]:
        """The hashes of the names of authors of texts that wait to be read."""
        rows = self.db.execute_fetchall(
            "SELECT DISTINCT p.author FROM chunk c @then JOIN chunk_passage i ON i.chunk = c.id"
            " @then JOIN passage p ON p.id = i.passage WHERE c.extraction IS NULL AND c.space = ? AND p.author <> ''",
            (space,),
        )
        return {description_hash(key) for (author,) in rows for name in list_author_names(author) for key in name.keys}

    def _forget_reading(self, chunks: Collection[int]) -> set[int]:
        """Forget what chunks showed and lost in their last reading; returns the hashes of the names they showed."""
        rows = self.db.execute_fetchall(
            "DELETE FROM person_name WHERE chunk IN (SELECT value FROM @list(?)) AND evidence <= ?"
            " RETURNING hash, evidence",
            (id_list(chunks), int(Evidence.SHOWN)),
        )
        return {hash_ for hash_, evidence in rows if evidence > 0}

    def _learn(self, space: int, shown: Mapping[int, Collection[PersonName]], replaced: Collection[int]) -> set[int]:
        """Record what chunks show; returns the chunks of the space that name those who were not known before.

        `replaced`: hashes of names that these chunks showed until now.
        """
        rows = {(chunk, description_hash(key)) for chunk, names in shown.items() for name in names for key in name.keys}
        hashes = {hash_ for _, hash_ in rows}
        news = hashes - self._find_shown(space, hashes) - set(replaced)
        self._record(rows, Evidence.SHOWN)
        if gone := set(replaced) - hashes:
            self.doubt({space: gone})
        names = [
            name for group in shown.values() for name in group if not news.isdisjoint(map(description_hash, name.keys))
        ]
        return self._find_chunks(space, names) if names else set()

    def _record_losses(self, chunk: int, keys: Collection[str]) -> None:
        self._record(((chunk, description_hash(key)) for key in keys), Evidence.LOST)

    def _record(self, rows: Iterable[tuple[int, int]], evidence: Evidence) -> None:
        """Record evidence of chunks for hashes of names, unless there is more."""
        self.db.executemany(
            "INSERT INTO person_name (chunk, hash, evidence) VALUES (?, ?, ?) ON CONFLICT (chunk, hash)"
            " DO UPDATE SET evidence = excluded.evidence WHERE person_name.evidence < excluded.evidence",
            [(chunk, hash_, int(evidence)) for chunk, hash_ in sorted(rows)],
        )

    def _find_chunks(self, space: int, names: Collection[PersonName]) -> set[int]:
        """The chunks of a space with facts about names that may be these people's."""
        spelled, keys = (
            {key for name in names for key in name.spelling_keys},
            {k for name in names for k in name.keys},
        )
        rows = self.db.execute_fetchall(
            "SELECT n.id, n.canonical FROM @list(?, j) @then JOIN name n ON n.space = ? AND n.spelling_key = j.value",
            (text_list(sorted(spelled)), space),
        )
        same = {canonical: id_ for id_, canonical in rows if not keys.isdisjoint(name_keys(canonical))}
        led = Names(self.db).find_aliased_names(space, same) if same else set[str]()
        mentions = self.db.execute_fetchall(
            "SELECT DISTINCT m.chunk FROM @list(?, j) @then JOIN name n ON n.space = ? AND n.canonical = j.value"
            " @then JOIN mention m ON m.name = n.id",
            (text_list(sorted(led)), space),
        )
        return {row[0] for row in mentions}

    def _find_shown_names(self, space: int, same: Mapping[str, Collection[str]]) -> set[str]:
        """The canonical names of a space that are shown as those of people, or of which another one is."""
        keys = {
            name: {description_hash(key) for spelling in names for key in name_keys(spelling)}
            for name, names in same.items()
        }
        known = self._find_shown(space, {hash_ for key in keys.values() for hash_ in key})
        return {name for name, hashes in keys.items() if not known.isdisjoint(hashes)}

    def _find_same(self, space: int, names: Collection[str]) -> dict[str, set[str]]:
        """Each of the names with those that it is joined with by aliases."""
        ends = Names(self.db).resolve_aliases(space, names)
        joined = {end: Names(self.db).find_aliased_names(space, {end}) for name, end in ends.items() if end != name}
        targets = self.db.execute_fetchall(
            "SELECT DISTINCT target FROM alias WHERE space = ? AND target IN (SELECT value FROM @list(?))",
            (space, text_list(sorted(names))),
        )
        joined |= {target: Names(self.db).find_aliased_names(space, {target}) for (target,) in targets}
        return {name: {base_name(member) for member in {name, *joined.get(ends[name], ())}} for name in names}

    def _find_shown(self, space: int, hashes: Collection[int]) -> set[int]:
        """Those of the hashes of keys that chunks of a space show as names of people."""
        rows = self.db.execute_fetchall(
            "SELECT j.value FROM @list(?, j) WHERE EXISTS (SELECT 1 FROM person_name p @then JOIN chunk c"
            " ON c.id = p.chunk WHERE p.hash = j.value AND p.evidence > 0 AND c.space = ?)",
            (id_list(sorted(hashes)), space),
        )
        return {row[0] for row in rows}


def _list_keys(found: Extraction) -> set[str]:
    """The canonical names of an extraction."""
    ends = (end for link in found.links for end in (link.source, link.target))
    return {normalize_name(name) for name in (*(mention.name for mention in found.mentions), *ends)} - {""}
