"""Perform a request as the subject of an access token, within what they may read now."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from bot.access.control import own_scope
from bot.capabilities import requests
from bot.capabilities.access.correction_limits import limit_correction, limit_to_own_space
from bot.capabilities.access.hints import word_hint
from bot.capabilities.access.question_record import QuestionRecord
from bot.capabilities.access.server_paths import hide_paths, hide_paths_of_error
from bot.capabilities.documents import requests as document_requests
from bot.capabilities.documents.errors import word_errors
from bot.capabilities.documents.results import DocumentResult
from bot.capabilities.graph import requests as graph_requests
from bot.capabilities.graph.results import ProvenanceResult, SubgraphResult
from bot.capabilities.management.requests import ManagementRequest
from bot.capabilities.results import AnswerEnd, ContextResult
from bot.errors import AudienceChanged, NotPermitted
from bot.permissions.audience import EMPTY_SCOPE, named_rooms
from bot.permissions.provenance import build_provenance, document_provenance
from bot.store import PERMISSIONS, Subject
from engine import Scope
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from bot.access.control import AccessControl
    from bot.capabilities.requests import Authorized, OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext
    from bot.permissions.audience import ResolvedScope
    from bot.permissions.provenance import Provenance, Retrieved
    from bot.store import AccessToken, Permission
    from engine import Answer, Clock

    Run = Callable[[EngineContext, OperationRequest], AsyncGenerator[OperationResult]]

CHANGED = "What you can read changed during this answer. Ask again."
CHECKED = AnswerEnd | ContextResult | DocumentResult | SubgraphResult | ProvenanceResult  # always before they are sent
CHECK_INTERVAL = 2.0  # seconds between two checks of the audience while results arrive

# The requests that a token can permit. All others are those of the owner of the data.
READING: Mapping[type, Permission] = {
    requests.Ask: "ask",
    document_requests.Summarize: "ask",
    requests.GetStatus: "read",
    requests.ListDocuments: "read",
    requests.GetEntity: "read",
    document_requests.GetDocument: "read",
    graph_requests.SearchEntities: "read",
    graph_requests.GetSubgraph: "read",
    graph_requests.GetProvenance: "read",
    graph_requests.ListCorrections: "manage",
}
CHANGING: Mapping[type, Permission] = {requests.Forget: "write"}
UPLOADING: Mapping[type, Permission] = {
    document_requests.PrepareUpload: "write",
    document_requests.AddUpload: "write",
}
MANAGING: Mapping[type, Permission] = dict.fromkeys(get_args(ManagementRequest), "manage")
CORRECTING: Mapping[type, Permission] = {
    requests.Merge: "manage",
    requests.Separate: "manage",
    requests.SetDescription: "manage",
    requests.Hide: "manage",
    requests.UndoCorrection: "manage",
    requests.AddFact: "manage",
}
ALL_PERMISSIONS: Sequence[Permission] = PERMISSIONS


async def perform_authorized(context: EngineContext, request: Authorized, run: Run) -> AsyncGenerator[OperationResult]:
    """Yield the results of the request within its token's scope. Raises NotAllowed, TooManyRequests, PlatformError.

    Raises AudienceChanged if the scope became smaller meanwhile; the results so far are then not to be used.
    """
    if context.open_access is None:
        raise NotPermitted("Access tokens cannot be checked here.")
    inner = request.request
    permission = _get_permission(inner)
    is_question = isinstance(inner, requests.Ask | document_requests.Summarize)
    record = QuestionRecord(context.question_metrics if is_question else None, context.clock)
    token: AccessToken | None = None
    try:
        async with context.open_access() as access:
            token = await access.authorize(request.token, permission)
            if is_question:
                await access.check_question(token.subject)
            reading = _Reading(access, request.token, token.subject, record, context.clock)
            async with aclosing(_perform_within_scope(context, inner, reading, run)) as results:
                async for result in results:
                    record.observe_result(result)
                    yield hide_paths(result if token.subject.space else word_errors(result))
    except BaseException as error:
        record.observe_error(error)
        if isinstance(error, EngineError):
            if token is not None and not token.subject.space:
                error.hint = word_hint(error.hint)
            hide_paths_of_error(error)
        raise
    finally:
        record.close()


async def _perform_within_scope(
    context: EngineContext, inner: OperationRequest, reading: _Reading, run: Run
) -> AsyncGenerator[OperationResult]:
    """Perform a request within what its subject may read now; the results are checked before they are yielded."""
    resolved = await reading.resolve()
    limited = await reading.limit(context, inner)
    try:
        async with aclosing(run(replace(context, observe_answer=reading.observe_answer), limited)) as results:
            async for result in results:
                await reading.check(result)
                yield replace(result, gap=resolved.gap) if isinstance(result, AnswerEnd | ContextResult) else result
    finally:
        await reading.record_usage()


class _Reading:
    """A request that is performed for a token, whose results are yielded while its subject may read them."""

    def __init__(
        self, access: AccessControl, token: str, subject: Subject, record: QuestionRecord, clock: Clock
    ) -> None:
        self.subject = subject
        self._answer: Answer | None = None
        self._access = access
        self._token = token
        self._record = record
        self._clock = clock
        self._scope = EMPTY_SCOPE
        self._since = self._checked = 0.0

    async def resolve(self) -> ResolvedScope:
        """What the subject may read now; the checks compare with it."""
        self._since = self._access.get_audience_time()  # every check sees a change after that
        resolved = await self._access.resolve_scope(self.subject)
        self._scope, self._checked = resolved.scope, self._clock.monotonic()
        return resolved

    async def limit(self, context: EngineContext, inner: OperationRequest) -> OperationRequest:
        """The request within what the subject may read now. Raises NotPermitted."""
        if not isinstance(inner, graph_requests.ListCorrections) and type(inner) not in CORRECTING:
            return _limit_request(inner, self._scope, self.subject)
        spaces = await self._access.list_correctable(self.subject, self._scope)
        if isinstance(inner, graph_requests.ListCorrections):
            return replace(inner, scope=Scope.of(*spaces))
        return await limit_correction(context.engine, inner, self.subject, spaces)

    def observe_answer(self, answer: Answer) -> None:
        """Keep the answer: all that was retrieved for it is checked, and what it takes is counted."""
        self._answer = answer
        self._record.observe_answer(answer)

    async def check(self, result: OperationResult) -> None:
        """Check what is due before a result. Raises AudienceChanged, and InvalidToken if the token ended meanwhile."""
        if not isinstance(result, CHECKED) and self._clock.monotonic() - self._checked < CHECK_INTERVAL:
            return
        await self._access.authenticate(self._token)
        await _check_scope(self._access, self.subject, self._scope)
        provenance = self._find_provenance(result)
        if provenance is not None and not await self._access.can_read(self.subject, provenance):
            raise AudienceChanged(CHANGED)
        self._checked = self._clock.monotonic()

    def _find_provenance(self, result: OperationResult) -> Provenance | None:
        """What a result draws on, if that is text."""
        if isinstance(result, DocumentResult):
            return document_provenance(result.document.space, result.document.room, self._scope, self._since)
        retrieved = _find_retrieved(result) or (self._answer.context if self._answer is not None else None)
        return build_provenance(retrieved, self._scope, EMPTY_SCOPE, self._since) if retrieved else None

    async def record_usage(self) -> None:
        """Count what the answer took, also if its reader left before its end."""
        if self._answer is not None:
            await self._access.record_usage(self.subject, self._answer.usage)


def limit_to_space(inner: OperationRequest, space: str) -> OperationRequest:
    """The request in a space of the terminal, without a token. Raises NotPermitted where no token permits it either."""
    _get_permission(inner)
    if type(inner) in CORRECTING:
        return limit_to_own_space(inner, space)
    return _limit_request(inner, Scope.of(space), Subject(space=space))


def _get_permission(inner: OperationRequest) -> Permission:
    """The permission that a request needs. Raises NotPermitted."""
    permission = {**READING, **CHANGING, **UPLOADING, **MANAGING, **CORRECTING}.get(type(inner))
    if permission is None:
        raise NotPermitted("No access token permits this.")
    return permission


def _limit_request(inner: OperationRequest, scope: Scope, subject: Subject) -> OperationRequest:
    """The request within a scope."""
    fields: dict[str, Any] = {"scope": own_scope(subject) if type(inner) in CHANGING else scope}
    if type(inner) in {**UPLOADING, **MANAGING}:
        fields = {"subject": subject}
    return replace(inner, **fields)


def _find_retrieved(result: OperationResult) -> Retrieved | None:
    """What a result shows, if it shows passages."""
    match result:
        case ContextResult(context=context):
            return context
        case ProvenanceResult(provenance=provenance):
            return provenance
    return None


async def _check_scope(access: AccessControl, subject: Subject, scope: Scope) -> None:
    """Raise AudienceChanged unless the subject may still read all of a scope."""
    now = (await access.resolve_scope(subject)).scope
    if not (scope.spaces <= now.spaces and scope.rooms <= named_rooms(now)):
        raise AudienceChanged(CHANGED)
