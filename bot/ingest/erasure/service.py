"""Measure what an erasure takes, give receipts of erasures, and compare receipts with what is stored now."""

from __future__ import annotations

import json
import secrets
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog

from bot.errors import BadSetting, PlatformError
from bot.ingest.erasure.plan import ErasurePlan, ErasurePlanner
from bot.store import Subject
from bot.store.access.audit_log import NOBODY, SYSTEM, AuditEvent
from bot.store.erasure.receipts import BegunErasure, StoredReceipt
from bot.text.speech.mentions import strip_mention
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Mapping

    from bot.context import BotContext
    from bot.ingest.erasure.keys import InstallationKey
    from bot.ingest.erasure.plan import MessageId
    from bot.store.erasure.affected import AffectedAnswer
    from engine import Scope
    from engine.storage.ledger.records import ErasureSize

log = structlog.get_logger(__name__)

ID_BYTES = 6
COMPLETED_LATELY = timedelta(hours=1)  # in which a request that was interrupted is made again
AUDITED_AS = {"uninstall": "forget-workspace"}  # actions of receipts that have another name in the audit log
MAX_TITLES = 20  # of a rehearsal; further ones are counted


@dataclass(frozen=True, slots=True)
class ErasureReader:
    """The person who reads a receipt or a rehearsal, and what they may read."""

    subject: Subject
    scope: Scope


@dataclass(frozen=True, slots=True)
class MeasuredErasure:
    """A plan with how much goes, by kind.

    `questions` and `answers` (id, attempt): those that the reader may see. `id`: of its receipt.
    """

    plan: ErasurePlan
    counts: Mapping[str, int]
    questions: tuple[str, ...] = ()
    answers: tuple[tuple[str, int], ...] = field(default=(), repr=False)
    id: str = field(default_factory=lambda: secrets.token_hex(ID_BYTES))


@dataclass(frozen=True, slots=True)
class RemainingParts:
    """What is stored now of what a receipt names."""

    documents: tuple[str, ...] = ()
    messages: tuple[MessageId, ...] = ()
    answers: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.documents or self.messages or self.answers)


class Erasures:
    """Erasures: `planner` says what one takes. A reader is told nothing of what is in places that they may not read."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._engine = context.engine_context.engine
        self._store = context.store
        self.planner = ErasurePlanner(context)

    async def measure(self, plan: ErasurePlan, reader: ErasureReader | None = None) -> MeasuredErasure:
        """How much goes with a plan now; without a `reader`, for the operator."""
        size = await self._engine.documents.measure_erasure(plan.list_parts())
        answers = await self._list_shown(await self._store.affected_answers.list_answers(plan.demand), reader)
        verified = await self._list_shown(await self._store.affected_answers.list_verified(plan.demand), reader)
        counts = {
            **(asdict(size) if reader is None else _count_own(size)),
            "messages": len(plan.messages),
            "answers": len(answers),
            "posted_answers": sum(answer.is_posted for answer in answers),
            "verified_answers": len(verified),
        }
        questions = dict.fromkeys(strip_mention(answer.question) for answer in (*answers, *verified) if answer.question)
        names = tuple((answer.id, answer.attempt) for answer in answers)
        return MeasuredErasure(plan, counts, tuple(questions)[:MAX_TITLES], names)

    async def try_measure(self, plan: Awaitable[ErasurePlan]) -> MeasuredErasure | None:
        """Measure for the operator what must go anyway; None if it cannot be measured now."""
        try:
            return await self.measure(await plan)
        except EngineError as error:
            log.error("erasure.not_measured", error=type(error).__name__)  # noqa: TRY400 - no bug
            return None

    @asynccontextmanager
    async def completing(
        self, action: str, asked: Mapping[str, str], erasure: MeasuredErasure | None, owner: Subject = NOBODY
    ) -> AsyncIterator[None]:
        """Erase within it: if the process ends before the receipt is given, the next one completes what was begun.

        Parameters as in `give_receipt`; without an erasure nothing is kept.
        """
        if erasure is None or not await self._begin(action, asked, erasure, owner):
            yield
            return
        try:
            yield
        except Exception:  # of a process that goes on, and whoever asked is told
            await self._store.receipts.cancel(erasure.id)
            raise

    async def _begin(self, action: str, asked: Mapping[str, str], erasure: MeasuredErasure, owner: Subject) -> bool:
        try:
            key = self.load_key()
            receipt = await self._sign(key, action, asked, erasure, owner)
            await self._store.receipts.begin(receipt, _find_target(erasure.plan))
        except (BadSetting, OSError, EngineError) as error:  # a full disk keeps nobody from erasing
            log.warning("erasure.not_begun", error=type(error).__name__)
            return False
        return True

    async def complete(self, begun: BegunErasure) -> None:
        """Give the receipt of an erasure that was begun before a restart, and is done now, with an audit entry.

        Raises as `load_key`.
        """
        stored, target = begun.receipt, begun.target
        receipt = {**json.loads(stored.document), **await self._describe_end()}
        where = f"{target.platform}:{target.workspace}" if target.platform else ""
        action = AUDITED_AS.get(stored.action, stored.action)
        entry = AuditEvent(action, "done", SYSTEM, workspace=where, details={"receipt": stored.id})
        await self._store.receipts.add(replace(stored, document=json.dumps(self._sign_again(receipt))), entry)

    async def record(
        self, action: str, asked: Mapping[str, str], erasure: MeasuredErasure | None, entry: AuditEvent
    ) -> None:
        """Give the operator the receipt of what no person asked for, and write the audit entry of it, both or none.

        Without a receipt the entry alone; neither again if a restart had completed it. Other parameters as in
        `give_receipt`.
        """
        if erasure is None:
            await self._store.audit.append(entry)
            return
        if (key := self._try_load_key()) is None:
            await self._store.receipts.cancel(erasure.id, entry)
            return
        stored = await self._sign(key, action, asked, erasure, NOBODY)
        await self._keep(stored, erasure, replace(entry, details={**entry.details, "receipt": stored.id}))

    async def give_receipt(
        self, action: str, asked: Mapping[str, str], erasure: MeasuredErasure, owner: Subject = NOBODY
    ) -> dict[str, Any]:
        """The signed receipt of an erasure that is done; empty if the key cannot be used.

        `asked`: ids that the reader may see. `owner`: who gets it. If nothing went because a restart had completed what
        was asked, it is the receipt of that.
        """
        if (key := self._try_load_key()) is None:
            with suppress(EngineError):  # what was erased is erased
                await self._store.receipts.cancel(erasure.id)
            return {}
        stored = await self._sign(key, action, asked, erasure, owner)
        try:
            return await self._keep(stored, erasure)
        except EngineError as error:
            log.error("receipt.not_kept", error=type(error).__name__)  # noqa: TRY400 - what was erased is erased
            return dict(json.loads(stored.document))

    async def _keep(
        self, stored: StoredReceipt, erasure: MeasuredErasure, entry: AuditEvent | None = None
    ) -> dict[str, Any]:
        """Keep a receipt, with an entry of the audit log; returns it, or that of what a restart had completed."""
        if not any(erasure.counts.values()) and (former := await self._find_completed(stored)):
            await self._store.receipts.cancel(erasure.id)
            return former
        await self._store.receipts.add(stored, entry)
        return dict(json.loads(stored.document))

    async def _find_completed(self, stored: StoredReceipt) -> dict[str, Any]:
        """The receipt of what a restart completed a moment ago for the same request; empty if there is none."""
        latest = await self._store.receipts.get_latest(stored.owner, stored.action, stored.time - COMPLETED_LATELY)
        found: dict[str, Any] = json.loads(latest.document) if latest else {}
        return found if found and found["asked"] == json.loads(stored.document)["asked"] else {}

    def _try_load_key(self) -> InstallationKey | None:
        try:
            return self.load_key()
        except (BadSetting, OSError) as error:
            log.error("receipt.not_signed", error=type(error).__name__)  # noqa: TRY400 - no bug
            return None

    def load_key(self) -> InstallationKey:
        """The key of this installation, made at first use. Raises BadSetting and OSError."""
        from bot.ingest.erasure.keys import (  # noqa: PLC0415 - costs nothing where nothing is erased
            find_key_path,
            load_or_create_key,
        )

        settings = self._context.settings
        return load_or_create_key(find_key_path(settings.data_path, settings.receipt_key_file))

    def name_owner(self, key: InstallationKey, owner: Subject) -> str:
        """The keyed name of a person or space that gets receipts; "" for the operator."""
        if owner.space:
            return key.compute_name("space", owner.space)
        return key.compute_name("person", owner.platform, owner.person) if owner.person else ""

    async def _sign(
        self, key: InstallationKey, action: str, asked: Mapping[str, str], erasure: MeasuredErasure, owner: Subject
    ) -> StoredReceipt:
        """The receipt of an erasure, signed now."""
        plan = erasure.plan
        erased = {
            "documents": sorted(key.compute_name("document", file) for file in plan.files),
            "messages": sorted(key.compute_name("message", *message) for message in plan.messages),
            "answers": sorted(key.compute_name("answer", id_, str(attempt)) for id_, attempt in erasure.answers),
        }
        named = {"id": erasure.id, "action": action, "asked": dict(asked), "counts": dict(erasure.counts)}
        receipt = self._sign_again({**named, "erased": erased, **await self._describe_end()})
        time, whose = self._context.clock.now(), self.name_owner(key, owner)
        return StoredReceipt(erasure.id, time, whose, action, json.dumps(receipt))

    async def _describe_end(self) -> dict[str, Any]:
        """What a receipt says of the end of its erasure, if that is now."""
        now, head = self._context.clock.now(), await self._store.audit.get_head()
        gone_by = now + timedelta(seconds=self._context.engine_context.erasing_seconds)
        audit = {"number": head.number, "hash": head.hash}
        return {"time": now.isoformat(), "gone_by": gone_by.isoformat(), "audit": audit}

    def _sign_again(self, receipt: Mapping[str, Any]) -> dict[str, Any]:
        from bot.ingest.erasure.receipt import sign_receipt  # noqa: PLC0415 - as above

        unsigned = {name: value for name, value in receipt.items() if name != "signature"}
        return sign_receipt(unsigned, self.load_key())

    async def find_remaining(self, receipt: Mapping[str, Any]) -> RemainingParts:
        """What is stored now of what a receipt names, whose signature was checked with the key of this installation."""
        from bot.ingest.erasure.receipt import list_names  # noqa: PLC0415 - as above

        key, engine = self.load_key(), self._engine
        documents, messages, answers = (list_names(receipt, name) for name in ("documents", "messages", "answers"))
        keys = await engine.maintenance.list_document_keys() if documents else []
        records = await self._store.receipts.list_message_ids() if messages else []
        known = await self._store.receipts.list_answer_texts() if answers else []
        return RemainingParts(
            tuple(document for document in keys if key.compute_name("document", document) in documents),
            tuple(
                (room, id_)
                for room, id_, document in records
                if document and key.compute_name("message", room, id_) in messages
            ),
            tuple(id_ for id_, attempt in known if key.compute_name("answer", id_, str(attempt)) in answers),
        )

    async def _list_shown(
        self, answers: Iterable[AffectedAnswer], reader: ErasureReader | None
    ) -> Collection[AffectedAnswer]:
        """Those of which the reader may know: their own, and those in places that they may read now."""
        if reader is None:
            return list(answers)
        return [answer for answer in answers if await self._is_shown(answer, reader)]

    async def _is_shown(self, answer: AffectedAnswer, reader: ErasureReader) -> bool:
        subject, scope, place = reader.subject, reader.scope, answer.location
        if subject.person and (place.platform, answer.asker) == (subject.platform, subject.person):
            return True
        if answer.is_private:
            return False
        if place.room in scope.rooms or place.room in scope.spaces:
            return True
        try:
            return await self._context.audience.get_home_space(place.without_thread) in scope.spaces
        except PlatformError:
            return False


def _find_target(plan: ErasurePlan) -> Subject:
    """The person or the workspace of which everything goes; nobody if only what the plan names does."""
    if plan.demand.workspace is not None:
        return Subject(*plan.demand.workspace)
    return next(iter(plan.demand.people), NOBODY)


def _count_own(size: ErasureSize) -> dict[str, int]:
    """The counts that depend on nothing but what goes; the others tell what else is stored, in any place."""
    counts = {name: getattr(size, name) for name in ("documents", "passages", "chunks", "facts")}
    return {**counts, "profiles": size.profiles_removed + size.profiles_rebuilt}
