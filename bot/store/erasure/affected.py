"""Which answers and verified answers an erasure takes: read before it happens, by the same rules that redact them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.platform.models import Location
from bot.store.models import Subject, message_key, unknown_part_key
from engine.storage.sql.fragments import text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

_USES = (  # as in `redact_answers_using`; ?1: keys, ?2: the documents that lose something
    "SELECT answer, used FROM answer_provenance p WHERE key IN (SELECT value FROM @list(?1))"
    " AND NOT EXISTS (SELECT 1 FROM supersession s WHERE s.answer = p.answer AND s.newer = p.key AND s.added)"
    " UNION SELECT answer, true FROM answer_provenance d WHERE key IN (SELECT value FROM @list(?2)) AND used"
    " AND NOT EXISTS (SELECT 1 FROM answer_provenance m"
    " WHERE m.answer = d.answer AND m.used AND @position(m.key, ':message:') > 0)"
)
_RESTS = (  # as in `withdraw_verified_using`
    "SELECT verified FROM verified_provenance WHERE key IN (SELECT value FROM @list(?1))"
    " UNION SELECT verified FROM verified_provenance d WHERE key IN (SELECT value FROM @list(?2))"
    " AND NOT EXISTS (SELECT 1 FROM verified_provenance m"
    " WHERE m.verified = d.verified AND @position(m.key, ':message:') > 0)"
)
_ANSWER = "id, platform, workspace, channel, thread, asker, question, private, reply_ref <> '', attempt"
_HAS_TEXT = "state <> 'started' AND (text <> '' OR question <> '')"


@dataclass(frozen=True, slots=True)
class AnswerDemand:
    """What takes answers with it.

    `keys`: of documents and messages that go. `documents`: that lose something. `questions`: messages, by room, whose
    answers go. `people`: whose questions go, and what they verified. `workspace`: of which everything goes, as
    (platform, workspace). `before`: a time before which all answers go.
    """

    keys: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    questions: Mapping[str, frozenset[str]] | None = None
    people: tuple[Subject, ...] = ()
    workspace: tuple[str, str] | None = None
    before: datetime | None = None

    @property
    def all_keys(self) -> frozenset[str]:
        """The keys, and those of unknown parts of the documents."""
        asked = {message_key(room, id_) for room, ids in (self.questions or {}).items() for id_ in ids}
        return self.keys | asked | {unknown_part_key(document) for document in self.documents}


@dataclass(frozen=True, slots=True)
class AffectedAnswer:
    """An answer, or a verified one, whose text goes. `is_posted`: its posted messages are replaced by a notice."""

    id: str
    location: Location
    asker: str
    question: str
    is_private: bool = False
    is_posted: bool = False
    attempt: int = 0


class AffectedAnswers:
    """Reads which answers go with what."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_answers(self, demand: AnswerDemand) -> list[AffectedAnswer]:
        """The stored answers that lose their text, by id."""
        return await self._database.read(_list_answers, demand)

    async def list_verified(self, demand: AnswerDemand) -> list[AffectedAnswer]:
        """The verified answers that are withdrawn or deleted, by id."""
        return await self._database.read(_list_verified, demand)


def _list_answers(db: Connection, demand: AnswerDemand) -> list[AffectedAnswer]:
    lists = (text_list(sorted(demand.all_keys)), text_list(sorted(demand.documents)))
    used = dict[str, bool]()
    for id_, is_used in db.execute_fetchall(_USES, lists):
        used[id_] = used.get(id_, False) or bool(is_used)
    found = _select(db, "id IN (SELECT value FROM @list(?))", text_list(sorted(used)), posted=used)
    for room, ids in (demand.questions or {}).items():
        condition = "room = ? AND message IN (SELECT value FROM @list(?))"
        found |= _select(db, condition, room, text_list(sorted(ids)), posted=None) | found
    for person in demand.people:
        condition = "platform = ? AND workspace = ? AND asker = ?"
        found = _select(db, condition, person.platform, person.workspace, person.person, posted={}) | found
    if demand.workspace is not None:
        found = _select(db, "platform = ? AND workspace = ?", *demand.workspace, posted={}) | found
    if demand.before:
        found = _select(db, "time < ?", to_micros(demand.before), posted={}) | found
    return [found[id_] for id_ in sorted(found)]


def _select(
    db: Connection, condition: str, *parameters: Any, posted: Mapping[str, bool] | None
) -> dict[str, AffectedAnswer]:
    """Answers by id; `posted`: of which the posted messages are replaced; None: of all that are not private."""
    rows = db.execute_fetchall(f"SELECT {_ANSWER} FROM answer WHERE {condition} AND {_HAS_TEXT}", parameters)
    return {
        id_: AffectedAnswer(
            id_,
            Location(*place),
            asker,
            question,
            bool(private),
            bool(is_posted and (not private if posted is None else posted.get(id_))),
            attempt,
        )
        for id_, *place, asker, question, private, is_posted, attempt in rows
    }


def _list_verified(db: Connection, demand: AnswerDemand) -> list[AffectedAnswer]:
    lists = (text_list(sorted(demand.all_keys)), text_list(sorted(demand.documents)))
    conditions: list[tuple[str, tuple[str | int | None, ...]]] = [
        ("id IN (SELECT value FROM @list(?))", (text_list([row[0] for row in db.execute_fetchall(_RESTS, lists)]),))
    ]
    conditions += [
        (
            "platform = ?1 AND workspace = ?2 AND ?3 IN (asker, author, verifier)",
            (person.platform, person.workspace, person.person),
        )
        for person in demand.people
    ]
    conditions += [("platform = ? AND workspace = ?", demand.workspace)] if demand.workspace else []
    conditions += [("verified_at < ?", (to_micros(demand.before),))] if demand.before else []
    found = dict[str, AffectedAnswer]()
    for condition, parameters in conditions:
        columns = "id, platform, workspace, channel, thread, asker, question"
        rows = db.execute_fetchall(
            f"SELECT {columns} FROM verified_answer WHERE {condition} AND text <> ''", parameters
        )
        found |= {id_: AffectedAnswer(id_, Location(*place), asker, text) for id_, *place, asker, text in rows}
    return [found[id_] for id_ in sorted(found)]
