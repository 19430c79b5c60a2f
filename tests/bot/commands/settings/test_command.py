from __future__ import annotations

from datetime import timedelta

import pytest

from bot.errors import NotAllowed, PermissionDenied
from bot.platform.models import Person
from bot.store import ChannelSettings
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF


async def stored(workspace: Workspace) -> ChannelSettings:
    return await workspace.context.get_channel_settings(ROOF.room)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("person", "line", "error", "words"),
    [
        *(
            ("bob", line, NotAllowed, "Only managers")
            for line in ("settings", "settings reply-to all", "settings ingest off", "backfill 3")
        ),
        ("ada", "settings colour blue", InvalidQuestion, "no setting “colour”"),
        ("ada", "settings reply-to never", InvalidQuestion, "“never” is not a value"),
        ("ada", "settings mode", InvalidQuestion, "What should “mode” be"),
        ("ada", "settings ingest maybe", InvalidQuestion, "“maybe” is not a value"),
        ("ada", "settings model b/large", InvalidQuestion, "no models to choose from"),
        ("ada", "settings askers Bob", InvalidQuestion, "“Bob” is not a value"),
        ("ada", "settings askers <@robot>", InvalidQuestion, "is a bot"),
        ("ada", "settings askers <@&G9>", InvalidQuestion, "can't see who is in that group"),
        ("ada", "settings content words", InvalidQuestion, "“words” is not a value"),
        ("bob", "settings askers everyone", NotAllowed, "Only managers"),
        ("ada", f"settings style {'very ' * 60}", InvalidQuestion, "too long"),
        *(("ada", f"backfill {days}", InvalidQuestion, "not a number of days") for days in ("0", "many", "99999")),
    ],
)
async def test_a_refused_command_changes_nothing(
    workspace: Workspace, person: str, line: str, error: type[Exception], words: str
) -> None:
    workspace.platform.people["robot"] = Person("robot", "Robot", is_bot=True)
    with pytest.raises(error, match=words):
        await workspace.command(person, line)
    assert await stored(workspace) == ChannelSettings()


async def test_settings_are_shown_with_their_defaults(workspace: Workspace) -> None:
    text = await workspace.text("ada", "settings")
    for line in (
        "- `reply-to` is **thread** (by default): ",
        "- `language` is not set: ",
        "- `ingest` is **on** (by default): ",
        "- `links` is **off** (by default): ",
    ):
        assert line in text


async def test_each_setting_can_be_changed_and_reset(workspace: Workspace) -> None:
    for line in ("mode Hybrid", "style “short and friendly”", "language German", "reply-to ALL"):
        await workspace.command("ada", f"settings {line}")
    assert await stored(workspace) == ChannelSettings("hybrid", "short and friendly", "German", "all")
    for name in ("mode", "style", "language", "reply-to"):
        await workspace.command("ada", f"settings {name} default")
    assert await stored(workspace) == ChannelSettings()


async def test_a_model_is_chosen_from_those_that_the_bot_names(workspace: Workspace) -> None:
    with pytest.raises(InvalidQuestion, match="no models to choose from"):
        await workspace.command("ada", "settings model a/small")
    workspace.context = workspace.bot.with_settings(llm_model="a/default", answer_models="a/small, b/Large")
    assert "`model` is **a/default** (by default)" in await workspace.text("ada", "settings")
    assert "`model` is now **b/Large**" in await workspace.text("ada", "settings model B/large")
    assert (await stored(workspace)).model == "b/Large"
    with pytest.raises(InvalidQuestion, match="is not a value"):
        await workspace.command("ada", "settings model c/other")
    await workspace.command("ada", "settings model default")
    assert (await stored(workspace)).model == ""


async def test_people_who_may_ask_are_named_by_mentions(workspace: Workspace) -> None:
    workspace.platform.groups["G1"] = {"eve"}
    shown = await workspace.text("ada", "settings askers <@bob|bob> <!subteam^G1|@crew>")
    assert "`askers` is now **@Bob" in shown
    assert (await stored(workspace)).askers == "<@bob> <!subteam^G1>"
    for value, kept in (("members", "members"), ("everyone", "")):
        await workspace.command("ada", f"settings askers {value}")
        assert (await stored(workspace)).askers == kept


@pytest.mark.usefixtures("announced")
async def test_what_was_read_stays_until_a_manager_has_it_forgotten(workspace: Workspace) -> None:
    await workspace.post("bob", "Mina sells tickets.")
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.share("ada", "attic.pdf", "It is dry.", ATTIC)
    card = await workspace.command("ada", "settings content messages")
    assert "What I've already indexed stays" in card.text
    [offered] = card.buttons
    assert (offered.action, offered.value) == ("forget", "channel files")
    for words in (offered.value, f"{offered.value} now"):
        with pytest.raises(NotAllowed):
            await workspace.command("bob", f"forget {words}")
    confirm = await workspace.command("ada", f"forget {offered.value}")
    assert "1 file of this channel" in confirm.text
    assert "minutes.pdf" in await workspace.titles()
    [button] = confirm.buttons
    await workspace.command("ada", f"forget {button.value}")
    titles = await workspace.titles()
    assert len(titles) == 2
    assert "minutes.pdf" not in titles
    [offered] = (await workspace.command("ada", "settings ingest off")).buttons
    assert offered.value == "channel"
    await workspace.command("ada", "forget channel now")
    assert await workspace.titles() == {"attic.pdf"}
    assert (await workspace.command("ada", "forget channel")).text == "There is nothing to forget here."


async def test_a_direct_message_has_no_setting_for_indexing(workspace: Workspace) -> None:
    alone = workspace.platform.add_channel("ALONE", "bob", kind="direct")
    with pytest.raises(InvalidQuestion, match="not the messages"):
        await workspace.command("bob", "settings ingest on", alone)
    assert "ingest" not in await workspace.text("bob", "settings", alone)


async def test_a_channel_in_which_the_bot_may_not_post_is_not_indexed_yet(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    assert not (await stored(workspace)).ingest
    assert workspace.platform.posts == []
    with pytest.raises(InvalidQuestion, match="turned off"):
        await workspace.command("ada", "backfill 3")
    workspace.platform.failing["post"] = PermissionDenied("Not here.")
    assert "once I'm allowed to post here" in await workspace.text("ada", "settings ingest on")


async def test_a_channel_that_is_turned_on_is_told_what_is_read(workspace: Workspace) -> None:
    await workspace.command("ada", "settings ingest off")
    for shown in ("the last 90 days", "already"):
        assert shown in await workspace.text("ada", "settings ingest on")
    [(place, card)] = workspace.platform.posts
    assert place == ROOF
    assert "`/threadlore forget-me`" in card.text
    assert "`/threadlore settings ingest off`" in card.text
    await workspace.command("ada", "settings ingest off")
    assert "`/threadlore backfill` fetches" in await workspace.text("ada", "settings ingest on")


async def test_history_is_read_for_as_many_days_as_asked_for(workspace: Workspace) -> None:
    before = workspace.context.clock.now()
    assert "the last 30 days" in await workspace.text("ada", "backfill 30 days")
    horizon = await workspace.context.store.channels.get_horizon(ROOF.room)
    assert horizon is not None
    assert before <= horizon + timedelta(days=30) <= workspace.context.clock.now()
