"""Documents with their passages and chunks: save what changed, delete, and move rooms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import EmptyDocument, InvalidDocument, NotFound, PeopleNotKept
from engine.knowledge.merge import clean_extraction
from engine.models import Chunk, Document, Extraction, Passage
from engine.storage.ledger.content.chunks import Chunks, DocumentPlace
from engine.storage.ledger.content.facts import Facts
from engine.storage.ledger.content.rooms import Rooms
from engine.storage.ledger.names.corrections import Corrections
from engine.storage.ledger.names.people import People
from engine.storage.ledger.records.content import decode_omissions, encode_omissions
from engine.storage.ledger.records.projection import KeyKind
from engine.storage.ledger.work.claims import StaleKeys
from engine.storage.ledger.work.settings import Settings
from engine.storage.sql.database import Place_co, Topic, reading, writing
from engine.storage.sql.fragments import from_micros, text_list, to_micros
from engine.storage.sql.ids import draw_ids
from engine.text.names import title_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from datetime import datetime

    from engine.models import Scope


_HEADER_COLUMNS = ("space", "room", "kind", "title", "title_key", "link", "time", "open", "omissions", "coverage")

# A setting of the data directory: how all chunks were cut, or that it was in several ways.
CHUNKING, VARIOUS = "chunking", "various"


class Documents(Topic[Place_co]):
    """Documents with their passages, chunks and rooms. Writing marks what changed as stale."""

    @reading
    def is_current(self, document: Document, chunking: str) -> bool:
        """Whether `save` would change nothing. False, too, if some chunks may have been cut in another way."""
        before = self._load_header(document.key)
        if before is None or Settings(self.db).get(CHUNKING) != chunking:
            return False
        ids = Rooms(self.db).find_location(document.room, document.space)
        if ids is None or tuple(before[name] for name in _HEADER_COLUMNS) != _build_header(document, *ids):
            return False
        return self._load_passage_rows(before["id"]) == {p.key: _to_row(p) for p in document.passages}

    @writing
    def record_chunking(self, identity: str) -> None:
        """Record how chunks are cut from now on."""
        former = Settings(self.db).get(CHUNKING)
        if former != identity:
            Settings(self.db).set(CHUNKING, VARIOUS if former else identity)

    @writing
    def save(self, document: Document, chunks: Sequence[Chunk]) -> bool:
        """Make the ledger hold this document as it is now; returns whether anything changed.

        A moved room decides the space of its documents.
        """
        load_header = self._load_header_later(document.key)
        space, room = Rooms(self.db).resolve_location(document.room, document.space)
        before = load_header()
        if before is not None and before["space"] != space:
            self._move_to_space(before["id"], space)
        header = _build_header(document, space, room)
        if before is None:
            self._insert_document(document, header, chunks)
            return True
        id_ = before["id"]
        was = tuple(before[name] for name in _HEADER_COLUMNS)
        if was != header:
            self.db.execute(
                "UPDATE document SET space = ?, room = ?, kind = ?, title = ?, title_key = ?,"
                " link = ?, time = ?, open = ?, omissions = ?, coverage = ? WHERE id = ?",
                (*header, id_),
            )
            if before["open"] and not document.is_open:
                Chunks(self.db).finish_conversation(id_)
            if before["room"] != room:
                self.db.execute("UPDATE chunk SET room = ? WHERE document = ?", (room, id_))
                Settings(self.db).count_chunk_move()
                self._add_stale_chunks(id_)
        touched, removed = self._replace_passages(id_, document.passages)
        recut = Chunks(self.db).replace((id_, document.key, to_micros(document.time)), chunks, removed=removed)
        changed = touched or recut or was != header
        if changed:
            self.reset_to_pending(id_)
        return changed

    @writing
    def retitle(self, key: str, title: str, link: str, time: datetime | None) -> bool:
        """Give a conversation another title, link and time; its passages stay. Returns whether it exists."""
        rows = self.db.execute_fetchall(
            "UPDATE document SET title = ?, link = ?, time = ? WHERE key = ? AND kind = 'conversation' RETURNING id",
            (title, link, to_micros(time), key),
        )
        return bool(rows)

    def _load_header(self, key: str) -> dict[str, Any] | None:
        return self._load_header_later(key)()

    def _load_header_later(self, key: str) -> Callable[[], dict[str, Any] | None]:
        fetch = self.db.fetch_later(f"SELECT id, {', '.join(_HEADER_COLUMNS)} FROM document WHERE key = ?", (key,))
        return lambda: next((dict(zip(("id", *_HEADER_COLUMNS), row, strict=True)) for row in fetch()), None)

    def _insert_document(self, document: Document, header: tuple[Any, ...], chunks: Sequence[Chunk]) -> None:
        draw_id = draw_ids(self.db, "document", 1)
        draw_passages = draw_ids(self.db, "passage", len(document.passages))
        draw_chunks = draw_ids(self.db, "chunk", len(chunks))
        generation, [id_] = Settings(self.db).next_generation(), draw_id()
        self.db.execute(
            f"INSERT INTO document (id, key, {', '.join(_HEADER_COLUMNS)}, status, generation)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?)",
            (id_, document.key, *header, generation),
        )
        passages = dict(zip(draw_passages(), document.passages, strict=True))
        self.db.executemany(
            "INSERT INTO passage (id, document, key, position, time, author, label, link, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, id_, *_to_row(passage)) for number, passage in passages.items()],
        )
        place = DocumentPlace(id_, document.key, to_micros(document.time), *header[:2])
        known = {passage.key: (number, to_micros(passage.time)) for number, passage in passages.items()}
        Chunks(self.db).insert(place, chunks, known, draw_chunks, generation)

    def _move_to_space(self, document: int, space: int) -> None:
        """Move a document with its facts, without those about people if these are no entities in the new space."""
        rows = self.db.execute_fetchall("SELECT id FROM chunk WHERE document = ? ORDER BY id", (document,))
        chunks = [row[0] for row in rows]
        shown = People(self.db).list_shown(chunks)
        Rooms(self.db).move_to_space(document, space)
        People(self.db).doubt(shown)
        Facts(self.db).drop_people(chunks)

    def reset_to_pending(self, id_: int) -> None:
        """Set a changed document to pending until its chunks are embedded, and retry its failures."""
        generation = Settings(self.db).next_generation()
        self.db.execute(
            "UPDATE document SET status = 'pending', error = '', hint = '', generation = ? WHERE id = ?",
            (generation, id_),
        )
        failed = self.db.execute_fetchall(
            "UPDATE chunk SET attempts = 0, retry_at = 0, error = '', hint = '', permanent_failure = false"
            " WHERE document = ? AND error <> '' RETURNING id",
            (id_,),
        )
        StaleKeys(self.db).add(KeyKind.CHUNK, [row[0] for row in failed], generation)

    def upsert_passages(self, document: int, passages: Collection[Passage], dropped: Collection[str] = ()) -> bool:
        """Insert, replace and remove passages; returns whether any text was deleted."""
        changed = {passage.key: passage.text for passage in passages}
        texts = dict(
            self.db.execute_fetchall(
                "SELECT p.key, p.text FROM @list(?, j) @then JOIN passage p ON p.document = ? AND p.key = j.value",
                (text_list([*changed, *dropped]), document),
            )
        )
        self._upsert_rows(document, passages)
        self.db.executemany("DELETE FROM passage WHERE document = ? AND key = ?", [(document, key) for key in dropped])
        return any(key in texts for key in dropped) or any(
            texts.get(key, text) != text for key, text in changed.items()
        )

    def _upsert_rows(self, document: int, passages: Iterable[Passage]) -> None:
        self.db.executemany(
            "INSERT INTO passage (document, key, position, time, author, label, link, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (document, key) DO UPDATE SET position = excluded.position, time = excluded.time,"
            " author = excluded.author, label = excluded.label, link = excluded.link, text = excluded.text",
            {passage.key: (document, *_to_row(passage)) for passage in passages}.values(),
        )

    def _load_passage_rows(self, document: int) -> dict[str, tuple[Any, ...]]:
        rows = self.db.execute_fetchall(
            "SELECT key, position, time, author, label, link, text FROM passage WHERE document = ?", (document,)
        )
        return {row[0]: tuple(row) for row in rows}

    def _replace_passages(self, document: int, passages: Iterable[Passage]) -> tuple[bool, bool]:
        """Replace all passages of a document; returns whether any changed, and whether any text was deleted."""
        before = self._load_passage_rows(document)
        after = {passage.key: _to_row(passage) for passage in passages}
        changed = [passage for passage in passages if before.get(passage.key) != after[passage.key]]
        removed_keys = before.keys() - after.keys()
        return bool(changed or removed_keys), self.upsert_passages(document, changed, removed_keys)

    @writing
    def delete(self, key: str) -> bool:
        """Delete a document with everything that rests on it alone; returns whether there was one."""
        header = self._load_header(key)
        if header is None:
            return False
        chunks = self.db.execute_fetchall("SELECT id FROM chunk WHERE document = ?", (header["id"],))
        Facts(self.db).delete_chunks([row[0] for row in chunks], removed=True)
        self.db.execute("DELETE FROM document WHERE id = ?", (header["id"],))
        return True

    @writing
    def save_manual(self, document: Document, chunks: Sequence[Chunk], extraction: Extraction) -> None:
        """Save a document with facts stated by a person; they become the facts of its first chunk.

        Raises PeopleNotKept if they are about people alone, where these are no entities.
        """
        self.save(document, chunks)
        rows = self.db.execute_fetchall(
            "SELECT c.id, c.text_hash FROM chunk c JOIN document d ON d.id = c.document"
            " WHERE d.key = ? AND c.extraction IS NULL ORDER BY c.ordinal",
            (document.key,),
        )
        for place, (chunk, text_hash) in enumerate(rows):
            Facts(self.db).save_extraction(chunk, b"by hand" + text_hash, Extraction() if place else extraction)
        stated = rows and clean_extraction(extraction).mentions
        if stated and not self.db.execute_fetchall("SELECT 1 FROM mention WHERE chunk = ? LIMIT 1", (rows[0][0],)):
            raise PeopleNotKept("No facts about people are kept here.")

    @reading
    def load(self, key: str, scope: Scope) -> Document:
        """A document with its passages, in order. Raises NotFound if there is none within the scope."""
        found = self.db.execute_fetchall(
            "SELECT d.id, s.name, r.name, d.title, d.time, d.link, d.kind, d.open, d.omissions, d.coverage"
            " FROM document d"
            " JOIN space s ON s.id = d.space JOIN room r ON r.id = d.room WHERE d.key = ?",
            (key,),
        )
        for id_, space, room, title, time, link, kind, open_, omissions, coverage in found:
            if space not in scope.spaces and room not in scope.rooms:
                break
            rows = self.db.execute_fetchall(
                "SELECT key, text, label, link, author, time, position FROM passage WHERE document = ?"
                " ORDER BY position, COALESCE(time, 0), key",
                (id_,),
            )
            passages = tuple(
                Passage(key_, text, label, url, author, from_micros(at), position)
                for key_, text, label, url, author, at, position in rows
            )
            place = (key, space, room, title, passages, from_micros(time), link, kind, bool(open_))
            return Document(*place, decode_omissions(omissions), coverage)
        raise NotFound(f"There is no document “{key}”.")

    @writing
    def move_room(self, room: str, space: str) -> int:
        """Move a room into a space, with its documents and corrections; returns the number of documents.

        Later documents of the room go to that space, too.
        """
        id_, target = Rooms(self.db).get_or_create_id("room", room), Rooms(self.db).get_or_create_id("space", space)
        Rooms(self.db).set_room_space(id_, target)
        rows = self.db.execute_fetchall("SELECT id FROM document WHERE room = ? AND space <> ?", (id_, target))
        for (document,) in rows:
            self._move_to_space(document, target)
            self.reset_to_pending(document)
        Corrections(self.db).move_corrections(id_, target)
        return len(rows)

    @writing
    def delete_room(self, room: str) -> int:
        """Delete the documents, the corrections and the space of a room; returns the number of documents."""
        id_ = Rooms(self.db).get_or_create_id("room", room)
        rows = self.db.execute_fetchall("SELECT key FROM document WHERE room = ?", (id_,))
        for (key,) in rows:
            self.delete(key)
        Corrections(self.db).move_corrections(id_, None)
        Rooms(self.db).set_room_space(id_, None)
        return len(rows)

    def _add_stale_chunks(self, document: int) -> None:
        rows = self.db.execute_fetchall("SELECT id FROM chunk WHERE document = ?", (document,))
        StaleKeys(self.db).add(KeyKind.CHUNK, [row[0] for row in rows], Settings(self.db).next_generation())


def sort_passages(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Passages in document order: by position, time and key."""
    return tuple(sorted(passages, key=lambda p: (p.position, to_micros(p.time) or 0, p.key)))


def _build_header(document: Document, space: int, room: int) -> tuple[Any, ...]:
    """The values of the columns of a document."""
    return (
        space,
        room,
        document.kind,
        document.title,
        title_key(document.title) if document.kind == "file" else "",
        document.link,
        to_micros(document.time),
        document.is_open,
        encode_omissions(document.omissions),
        document.coverage,
    )


def _to_row(passage: Passage) -> tuple[Any, ...]:
    """The values of the columns of a passage."""
    p = passage
    return p.key, p.position, to_micros(p.time), p.author, p.label, p.link, p.text


def validate_document(document: Document) -> Document:
    """The document with sorted passages. Raises EmptyDocument and InvalidDocument."""
    if not any(passage.text.strip() for passage in document.passages):
        raise EmptyDocument(f"There is no text in “{document.title}”.")
    if len({passage.key for passage in document.passages}) < len(document.passages):
        raise InvalidDocument(f"Two passages of “{document.title}” have the same key.")
    return replace(document, passages=sort_passages(document.passages))
