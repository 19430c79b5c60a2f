"""Of a workspace of others nothing reaches the bot, and those whom it concerns are told why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.slack.install import installed
from adapters.slack.install.accesses import Access
from adapters.slack.install.installed import InstalledWorkspaces
from adapters.slack.install.withheld import OTHERS, Ownership
from bot.errors import PermissionDenied
from bot.platform.events import MessageReceived, WorkspaceLeft
from bot.platform.models import Location
from engine.clock import SYSTEM_CLOCK
from tests.adapters.recording_bot import RecordingBot
from tests.adapters.slack.install.scene import Installing, open_hub

OURS, STATED = "T0URS", "true"


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "MIN_UPDATE_SECONDS", 0.01)
    monkeypatch.setattr(installed, "UPDATE_SECONDS", 0.05)


async def read_hint(installing: Installing, team: str) -> bool:
    """Whether an installer was told."""
    return not await installing.bot.store.hints.record_if_new("slack", team, "withheld")


async def test_nothing_of_a_workspace_of_others_reaches_the_bot(installing: Installing) -> None:
    async with installing.serving(own_workspaces=OURS) as bot:
        await installing.install(installing.ours)
        page = await installing.install(installing.theirs)
        await installing.wait_until_served(installing.ours)
        assert "nothing of it is read, stored or answered" in page.text
        eve = installing.theirs.user("Eve")
        hall = installing.theirs.channel("hall", members=[eve])
        await eve.says(hall, "Our plans are secret.")
        ada = installing.ours.user("Ada")
        await ada.says(installing.ours.channel("roof", members=[ada]), "ours")
        await installing.ours.wait_until_delivered()
        assert [event.message.text for event in bot.all(MessageReceived)] == ["ours"]
        with pytest.raises(PermissionDenied):
            await bot.platform.fetch_channel(Location("slack", "T0THEIRS", hall.id))
        assert [problem for problem in bot.supervisor.list_problems() if "T0THEIRS" in problem]


async def test_the_installer_is_told_once_and_who_asks_is_told_alone(installing: Installing) -> None:
    async with installing.serving(own_workspaces=OURS):
        await installing.install(installing.theirs)
        theirs = installing.theirs
        await installing.wait_for(lambda: theirs.calls_to("chat.postMessage"))
        eve = theirs.user("Eve")
        hall = theirs.channel("hall", members=[eve])
        for _ in range(2):
            await eve.mentions(hall, "What is the plan?")
        await theirs.wait_until_delivered()
        await installing.wait_for(lambda: theirs.calls_to("chat.postEphemeral"))
        [told], [answered] = theirs.calls_to("chat.postMessage"), theirs.calls_to("chat.postEphemeral")
        assert "THREADLORE_SLACK_OWN_WORKSPACES" in told.args["text"]
        assert answered.args["user"] == eve.id
    async with installing.serving(own_workspaces=OURS):
        await installing.wait_for(installing.bot.supervisor.list_problems)
        assert await read_hint(installing, "T0THEIRS")
        assert len(theirs.calls_to("chat.postMessage")) == 1


async def test_with_an_acknowledgment_others_are_served_without_their_past_and_deleted_in_the_end(
    installing: Installing,
) -> None:
    async with installing.serving(own_workspaces=OURS, store_other_workspaces=STATED) as bot:
        await installing.install(installing.ours)
        await installing.install(installing.theirs)
        await installing.wait_until_served(installing.ours, installing.theirs)
        assert [bot.platform.traits.reads_past(text) for text in ("T0URS", "T0THEIRS")] == [True, False]
        await installing.ours.uninstalls()
        await installing.theirs.uninstalls()
        await installing.wait_for(lambda: len(bot.all(WorkspaceLeft)) == 2)
        assert {event.workspace: event.purge for event in bot.all(WorkspaceLeft)} == {"T0URS": False, "T0THEIRS": True}


@pytest.mark.parametrize("own", ["T1", " E1 , T9", "E1"])
def test_a_workspace_is_own_by_its_id_or_that_of_its_organization(own: str) -> None:
    ownership = Ownership(frozenset(part.strip() for part in own.split(",")), stores_others=False)
    assert ownership.may_store("T1", Access("E1", "xoxb"))
    assert ownership.may_store("T1", Access("T1", "xoxb", organization="E1"))
    assert not ownership.may_store("T2", Access("T2", "xoxb", organization="E2"))


@pytest.mark.parametrize(("value", "purged"), [(False, False), (None, True)])
async def test_a_setting_keeps_the_data_of_others_after_they_left(
    tmp_path: Path, *, value: bool | None, purged: bool
) -> None:
    async with (
        open_hub(tmp_path) as installing,
        installing.serving(own_workspaces=OURS, store_other_workspaces=STATED) as bot,
    ):
        bot.settings = bot.settings.model_copy(update={"delete_data_on_uninstall": value})
        bot.settings.model_fields_set.add("delete_data_on_uninstall")
        await installing.install(installing.theirs)
        await installing.wait_until_served(installing.theirs)
        await installing.theirs.uninstalls()
        await installing.wait_for(lambda: bot.all(WorkspaceLeft))
        assert bot.all(WorkspaceLeft)[0].purge is purged


async def test_data_from_before_are_named_with_the_command_that_deletes_them(installing: Installing) -> None:
    async with installing.serving(own_workspaces=OURS) as bot:
        bot.known_workspaces = {"T0URS", "T0THEIRS"}
        await installing.install(installing.theirs)
        await installing.wait_for(lambda: installing.theirs.calls_to("chat.postMessage"))
        [told] = installing.theirs.calls_to("chat.postMessage")
        assert "stored here before" in told.args["text"]
        problems = " ".join(bot.supervisor.list_problems())
        assert "Nothing new is stored of these workspaces: T0THEIRS." in problems
        assert "`threadlore forget-workspace slack:T0THEIRS`" in problems
        assert "T0URS" not in problems.replace(OTHERS, "")
        bot.known_workspaces = set()
        await installing.wait_for(lambda: "forget-workspace" not in " ".join(bot.supervisor.list_problems()))


class Scene:
    """Installations that a test changes, and the workspaces that are served for them."""

    def __init__(self, bot: Any) -> None:
        self.bot, self.clients = bot, None
        self.found: dict[str, Access] = {}
        self.served: dict[str, Any] = {}
        self.expected = set[str]()
        self.installed = InstalledWorkspaces(
            cast("Any", self),
            cast("Any", None),
            cast("Any", self),
            cast("Any", self),
            Ownership(frozenset({"E1"}), False),
        )

    async def list_all(self) -> dict[str, Access]:
        return self.found

    async def open(self, token: str, _identity: object) -> Any:
        return SimpleNamespace(team=token, context=SimpleNamespace(clients=SimpleNamespace(set_token=str)))

    def add(self, workspace: Any) -> None:
        self.served[workspace.team] = workspace

    def get(self, team: str) -> Any:
        return self.served.get(team)

    async def remove(self, team: str) -> None:
        self.served.pop(team, None)

    async def see(self, access: Access) -> None:
        """Look at the installations after a change of one, until what that begins has ended."""
        self.found["T1"] = access
        await self.installed.update()
        await asyncio.gather(*self.installed._openings.values())


async def test_a_served_workspace_that_leaves_our_organization_is_closed_and_served_again_when_it_returns() -> None:
    scene = Scene(RecordingBot(SYSTEM_CLOCK))
    ours, foreign = Access("T1", "T1", organization="E1"), Access("T1", "T1", organization="E2")
    for access, served in ((ours, {"T1"}), (foreign, set()), (foreign, set()), (ours, {"T1"})):
        await scene.see(access)
        assert scene.served.keys() == served
        assert ("T1" in scene.installed.withheld) == (not served)
        assert bool(scene.bot.supervisor.list_problems()) == (not served)
