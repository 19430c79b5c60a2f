"""Table of verified answers: save, find, withdraw and delete."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime  # noqa: TC003 - a field's type
from typing import TYPE_CHECKING, Any, Literal

from bot.platform.models import Location
from bot.store.database import parse_rows
from bot.store.models import ANSWER_SOURCES, AnswerSource, unknown_part_key
from engine.storage.sql.fragments import EPOCH, from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bot.store.database import Database, Row
    from engine.storage.sql.connection import Connection

MAX_QUESTIONS = 2000  # of a workspace, the newest; with more, older ones are not found

_COLUMNS = (
    "id, platform, workspace, channel, thread, message, question, text, asker, author, verifier, verified_at, state,"
    " sources, spaces, rooms,"
    " (SELECT CAST(@json_object(key, 1) AS TEXT) FROM verified_provenance WHERE verified = id)"
)


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """An answer that a person verified, in `location`.

    `message`: the message to link to. `asker`: whose question it was. `author`: who wrote the text, empty if the bot
    did. `keys`: of the documents and messages that it rests on. `spaces`, `rooms` as in AnswerResult. A withdrawn one
    (`review`) has no question and no text.
    """

    id: str
    location: Location
    message: str
    question: str
    text: str
    asker: str
    author: str
    verifier: str
    verified_at: datetime
    state: Literal["valid", "review"] = "valid"
    sources: tuple[AnswerSource, ...] = ()
    spaces: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()


class VerifiedAnswers:
    """Verified answers, valid or to be looked at again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, answer: VerifiedAnswer) -> bool:
        """Store a verified answer in place of the one with its id; False if a source was removed since it was read."""
        return await self._database.write(_save, answer)

    async def get(self, id_: str) -> VerifiedAnswer | None:
        """The valid answer with this id, or None."""
        return next(iter(await self._select("id = ? AND state = 'valid'", id_)), None)

    async def list_questions(self, platform: str, workspace: str) -> list[tuple[str, str, str]]:
        """Ids, rooms and questions of a workspace's valid answers, the newest first, at most MAX_QUESTIONS."""
        rows = await self._database.fetch_all(
            "SELECT id, room, question FROM verified_answer WHERE platform = ? AND workspace = ? AND state = 'valid'"
            f" ORDER BY verified_at DESC, id LIMIT {MAX_QUESTIONS}",
            (platform, workspace),
        )
        return [(id_, room, question) for id_, room, question in rows]

    async def list_in_room(self, room: str) -> list[VerifiedAnswer]:
        """The answers that were verified in a room, the newest first."""
        return await self._select("room = ? ORDER BY verified_at DESC, id", room)

    async def list_withdrawn(self, platform: str, workspace: str) -> list[VerifiedAnswer]:
        """The answers of a workspace that are to be looked at again, the oldest first."""
        condition = "platform = ? AND workspace = ? AND state = 'review' ORDER BY verified_at, id"
        return await self._select(condition, platform, workspace)

    async def list_unreported(self) -> list[VerifiedAnswer]:
        """Withdrawn answers whose verifier does not know of it."""
        return await self._select("NOT reported AND state = 'review' ORDER BY id")

    async def record_reported(self, id_: str) -> None:
        """Record that the verifier knows that an answer was withdrawn."""
        await self._database.execute("UPDATE verified_answer SET reported = true WHERE id = ?", (id_,))

    async def delete(self, id_: str, room: str) -> bool:
        """Delete an answer of a room; returns whether it existed."""
        sql = "DELETE FROM verified_answer WHERE id = ? AND room = ? RETURNING id"
        return bool(await self._database.execute(sql, (id_, room)))

    async def delete_in_channel(self, place: Location) -> None:
        """Delete the answers of a thread or a channel."""
        await self._database.execute(
            "DELETE FROM verified_answer WHERE room = ?1 AND (?2 = '' OR thread = ?2)", (place.room, place.thread)
        )

    async def delete_by_person(self, platform: str, workspace: str, person: str) -> None:
        """Delete the answers that a person asked for, wrote or verified."""
        await self._database.execute(
            "DELETE FROM verified_answer WHERE platform = ?1 AND workspace = ?2"
            " AND (asker = ?3 OR author = ?3 OR verifier = ?3)",
            (platform, workspace, person),
        )

    async def delete_before(self, time: float) -> None:
        """Delete the answers that were verified before a time (seconds since 1970)."""
        await self._database.execute("DELETE FROM verified_answer WHERE verified_at < ?", (int(time * 1e6),))

    async def _select(self, condition: str, *parameters: Any) -> list[VerifiedAnswer]:
        sql = f"SELECT {_COLUMNS} FROM verified_answer WHERE {condition}"
        return parse_rows(await self._database.fetch_all(sql, parameters), _to_verified_answer)


def withdraw_verified_using(db: Connection, keys: Collection[str], part_of: str) -> None:
    """Delete the text of verified answers that rest on these keys; `part_of` as in `redact_answers_using`."""
    found = db.execute_fetchall(
        "SELECT verified FROM verified_provenance WHERE key IN (SELECT value FROM @list(?1))"
        " UNION SELECT verified FROM verified_provenance d WHERE key = ?2 AND ?2 <> '' AND NOT EXISTS"
        " (SELECT 1 FROM verified_provenance m WHERE m.verified = d.verified AND @position(m.key, ':message:') > 0)",
        (text_list(sorted({*keys, unknown_part_key(part_of)} - {""})), part_of),
    )
    if not found:
        return
    which = (text_list([id_ for (id_,) in found]),)
    db.execute(
        "UPDATE verified_answer SET question = '', text = '', sources = '[]', state = 'review', reported = false"
        " WHERE id IN (SELECT value FROM @list(?))",
        which,
    )
    db.execute("DELETE FROM verified_provenance WHERE verified IN (SELECT value FROM @list(?))", which)


def _save(db: Connection, answer: VerifiedAnswer) -> bool:
    removed = db.execute_fetchall(
        "SELECT 1 FROM recent_removal WHERE key IN (SELECT value FROM @list(?)) AND removed_at * 1e6 >= ? LIMIT 1",
        (text_list(sorted(answer.keys)), to_micros(answer.verified_at)),
    )
    if removed:
        return False
    place = answer.location
    db.execute("DELETE FROM verified_answer WHERE id = ?", (answer.id,))
    row: Sequence[Any] = (
        *(answer.id, place.platform, place.workspace, place.channel, place.thread, place.room),
        *(answer.message, answer.question, answer.text, ANSWER_SOURCES.dump_json(answer.sources).decode()),
        *(json.dumps(sorted(answer.spaces)), json.dumps(sorted(answer.rooms))),
        *(answer.asker, answer.author, answer.verifier, to_micros(answer.verified_at), "valid", True),
    )
    db.execute(f"INSERT INTO verified_answer VALUES ({', '.join('?' for _ in row)})", row)
    db.executemany("INSERT INTO verified_provenance VALUES (?, ?)", [(answer.id, key) for key in sorted(answer.keys)])
    return True


def _to_verified_answer(row: Row) -> VerifiedAnswer:
    id_, platform, workspace, channel, thread, *words, time, state, sources, spaces, rooms, keys = row
    message, question, text, asker, author, verifier = words
    return VerifiedAnswer(
        id_,
        Location(platform, workspace, channel, thread),
        message,
        question,
        text,
        asker,
        author,
        verifier,
        from_micros(time) or EPOCH,
        state,
        ANSWER_SOURCES.validate_json(sources),
        frozenset(json.loads(spaces)),
        frozenset(json.loads(rooms)),
        frozenset(json.loads(keys or "{}")),
    )
