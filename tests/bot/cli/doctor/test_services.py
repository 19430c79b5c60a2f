"""Checks of the running bot, the platforms and the models."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from bot.cli.doctor import services
from bot.cli.doctor.finding import CheckContext
from bot.rpc.monitored_session import open_monitored_session
from bot.rpc.socket import socket_path
from bot.settings import Settings, load_settings
from bot.setup import weights
from engine.clock import SYSTEM_CLOCK
from engine.llm.e5.spoken import SpokenLanguages, save_spoken
from engine.llm.minilm import weights as minilm_weights
from engine.llm.traits.model_check import ModelCheck, Problem
from tests.support.slack_server import FakeSlack


async def test_the_running_process_says_how_it_is_and_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK)
    assert "not running" in (await services.check_running(context)).text
    async with open_monitored_session(context.settings, SYSTEM_CLOCK):
        found = await services.check_running(context)
        assert (found.state, "0 events wait" in found.text) == ("ok", True)
        monkeypatch.setattr(services, "version", lambda _: "999.0")
        found = await services.check_running(context)
        assert (found.state, found.hint) == ("warning", "Restart it.")


async def test_a_process_that_holds_the_data_and_does_not_answer_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "ANSWER_SECONDS", 0.05)
    context = CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(socket_path(tmp_path)))
        silent.listen()
        found = await services.check_running(context)
    assert (found.state, found.text) == ("failed", "It holds the data, and does not answer within 0 seconds.")
    found = await services.check_running(context)  # what a process leaves that was killed
    assert (found.state, "not running" in found.text) == ("ok", True)


async def test_each_platform_is_asked_about_its_tokens(tmp_path: Path) -> None:
    async with FakeSlack() as slack:
        tokens = {"slack_app_token": "xapp-1-A0-1-threadlore", "slack_bot_token": "xoxb-1-2-revoked"}
        adapters = {**tokens, "slack_api_base": slack.base_url}
        context = CheckContext(load_settings(data_dir=tmp_path, adapter_settings=adapters), SYSTEM_CLOCK)
        found = await services.check_platforms(context)
    assert {platform.name for platform in found} == {"Slack"}
    assert found[0].state == "failed"
    nothing = await services.check_platforms(CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK))
    assert [platform.state for platform in nothing] == ["ok"]


async def test_a_token_in_the_place_of_another_one_is_sent_to_nobody(tmp_path: Path) -> None:
    async with FakeSlack() as slack:
        tokens = {"slack_app_token": slack.space.app.bot_token, "slack_bot_token": slack.space.app.app_token}
        adapters = {**tokens, "slack_api_base": slack.base_url}
        context = CheckContext(load_settings(data_dir=tmp_path, adapter_settings=adapters), SYSTEM_CLOCK)
        [found] = await services.check_platforms(context)
    assert (found.state, slack.calls) == ("failed", [])
    assert "are in each other's place: exchange their values." in found.text


async def test_missing_weights_and_a_model_without_a_server_are_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [fine] = await services.check_model_roles(CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK))
    assert fine.state == "ok"
    monkeypatch.setattr(minilm_weights, "WEIGHTS_PACKAGE", "weights_for_tests")
    [found] = await services.check_model_roles(CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK))
    assert (found.state, "threadlore setup" in found.hint) == ("failed", True)
    assert not weights.is_installed(weights.MINILM)


async def test_a_key_that_several_roles_lack_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def find(*_: object, **__: object) -> list[ModelCheck]:
        missing = Problem("No key is set.", "Set one.")
        return [ModelCheck(role, "openai/small", problems=(missing,)) for role in ("answers", "extraction")]

    monkeypatch.setattr(services, "check_models", find)
    found = await services.check_model_roles(CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK))
    assert [role.state for role in found] == ["failed", "failed"]
    assert [role.text for role in found] == [
        "openai/small: No key is set. Set one.",
        "openai/small: the same as for answers.",
    ]


async def test_a_parser_service_that_does_not_answer_is_named_with_the_files_that_go_there(tmp_path: Path) -> None:
    unset = await services.check_parser_service(CheckContext(Settings(data_dir=tmp_path), SYSTEM_CLOCK))
    assert (unset.state, "None is set" in unset.text) == ("ok", True)
    settings = Settings(data_dir=tmp_path, parser_service="docling", parser_service_url="http://127.0.0.1:9")
    found = await services.check_parser_service(CheckContext(settings, SYSTEM_CLOCK))
    assert found.state == "warning"
    assert "end in .pdf are sent to http://127.0.0.1:9 (docling), but it does not answer" in found.text


@pytest.mark.parametrize(
    ("url", "is_allowed"),
    [
        ("https://parse.example/api", True),
        ("http://localhost:5001", True),
        ("http://docling:5001/", True),
        ("http://10.2.3.4:5001", True),
        ("http://parse.example", False),
        ("http://10.2.3.4.parse.example", False),
        ("http://8.8.8.8:5001", False),
        ("http://localhost@parse.example", False),
    ],
)
def test_files_leave_the_private_network_encrypted_only(tmp_path: Path, url: str, *, is_allowed: bool) -> None:
    try:
        Settings(data_dir=tmp_path, parser_service_url=url)
    except ValueError:
        assert not is_allowed
    else:
        assert is_allowed


@pytest.mark.parametrize(
    ("languages", "state", "part"),
    [("", "warning", "English only"), ("de,en", "ok", "In force: de, en."), ("klingon", "failed", "cannot be")],
)
async def test_the_languages_in_force_are_compared_with_those_that_are_spoken(
    tmp_path: Path, languages: str, state: str, part: str
) -> None:
    save_spoken(tmp_path, SpokenLanguages(("de",), ("de",), {"de": 0.9, "en": 0.1}, 200))
    found = await services.check_languages(CheckContext(Settings(data_dir=tmp_path, languages=languages), SYSTEM_CLOCK))
    assert (found.state, part in found.text) == (state, True)
