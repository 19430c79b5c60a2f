from __future__ import annotations

import asyncio
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord.settings import DiscordSettings
from adapters.slack.settings import SlackSettings
from bot.errors import BadSetting
from bot.server import configured_platforms, serve
from bot.settings import Settings, list_unknown_variables, load_settings

EXAMPLE = Path(__file__).parents[2] / ".env.example"
LINE = re.compile(r"THREADLORE_([A-Z_]+)=(.*)")


def examples() -> dict[str, str]:
    found = [LINE.fullmatch(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    return {match[1].lower(): match[2] for match in found if match}


def test_every_setting_is_explained_by_a_sentence_above_it() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    for above, line in pairwise(lines):
        if LINE.fullmatch(line):
            assert re.fullmatch(r"# [A-Z].{20,}[.…]", above), line


def test_the_example_names_exactly_the_settings_that_there_are() -> None:
    adapters = [f"{each.prefix}{name}" for each in (SlackSettings, DiscordSettings) for name in each.model_fields]
    own = list(Settings.model_fields)
    at = own.index("adapter_settings")
    assert list(examples()) == [*own[:at], *adapters, *own[at + 1 :]]


def test_the_example_shows_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THREADLORE_DATA_DIR")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    shown = load_settings(tmp_path / ".env")
    assert shown.model_copy(update={"adapter_settings": {}}) == load_settings()
    assert SlackSettings.load(shown) == SlackSettings()
    assert DiscordSettings.load(shown) == DiscordSettings()


def test_a_variable_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_MODEL", "openai/gpt-4o-mini")
    monkeypatch.setenv("THREADLORE_LLM_API_KEY", "top-secret")
    settings = load_settings()
    assert settings.llm_model == "openai/gpt-4o-mini"
    assert settings.llm_api_key.get_secret_value() == "top-secret"
    assert "top-secret" not in repr(settings)


def test_what_is_given_has_the_first_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THREADLORE_SPACE", "elsewhere")
    assert load_settings(space="here").space == "here"
    assert load_settings(data_dir=tmp_path / "x").data_path == tmp_path / "x"


def test_an_empty_variable_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_EXTRACTION_GLEANING_PASSES", "")
    assert load_settings().extraction_gleaning_passes == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("THREADLORE_GRAPH_BACKEND", "neo4j"),
        ("THREADLORE_LLM_MAX_CONCURRENCY", "0"),
        ("THREADLORE_RETRIEVAL_MODE", "deep"),
    ],
)
def test_a_wrong_value_is_named_with_a_hint(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSetting, match=name) as caught:
        load_settings()
    assert ".env.example" in caught.value.hint


def test_a_wrong_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_TIMEOUT_SECONDS", "sk-top-secret")
    with pytest.raises(BadSetting) as caught:
        load_settings()
    assert "top-secret" not in str(caught.value)


@pytest.mark.parametrize("name", [name for name, field in Settings.model_fields.items() if "key" in name.split("_")])
def test_keys_are_secret(name: str) -> None:
    kept: Any = Settings.model_fields[name].annotation
    assert kept is SecretStr


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().llm_model = "other"


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """We stand in a folder of somebody else, with settings in it."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / ".env").write_text(
        "THREADLORE_LLM_API_BASE=https://elsewhere.example/\nOPENAI_API_BASE=https://else.example/\n"
    )
    monkeypatch.chdir(folder)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    return folder


def test_settings_of_the_current_folder_are_not_read(foreign: Path) -> None:
    assert load_settings().llm_api_base == ""
    assert "OPENAI_API_BASE" not in os.environ


def test_settings_of_the_data_folder_are_read_and_the_environment_goes_before_them(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / ".env").write_text(
        "THREADLORE_LLM_MODEL=a/b\nTHREADLORE_SPACE=file\nTHREADLORE_DATA_DIR=/elsewhere\nPROVIDERS_KEY=k\n"
    )
    monkeypatch.setenv("THREADLORE_SPACE", "environment")
    monkeypatch.setenv("PROVIDERS_KEY", "")
    monkeypatch.delenv("PROVIDERS_KEY")
    settings = load_settings()
    assert (settings.llm_model, settings.space, settings.data_path) == ("a/b", "environment", home)
    assert os.environ["PROVIDERS_KEY"] == "k"
    assert load_settings(data_dir=tmp_path / "other").llm_model == ""


def test_a_file_that_is_named_is_read_instead(foreign: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / ".env").write_text("THREADLORE_LLM_MODEL=a/b\n")
    settings = load_settings(foreign / ".env")
    assert (settings.llm_model, settings.llm_api_base) == ("", "https://elsewhere.example/")
    with pytest.raises(BadSetting, match="There is no file"):
        load_settings(tmp_path / "none")


@pytest.mark.parametrize("writable", ["home", "home/.env"])
def test_a_file_that_others_could_have_written_is_refused(tmp_path: Path, writable: str) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / ".env").write_text("THREADLORE_LLM_MODEL=a/b\n")
    (tmp_path / writable).chmod(0o777)
    with pytest.raises(BadSetting, match="Others can write"):
        load_settings()


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd").write_bytes(b"THREADLORE_LLM_MODEL=\xff\n")
    with pytest.raises(BadSetting, match="UTF-8"):
        load_settings(tmp_path / "odd")


def test_variables_that_are_no_settings_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_LLM_MODLE", "a/b")
    monkeypatch.setenv("threadlore_space", "a")
    (tmp_path / "file").write_text("THREADLORE_XYZZY=1\nTHREADLORE_ACME_TOKEN=1\nOTHER=2\n")
    assert list_unknown_variables(tmp_path / "file", tmp_path, lambda: ["acme"]) == [
        "There is no setting THREADLORE_LLM_MODLE; did you mean THREADLORE_LLM_MODEL?",
        "There is no setting THREADLORE_XYZZY.",
    ]
    monkeypatch.delenv("THREADLORE_LLM_MODLE")
    assert list_unknown_variables(None, tmp_path) == []


def test_settings_of_adapters_come_from_the_environment_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("THREADLORE_ACME_BOT_TOKEN=file\nTHREADLORE_ACME_URL=file\nACME_OTHER=1\n")
    monkeypatch.setenv("THREADLORE_ACME_BOT_TOKEN", "environment")
    settings = load_settings(tmp_path / "file")
    assert {name: value.get_secret_value() for name, value in settings.adapter_settings.items()} == {
        "acme_bot_token": "environment",
        "acme_url": "file",
    }
    assert "environment" not in repr(settings)
    assert configured_platforms(settings) == ()


@pytest.mark.parametrize(
    ("variables", "platforms"),
    [
        ({"slack_bot_token": "x", "discord_bot_token": "y"}, ("discord", "slack")),
        ({"slack_bot_token": "x", "discord_bot_token": "", "slack_api_base": "z"}, ("slack",)),
        ({"discord_api_base": "z"}, ()),
    ],
)
def test_platforms_with_a_token_are_served(variables: dict[str, str], platforms: tuple[str, ...]) -> None:
    own = {name: SecretStr(value) for name, value in variables.items()}
    assert configured_platforms(Settings(adapter_settings=own)) == platforms


def test_an_unknown_setting_of_an_adapter_is_logged() -> None:
    with capture_logs() as logs:
        SlackSettings.load(Settings(adapter_settings={"slack_bot_tokn": SecretStr("x")}))
    assert logs[0]["names"] == ["THREADLORE_SLACK_BOT_TOKN"]


async def test_without_a_token_the_variables_of_adapters_are_named() -> None:
    settings = Settings(adapter_settings={"slack_bot_tokn": SecretStr("x")})
    with pytest.raises(BadSetting, match="THREADLORE_SLACK_BOT_TOKN"):
        await serve(settings, asyncio.Event())
