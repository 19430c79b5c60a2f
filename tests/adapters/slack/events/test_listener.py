from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.slack import run
from bot.errors import SetupError
from bot.platform.events import (
    BotAdded,
    ButtonPressed,
    ChannelRemoved,
    CommandInvoked,
    FormSubmitted,
    MessageEdited,
    MessageReceived,
    QuestionAsked,
    VisibilityChanged,
    WorkspaceLeft,
)
from bot.platform.forms import Form, FormField
from bot.platform.models import Button, Card, Location
from tests.adapters.recording_bot import RecordingBot
from tests.adapters.slack.scene import Scene, locate, settings_for
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack, Fault, File, Person, Room, Timing


@asynccontextmanager
async def running(slack: FakeSlack) -> AsyncIterator[RecordingBot]:
    bot, stop = RecordingBot(slack.clock), asyncio.Event()
    work = asyncio.create_task(run(bot, settings_for(slack), stop))  # type: ignore[arg-type]
    await slack.wait_until_connected()
    try:
        yield bot
    finally:
        stop.set()
        await asyncio.wait_for(work, PATIENCE)


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[RecordingBot]:
    async with running(slack) as opened:
        yield opened


async def test_a_mention_is_received_once_though_slack_sends_it_twice_and_again(
    slack: FakeSlack, bot: RecordingBot, ada: Person, roof: Room
) -> None:
    before = bot.active
    sent = await ada.mentions(roof, "why is it wet?", files=[File("a.txt", b"x")])
    await slack.wait_until_delivered()
    slack.redelivers()
    await slack.wait_until_delivered()
    assert len(slack.socket.deliveries) == 3
    (event,) = bot.events
    assert isinstance(event, MessageReceived)
    assert (event.addressed, event.message.location, len(event.message.uploads)) == (True, locate(roof), 1)
    assert event.message.id == sent.ts
    assert event.message.text.endswith("> why is it wet?")
    assert bot.active > before


async def test_an_event_that_was_not_stored_is_not_acknowledged_and_comes_again() -> None:
    async with FakeSlack(timing=Timing(ack=0.3)) as slack, running(slack) as bot:
        bot.failures = 1
        ada = slack.user("Ada")
        await ada.says(slack.channel("roof", members=[ada]), "hello")
        await slack.wait_for(lambda: bot.events)
        await slack.wait_until_delivered()
        assert slack.socket.deliveries[0].attempts == 2


async def test_edits_changes_of_channels_and_the_end_are_received(
    slack: FakeSlack, bot: RecordingBot, ada: Person, roof: Room
) -> None:
    await ada.edits(await ada.says(roof, "hello"), "hallo")
    await slack.converts(roof, ada)
    await slack.shares(roof, slack.stranger("Eve"))
    await ada.removes(roof, slack.bot)
    await ada.invites(roof, slack.bot)
    await slack.wait_until_delivered()
    kinds = {type(event) for event in bot.events}
    assert kinds >= {MessageReceived, MessageEdited, VisibilityChanged, ChannelRemoved, BotAdded}
    assert any(isinstance(event, BotAdded) for event in bot.events)
    await slack.uninstalls()
    await slack.wait_for(lambda: any(isinstance(event, WorkspaceLeft) for event in bot.events))


async def test_only_a_change_of_access_is_a_change_of_visibility(
    slack: FakeSlack, bot: RecordingBot, ada: Person
) -> None:
    await bot.platforms[0].fetch_person(slack.space.team, ada.id)
    await ada.renames_self("Ada L.")
    await slack.wait_until_delivered()
    assert bot.events == []
    await ada.becomes("guest")
    await slack.wait_until_delivered()
    assert bot.events == [VisibilityChanged(Location("slack", slack.space.team, ""), members_only=True)]
    assert (await bot.platforms[0].fetch_person(slack.space.team, ada.id)).is_guest


async def test_commands_are_acknowledged_without_a_reply(
    slack: FakeSlack, bot: RecordingBot, ada: Person, roof: Room
) -> None:
    for text in ("ask why is it wet?", "forget the minutes"):
        delivery = await ada.slash(roof, text)
        assert (delivery.lost, delivery.reply) == ("", None)
    question, command = bot.events
    assert isinstance(question, QuestionAsked)
    assert question.text == "why is it wet?"
    assert question.handle.startswith(slack.url)
    assert isinstance(command, CommandInvoked)
    assert (command.command, command.words) == ("forget", "the minutes")


async def test_pressed_buttons_are_received(slack: FakeSlack, bot: RecordingBot, ada: Person, roof: Room) -> None:
    buttons = (Button("Forget", "forget", "doc 7"), Button("👍", "up", "a"), Button("👎", "down", "a"))
    await bot.platforms[0].post(locate(roof), Card("Shall I?", buttons=buttons))
    await ada.opens_app("home")
    await slack.wait_for(lambda: "Forget me" in ada.home_tab())
    assert f"Hello slack {slack.space.team} {ada.id}" in ada.home_tab().replace("*", "")
    (entry,) = slack.sees(ada, roof).entries
    await ada.clicks(entry, "Forget")
    await ada.clicks(entry, "👎")
    await ada.clicks_home_tab("Forget me")
    pressed = [(event.action, event.value, event.person) for event in bot.events if isinstance(event, ButtonPressed)]
    assert pressed == [("forget", "doc 7", ada.id), ("down", "a", ada.id), ("forget-me", ada.id, ada.id)]


@pytest.mark.parametrize("refused", [False, True])
async def test_a_vote_is_received_before_its_form_and_confirmed_if_that_does_not_open(
    slack: FakeSlack, bot: RecordingBot, ada: Person, roof: Room, *, refused: bool
) -> None:
    bot.form = Form("reason", "Why?", (FormField("comment", "Comment"),), "a", handles_event=True)
    await bot.platforms[0].post(locate(roof), Card("So it is.", buttons=(Button("👎", "down", "a"),)))
    if refused:
        slack.fail_next("views.open", Fault("error", "expired_trigger_id"), 1)
    (entry,) = slack.sees(ada, roof).entries
    await ada.clicks(entry, "👎")
    votes = [event.opens_form for event in bot.events if isinstance(event, ButtonPressed)]
    assert votes == ([True, False] if refused else [True])
    assert bool(ada.modal) is not refused


async def test_a_form_in_place_of_a_command_stays_open_until_its_fields_are_right(
    bot: RecordingBot, ada: Person, roof: Room
) -> None:
    bot.form = Form("settings", "Settings", (FormField("style", "Style"),))
    bot.form_errors = {"style": "Too long."}
    await ada.slash(roof, "settings")
    assert await ada.submits({"style": "x"}) == {"style": "Too long."}
    assert bot.events == []
    bot.form_errors = {}
    assert await ada.submits({"style": "x"}) == {}
    [event] = bot.events
    assert isinstance(event, FormSubmitted)
    assert (event.person, event.location, event.answers) == (ada.id, locate(roof), (("style", "x"),))


async def test_the_agent_pane_gets_suggested_prompts(slack: FakeSlack, bot: RecordingBot, ada: Person) -> None:
    await ada.opens_app("messages")
    await slack.wait_for(lambda: slack.sees(ada, ada.direct).prompts)
    assert len(slack.sees(ada, ada.direct).prompts) == 4
    assert not bot.events


async def test_an_empty_token_is_refused_at_once(slack: FakeSlack) -> None:
    for token in ("slack_bot_token", "slack_app_token"):
        with pytest.raises(SetupError, match=token.upper()):
            await run(RecordingBot(slack.clock), settings_for(slack, **{token: ""}), asyncio.Event())  # type: ignore[arg-type]


async def test_no_text_and_no_token_is_logged(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with running(scene.slack):
        await scene.ada.says(scene.roof, "the code is 4711")
        await scene.slack.wait_until_delivered()
    assert "4711" not in caplog.text
    assert scene.slack.space.app.bot_token not in caplog.text


async def test_the_platform_is_attached_first_and_visibility_suspended_until_the_downtime_is_known(
    slack: FakeSlack, bot: RecordingBot
) -> None:
    assert [platform.name for platform in bot.platforms] == ["slack"]
    await slack.wait_until_quiet(0.1)
    assert bot.suspended
    assert bot.reconciled == 1
