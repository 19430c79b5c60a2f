from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from adapters.slack import run
from bot.errors import PermissionDenied, PlatformError
from bot.platform.events import (
    BotAdded,
    ButtonPressed,
    ChannelRemoved,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    QuestionAsked,
    VisibilityChanged,
    WorkspaceLeft,
)
from bot.platform.models import Button, Card, Location
from engine.scheduling.supervisor import Supervisor
from tests.adapters.slack.conftest import settings_for
from tests.support.slack_server import FakeSlack, File, Timing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.platform.events import PlatformEvent
    from bot.platform.ports import Platform


class Ear:
    """What the adapter wants from the bot: it remembers keys, as the inbox does."""

    def __init__(self) -> None:
        self.heard: list[PlatformEvent] = []
        self.platforms: list[Platform] = []
        self.signs = 0
        self.caught_up = 0
        self.doubts = 0
        self.broken = 0
        self.supervisor = Supervisor()
        self._keys: set[str] = set()

    def attach(self, platform: Platform) -> None:
        self.platforms.append(platform)

    def record_activity(self, platform: str) -> None:
        assert platform == "slack"
        self.signs += 1

    async def receive(self, happening: PlatformEvent, *keys: str) -> bool:
        if self.broken:
            self.broken -= 1
            raise PlatformError("The disk is full.")
        if self._keys.intersection(keys):
            return False
        self._keys.update(keys)
        self.heard.append(happening)
        return True

    async def build_home_card(self, platform: str, workspace: str, person: str) -> Card:
        return Card(f"**Hello** {platform} {workspace} {person}", buttons=(Button("Forget me", "forget-me", person),))

    def suspend_visibility(self, platform: str) -> None:
        assert platform == "slack"
        self.doubts += 1

    async def reconcile(self, platform: str) -> None:
        self.caught_up += 1


@asynccontextmanager
async def running(slack: FakeSlack) -> AsyncIterator[Ear]:
    ear, stop = Ear(), asyncio.Event()
    bot: Any = ear
    work = asyncio.create_task(run(bot, settings_for(slack), stop))
    await slack.wait_until_connected()
    try:
        yield ear
    finally:
        stop.set()
        await asyncio.wait_for(work, 10)


@pytest.fixture
async def ear(slack: FakeSlack) -> AsyncIterator[Ear]:
    async with running(slack) as found:
        yield found


async def test_the_platform_is_attached_before_anything_is_heard(ear: Ear) -> None:
    assert [platform.name for platform in ear.platforms] == ["slack"]


async def test_a_mention_is_heard_once_though_slack_tells_it_twice(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = await ada.mentions(room, "why is it wet?", files=[File("a.txt", b"x")])
    await slack.wait_until_delivered()
    (heard,) = ear.heard
    assert isinstance(heard, MessageReceived)
    assert heard.addressed
    assert (heard.message.id, heard.message.text) == (said.ts, "why is it wet?")
    assert heard.message.location == Location("slack", slack.space.team, room.id)
    assert len(heard.message.uploads) == 1
    assert len(slack.socket.deliveries) >= 2


async def test_an_event_that_is_sent_again_is_heard_once(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.says(slack.channel("roof", members=[ada]), "hello")
    await slack.wait_until_delivered()
    slack.redelivers()
    await slack.wait_until_delivered()
    assert len(ear.heard) == 1


async def test_a_question_of_a_former_run_is_not_taken_for_a_new_one(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = await ada.mentions(room, "why is it wet?")
    await slack.wait_until_delivered()
    platform: Any = ear.platforms[0]
    assert (room.id, said.ts) in platform._new_questions
    platform._new_questions.clear()  # as in another run, to which Slack sends it again
    slack.redelivers()
    await slack.wait_until_delivered()
    assert (room.id, said.ts) not in platform._new_questions


async def test_what_could_not_be_kept_is_not_acknowledged_and_comes_again() -> None:
    async with FakeSlack(timing=Timing(ack=0.3)) as slack, running(slack) as ear:
        ear.broken = 1
        ada = slack.user("Ada")
        await ada.says(slack.channel("roof", members=[ada]), "hello")
        await slack.wait_for(lambda: ear.heard)
        await slack.wait_until_delivered()
        assert slack.socket.deliveries[0].attempts == 2


async def test_edits_and_the_life_of_channels_are_heard(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    said = await ada.says(room, "hello")
    await ada.edits(said, "hallo")
    await slack.converts(room, ada)
    await slack.shares(room, slack.stranger("Eve"))
    await ada.removes(room, slack.bot)
    await ada.invites(room, slack.bot)
    await slack.wait_until_delivered()
    kinds = [type(each) for each in ear.heard]
    assert {MessageReceived, MessageEdited, VisibilityChanged, ChannelRemoved, BotAdded} <= set(kinds)
    assert next(each for each in ear.heard if isinstance(each, BotAdded)).by == ada.id


async def test_who_becomes_a_guest_changes_what_may_be_read(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ear.platforms[0].fetch_person("", ada.id)
    await ada.renames_self("Ada L.")
    await slack.wait_until_delivered()
    assert ear.heard == []
    await ada.becomes("guest")
    await slack.wait_until_delivered()
    assert ear.heard == [VisibilityChanged(Location("slack", slack.space.team, ""), members_only=True)]
    assert (await ear.platforms[0].fetch_person("", ada.id)).is_guest


async def test_commands_are_acknowledged_with_nothing_and_reach_the_bot(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    for text in ("ask why is it wet?", "status", "forget the minutes"):
        parcel = await ada.slash(room, text)
        assert not parcel.lost
        assert not parcel.reply
    asked, status, forget = ear.heard
    assert isinstance(asked, QuestionAsked)
    assert asked.text == "why is it wet?"
    assert asked.handle.startswith(slack.url)
    assert isinstance(status, CommandInvoked)
    assert isinstance(forget, CommandInvoked)
    assert [status.command, forget.command, forget.words] == ["status", "forget", "the minutes"]


async def test_buttons_reach_the_bot(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    room = slack.channel("roof", members=[ada])
    card = Card(
        "Shall I?", buttons=(Button("Forget", "forget", "doc 7"), Button("👍", "up", "a"), Button("👎", "down", "a"))
    )
    await ear.platforms[0].post(Location("slack", slack.space.team, room.id), card)
    (entry,) = slack.sees(ada, room).entries
    for label in ("Forget", "👎"):
        await ada.clicks(entry, label)
    first, second = ear.heard
    assert isinstance(first, ButtonPressed)
    assert isinstance(second, ButtonPressed)
    assert [first.action, first.value, second.action, second.value] == ["forget", "doc 7", "down", "a"]
    assert first.person == ada.id


async def test_the_home_tab_shows_the_bots_page_and_its_buttons_work(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.opens_app("home")
    await slack.wait_for(lambda: "Forget me" in ada.home_tab())
    assert f"Hello slack {slack.space.team} {ada.id}" in ada.home_tab().replace("*", "")
    await ada.clicks_home_tab("Forget me")
    (clicked,) = ear.heard
    assert isinstance(clicked, ButtonPressed)
    assert (clicked.action, clicked.value) == ("forget-me", ada.id)


async def test_the_conversation_with_the_app_offers_a_few_beginnings(slack: FakeSlack, ear: Ear) -> None:
    ada = slack.user("Ada")
    await ada.opens_app("messages")
    await slack.wait_for(lambda: slack.sees(ada, ada.direct).prompts)
    assert 1 <= len(slack.sees(ada, ada.direct).prompts) <= 4
    assert "thread_ts" not in slack.calls_to("assistant.threads.setSuggestedPrompts")[0].args


async def test_the_end_of_the_installation_is_heard(slack: FakeSlack, ear: Ear) -> None:
    await slack.uninstalls()
    await slack.wait_for(lambda: any(isinstance(each, WorkspaceLeft) for each in ear.heard))


async def test_a_wrong_token_is_told_at_once(slack: FakeSlack) -> None:
    for token in ("slack_bot_token", "slack_app_token"):
        given = settings_for(slack)
        settings = given.model_copy(update={"adapter_settings": {**given.adapter_settings, token: SecretStr("")}})
        bot: Any = Ear()
        with pytest.raises(PermissionDenied):
            await run(bot, settings, asyncio.Event())


async def test_no_text_and_no_token_is_logged(slack: FakeSlack, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with running(slack):
        ada = slack.user("Ada")
        await ada.says(slack.channel("roof", members=[ada]), "the code is 4711")
        await slack.wait_until_delivered()
    assert "4711" not in caplog.text
    assert slack.space.app.bot_token not in caplog.text


async def test_each_sign_of_life_is_passed_on(slack: FakeSlack, ear: Ear) -> None:
    before = ear.signs
    ada = slack.user("Ada")
    await ada.says(slack.channel("roof", members=[ada]), "hello")
    await slack.wait_until_delivered()
    assert ear.signs > before


async def test_at_the_beginning_nothing_is_believed_until_what_was_missed_is_known(slack: FakeSlack) -> None:
    async with running(slack) as ear:
        await slack.wait_until_quiet(0.1)
        assert ear.doubts
        assert ear.caught_up == 1
