"""Check that a caller may read what a request yields, and learn how the question or search of a program ends."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from bot.capabilities.asking.requests import SearchResult
from bot.capabilities.caller import Caller
from bot.capabilities.documents.requests import DocumentResult
from bot.capabilities.graph.requests import ProvenanceResult, SubgraphResult
from bot.capabilities.history.requests import HistoryResult
from bot.capabilities.results import AnswerDelta, AnswerEnd, ContextResult, PromptResult
from bot.capabilities.row import Who
from bot.errors import AudienceChanged, NotAllowed, NotPermitted, TooManyRequests
from bot.permissions.audience import EMPTY_SCOPE, named_rooms
from bot.permissions.provenance import build_provenance, document_provenance
from engine.errors import InvalidQuestion, NotFound
from engine.llm.offline.quoting.notices import is_closest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.capabilities.access.control import AccessControl
    from bot.capabilities.results import OperationResult
    from bot.capabilities.row import Capability
    from bot.monitoring.metrics import Metrics
    from bot.permissions.provenance import Provenance, Retrieved
    from bot.store import AccessToken, Subject
    from engine import Answer, Clock, Scope, Source


CHANGED = "What you can read changed during this answer. Ask again."
# Always checked before they are sent.
CHECKED = AnswerEnd | ContextResult | SearchResult | DocumentResult | SubgraphResult | ProvenanceResult | HistoryResult
CHECK_INTERVAL = 2.0  # seconds between two checks of the audience while results arrive
ONLY_MANAGERS = "Only managers of this workspace can do this."
ONLY_AUDITORS = "Only the owner of the data and the auditors whom they named can see the audit log."
PROGRAM, TERMINAL = "api", "console"  # the labels of programs, and of this machine, in the metrics
LEAD_LENGTH = 1000  # characters at the beginning of an answer that say whether it shows only the closest passages
OUTCOMES = (((NotAllowed, TooManyRequests, InvalidQuestion), "refused"), (NotFound, "nothing"))


async def check_who(access: AccessControl, caller: Caller, row: Capability) -> None:
    """Raise NotPermitted and NotAllowed for a caller who may not do this, PlatformError if that is unknown.

    Who may correct a space depends on the space, and is checked where it is found.
    """
    if caller.is_owner:
        return
    if row.who is Who.OWNER:
        raise NotPermitted("No access token permits this.")
    if row.who is Who.MANAGER and caller.kind == "person" and not await access.is_manager(caller.subject):
        raise NotAllowed(ONLY_MANAGERS, hint="Ask one of them.")
    if row.who is Who.AUDITOR and not access.is_auditor(caller.subject):
        raise NotAllowed(ONLY_AUDITORS, hint="Whoever runs the bot names them (THREADLORE_AUDITORS).")


class TokenReading:
    """A request that is performed for an access token, whose results are yielded while its subject may read them."""

    def __init__(self, access: AccessControl, text: str, token: AccessToken, clock: Clock, door: str = "") -> None:
        self._access = access
        self._text = text
        self._token = token
        self._clock = clock
        self._door = door or "api"
        self._answer: Answer | None = None
        self._provenance: Provenance | None = None
        self._scope = EMPTY_SCOPE
        self._since = self._checked = 0.0

    @property
    def caller(self) -> Caller:
        """The caller, before it is known what they may read."""
        token = self._token
        kind: Literal["space", "person"] = "space" if token.subject.space else "person"
        return Caller(kind, token.subject, permissions=token.permissions, door=self._door, token=token.id)

    async def begin(self, row: Capability) -> tuple[Caller, str]:
        """The caller with what they may read now, with which the checks compare, and why a part of it is missing.

        Raises NotAllowed if they may not do this.
        """
        subject = self._token.subject
        self._since = self._access.get_audience_time()  # every check sees a change after that
        resolved = await self._access.resolve_scope(subject)
        self._scope, self._checked = resolved.scope, self._clock.monotonic()
        caller = replace(self.caller, scope=resolved.scope)
        await check_who(self._access, caller, row)
        return caller, resolved.gap

    def observe_answer(self, answer: Answer) -> None:
        """Keep the answer: all that was retrieved for it is checked."""
        self._answer = answer

    def observe_provenance(self, provenance: Provenance) -> None:
        """Keep what an answer rests on that is not retrieved."""
        self._provenance = provenance

    async def check(self, result: OperationResult) -> None:
        """Check what is due before a result. Raises AudienceChanged, and InvalidToken if the token ended meanwhile."""
        if not isinstance(result, CHECKED) and self._clock.monotonic() - self._checked < CHECK_INTERVAL:
            return
        await self._access.authenticate(self._text)
        await _check_scope(self._access, self._token.subject, self._scope)
        provenance = self._find_provenance(result)
        if provenance is not None and not await self._access.can_read(self._token.subject, provenance):
            raise AudienceChanged(CHANGED)
        self._checked = self._clock.monotonic()

    def _find_provenance(self, result: OperationResult) -> Provenance | None:
        """What a result draws on, if that is text."""
        if isinstance(result, DocumentResult):
            return document_provenance(result.document.space, result.document.room, self._scope, self._since)
        if self._provenance is not None:
            return self._provenance
        retrieved = _find_retrieved(result) or (self._answer.context if self._answer is not None else None)
        return build_provenance(retrieved, self._scope, EMPTY_SCOPE, self._since) if retrieved else None


def _find_retrieved(result: OperationResult) -> Retrieved | None:
    """What a result shows, if it shows passages."""
    match result:
        case ContextResult(context=context):
            return context
        case SearchResult() | HistoryResult():
            return result
        case ProvenanceResult(provenance=provenance):
            return provenance
    return None


async def _check_scope(access: AccessControl, subject: Subject, scope: Scope) -> None:
    """Raise AudienceChanged unless the subject may still read all of a scope."""
    now = (await access.resolve_scope(subject)).scope
    if not (scope.spaces <= now.spaces and scope.rooms <= named_rooms(now)):
        raise AudienceChanged(CHANGED)


class QuestionRecord:
    """What the metrics learn of one question, each thing once."""

    def __init__(self, metrics: Metrics | None, clock: Clock, platform: str) -> None:
        self._metrics = metrics
        self._platform = platform
        self._clock = clock
        self._began = clock.monotonic()
        self._beginning = ""
        self._outcome = ""
        self._answers = 0
        self._answer: Answer | None = None
        self.cited: tuple[Source, ...] = ()
        self.shown: tuple[Source, ...] = ()  # all passages that were found, whether its answer cites them or not

    @property
    def outcome(self) -> str:
        """How it ended: answered, nothing, refused, failed or stopped."""
        return self._outcome or "stopped"

    @property
    def is_answered(self) -> bool:
        """Whether an answer was begun or given."""
        return self._answer is not None or self._answers > 0

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Record how the question ends."""
        try:
            yield
        except BaseException as error:
            self._observe_error(error)
            raise
        finally:
            self._close()

    def observe_answer(self, answer: Answer) -> None:
        """Record how long the retrieval of an answer took."""
        self._answer, self.shown = answer, answer.context.sources
        if self._metrics is not None:
            self._metrics.record_retrieval(answer.context.timings)

    def observe_result(self, result: OperationResult) -> None:
        """Record the first words of an answer, and which sources there are."""
        if isinstance(result, AnswerDelta):
            if not self._beginning and self._metrics is not None:
                self._metrics.record_first_token(self._platform, self._clock.monotonic() - self._began)
            if len(self._beginning) < LEAD_LENGTH:
                self._beginning += result.text
        elif isinstance(result, AnswerEnd):
            self._answers = 0 if result.answer else 1  # the day counts those that are kept by their rows
            self.cited = result.sources
            is_supported = bool(result.sources) and not is_closest(self._beginning)
            self._outcome = "answered" if is_supported or result.verified or result.unsearched else "nothing"
        elif isinstance(result, ContextResult):
            self.shown = result.context.sources
            self._outcome = "nothing" if result.context.is_empty else "answered"
        elif isinstance(result, SearchResult):
            self.shown = result.sources
            self._outcome = "answered" if result.hits and not result.is_similar else "nothing"
        elif isinstance(result, HistoryResult):
            self.shown = result.sources
            self._outcome = "answered" if result.steps else "nothing"
        elif isinstance(result, PromptResult):
            self._outcome = "answered"

    def _observe_error(self, error: BaseException) -> None:
        """Record that a question was refused or failed; a client that leaves ends it too."""
        if not self._outcome:
            self._outcome = next(
                (outcome for kinds, outcome in OUTCOMES if isinstance(error, kinds)),
                "failed" if isinstance(error, Exception) else "stopped",
            )

    def _close(self) -> None:
        """Record the outcome, and what the answer took."""
        if self._metrics is None:
            return
        self._metrics.record_question(self._platform, self.outcome)
        if self._answer is not None:
            self._metrics.record_usage(self._answer.usage)

    async def count_for(self, access: AccessControl, subject: Subject) -> None:
        """Add the answer, and what it took, to the day of a subject, also if its reader left before its end."""
        if self.is_answered:
            usage = self._answer.usage if self._answer is not None else ()
            await access.record_usage(subject, usage, self._answers)
