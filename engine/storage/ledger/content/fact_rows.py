"""The rows of mentions and links of chunks: deleted, and saved with all that follows from them."""

from __future__ import annotations

from collections import defaultdict
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

from engine.knowledge.merge import clean_extraction, description_hash
from engine.knowledge.splits import split_facts
from engine.storage.ledger.names.joins import Joins
from engine.storage.ledger.names.names import Invalidation, Names
from engine.storage.ledger.names.splits import Splits
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic
from engine.storage.sql.fragments import id_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from engine.knowledge.merge import ExtractedFacts
    from engine.models import Extraction
    from engine.storage.ledger.names.splits import Rules


class _ExtractedChunk(NamedTuple):
    """A chunk of a space: its id, time and text, and its facts."""

    id: int
    time: int
    text: str
    facts: ExtractedFacts


class _StoredChunk(NamedTuple):
    """A chunk whose facts are replaced."""

    id: int
    space: int
    time: int
    text: str
    document: int
    document_key: str


class ReplacedFacts(NamedTuple):
    """Chunks whose facts are replaced, the ids of names and pairs in the former ones, and rules of names by space.

    `given`: extractions of chunks, whose facts are `cleaned`.
    """

    chunks: list[_StoredChunk]
    names: set[int]
    pairs: set[int]
    rules: Mapping[int, Rules]
    given: Mapping[int, Extraction]
    cleaned: Mapping[int, ExtractedFacts]

    def clean(self, chunk: int, extraction: Extraction) -> ExtractedFacts:
        """The facts in an extraction of a chunk, perhaps the one that was given."""
        return self.cleaned[chunk] if extraction is self.given[chunk] else clean_extraction(extraction)


class FactRows(Topic[Place_co]):
    """Mentions and links of chunks."""

    def delete(self, chunks: Collection[int]) -> tuple[set[int], set[int]]:
        """Delete the facts of these chunks; returns the affected names and pairs. The chunks remain."""
        return self._delete_later("SELECT value FROM @list(?)", (id_list(chunks),))()

    def _delete_later(self, chosen: str, parameters: Sequence[str]) -> Callable[[], tuple[set[int], set[int]]]:
        """As `delete`, for the chunks that a query chooses."""
        names, pairs = (
            self.db.fetch_later(f"DELETE FROM {table} WHERE chunk IN ({chosen}) RETURNING {key}", parameters)
            for table, key in (("mention", "name"), ("link", "pair"))
        )
        return lambda: ({row[0] for row in names()}, {row[0] for row in pairs()})

    def begin_replacing(self, found: Mapping[int, Extraction], condition: str = "true") -> Callable[[], ReplacedFacts]:
        """Delete the facts of those chunks `c` that meet a condition; the result tells what `replace` needs."""
        listed = (id_list(sorted(found)),)
        chosen = f"@list(?, j) @then JOIN chunk c ON c.id = j.value AND {condition}"
        load_chunks = self.db.fetch_later(
            f"SELECT c.id, c.space, c.time, c.text, c.document, d.key FROM {chosen}"
            " @then JOIN document d ON d.id = c.document",
            listed,
        )
        delete = self._delete_later(f"SELECT c.id FROM {chosen}", listed)
        facts = {id_: clean_extraction(extraction) for id_, extraction in found.items()}
        written = {name for each in facts.values() for name, _ in each.mentions}
        load_rules = Splits(self.db).load_rules_later(found, written)
        return lambda: ReplacedFacts(list(starmap(_StoredChunk, load_chunks())), *delete(), load_rules(), found, facts)

    def replace(self, found: Mapping[int, Extraction], replaced: ReplacedFacts) -> None:
        """Save facts of chunks, whose former ones are deleted, in their spaces."""
        generation = Settings(self.db).next_generation()
        by_space = defaultdict[int, list[_ExtractedChunk]](list)
        for chunk in replaced.chunks:
            splits, facts = replaced.rules.get(chunk.space), replaced.clean(chunk.id, found[chunk.id])
            followed = split_facts(facts, splits, chunk.document_key) if splits else facts
            by_space[chunk.space].append(_ExtractedChunk(chunk.id, chunk.time, chunk.text, followed))
        for space, chunks in by_space.items():
            self._save(space, chunks, generation)
        if replaced.names:
            Joins(self.db).refresh_by_id(replaced.names, {})
            Invalidation(self.db).invalidate_keys(replaced.names, replaced.pairs, generation)
        documents = id_list(sorted({chunk.document for chunk in replaced.chunks}))
        self.db.execute(
            "UPDATE document SET generation = ? WHERE id IN (SELECT value FROM @list(?))", (generation, documents)
        )

    def _save(self, space: int, chunks: Sequence[_ExtractedChunk], generation: int) -> None:
        """Save the facts of chunks of one space."""
        written = {name for chunk in chunks for name, _ in chunk.facts.mentions}
        intern_names = Names(self.db).intern_names_later(space, written)
        defined = {key for chunk in chunks for key in Joins(self.db).save_definitions(chunk.id, space, chunk.text)}
        names = intern_names()
        links = [
            (chunk, number, (min(names[a], names[b]), max(names[a], names[b])), link)
            for chunk in chunks
            for number, (a, b, link) in enumerate(chunk.facts.links)
        ]
        intern_pairs = Names(self.db).intern_pairs_later(space, {ends for _, _, ends, _ in links})
        self.db.executemany(
            "INSERT INTO mention (chunk, number, name, time, hash, surface, type, description)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    chunk.id,
                    number,
                    names[name],
                    chunk.time,
                    description_hash(m.description),
                    m.name,
                    m.type,
                    m.description,
                )
                for chunk in chunks
                for number, (name, m) in enumerate(chunk.facts.mentions)
            ],
        )
        refresh = Joins(self.db).begin_refresh(space, names, defined)
        pairs = intern_pairs()
        self.db.executemany(
            "INSERT INTO link (chunk, number, pair, time, hash, keywords, description) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (chunk.id, number, pairs[ends], chunk.time, description_hash(x.description), x.keywords, x.description)
                for chunk, number, ends, x in links
            ],
        )
        refresh()
        StaleKeys(self.db).add_targets(names.values(), pairs.values(), generation)
