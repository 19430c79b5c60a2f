"""The forms of a channel's settings: shown to managers, saved all at once, checked again when they are submitted."""

from __future__ import annotations

import pytest

from bot.commands.context import CommandContext
from bot.commands.forms import settings
from bot.errors import NotAllowed
from bot.platform.events import CommandInvoked
from bot.platform.forms import Form
from bot.platform.models import Location
from bot.store import ChannelSettings
from engine.errors import InvalidQuestion
from tests.bot.commands.conftest import NOW, Workspace
from tests.support.builders import ROOF


def call(workspace: Workspace, person: str, group: str, place: Location = ROOF) -> CommandContext:
    invoked = CommandInvoked("f1", place, person, "settings", group, handle="h", time=NOW)
    return CommandContext.of(workspace, invoked, NOW)  # type: ignore[arg-type]


async def build(workspace: Workspace, group: str, place: Location = ROOF) -> Form:
    form = await settings.build_form(call(workspace, "ada", group, place))
    assert form is not None
    return form


async def stored(workspace: Workspace) -> ChannelSettings:
    return await workspace.context.get_channel_settings(ROOF.room)


async def test_a_form_shows_the_present_values(workspace: Workspace) -> None:
    workspace.context = workspace.bot.with_settings(llm_model="a/default", answer_models="a/small, b/large")
    await workspace.bot.save_settings(ROOF, mode="naive", model="b/large", askers="<@bob>", content="files")
    answers, reading = await build(workspace, "answers"), await build(workspace, "reading")
    assert {field.name: field.value for field in answers.fields} == {
        "mode": "naive",
        "style": "",
        "language": "",
        "model": "b/large",
        "reply-to": "default",
        "suggestions": "default",
    }
    assert {field.name: field.value for field in reading.fields} == {
        "askers": "named",
        "ingest": "on",
        "content": "files",
        "bot-messages": "default",
        "links": "off",
    }
    shown = {field.name: [option.label for option in field.options] for field in (*answers.fields, *reading.fields)}
    assert shown["model"] == ["a/small", "b/large", "a/default (by default)"]
    assert shown["askers"] == ["everyone", "members", "managers", "@Bob"]
    assert [button.value for button in (await workspace.command("ada", "settings")).buttons] == ["answers", "reading"]


async def test_words_open_no_form_and_direct_messages_have_no_reading(workspace: Workspace) -> None:
    for words in ("", "reply-to all", "ingest"):
        assert await settings.build_form(call(workspace, "ada", words)) is None
    alone = workspace.platform.add_channel("ALONE", "bob", kind="direct")
    assert await settings.build_form(call(workspace, "bob", "reading", alone)) is None
    form = await settings.build_form(call(workspace, "bob", "answers", alone))
    assert form is not None
    assert "model" not in {field.name for field in form.fields}  # there is none to choose from


async def test_only_what_changed_is_saved_and_said(workspace: Workspace) -> None:
    await workspace.bot.save_settings(ROOF, style="short", askers="<@bob>")
    submitted = call(workspace, "ada", "answers")
    card = await settings.submit_form(
        submitted, {"mode": "hybrid", "style": " ", "language": "", "reply-to": "default"}
    )
    assert card.text.count("\n") == 1
    assert "`mode` is now **hybrid**" in card.text
    assert await stored(workspace) == ChannelSettings("hybrid", askers="<@bob>")
    unchanged = await settings.submit_form(submitted, {"askers": "named", "ingest": "on", "content": "all"})
    assert unchanged.text == settings.NOTHING_CHANGED
    card = await settings.submit_form(submitted, {"askers": "managers", "content": "messages"})
    assert [button.value for button in card.buttons] == ["channel files"]
    assert await stored(workspace) == ChannelSettings("hybrid", askers="managers", content="messages")


@pytest.mark.parametrize(
    ("person", "answers", "error"),
    [
        ("bob", {"askers": "everyone"}, NotAllowed),
        ("ada", {"mode": "hybrid", "content": "words"}, InvalidQuestion),
        ("ada", {"mode": "hybrid", "model": "c/forged"}, InvalidQuestion),
        ("ada", {"mode": "hybrid", "askers": "named"}, InvalidQuestion),
        ("ada", {"mode": "hybrid", "owner": "ada"}, InvalidQuestion),
        ("ada", {"mode": "hybrid", "ingest": ""}, InvalidQuestion),
    ],
)
async def test_a_forged_form_changes_nothing(
    workspace: Workspace, person: str, answers: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(NotAllowed):
        await settings.build_form(call(workspace, "bob", "reading"))
    with pytest.raises(error):
        await settings.submit_form(call(workspace, person, "reading"), answers)
    assert await stored(workspace) == ChannelSettings()


def test_texts_and_switches_are_checked_in_the_form() -> None:
    wrong = settings.find_errors({"style": "very " * 60, "links": "maybe", "mode": "rm", "language": "German"})
    assert wrong.keys() == {"style", "links"}


async def test_a_model_is_reset_also_when_there_is_none_to_choose_from(workspace: Workspace) -> None:
    await workspace.bot.save_settings(ROOF, model="c/removed")
    await settings.submit_form(call(workspace, "ada", "answers"), {"model": "default"})
    assert await stored(workspace) == ChannelSettings()
