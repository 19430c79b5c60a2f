from __future__ import annotations

import asyncio
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from adapters.discord.settings import DiscordSettings
from adapters.slack.settings import SlackSettings
from bot.errors import BadSetting
from bot.server import configured_platforms, serve
from bot.settings import Settings, list_unknown_variables, list_unread_lines, load_present_settings, load_settings
from engine.clock import SYSTEM_CLOCK
from engine.options import MIN_COPIES_BYTES, PROCESS_BYTES

EXAMPLE = Path(__file__).parents[2] / ".env.example"
LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
LINE = re.compile(r"THREADLORE_([A-Z_]+)=(.*)")
MISSPELT = {"slack_bot_tokn": SecretStr("x")}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data directory with settings."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    names = {"LLM_MODEL": "a/b", "SPACE": "file", "DATA_DIR": "/elsewhere"}
    lines = [*(f"THREADLORE_{name}={value}" for name, value in names.items()), "PROVIDERS_KEY=k"]
    (folder / ".env").write_text("\n".join(lines))
    return folder


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of somebody else, in the current folder."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    address = "https://elsewhere.example/"
    (folder / ".env").write_text(f"THREADLORE_LLM_API_BASE={address}\nOPENAI_API_BASE={address}\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    return folder / ".env"


def test_a_copy_of_the_example_leaves_open_whether_data_of_others_are_deleted() -> None:
    assert load_settings(EXAMPLE).delete_data_on_uninstall is None


def test_the_example_names_all_settings_in_order_each_below_a_sentence() -> None:
    adapters = [f"{each.prefix}{name}" for each in (SlackSettings, DiscordSettings) for name in each.model_fields]
    own = list(Settings.model_fields)
    at = own.index("adapter_settings")
    assert [match[1].lower() for line in LINES if (match := LINE.fullmatch(line))] == [
        *own[:at],
        *adapters,
        *own[at + 1 :],
    ]
    for above, line in pairwise(LINES):
        if LINE.fullmatch(line):
            assert re.fullmatch(r"# [A-Z].{20,}[.…]", above), line


def test_the_example_shows_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THREADLORE_DATA_DIR")
    shown = load_settings(EXAMPLE)
    assert shown.model_copy(update={"adapter_settings": {}}) == load_settings()
    assert (SlackSettings.load(shown), DiscordSettings.load(shown)) == (SlackSettings(), DiscordSettings())


def test_arguments_go_before_the_environment_and_empty_variables_are_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {"LLM_MODEL": "openai/m", "LLM_API_KEY": "top-secret", "SPACE": "elsewhere"}
    for name, value in {**names, "EXTRACTION_GLEANING": ""}.items():
        monkeypatch.setenv(f"THREADLORE_{name}", value)
    settings = load_settings(space="here", data_dir=tmp_path / "x")
    assert (settings.llm_model, settings.llm_api_key.get_secret_value()) == ("openai/m", "top-secret")
    assert (settings.space, settings.data_path) == ("here", tmp_path / "x")
    assert settings.extraction_gleaning == "auto"
    assert "top-secret" not in repr(settings)
    with pytest.raises(ValueError, match="frozen"):
        settings.llm_model = "other"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GRAPH_BACKEND", "neo4j"),
        ("LLM_MAX_CONCURRENCY", "0"),
        ("RETRIEVAL_MODE", "deep"),
        ("LLM_TIMEOUT_SECONDS", "sk-1"),
        ("LLM_TIMEOUT_SECONDS", "inf"),
        ("RETENTION_DAYS", "999999"),
        ("BACKFILL_DAYS", "999999"),
    ],
)
def test_a_wrong_value_is_named_with_a_hint_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"THREADLORE_{name}", value)
    with pytest.raises(BadSetting, match=f"THREADLORE_{name}") as caught:
        load_settings()
    assert ".env.example" in caught.value.hint
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name in Settings.model_fields if "key" in name.split("_") and not name.endswith("_file")]
)
def test_keys_are_secret(name: str) -> None:
    assert Settings.model_fields[name].annotation == SecretStr


def test_settings_of_the_current_folder_are_not_read_but_where_they_are_named(foreign: Path, home: Path) -> None:
    settings = load_settings()
    assert (settings.llm_model, settings.llm_api_base) == ("a/b", "")
    assert "OPENAI_API_BASE" not in os.environ
    settings = load_settings(foreign)
    assert (settings.llm_model, settings.llm_api_base) == ("", "https://elsewhere.example/")


def test_the_environment_goes_before_the_file_of_the_data_directory(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THREADLORE_SPACE", "environment")
    monkeypatch.setenv("PROVIDERS_KEY", "")
    monkeypatch.delenv("PROVIDERS_KEY")
    settings = load_settings()
    assert (settings.llm_model, settings.space, settings.data_path) == ("a/b", "environment", home)
    assert os.environ["PROVIDERS_KEY"] == "k"
    assert load_settings(data_dir=tmp_path / "other").llm_model == ""


@pytest.mark.parametrize("writable", ["home", "home/.env"])
def test_a_file_that_others_could_have_written_is_refused(home: Path, tmp_path: Path, writable: str) -> None:
    (tmp_path / writable).chmod(0o777)
    with pytest.raises(BadSetting, match="Others can write"):
        load_settings()


@pytest.mark.parametrize(("content", "words"), [(b"THREADLORE_LLM_MODEL=\xff\n", "UTF-8"), (None, "There is no file")])
def test_a_named_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content:
        (tmp_path / "odd").write_bytes(content)
    with pytest.raises(BadSetting, match=words):
        load_settings(tmp_path / "odd")


def test_a_folder_that_cannot_be_looked_at_is_named_with_a_hint(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 300)  # too long a name is refused to every user, as a locked folder is to others
    with pytest.raises(BadSetting, match="cannot be read") as error:
        load_settings(data_dir=folder)
    assert "--data-dir" in error.value.hint
    with pytest.raises(BadSetting, match="cannot be read"):
        load_present_settings(folder / ".env")


def test_lines_that_are_no_settings_are_named_once_and_not_repeated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "file"
    file.write_text("# Ours.\nA=1\n\nmy secret here\nTHREADLORE_SPACE='c:d'\nB='open\n")
    load_settings(file)
    assert caplog.text == ""
    [sentence] = list_unread_lines(file, tmp_path)
    assert sentence == f"Lines 4, 6 of {file} are not read: a line is NAME=value, or begins with #."
    assert list_unread_lines(None, tmp_path) == []


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


def test_a_setting_that_was_replaced_names_its_successor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THREADLORE_SEARCH_MEMORY_MB", "500")
    [sentence] = list_unknown_variables(None, tmp_path)
    assert sentence == (
        "THREADLORE_SEARCH_MEMORY_MB is not read any more: THREADLORE_MEMORY_MB bounds the whole main process,"
        f" so set it to {PROCESS_BYTES >> 20} more than this one, {(PROCESS_BYTES + MIN_COPIES_BYTES) >> 20} at least,"
        " or leave both out."
    )


def test_settings_of_adapters_come_from_the_environment_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("THREADLORE_ACME_BOT_TOKEN=file\nTHREADLORE_ACME_URL=file\nACME_OTHER=1\n")
    monkeypatch.setenv("THREADLORE_ACME_BOT_TOKEN", "environment")
    settings = load_settings(tmp_path / "file")
    found = {name: value.get_secret_value() for name, value in settings.adapter_settings.items()}
    assert found == {"acme_bot_token": "environment", "acme_url": "file"}
    assert "environment" not in repr(settings)
    assert configured_platforms(settings) == ()


@pytest.mark.parametrize(
    ("variables", "platforms"),
    [
        ({"slack_bot_token": "x", "discord_bot_token": "y"}, ("discord", "slack")),
        ({"slack_bot_token": "x", "discord_bot_token": "", "slack_api_base": "z"}, ("slack",)),
        ({"slack_client_id": "x"}, ("slack",)),
        ({"discord_api_base": "z"}, ()),
    ],
)
def test_platforms_with_a_token_or_a_client_id_are_served(
    variables: dict[str, str], platforms: tuple[str, ...]
) -> None:
    own = {name: SecretStr(value) for name, value in variables.items()}
    assert configured_platforms(Settings(adapter_settings=own)) == platforms


async def test_an_unknown_setting_of_an_adapter_is_logged_and_named_where_a_token_is_missing() -> None:
    settings = Settings(adapter_settings=MISSPELT)
    with capture_logs() as logs:
        SlackSettings.load(settings)
    assert logs[0]["names"] == ["THREADLORE_SLACK_BOT_TOKN"]
    with pytest.raises(BadSetting, match="THREADLORE_SLACK_BOT_TOKN"):
        await serve(settings, asyncio.Event(), SYSTEM_CLOCK)


def test_the_watchdog_ends_only_a_process_whose_work_others_can_take_over() -> None:
    assert Settings(database=SecretStr("postgresql://h/d")).active_watchdog_seconds == 120
    assert Settings().active_watchdog_seconds == 0
