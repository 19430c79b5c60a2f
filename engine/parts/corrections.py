"""The corrections of an engine that people make by hand. They are facts of the ledger: a reindex keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.boundary import MAX_RESULTS, check_number, check_place, guard_public_methods
from engine.errors import InvalidQuestion, NotFound
from engine.ingest.chunking import build_chunks
from engine.knowledge.manual_facts import build_manual_document
from engine.knowledge.splits import DOCUMENT_RULE, TYPE_RULE, build_rule, parse_rule
from engine.models import Scope
from engine.text.names import clean_type, normalize_name

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable
    from datetime import datetime

    from engine.boundary import OpenState
    from engine.ingest.worker import IngestWorker
    from engine.knowledge.duplicates.report import DuplicateReport
    from engine.maintenance import StoreMaintenance
    from engine.models import Extraction
    from engine.parts.graph import EngineGraph
    from engine.projection.duplicate_finder import DuplicateFinder
    from engine.runtime import Runtime
    from engine.storage.ledger.records import CorrectionChange, ManualCorrection

NO_RULE = "I don't know what belongs to the second name."
RULE_HINT = "Give a type, or a document."
UNKNOWN_HINT = "Use two names that both occur in the same channels."


@guard_public_methods
class EngineCorrections:
    """Manual corrections of an engine, and the names that may need one.

    With `room`, the room where it was made, a correction moves to another space with that room.
    """

    def __init__(
        self,
        state: OpenState,
        runtime: Runtime,
        worker: IngestWorker,
        graph: EngineGraph,
        duplicate_finder: DuplicateFinder,
        store_maintenance: StoreMaintenance,
    ) -> None:
        self._state = state
        self._runtime = runtime
        self._ledger = runtime.ledger
        self._corrections = runtime.ledger.corrections
        self._wake_after = worker.wake_after
        self._graph = graph
        self._duplicate_finder = duplicate_finder
        self._store_maintenance = store_maintenance

    async def merge(
        self, space: str, name: str, into: str, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Make a name an alias of another. Raises NotFound if one of them has no facts in the space.

        With `allow_unknown`, one of them may have none, which the change names: only for the owner of the data, since
        others would read a name that nobody told them.
        """
        check_place(space, room)
        if not allow_unknown:
            await self._require_known(space, (name, into))
        return await self._wake_after(self._corrections.merge(space, name, into, room))

    async def _require_known(self, space: str, names: Iterable[str]) -> None:
        for name in names:
            if await self._graph.get_entity(name, Scope.of(space)) is None:
                raise NotFound(f"“{name}” is not known here.", hint=UNKNOWN_HINT)

    async def unmerge(self, space: str, name: str, *, room: str = "") -> CorrectionChange:
        """Make a merged or joined name an entity of its own again; it is not joined with that name automatically."""
        return await self._wake_after(self._corrections.unmerge(space, name, room))

    async def separate(
        self, space: str, name: str, other: str, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Record that two names are different entities: they are not suggested as duplicates, and never joined.

        Raises NotFound, and `allow_unknown`, as `merge`, which undoes it.
        """
        check_place(space, room)
        if not allow_unknown:
            await self._require_known(space, (name, other))
        return await self._wake_after(self._corrections.separate(space, name, other, room))

    async def split(
        self,
        space: str,
        name: str,
        part: str,
        *,
        types: Iterable[str] = (),
        documents: Iterable[str] = (),
        room: str = "",
    ) -> CorrectionChange:
        """Tell two things under one name apart: what is said about `name` with one of these types is about `part`.

        So is everything that is said about it in the documents with these keys. Later texts follow the same rules; a
        rule for a document goes with it. Raises NotFound if the name is unknown, or nothing follows the rules, and
        InvalidQuestion without rules or if both names mean the same.
        """
        check_place(space, room)
        rules = [build_rule(TYPE_RULE, clean_type(type_)) for type_ in types]
        rules += [build_rule(DOCUMENT_RULE, document) for document in documents]
        if not rules:
            raise InvalidQuestion(NO_RULE, hint=RULE_HINT)
        return await self._wake_after(self._corrections.split(space, name, part, rules, room))

    async def unsplit(self, space: str, part: str, *, room: str = "") -> CorrectionChange:
        """Give what was split off as this part back to the names where it comes from. Raises NotFound."""
        check_place(space, room)
        return await self._wake_after(self._corrections.unsplit(space, part, room))

    async def describe(
        self, space: str, name: str, description: str, other: str = "", *, room: str = ""
    ) -> CorrectionChange:
        """Replace the description of an entity, or of its relation to `other`; "" restores the automatic one."""
        check_place(space, room)
        return await self._wake_after(self._ledger.corrections.pin_description(space, (name, other), description, room))

    async def hide(self, space: str, name: str, other: str = "", *, room: str = "") -> CorrectionChange:
        """Hide an entity with its relations, or only its relation to `other`."""
        check_place(space, room)
        return await self._wake_after(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=True))

    async def unhide(self, space: str, name: str, other: str = "", *, room: str = "") -> CorrectionChange:
        """Show a hidden entity or relation again."""
        return await self._wake_after(self._ledger.corrections.set_hidden(space, (name, other), room, hidden=False))

    async def undo(
        self, space: str, change: CorrectionChange, *, room: str = "", allow_unknown: bool = False
    ) -> CorrectionChange:
        """Remove what a correction made, and restore what it removed: exactly what was before.

        Raises CorrectionChanged if somebody corrected or undid the same meanwhile, NotFound as `merge` does, and
        InvalidQuestion if a split that was removed is none.
        """
        for record in change.removed:
            if record.kind == "split":
                _check_split(record)
            elif record.kind in {"merge", "separate"} and not allow_unknown:
                await self._require_known(space, (record.name, record.other))
        return await self._wake_after(self._corrections.undo(space, change, room))

    async def add_facts(self, space: str, room: str, facts: Extraction, *, time: datetime | None = None) -> str:
        """Add entities and relations stated by a person; returns the key of the new document that holds them."""
        check_place(space, room)
        document = build_manual_document(space, room, facts, time)
        chunks = build_chunks(document.passages, self._runtime.tokenizer, self._runtime.options.chunking)
        await self._wake_after(self._ledger.documents.save_manual(document, chunks, facts))
        return document.key

    async def list(self, scope: Scope, limit: int = 100, offset: int = 0) -> builtins.list[ManualCorrection]:
        """Some of the corrections that people made in the scope's spaces, by kind and name."""
        check_number("limit", limit, 1, MAX_RESULTS)
        return await self._ledger.snapshot(
            lambda view: view.search.list_corrections(view.search.resolve_scope(scope), limit, offset)
        )

    async def find_duplicates(self, scope: Scope, limit: int = 50, *, compare_all: bool = True) -> DuplicateReport:
        """Names of the scope's spaces that may mean the same entity, and those that were joined automatically.

        `compare_all` first compares all new names; otherwise the report counts those that are not compared yet.
        """
        check_number("limit", limit, 1, MAX_RESULTS)
        if compare_all:
            await self._store_maintenance.run_with_recovery(self._duplicate_finder.compare_all)
        return await self._duplicate_finder.find_duplicates(scope, limit)


def _check_split(split: ManualCorrection) -> None:
    """Check a split that a caller states. Raises InvalidQuestion if it has not two names and a rule."""
    (kind, value), names = parse_rule(split.description), {normalize_name(split.name), normalize_name(split.other)}
    if len(names - {""}) < 2:
        raise InvalidQuestion(f"“{split.name}” and “{split.other}” are not two different names.", hint=RULE_HINT)
    if kind not in {TYPE_RULE, DOCUMENT_RULE} or not value:
        raise InvalidQuestion(NO_RULE, hint=RULE_HINT)
