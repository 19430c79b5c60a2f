"""Several workspaces of one app: each is opened, renewed and closed by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet

from adapters.slack.install import accesses, installed
from bot.errors import NotConnected, PermissionDenied, PlatformError
from bot.platform.events import MessageReceived, MessagesDeleted, VisibilityChanged, WorkspaceLeft
from bot.platform.models import Location
from tests.adapters.slack.install.scene import Installing, open_hub
from tests.support.bot_fixture import wait_for_call
from tests.support.engine_fixture import find_files_containing
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack, Fault, Person, Room, Timing, shapes
from tests.support.slack_server.distributed import grants
from tests.support.slack_server.state import Message, User
from tests.support.town.slack_hub import KEY


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "MIN_UPDATE_SECONDS", 0.01)
    monkeypatch.setattr(installed, "UPDATE_SECONDS", 0.05)
    monkeypatch.setattr(installed, "FIRST_RETRY_SECONDS", 0.05)


def people(slack: FakeSlack) -> tuple[Person, Room]:
    ada = slack.user("Ada")
    return ada, slack.channel("roof", members=[ada])


def locate(slack: FakeSlack, room: Room) -> Location:
    return Location("slack", slack.space.team, room.id)


async def install_both(installing: Installing) -> None:
    for each in (installing.ours, installing.theirs):
        await installing.install(each)
    await installing.wait_until_served(installing.ours, installing.theirs)


def texts(installing: Installing) -> list[tuple[str, str]]:
    """What the bot received, with its workspace."""
    received = installing.bot.all(MessageReceived)
    return [(event.message.location.workspace, event.message.text) for event in received]


async def wait_for_update(installing: Installing) -> None:
    """Wait until all installations were looked at once more, from the beginning to the end."""
    for _ in range(2):  # a look begins with this call, and the next one after it ended
        await wait_for_call(installing.bot.store.installations, "list_all")


# Routing.


@pytest.mark.parametrize("mode", ["http", "socket"])
async def test_messages_and_calls_stay_in_their_workspace(installing: Installing, mode: str) -> None:
    app_token = installing.hub.app.app_token
    async with installing.serving(mode=mode, app_token=app_token) as bot:
        await install_both(installing)
        for slack, text in ((installing.ours, "ours"), (installing.theirs, "theirs")):
            ada, roof = people(slack)
            await ada.says(roof, text)
            assert [channel.name for channel in await bot.platform.list_channels(slack.space.team)] == ["roof"]
            assert (await bot.platform.fetch_channel(locate(slack, roof))).members == {ada.id}
            assert slack.space.domain in bot.platform.message_link(locate(slack, roof), "1.2")
        await installing.ours.wait_until_delivered()
        assert sorted(texts(installing)) == [("T0THEIRS", "theirs"), ("T0URS", "ours")]
        foreign = Location("slack", "T0URS", roof.id)
        with pytest.raises(PlatformError):
            await bot.platform.fetch_channel(foreign)


async def test_a_user_id_of_two_workspaces_means_two_people(installing: Installing) -> None:
    async with installing.serving() as bot:
        await install_both(installing)
        ada, _ = people(installing.ours)
        twin = Person(installing.theirs, User(ada.id, "Ada of theirs", "T0THEIRS", kind="guest"))
        installing.theirs.space.users[ada.id] = twin.user
        found = [await bot.platform.fetch_person(team, ada.id) for team in ("T0URS", "T0THEIRS")]
        assert [(each.name, each.is_guest) for each in found] == [("Ada", False), ("Ada of theirs", True)]
        assert await bot.platform.to_plain_text("T0THEIRS", f"<@{ada.id}>") == "@Ada of theirs"
        for person, kind in ((ada, "guest"), (twin, "member")):
            await person.becomes(kind)
        await installing.ours.wait_until_delivered()
        changed = [event.location.workspace for event in bot.all(VisibilityChanged)]
        assert sorted(changed) == ["T0THEIRS", "T0URS"]


async def test_a_workspace_without_an_installation_is_acknowledged_and_dropped(installing: Installing) -> None:
    async with installing.serving() as bot:
        await installing.install(installing.ours)
        await installing.wait_until_served(installing.ours)
        installing.theirs.space.revoked = ""
        ada, roof = people(installing.theirs)
        await ada.says(roof, "hello")
        await ada.slash(roof, "status")
        await installing.ours.wait_until_delivered()
        assert [delivery.lost for delivery in installing.hub.socket.deliveries] == ["", ""]
        assert bot.events == []
        with pytest.raises(PermissionDenied, match="not installed"):
            await bot.platform.fetch_channel(locate(installing.theirs, roof))


async def test_a_workspace_that_is_being_opened_keeps_its_events(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
    installing.theirs.fail_next("auth.test", Fault("hang"), 1)
    async with installing.serving() as bot:
        await installing.wait_for(lambda: installing.served() == {"T0URS"})
        ada, roof = people(installing.theirs)
        await ada.says(roof, "hello")
        await installing.ours.wait_until_delivered()
        assert [delivery.lost for delivery in installing.hub.socket.deliveries] == ["http_error"]
        with pytest.raises(NotConnected):
            await bot.platform.fetch_channel(locate(installing.theirs, roof))


async def test_a_workspace_that_slack_cannot_open_yet_is_tried_again(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
    installing.theirs.fail_next("auth.test", "internal_error", 5)
    async with installing.serving():
        await installing.wait_until_served(installing.ours, installing.theirs)


async def test_a_missed_delivery_suspends_its_own_workspace_alone(installing: Installing) -> None:
    async with installing.serving() as bot:
        await install_both(installing)
        ada, roof = people(installing.theirs)
        await ada.says(roof, "hello")
        await installing.ours.wait_until_delivered()
        bot.visibility.clear()
        installing.theirs.redelivers("message")
        await installing.wait_for(lambda: ("reconcile", "T0THEIRS") in bot.visibility)
        assert {team for _, team in bot.visibility} == {"T0THEIRS"}


async def test_a_rate_limit_of_one_workspace_delays_no_other(installing: Installing) -> None:
    async with installing.serving() as bot:
        await install_both(installing)
        rooms = {slack: people(slack)[1] for slack in (installing.ours, installing.theirs)}
        installing.theirs.fail_next("conversations.history", Fault("ratelimited", seconds=60))
        since = installing.hub.clock.now() - timedelta(days=1)

        async def read(slack: FakeSlack) -> list[Any]:
            return [page async for page in bot.platform.history(locate(slack, rooms[slack]), since)]

        limited = asyncio.create_task(read(installing.theirs))
        await installing.wait_for(lambda: installing.theirs.calls_to("conversations.history"))
        async with asyncio.timeout(PATIENCE):
            assert await read(installing.ours) == []
        assert not limited.done()
        limited.cancel()


def share_channel(installing: Installing, person: Person) -> Room:
    """A channel of Slack Connect with one id in both workspaces, in which both bots are."""
    roof = installing.ours.channel("roof", members=[person], shared=True)
    installing.theirs.space.channels[roof.id] = replace(
        roof.channel, name="bridge", members=[*roof.channel.members, installing.theirs.bot.id]
    )
    return roof


async def test_an_event_of_a_shared_channel_is_for_each_workspace_that_reads_it(installing: Installing) -> None:
    async with installing.serving() as bot:
        await install_both(installing)
        ada = installing.ours.user("Ada")
        roof = share_channel(installing, ada)
        sent = await ada.says(roof, "not known to theirs yet")
        await installing.ours.wait_until_delivered()
        assert {team for team, _ in texts(installing)} == {"T0URS"}
        bot.events.clear()
        await installing.bot.store.channels.upsert(Location("slack", "T0THEIRS", roof.id), "bridge")
        mention = f"<@{installing.theirs.bot.id}> why is it wet?"
        message = Message(installing.ours.space.new_ts(), roof.id, ada.id, mention)
        asked = installing.ours.changes.post(roof.channel, message)
        installing.ours.changes.emit("app_mention", shapes.message(installing.ours.space, asked), roof.channel)
        await ada.deletes(sent)
        await installing.ours.wait_until_delivered()
        received = {event.message.location.workspace: event.addressed for event in bot.all(MessageReceived)}
        assert received == {"T0URS": False, "T0THEIRS": True}
        assert sorted(event.location.workspace for event in bot.all(MessagesDeleted)) == ["T0THEIRS", "T0URS"]


# Removal.


@pytest.mark.parametrize("mode", ["http", "socket"])
async def test_an_uninstalled_workspace_is_closed_while_the_other_goes_on(installing: Installing, mode: str) -> None:
    async with installing.serving(mode=mode, app_token=installing.hub.app.app_token) as bot:
        await install_both(installing)
        _, roof = people(installing.ours)
        bot.visibility.clear()
        await installing.ours.uninstalls()
        await installing.wait_for(lambda: installing.served() == {"T0THEIRS"})
        await installing.ours.wait_until_delivered()
        assert [event.workspace for event in bot.all(WorkspaceLeft)] == ["T0URS"]
        assert bot.visibility == [("suspend", "T0URS")]
        assert set(await installing.stored_tokens()) == {"T0THEIRS"}
        with pytest.raises(PermissionDenied):
            await bot.platform.fetch_channel(locate(installing.ours, roof))
        eve, hall = people(installing.theirs)
        await eve.says(hall, "still there?")
        await installing.ours.wait_until_delivered()
        assert texts(installing) == [("T0THEIRS", "still there?")]


async def test_revoked_tokens_of_people_leave_the_bot_in(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
        installing.ours.changes.emit("tokens_revoked", {"tokens": {"oauth": ["U1"], "bot": []}})
        await installing.ours.wait_until_delivered()
        await wait_for_update(installing)
        assert installing.served() == {"T0URS", "T0THEIRS"}


async def test_an_app_that_is_installed_again_is_served_again(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
        await installing.ours.uninstalls()
        await installing.wait_for(lambda: installing.served() == {"T0THEIRS"})
        installing.ours.space.tokens.clear()
        await installing.install(installing.ours)
        await installing.wait_until_served(installing.ours, installing.theirs)


async def test_a_removal_that_slack_reports_late_does_not_end_a_newer_installation(installing: Installing) -> None:
    async with installing.serving() as bot:
        await install_both(installing)
        await installing.ours.uninstalls()
        await installing.wait_for(lambda: installing.served() == {"T0THEIRS"})
        for delivery in installing.ours.socket.deliveries:
            delivery.payload["event_time"] -= 1  # they happened before the app was installed again
        installing.ours.space.tokens.clear()
        await installing.install(installing.ours)
        await installing.wait_until_served(installing.ours, installing.theirs)
        before = len(bot.all(WorkspaceLeft))
        for kind in ("tokens_revoked", "app_uninstalled"):
            installing.ours.redelivers(kind)
        await installing.ours.wait_until_delivered()
        await wait_for_update(installing)
        assert installing.served() == {"T0URS", "T0THEIRS"}
        assert len(bot.all(WorkspaceLeft)) == before


async def test_a_workspace_that_left_during_downtime_stops_nothing_else(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
    installing.ours.space.revoked = "account_inactive"
    async with installing.serving() as bot:
        await installing.wait_until_served(installing.theirs)
        await installing.wait_for(bot.supervisor.list_problems)
        [problem] = bot.supervisor.list_problems()
        assert "T0URS" in problem
        assert set(await installing.stored_tokens()) == {"T0URS", "T0THEIRS"}


async def test_a_workspace_whose_token_was_refused_by_mistake_comes_back(
    installing: Installing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "FIRST_REFUSAL_SECONDS", 0.05)
    async with installing.serving():
        await install_both(installing)
    before, installing.ours.space.revoked = installing.ours.space.revoked, "invalid_auth"
    async with installing.serving() as bot:
        await installing.wait_for(bot.supervisor.list_problems)
        installing.ours.space.revoked = before
        await installing.wait_until_served(installing.ours, installing.theirs)
        assert bot.supervisor.list_problems() == []


async def test_an_installation_that_another_process_stored_or_deleted_is_noticed(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
        table = installing.bot.store.installations
        [row, other] = await table.list_all("slack")
        await table.delete("slack", row.workspace)
        await installing.wait_for(lambda: installing.served() == {other.workspace})
        await table.save("slack", row)
        await installing.wait_until_served(installing.ours, installing.theirs)


async def test_no_event_is_lost_of_a_workspace_that_another_process_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_hub(tmp_path, timing=Timing(retries=(0.2, 0.5, 2.0))) as installing:
        async with installing.serving():
            await install_both(installing)
            rows = await installing.bot.store.installations.list_all("slack")
            table = installing.bot.store.installations
            await table.delete("slack", "T0URS")
            await installing.wait_for(lambda: installing.served() == {"T0THEIRS"})
        monkeypatch.setattr(installed, "UPDATE_SECONDS", 60.0)
        async with installing.serving():
            await installing.wait_until_served(installing.theirs)
            [row] = [each for each in rows if each.workspace == "T0URS"]
            await installing.bot.store.installations.save("slack", row)
            ada, roof = people(installing.ours)
            await ada.says(roof, "Who lays the tiles?")
            await installing.wait_for(lambda: texts(installing) == [("T0URS", "Who lays the tiles?")])


async def test_events_of_an_unknown_workspace_wait_until_it_is_looked_for(installing: Installing) -> None:
    async with installing.serving(shared=True) as bot:
        await installing.install(installing.ours)
        await installing.wait_until_served(installing.ours)
        assert bot.platform.serves("T0URS")
        assert not bot.platform.serves("T0THEIRS")
        await installing.wait_for(lambda: bot.platform.serves("T0THEIRS"))


# Tokens.


async def test_tokens_are_rotated_before_they_expire(installing: Installing, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = installing.hub
    hub.grants.rotates = True
    async with installing.serving() as bot:
        await install_both(installing)
        before = await installing.stored_tokens()
        hub.clock.advance(grants.TOKEN_SECONDS - 60)
        monkeypatch.setattr(accesses, "ROTATE_BEFORE_MINUTES", 24 * 60)
        await installing.wait_for(lambda: len([call for call in hub.calls if "refresh_token" in call.args]) >= 2)
        monkeypatch.setattr(accesses, "ROTATE_BEFORE_MINUTES", 0)
        await wait_for_update(installing)
        after = await installing.stored_tokens()
        assert set(before.values()).isdisjoint(after.values())
        hub.clock.advance(120)
        for slack in (installing.ours, installing.theirs):
            ada, roof = people(slack)
            assert (await bot.platform.fetch_channel(locate(slack, roof))).members == {ada.id}
        assert before[installing.ours.space.team] not in map(str, hub.grants.refresh_tokens)


async def test_a_token_that_cannot_be_renewed_expires_and_nothing_else_fails(
    installing: Installing, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = installing.hub
    hub.grants.rotates = True
    async with installing.serving() as bot:
        await install_both(installing)
        hub.grants.refresh_tokens.clear()
        monkeypatch.setattr(accesses, "ROTATE_BEFORE_MINUTES", 24 * 60)
        await installing.wait_for(lambda: any(call.outcome == "invalid_refresh_token" for call in hub.calls))
        ada, roof = people(installing.ours)
        assert (await bot.platform.fetch_channel(locate(installing.ours, roof))).members == {ada.id}
        hub.clock.advance(grants.TOKEN_SECONDS)
        with pytest.raises(PermissionDenied, match="token_expired"):
            await bot.platform.fetch_channel(locate(installing.ours, roof))


async def test_no_token_is_in_the_files_and_a_new_key_takes_over_at_the_start(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
        tokens = await installing.stored_tokens()
    new = Fernet.generate_key().decode()
    async with installing.serving(encryption_keys=f"{new},{KEY}"):
        await installing.wait_until_served(installing.ours, installing.theirs)
        assert await installing.stored_tokens(new) == tokens
        assert await installing.stored_tokens(KEY) == {}
    async with installing.serving(encryption_keys=new):
        await installing.wait_until_served(installing.ours, installing.theirs)
    for token in tokens.values():
        assert find_files_containing(installing.home, token) == []


async def test_a_lost_key_opens_no_workspace_and_deletes_nothing(installing: Installing) -> None:
    async with installing.serving():
        await install_both(installing)
    async with installing.serving(encryption_keys=Fernet.generate_key().decode()) as bot:
        await wait_for_update(installing)
        assert installing.served() == set()
        assert bot.all(WorkspaceLeft) == []
    async with installing.serving():
        await installing.wait_until_served(installing.ours, installing.theirs)


# Organizations.


async def test_an_organization_is_installed_once_for_all_its_workspaces(installing: Installing) -> None:
    hub, ours, theirs = installing.hub, installing.ours, installing.theirs
    grid = hub.organization("E0GRID", "Grid", ours, theirs)
    async with installing.serving() as bot:
        page = await installing.install(grid)
        assert "The app is installed in the organization Grid" in page.text
        assert set(await installing.stored_tokens()) == {"E0GRID"}
        assert installing.served() == set()
        for each in (ours, theirs):
            hub.grant_access(grid, each)
        await installing.wait_until_served(ours, theirs)
        for slack, text in ((ours, "ours"), (theirs, "theirs")):
            ada, roof = people(slack)
            await ada.says(roof, text)
            await ada.slash(roof, "status")
            assert [channel.name for channel in await bot.platform.list_channels(slack.space.team)] == ["roof"]
            assert (await bot.platform.fetch_channel(locate(slack, roof))).members == {ada.id}
        await ours.wait_until_delivered()
        assert sorted(texts(installing)) == [("T0THEIRS", "theirs"), ("T0URS", "ours")]
        assert {call.args.get("team_id") for call in theirs.calls if call.method != "apps.connections.open"} == {
            "T0THEIRS"
        }


async def test_a_workspace_leaves_its_organization_s_installation_alone(installing: Installing) -> None:
    hub, ours, theirs = installing.hub, installing.ours, installing.theirs
    grid = hub.organization("E0GRID", "Grid", ours, theirs)
    async with installing.serving() as bot:
        await installing.install(grid)
        for each in (ours, theirs):
            hub.grant_access(grid, each)
        await installing.wait_until_served(ours, theirs)
        hub.revoke_access(grid, ours)
        await installing.wait_for(lambda: [event.workspace for event in bot.all(WorkspaceLeft)] == ["T0URS"])
        await installing.wait_for(lambda: installing.served() == {"T0THEIRS"})
        assert set(await installing.stored_tokens()) == {"E0GRID"}
        await theirs.uninstalls()
        grid.approved.clear()
        await installing.wait_for(lambda: installing.served() == set())
        async with asyncio.timeout(PATIENCE):
            while await installing.stored_tokens():  # noqa: ASYNC110 - the table has no event
                await asyncio.sleep(0.01)


async def test_an_installation_of_a_workspace_wins_over_that_of_its_organization(installing: Installing) -> None:
    hub, ours, theirs = installing.hub, installing.ours, installing.theirs
    grid = hub.organization("E0GRID", "Grid", ours, theirs)
    async with installing.serving() as bot:
        await installing.install(grid)
        for each in (ours, theirs):
            hub.grant_access(grid, each)
        await installing.wait_until_served(ours, theirs)
        await installing.install(ours)
        own = (await installing.stored_tokens())["T0URS"]
        await installing.wait_for(lambda: find_token(bot, "T0URS") == own)
        await installing.wait_until_served(ours, theirs)


def find_token(bot: Any, team: str) -> str:
    workspace = bot.platform._workspaces.get(team)
    return str(workspace.context.idempotent_client.token) if workspace is not None else ""


async def test_two_hubs_of_tokens_are_told_apart(installing: Installing) -> None:
    """The fake refuses a token of one workspace in another, or these tests would prove nothing."""
    async with installing.serving():
        await install_both(installing)
        [ours], [theirs] = installing.ours.space.tokens, installing.theirs.space.tokens
        assert ours != theirs
        with pytest.raises(Exception, match="invalid_auth"):
            installing.ours.space.check_token(theirs)
