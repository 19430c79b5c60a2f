"""A request is performed within what its caller may read, if they may do it, and counted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

import pytest

from bot.capabilities import requests
from bot.capabilities import run as run_module
from bot.capabilities.access import requests as token_requests
from bot.capabilities.access.control import AccessControl
from bot.capabilities.access.hints import word_hint
from bot.capabilities.asking import queries
from bot.capabilities.asking.queries import VerifiedResult
from bot.capabilities.deps import Deps, RunningParts
from bot.capabilities.documents import requests as document_requests
from bot.capabilities.documents.lookup import LOCAL_SPACE
from bot.capabilities.graph.requests import CorrectionList, ListCorrections
from bot.capabilities.management.requests import GetHealth, GetUsage, ListChannels
from bot.capabilities.requests import Authorized, Envelope, OperationRequest, WithoutLogin
from bot.capabilities.results import AnswerDelta, AnswerEnd, Completed, Corrected, DocumentList, OperationResult
from bot.capabilities.row import Limit, Who
from bot.capabilities.run import run as run_request
from bot.capabilities.table import ROWS, find_row
from bot.context import EngineContext
from bot.errors import AudienceChanged, InvalidToken, NotAllowed, NotConnected, NotPermitted
from bot.monitoring.metrics import Metrics
from bot.permissions.audience import ResolvedScope
from bot.permissions.provenance import Provenance
from bot.permissions.resolver import AudienceResolver
from bot.store import PERMISSIONS, BotStore, FileRecord, Subject, VerifiedAnswer
from engine import Scope, Usage
from engine.errors import InvalidQuestion, NotFound, StoreError
from engine.models import Document, Passage
from tests.bot.capabilities.conftest import last, run
from tests.support.builders import ROOF
from tests.support.clock import ManualClock
from tests.support.fake_platform import START

SECRET_SPACE = "slack:T1:VAULT"
EVERYTHING = Scope.of(LOCAL_SPACE, SECRET_SPACE)
ABOUT_PASSWORD = requests.Ask("What is the password?")
PERSON = Subject("slack", "T1", "ada")


class ScriptedAccess(AccessControl):
    """Access control in which the scope of a person is given."""

    def __init__(self, store: BotStore) -> None:
        super().__init__(store, ManualClock())
        self.scopes: list[Scope] = []
        self.readable = True
        self.correctable = frozenset[str]()
        self.checked: list[Provenance] = []
        self.counted: list[Subject] = []
        self.managers: set[Subject] = set()

    def audience_of(self, subject: Subject) -> AudienceResolver:
        return AudienceResolver({}, self._store, 0.0, self._clock)

    async def is_manager(self, subject: Subject) -> bool:
        return subject in self.managers

    async def list_correctable(self, subject: Subject, scope: Scope) -> frozenset[str]:
        return await super().list_correctable(subject, scope) if subject.space else self.correctable & scope.spaces

    async def can_read(self, subject: Subject, provenance: Provenance) -> bool:
        self.checked.append(provenance)
        return self.readable

    async def record_usage(self, subject: Subject, usage: Iterable[Usage], answers: int = 0) -> None:
        self.counted.append(subject)
        await super().record_usage(subject, usage, answers)

    async def resolve_scope(self, subject: Subject) -> ResolvedScope:
        return await super().resolve_scope(subject) if subject.space else ResolvedScope(self.scopes.pop(0))


@pytest.fixture
async def access(store: BotStore) -> ScriptedAccess:
    return ScriptedAccess(store)


@pytest.fixture
async def deps(engine_context: EngineContext, deps: Deps, access: ScriptedAccess) -> Deps:
    for space, text in ((LOCAL_SPACE, "The ferry leaves at noon."), (SECRET_SPACE, "The password is agate.")):
        passage = Passage("1", text)
        await engine_context.engine.documents.add(Document(f"note:{space}", space, f"{space}:room", "Note", (passage,)))
    await engine_context.engine.wait_until_indexed()
    parts = await deps.parts.open()
    return replace(deps, parts=RunningParts(replace(parts, access=access)))


async def collect(seen: list[OperationResult], results: AsyncIterator[OperationResult]) -> None:
    """Add results to a list as they come."""
    async for result in results:
        seen.append(result)  # noqa: PERF401 - those before an error are kept


async def make(access: AccessControl, subject: Subject, *permissions: str) -> str:
    allowed = tuple(permission for permission in PERMISSIONS if permission in (permissions or PERMISSIONS))
    return (await access.create_token("t", subject, allowed, 60, None))[1]


async def test_every_request_lists_only_what_the_token_may_read(deps: Deps, access: ScriptedAccess) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    listed = last(await run(deps, Authorized(token, requests.ListDocuments())), DocumentList)
    assert [document.space for document in listed.documents] == [LOCAL_SPACE]
    results = await run(deps, Authorized(token, ABOUT_PASSWORD))
    assert "agate" not in str(results)


async def test_an_answer_ends_without_sources_when_its_reader_lost_access_meanwhile(
    deps: Deps, access: ScriptedAccess
) -> None:
    token = await make(access, PERSON)
    access.scopes = [EVERYTHING, EVERYTHING]
    results = await run(deps, Authorized(token, ABOUT_PASSWORD))
    assert isinstance(results[-1], AnswerEnd)
    access.scopes = [EVERYTHING, Scope.of(LOCAL_SPACE)]
    seen = list[OperationResult]()
    with pytest.raises(AudienceChanged):
        await collect(seen, run_request(deps, Authorized(token, ABOUT_PASSWORD)))
    assert {type(result) for result in seen} >= {AnswerDelta}
    assert not [result for result in seen if isinstance(result, AnswerEnd)]


async def test_an_answer_ends_once_its_token_is_revoked_or_a_room_of_it_closed(
    deps: Deps, access: ScriptedAccess
) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    asking = run_request(deps, Authorized(token, replace(ABOUT_PASSWORD, text="When does the ferry leave?")))
    async with aclosing(asking):
        assert isinstance(await anext(asking), AnswerDelta)
        await access.revoke_token(token.split("_")[1])
        with pytest.raises(InvalidToken):
            await collect([], asking)
    person, access.readable = await make(access, PERSON), False
    password = document_requests.GetDocument(f"note:{SECRET_SPACE}")
    summary = document_requests.Summarize()
    for asked in (ABOUT_PASSWORD, replace(ABOUT_PASSWORD, output="context"), password, summary):
        access.scopes = [EVERYTHING, EVERYTHING]
        with pytest.raises(AudienceChanged):
            await run(deps, Authorized(person, asked))
    assert {room for each in access.checked for room in each.room_spaces} >= {f"{SECRET_SPACE}:room"}


async def test_an_answer_counts_also_if_its_reader_leaves(deps: Deps, access: ScriptedAccess) -> None:
    access.scopes = [EVERYTHING]
    async with aclosing(run_request(deps, Authorized(await make(access, PERSON), ABOUT_PASSWORD))) as asking:
        await anext(asking)
    assert access.counted == [PERSON]


async def test_every_question_is_counted_by_its_outcome(deps: Deps, access: ScriptedAccess) -> None:
    metrics = Metrics(deps.clock)
    counting = replace(deps, metrics=metrics)
    token = await make(access, Subject(space=LOCAL_SPACE), "ask")
    await run(counting, Authorized(token, replace(ABOUT_PASSWORD, text="When does the ferry leave?")))
    asking = run_request(counting, Authorized(token, ABOUT_PASSWORD))
    async with aclosing(asking):
        await anext(asking)
    for refused in (Authorized("nonsense", ABOUT_PASSWORD), Authorized(token, requests.GetStatus())):
        with pytest.raises(NotAllowed):
            await run(counting, refused)
    with pytest.raises(InvalidQuestion):
        await run(counting, Authorized(token, replace(ABOUT_PASSWORD, text=" ")))
    counted = {
        sample.labels["outcome"]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "threadlore_questions_total"
    }
    assert counted == {"answered": 1, "stopped": 1, "refused": 2}


async def test_a_person_forgets_what_is_theirs_and_a_manager_what_they_read(deps: Deps, access: ScriptedAccess) -> None:
    token, key = await make(access, PERSON), f"note:{SECRET_SPACE}"
    forget = Authorized(token, requests.Forget(key))
    access.scopes = [Scope.of(LOCAL_SPACE)]
    with pytest.raises(NotFound):
        await run(deps, forget)
    access.scopes = [EVERYTHING, EVERYTHING]
    with pytest.raises(NotAllowed, match="isn't only yours"):
        await run(deps, forget)
    access.managers = {PERSON}
    writing = Authorized(await make(access, PERSON, "write"), requests.Forget(key))
    with pytest.raises(NotAllowed, match="isn't only yours"):
        await run(deps, writing)
    access.scopes = [EVERYTHING] * 3
    assert isinstance((await run(deps, forget))[-1], Completed)
    own = await make(access, Subject(space=LOCAL_SPACE))
    done = await run(deps, Authorized(own, requests.Forget(f"note:{LOCAL_SPACE}")))
    assert isinstance(done[-1], Completed)


async def test_the_author_of_a_file_has_it_forgotten(deps: Deps, access: ScriptedAccess) -> None:
    store, key = (await deps.parts.open()).store, f"note:{SECRET_SPACE}"
    await store.files.insert(FileRecord(key, f"{SECRET_SPACE}:room", "", "", PERSON.person, START))
    access.scopes = [EVERYTHING] * 3
    done = await run(deps, Authorized(await make(access, PERSON, "write"), requests.Forget(key)))
    assert isinstance(done[-1], Completed)


async def test_a_token_of_a_space_adds_facts_there_and_a_person_only_to_a_channel_of_theirs(
    deps: Deps, access: ScriptedAccess
) -> None:
    fact = requests.AddFact("Mina", "She sells tickets.")
    access.readable = False
    for channel in ("", SECRET_SPACE, "slack:T2:ROOF", "nonsense"):
        access.scopes = [EVERYTHING]
        with pytest.raises(NotFound):
            await run(deps, Authorized(await make(access, PERSON), replace(fact, channel=channel)))
    await run(deps, Authorized(await make(access, Subject(space=LOCAL_SPACE)), fact))
    listed = last(await run(deps, requests.ListDocuments()), DocumentList)
    assert "stated" in {document.kind for document in listed.documents} | {
        document.room for document in listed.documents
    }


async def test_a_person_corrects_only_where_they_may(deps: Deps, access: ScriptedAccess) -> None:
    token, hidden = await make(access, PERSON), requests.Hide("Ferry")
    access.correctable = frozenset({LOCAL_SPACE})
    for refused in (replace(hidden, space=SECRET_SPACE), replace(hidden, space="slack:T1:NOWHERE")):
        access.scopes = [EVERYTHING]
        with pytest.raises(NotPermitted) as caught:
            await run(deps, Authorized(token, refused))
        assert "there" in str(caught.value)
    await run(deps, requests.AddFact("Mina", "She sells tickets to Otto.", "Otto"))
    access.scopes = [EVERYTHING] * 3
    made = last(await run(deps, Authorized(token, requests.Hide("Mina"))), Corrected)
    assert made.space == LOCAL_SPACE  # where its undo is made, too
    listed = last(await run(deps, Authorized(token, ListCorrections())), CorrectionList)
    assert (listed.spaces, [correction.name for correction in listed.corrections]) == ((LOCAL_SPACE,), ["Mina"])
    with pytest.raises(NotFound):
        await run(deps, Authorized(token, requests.Merge("Password", "Otto")))


@pytest.mark.parametrize("kind", [requests.Merge, requests.Separate])
async def test_somebody_at_the_terminal_corrects_names_of_its_space_alone(
    deps: Deps, kind: type[requests.Merge | requests.Separate]
) -> None:
    with pytest.raises(NotFound):
        await run(deps, WithoutLogin(LOCAL_SPACE, kind("Password", "The", SECRET_SPACE)))


async def test_what_belongs_to_the_owner_of_the_data_needs_no_token_to_be_refused(
    deps: Deps, access: ScriptedAccess
) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    for request in (
        requests.Backup("/tmp/x"),
        requests.Export(),
        requests.Ingest(("/etc",), LOCAL_SPACE),
        token_requests.CreateToken("x", Subject(space=SECRET_SPACE), ("ask",), 1),
        token_requests.ListTokens(),
    ):
        with pytest.raises(NotPermitted):
            await run(deps, Authorized(token, request))
    with pytest.raises(InvalidToken):
        await run(deps, Authorized("nonsense", requests.GetStatus()))


async def test_only_managers_of_a_workspace_manage_it_whatever_their_token_says(
    deps: Deps, access: ScriptedAccess
) -> None:
    token, rows = await make(access, PERSON), [row for row in ROWS if row.who is Who.MANAGER]
    assert {row.permission for row in rows} == {"manage"}
    access.scopes = [EVERYTHING] * 4
    for request in (ListChannels(), GetUsage(), GetHealth()):
        with pytest.raises(NotAllowed, match="Only managers"):
            await run(deps, Authorized(token, request))
    access.managers = {PERSON}
    with pytest.raises(NotConnected):
        await run(deps, Authorized(token, ListChannels()))


async def test_what_an_answer_took_counts_for_its_space_at_every_door(deps: Deps, access: ScriptedAccess) -> None:
    space = Subject(space=LOCAL_SPACE)
    token = await make(access, space)
    for request in (Authorized(token, ABOUT_PASSWORD), WithoutLogin(LOCAL_SPACE, ABOUT_PASSWORD), ABOUT_PASSWORD):
        await run(deps, request)
    assert access.counted == [space] * 3
    await run(deps, requests.Ask(ABOUT_PASSWORD.text, output="context"))
    [day] = await access.list_usage(space, START)
    assert day.answers == 3


async def test_a_verified_answer_is_checked_before_it_is_sent(
    deps: Deps, access: ScriptedAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    provenance = Provenance(Scope(frozenset(), frozenset({f"{SECRET_SPACE}:room"})), {}, 0.0)
    answer = VerifiedAnswer("v", ROOF, "", "Who?", "It is agate.", "bob", "", "max", START)
    verified = VerifiedResult(answer, "It is agate.", AnswerEnd((), ()), provenance)

    async def find(*_: object) -> VerifiedResult:
        return verified

    monkeypatch.setattr(queries, "find_verified", find)
    token, access.scopes = await make(access, PERSON), [EVERYTHING, EVERYTHING]
    assert [type(each) for each in await run(deps, Authorized(token, ABOUT_PASSWORD))] == [AnswerDelta, AnswerEnd]
    assert access.checked == [provenance]
    access.readable, access.scopes = False, [EVERYTHING, EVERYTHING]
    with pytest.raises(AudienceChanged):
        await run(deps, Authorized(token, ABOUT_PASSWORD))


async def test_what_only_the_owner_may_is_refused_whatever_permission_its_row_names(
    deps: Deps, access: ScriptedAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = replace(find_row(requests.Export), permission="read")
    monkeypatch.setattr(run_module, "find_row", lambda _: row)
    token = await make(access, Subject(space=LOCAL_SPACE))
    for request in (WithoutLogin(LOCAL_SPACE, requests.Export()), Authorized(token, requests.Export())):
        with pytest.raises(NotPermitted):
            await run(deps, request)


async def test_an_answer_that_cannot_be_counted_is_given(
    deps: Deps, access: ScriptedAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("The disk is gone.")

    monkeypatch.setattr(access, "record_usage", fail)
    assert isinstance((await run(deps, ABOUT_PASSWORD))[-1], AnswerEnd)


def test_every_request_is_a_row_and_every_row_has_a_handler() -> None:
    assert {row.request for row in ROWS} == set(get_args(OperationRequest)) - set(get_args(Envelope))
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert all(callable(row.load_handler()) for row in ROWS)


def test_what_no_token_permits_is_for_the_owner_and_the_rest_for_no_owner_alone() -> None:
    assert all((row.permission is None) == (row.who is Who.OWNER) for row in ROWS)
    assert {row.name for row in ROWS if Limit.QUESTIONS in row.limits} == {"ask", "summarize"}


async def test_a_person_is_told_nothing_about_commands_of_the_terminal(deps: Deps, access: ScriptedAccess) -> None:
    hints = []
    for subject in (PERSON, Subject(space="empty")):
        token = await make(access, subject)
        for request in (ABOUT_PASSWORD, requests.Forget("x")):
            access.scopes = [Scope.of("slack:T1:EMPTY")]
            with pytest.raises(NotFound) as caught:
                await run(deps, Authorized(token, request))
            hints.append("threadlore" in caught.value.hint)
    assert hints == [False, False, True, True]
    assert word_hint("Run `threadlore setup` once.") == "Ask whoever runs the bot."
    assert word_hint("Wait a minute.") == "Wait a minute."
