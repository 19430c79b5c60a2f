"""What stays of a redacted answer until it is renewed: the sentences that rest on none of the removed sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.store.models import ANSWER_SOURCES, source_keys
from bot.text.citing_sentences import cited_numbers, keep_explained
from engine.storage.sql.fragments import text_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Set as AbstractSet

    from bot.store.models import AnswerSource
    from engine.storage.sql.connection import Connection


@dataclass(frozen=True, slots=True)
class UntouchedText:
    """The sentences of one answer that stay, and their sources; `spaces`: those of the answer, in JSON."""

    answer: str
    text: str
    sources: tuple[AnswerSource, ...]
    spaces: str

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the documents and messages that the sentences rest on."""
        return frozenset().union(
            *(source_keys(source.document, source.room, source.passage) for source in self.sources)
        )


def find_untouched(db: Connection, answers: Collection[str], removed: Collection[str]) -> list[UntouchedText]:
    """What of these posted public answers rests on none of the removed keys; read it before they are redacted.

    What a newer message replaces does not stay either, because the mark that says so goes.
    """
    rows = db.execute_fetchall(
        "SELECT id, text, sources, spaces FROM answer WHERE id IN (SELECT value FROM @list(?))"
        " AND NOT private AND reply_ref <> '' AND state IN ('done', 'redacted') AND text <> ''",
        (text_list(sorted(answers)),),
    )
    found = [_keep(db, id_, text, sources, spaces, frozenset(removed)) for id_, text, sources, spaces in rows]
    return [untouched for untouched in found if untouched is not None and untouched.text]


def save_untouched(db: Connection, found: Collection[UntouchedText]) -> None:
    """Store what stays of redacted answers, with its keys, so that a later removal finds it."""
    for text in found:
        kept = db.execute_fetchall(
            "UPDATE answer SET text = ?, sources = ?, spaces = ?, rooms = ? WHERE id = ? AND state = 'redacted'"
            " RETURNING id",
            (
                *(text.text, ANSWER_SOURCES.dump_json(text.sources).decode()),
                json.dumps(sorted(select_spaces(json.loads(text.spaces), text.sources))),
                json.dumps(sorted({source.room for source in text.sources})),
                text.answer,
            ),
        )
        db.executemany(
            "INSERT INTO answer_provenance (answer, key, used) VALUES (?, ?, ?)",
            [(text.answer, key, True) for key in sorted(text.keys) if kept],
        )


def _keep(
    db: Connection, id_: str, text: str, sources: str, spaces: str, removed: frozenset[str]
) -> UntouchedText | None:
    """What stays of one answer; None if it may use removed texts without citing them."""
    used = db.execute_fetchall("SELECT key FROM answer_provenance WHERE answer = ? AND used", (id_,))
    rows = db.execute_fetchall("SELECT replaced FROM supersession WHERE answer = ?", (id_,))
    gone = removed.union(*(json.loads(replaced) for (replaced,) in rows))
    kept = select_untouched(text, ANSWER_SOURCES.validate_json(sources), {key for (key,) in used}, gone)
    return None if kept is None else UntouchedText(id_, *kept, spaces)


def select_untouched(
    text: str, cited: Collection[AnswerSource], used: AbstractSet[str], removed: AbstractSet[str]
) -> tuple[str, tuple[AnswerSource, ...]] | None:
    """The sentences of a text that rest on none of the removed keys, with their sources.

    `used`: the keys of all that it rests on; None if removed ones are among them that it does not cite.
    """
    keys = {each: source_keys(each.document, each.room, each.passage) for each in cited}
    gone = frozenset().union(*(found for found in keys.values() if found & removed))
    if not used & removed <= gone:
        return None
    left = [source for source in cited if not keys[source] & removed]
    lost = " ".join(_describe(source) for source in cited if keys[source] & removed)
    kept = keep_explained(text, {source.number: _describe(source) for source in left}, lost)
    numbers = cited_numbers(kept)
    return kept, tuple(source for source in left if source.number in numbers)


def select_spaces(used: Iterable[str], sources: Collection[AnswerSource]) -> frozenset[str]:
    """The spaces of the kept sources, of those that the answer used, without those that are named after their rooms.

    Such a space is gone once its room is open; who may read the room is asked for anyway.
    """
    return frozenset(used) & {source.space for source in sources} - {source.room for source in sources}


def _describe(source: AnswerSource) -> str:
    """What is stored of a source; a quotation begins with the time of its message."""
    time = f"{source.time:%Y-%m-%d %H:%M}" if source.time else ""
    return f"{source.title} {time} {source.excerpt}"
