"""A token permits what it says, to whom it was made for, as long as they may read it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot import texts
from bot.capabilities.access.control import MAX_LOGINS, AccessControl
from bot.capabilities.caller import Caller
from bot.errors import (
    InvalidToken,
    NotConnected,
    NotPermitted,
    PlatformError,
    TooManyRequests,
)
from bot.permissions.askers import Quotas
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Person
from bot.store import BotStore, Subject
from engine import Scope, Usage
from tests.support.builders import HALL
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

SPACE, ADA = Subject(space="console:local"), Subject("slack", "T1", "ada")


class Desk:
    """Access control with a clock of its own, in a workspace where Ada is in the vault."""

    def __init__(self, store: BotStore) -> None:
        self.clock = ManualClock()
        self.store = store
        self.platform = FakePlatform("slack", "T1")
        self.platform.people |= {name: Person(name, name) for name in ("ada", "bob")}
        self.vault = self.platform.add_channel("VAULT", "ada", kind="closed")
        audience = AudienceResolver({"slack": self.platform}, store, 0.0, self.clock)
        self.access = AccessControl(store, self.clock, audience)

    async def create(self, subject: Subject = SPACE, *, limit: int = 60, days: int = 0) -> str:
        lifetime = timedelta(days=days) if days else None
        return (await self.access.create_token("test", subject, ("ask",), limit, lifetime))[1]


@pytest.fixture
async def desk(store: BotStore) -> Desk:
    desk = Desk(store)
    await store.channels.upsert(desk.vault, "vault")
    return desk


async def test_a_token_permits_what_it_says_and_its_use_is_recorded(desk: Desk) -> None:
    token = await desk.access.authorize(await desk.create(), "ask")
    assert (token.subject, token.permissions) == (SPACE, ("ask",))
    [listed] = await desk.access.list_tokens()
    assert listed.used_at == desk.clock.now()
    with pytest.raises(NotPermitted, match="“write”"):
        await desk.access.authorize(await desk.create(), "write")


async def test_a_token_that_is_foreign_expired_or_revoked_is_refused_with_one_message(desk: Desk) -> None:
    good, old = await desk.create(), await desk.create(days=1)
    revoked, messages = await desk.create(), set[str]()
    assert await desk.access.revoke_token(revoked.split("_")[1])
    assert not await desk.access.revoke_token("0000000000")
    desk.clock.advance(86_400)
    for text in (old, revoked, f"{good}x", "tl_0000000000_secret"):
        with pytest.raises(InvalidToken) as caught:
            await desk.access.authorize(text, "ask")
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert (await desk.access.authorize(good, "ask")).name == "test"


async def test_the_secret_is_not_stored(desk: Desk) -> None:
    text = await desk.create()
    rows = await desk.store._database.fetch_all("SELECT * FROM access_token")
    assert text.split("_", 2)[2] not in str(rows)


async def test_requests_of_a_minute_are_limited_for_each_token(desk: Desk) -> None:
    often, other = await desk.create(limit=2), await desk.create(limit=2)
    for _ in range(2):
        await desk.access.authorize(often, "ask")
    with pytest.raises(TooManyRequests):
        await desk.access.authorize(often, "ask")
    assert (await desk.access.authorize(other, "ask")).requests_per_minute == 2
    desk.clock.advance(61)
    assert (await desk.access.authorize(often, "ask")).requests_per_minute == 2


async def test_a_person_reads_what_they_can_read_now(desk: Desk) -> None:
    assert desk.vault.room in (await desk.access.resolve_scope(ADA)).scope.spaces
    assert desk.vault.room not in (await desk.access.resolve_scope(Subject("slack", "T1", "bob"))).scope.spaces
    desk.platform.add_channel("VAULT", "bob", kind="closed")
    assert desk.vault.room not in (await desk.access.resolve_scope(ADA)).scope.spaces


async def test_who_left_or_cannot_be_looked_up_reads_nothing(desk: Desk) -> None:
    desk.platform.people["ada"] = Person("ada", "Ada", is_deactivated=True)
    with pytest.raises(InvalidToken):
        await desk.access.resolve_scope(ADA)
    with pytest.raises(NotConnected):
        await AccessControl(desk.store, desk.clock).resolve_scope(ADA)
    with pytest.raises(PlatformError):
        await desk.access.resolve_scope(Subject("elsewhere", "T1", "ada"))


def test_what_may_be_changed_is_ones_own() -> None:
    assert Caller("space", SPACE).own_scope == Scope.of("console:local")
    assert Caller("person", ADA).own_scope == Scope.of("slack:T1:dm:ada", "slack::dm:ada")


async def test_questions_of_a_token_count_against_the_budget_of_its_workspace(desk: Desk) -> None:
    access = AccessControl(desk.store, desk.clock, quotas=Quotas(desk.store, 10, 100, desk.clock))
    await access.check_question(ADA)
    await access.record_usage(ADA, [Usage("answer", "m", 60, 40, 0.0)])
    with pytest.raises(TooManyRequests, match="tokens"):
        await access.check_question(ADA)
    await access.record_usage(SPACE, [Usage("answer", "m", 60, 40, 0.0)])
    await access.check_question(SPACE)


async def test_questions_in_the_chat_and_by_tokens_count_together_for_a_person(desk: Desk) -> None:
    quotas = Quotas(desk.store, 2, 0, desk.clock)
    access = AccessControl(desk.store, desk.clock, quotas=quotas)
    assert await quotas.check_question(HALL, "ada") == ""
    await access.check_question(ADA)
    with pytest.raises(TooManyRequests, match="too many questions"):
        await access.check_question(ADA)
    assert await quotas.check_question(HALL, "ada") == texts.TOO_MANY_QUESTIONS
    await access.check_question(Subject("slack", "T1", "bob"))
    for _ in range(3):
        await access.check_question(SPACE)
    desk.clock.advance(60)
    await access.check_question(ADA)


async def test_a_login_is_of_a_member_of_a_served_workspace(desk: Desk) -> None:
    people, log_in = desk.platform.people, desk.access.log_in
    people["guest"] = Person("guest", "Guest", is_guest=True)
    people["robot"] = Person("robot", "Robot", is_bot=True)
    people["gone"] = Person("gone", "Gone", is_deactivated=True)
    token, _ = await log_in("slack", "ada", ("T0", "T1"), with_guests=False)
    assert (token.name, token.subject, token.permissions) == ("ada", ADA, ("ask", "read", "write"))
    await log_in("slack", "guest", ("T1",), with_guests=True)
    refused = [("ada", ("T2",)), ("ada", ()), ("ada", ("",)), ("guest", ("T1",)), ("robot", ("T1",)), ("gone", ("T1",))]
    for person, workspaces in refused:
        with pytest.raises(NotPermitted, match="not a member"):
            await log_in("slack", person, workspaces, with_guests=False)
    with pytest.raises(PlatformError):
        await log_in("slack", "nobody", ("T1",), with_guests=True)
    with pytest.raises(NotConnected):
        await AccessControl(desk.store, desk.clock).log_in("slack", "ada", ("T1",), with_guests=True)


async def test_a_login_ends_by_itself_or_by_logging_out(desk: Desk) -> None:
    _, first = await desk.access.log_in("slack", "ada", ("T1",), with_guests=False)
    kept = await desk.create(ADA, days=1)
    await desk.access.log_out(first)
    await desk.access.log_out(kept)  # a program may use it, too
    await desk.access.authenticate(kept)
    _, second = await desk.access.log_in("slack", "ada", ("T1",), with_guests=False)
    desk.clock.advance(12 * 3600)
    for text in (first, second):
        with pytest.raises(InvalidToken):
            await desk.access.authenticate(text)
    await desk.access.log_in("slack", "ada", ("T1",), with_guests=False)
    assert len(await desk.access.list_tokens()) == 2  # the expired one is deleted


async def test_one_login_too_many_ends_the_oldest_of_that_person_alone(desk: Desk) -> None:
    kept = await desk.create(ADA, days=1)
    texts = []
    for _ in range(MAX_LOGINS + 1):
        texts.append((await desk.access.log_in("slack", "ada", ("T1",), with_guests=False))[1])
        desk.clock.advance(1)
    with pytest.raises(InvalidToken):
        await desk.access.authenticate(texts[0])
    for text in (kept, *texts[1:]):
        await desk.access.authenticate(text)


async def test_who_manages_a_workspace_is_known_at_present(desk: Desk) -> None:
    people = desk.platform.people
    people["ada"] = Person("ada", "ada", is_manager=True)
    assert await desk.access.is_manager(ADA)
    for changed in (Person("ada", "ada"), Person("ada", "ada", is_manager=True, is_deactivated=True)):
        people["ada"] = changed
        assert not await desk.access.is_manager(ADA)
    del people["ada"]
    with pytest.raises(PlatformError):
        await desk.access.is_manager(ADA)
    with pytest.raises(NotConnected):
        await AccessControl(desk.store, desk.clock).is_manager(ADA)
