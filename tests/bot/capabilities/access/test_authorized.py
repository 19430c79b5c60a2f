"""What a token permits is done within its scope, whatever scope the request names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing, nullcontext
from dataclasses import fields, replace
from typing import get_args

import pytest

from bot.access.control import AccessControl
from bot.capabilities import requests
from bot.capabilities.access import authorized
from bot.capabilities.access import requests as token_requests
from bot.capabilities.access.hints import word_hint
from bot.capabilities.document_lookup import LOCAL_SPACE
from bot.capabilities.documents import requests as document_requests
from bot.capabilities.graph.requests import ListCorrections
from bot.capabilities.graph.results import CorrectionList
from bot.capabilities.operations import run_operation
from bot.capabilities.requests import Authorized, OperationRequest
from bot.capabilities.results import AnswerDelta, AnswerEnd, Completed, Corrected, DocumentList, OperationResult
from bot.context import EngineContext
from bot.errors import AudienceChanged, InvalidToken, NotAllowed, NotPermitted
from bot.monitoring.metrics import Metrics
from bot.permissions.audience import ResolvedScope
from bot.permissions.provenance import Provenance
from bot.store import PERMISSIONS, BotStore, Subject
from engine import Scope, Usage
from engine.errors import InvalidQuestion, NotFound
from engine.models import Document, Passage
from tests.bot.capabilities.conftest import last, run
from tests.support.clock import ManualClock

SECRET_SPACE = "slack:T1:VAULT"
EVERYTHING = Scope.of(LOCAL_SPACE, SECRET_SPACE)
ABOUT_PASSWORD = requests.Ask("What is the password?", EVERYTHING)
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

    async def list_correctable(self, subject: Subject, scope: Scope) -> frozenset[str]:
        return await super().list_correctable(subject, scope) if subject.space else self.correctable & scope.spaces

    async def can_read(self, subject: Subject, provenance: Provenance) -> bool:
        self.checked.append(provenance)
        return self.readable

    async def record_usage(self, subject: Subject, usage: Iterable[Usage]) -> None:
        self.counted.append(subject)
        await super().record_usage(subject, usage)

    async def resolve_scope(self, subject: Subject) -> ResolvedScope:
        return await super().resolve_scope(subject) if subject.space else ResolvedScope(self.scopes.pop(0))


@pytest.fixture
async def access(store: BotStore) -> ScriptedAccess:
    return ScriptedAccess(store)


@pytest.fixture
async def context(engine_context: EngineContext, access: ScriptedAccess) -> EngineContext:
    for space, text in ((LOCAL_SPACE, "The ferry leaves at noon."), (SECRET_SPACE, "The password is agate.")):
        passage = Passage("1", text)
        await engine_context.engine.add(Document(f"note:{space}", space, f"{space}:room", "Note", (passage,)))
    await engine_context.engine.wait_until_indexed()
    return replace(engine_context, open_access=lambda: nullcontext(access))


async def collect(seen: list[OperationResult], results: AsyncIterator[OperationResult]) -> None:
    """Add results to a list as they come."""
    async for each in results:
        seen.append(each)  # noqa: PERF401 - those before an error are kept


async def make(access: AccessControl, subject: Subject, *permissions: str) -> str:
    allowed = tuple(each for each in PERMISSIONS if each in (permissions or PERMISSIONS))
    return (await access.create_token("t", subject, allowed, 60, None))[1]


async def test_every_request_lists_only_what_the_token_may_read(context: EngineContext, access: ScriptedAccess) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    listed = last(await run(context, Authorized(token, requests.ListDocuments(EVERYTHING))), DocumentList)
    assert [each.space for each in listed.documents] == [LOCAL_SPACE]
    results = await run(context, Authorized(token, ABOUT_PASSWORD))
    assert "agate" not in str(results)


async def test_an_answer_ends_without_sources_when_its_reader_lost_access_meanwhile(
    context: EngineContext, access: ScriptedAccess
) -> None:
    token = await make(access, PERSON)
    access.scopes = [EVERYTHING, EVERYTHING]
    results = await run(context, Authorized(token, ABOUT_PASSWORD))
    assert isinstance(results[-1], AnswerEnd)
    access.scopes = [EVERYTHING, Scope.of(LOCAL_SPACE)]
    seen = list[OperationResult]()
    with pytest.raises(AudienceChanged):
        await collect(seen, run_operation(context, Authorized(token, ABOUT_PASSWORD)))
    assert {type(each) for each in seen} >= {AnswerDelta}
    assert not [each for each in seen if isinstance(each, AnswerEnd)]


async def test_an_answer_ends_once_its_token_is_revoked_or_a_room_of_it_closed(
    context: EngineContext, access: ScriptedAccess
) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    asking = run_operation(context, Authorized(token, replace(ABOUT_PASSWORD, text="When does the ferry leave?")))
    async with aclosing(asking):
        assert isinstance(await anext(asking), AnswerDelta)
        await access.revoke_token(token.split("_")[1])
        with pytest.raises(InvalidToken):
            await collect([], asking)
    person, access.readable = await make(access, PERSON), False
    password = document_requests.GetDocument(f"note:{SECRET_SPACE}", EVERYTHING)
    summary = document_requests.Summarize(EVERYTHING)
    for asked in (ABOUT_PASSWORD, replace(ABOUT_PASSWORD, output="context"), password, summary):
        access.scopes = [EVERYTHING, EVERYTHING]
        with pytest.raises(AudienceChanged):
            await run(context, Authorized(person, asked))
    assert {room for each in access.checked for room in each.room_spaces} >= {f"{SECRET_SPACE}:room"}


async def test_an_answer_counts_also_if_its_reader_leaves(context: EngineContext, access: ScriptedAccess) -> None:
    access.scopes = [EVERYTHING]
    async with aclosing(run_operation(context, Authorized(await make(access, PERSON), ABOUT_PASSWORD))) as asking:
        await anext(asking)
    assert access.counted == [PERSON]


async def test_every_question_is_counted_by_its_outcome(context: EngineContext, access: ScriptedAccess) -> None:
    metrics = Metrics(context.clock)
    counting = replace(context, question_metrics=metrics)
    token = await make(access, Subject(space=LOCAL_SPACE), "ask")
    await run(counting, Authorized(token, replace(ABOUT_PASSWORD, text="When does the ferry leave?")))
    asking = run_operation(counting, Authorized(token, ABOUT_PASSWORD))
    async with aclosing(asking):
        await anext(asking)
    for refused in (Authorized("nonsense", ABOUT_PASSWORD), Authorized(token, requests.GetStatus(EVERYTHING))):
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


async def test_a_person_forgets_only_what_is_theirs(context: EngineContext, access: ScriptedAccess) -> None:
    token = await make(access, PERSON)
    access.scopes = [EVERYTHING]
    with pytest.raises(NotFound):
        await run(context, Authorized(token, requests.Forget(f"note:{SECRET_SPACE}", EVERYTHING)))
    own = await make(access, Subject(space=LOCAL_SPACE))
    done = await run(context, Authorized(own, requests.Forget(f"note:{LOCAL_SPACE}", EVERYTHING)))
    assert isinstance(done[-1], Completed)


async def test_corrections_are_made_in_the_space_of_the_token_and_not_by_a_person(
    context: EngineContext, access: ScriptedAccess
) -> None:
    fact = requests.AddFact(SECRET_SPACE, "Mina", "She sells tickets.")
    access.scopes = [EVERYTHING]
    with pytest.raises(NotPermitted):
        await run(context, Authorized(await make(access, PERSON), fact))
    await run(context, Authorized(await make(access, Subject(space=LOCAL_SPACE)), fact))
    listed = last(await run(context, requests.ListDocuments(Scope.of(LOCAL_SPACE))), DocumentList)
    assert "stated" in {each.kind for each in listed.documents} | {each.room for each in listed.documents}


async def test_a_person_corrects_only_where_they_may(context: EngineContext, access: ScriptedAccess) -> None:
    token, hidden = await make(access, PERSON), requests.Hide("", "Ferry")
    access.correctable = frozenset({LOCAL_SPACE})
    for refused in (replace(hidden, space=SECRET_SPACE), replace(hidden, space="slack:T1:NOWHERE")):
        access.scopes = [EVERYTHING]
        with pytest.raises(NotPermitted) as caught:
            await run(context, Authorized(token, refused))
        assert "there" in str(caught.value)
    await run(context, requests.AddFact(LOCAL_SPACE, "Mina", "She sells tickets to Otto.", "Otto"))
    access.scopes = [EVERYTHING] * 3
    made = last(await run(context, Authorized(token, requests.Hide("", "Mina"))), Corrected)
    assert made.space == LOCAL_SPACE  # where its undo is made, too
    listed = last(await run(context, Authorized(token, ListCorrections(EVERYTHING))), CorrectionList)
    assert (listed.spaces, [each.name for each in listed.corrections]) == ((LOCAL_SPACE,), ["Mina"])
    with pytest.raises(NotFound):
        await run(context, Authorized(token, requests.Merge("", "Password", "Otto")))


@pytest.mark.parametrize("kind", [requests.Merge, requests.Separate])
async def test_somebody_at_the_terminal_corrects_names_of_its_space_alone(
    context: EngineContext, kind: type[requests.Merge | requests.Separate]
) -> None:
    wanted = kind(SECRET_SPACE, "Password", "The", allow_unknown=True)
    limited = authorized.limit_to_space(wanted, LOCAL_SPACE)
    assert limited == replace(wanted, space=LOCAL_SPACE, allow_unknown=False)
    with pytest.raises(NotFound):
        await run(context, limited)


async def test_what_belongs_to_the_owner_of_the_data_needs_no_token_to_be_refused(
    context: EngineContext, access: ScriptedAccess
) -> None:
    token = await make(access, Subject(space=LOCAL_SPACE))
    for request in (
        requests.Backup("/tmp/x"),
        requests.Export(EVERYTHING),
        requests.Ingest(("/etc",), LOCAL_SPACE),
        token_requests.CreateToken("x", Subject(space=SECRET_SPACE), ("ask",), 1),
        token_requests.ListTokens(),
    ):
        with pytest.raises(NotPermitted):
            await run(context, Authorized(token, request))
    with pytest.raises(InvalidToken):
        await run(context, Authorized("nonsense", requests.GetStatus(EVERYTHING)))


def test_each_request_that_names_a_scope_or_a_space_is_limited_or_refused() -> None:
    permitted = {**authorized.READING, **authorized.CHANGING, **authorized.CORRECTING}
    assert set(permitted) < set(get_args(OperationRequest))
    for kind in {*authorized.READING, *authorized.CHANGING}:
        assert "scope" in {each.name for each in fields(kind)}
    for kind in authorized.CORRECTING:
        assert "space" in {each.name for each in fields(kind)}


async def test_a_person_is_told_nothing_about_commands_of_the_terminal(
    context: EngineContext, access: ScriptedAccess
) -> None:
    hints = []
    for subject in (PERSON, Subject(space="empty")):
        token = await make(access, subject)
        for request in (ABOUT_PASSWORD, requests.Forget("x", EVERYTHING)):
            access.scopes = [Scope.of("slack:T1:EMPTY")]
            with pytest.raises(NotFound) as caught:
                await run(context, Authorized(token, request))
            hints.append("threadlore" in caught.value.hint)
    assert hints == [False, False, True, True]
    assert word_hint("Run `threadlore setup` once.") == "Ask whoever runs the bot."
    assert word_hint("Wait a minute.") == "Wait a minute."
