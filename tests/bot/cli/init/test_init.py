"""`threadlore init`: from nothing to a settings file, in a terminal, in a pipe and by options."""

from __future__ import annotations

import asyncio
import logging
import os
import pty
import re
import select
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
import structlog
from rich.console import Console
from typer.testing import CliRunner, Result

from bot.__main__ import app
from bot.cli.init import ending, platforms
from bot.cli.init.conversation import Conversation, Given, NoReader
from bot.errors import BadSetting
from bot.plugins import SetupStep
from bot.settings import Settings, read_variables
from bot.setup import models, weights
from bot.setup.models import find_model_problem, fits_model
from bot.setup.platforms import load_setups
from engine.errors import EngineError
from tests.support.discord_server.server import FakeDiscord
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE
from tests.support.slack_server import FakeSlack
from tests.support.source_trees import ROOT

APP_TOKEN = "xapp-1-A0123456789-1234567890123-0123456789abcdef"
BOT_TOKEN = "xoxb-1000-2000-threadlore"
WRONG_TOKEN = "xoxb-1000-2000-revokedlongago"
SLACK = {"THREADLORE_SLACK_APP_TOKEN": APP_TOKEN, "THREADLORE_SLACK_BOT_TOKEN": BOT_TOKEN}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that does not exist yet; the weights are taken for installed, and no process tells prices."""

    async def know_no_price(*_: object) -> None:
        """As `estimate_month`, which loads LiteLLM in another process: four seconds."""

    monkeypatch.setenv("THREADLORE_DATA_DIR", str(tmp_path / "home"))
    monkeypatch.setattr(models, "estimate_month", know_no_price)
    monkeypatch.setattr(weights, "is_installed", lambda _: True)
    return tmp_path / "home"


def init(*words: str, stdin: Sequence[str] = (), **environment: str) -> Result:
    lines = "".join(f"{text}\n" for text in stdin)
    return CliRunner().invoke(app, ["init", *words], input=lines, env={"COLUMNS": "200", **environment})


def written(home: Path) -> bool:
    return (home / ".env").exists()


def test_lines_of_a_pipe_answer_the_questions_in_their_order(home: Path) -> None:
    shown = init("--no-check", stdin=["1", "", APP_TOKEN, BOT_TOKEN, "none"])
    assert shown.exit_code == 0, shown.output
    assert "https://api.slack.com/apps?new_app=1&manifest_json=%7B" in shown.stdout
    assert "agent_view" not in shown.stdout  # the app for every plan
    assert "threadlore serve\n" in shown.stdout
    assert "@threadlore What was decided lately?" in shown.stdout
    assert APP_TOKEN not in shown.stdout + shown.stderr
    assert read_variables(home / ".env") == SLACK
    assert [oct(each.stat().st_mode & 0o777) for each in (home, home / ".env")] == ["0o700", "0o600"]


@pytest.mark.long
def test_nothing_is_written_at_the_end_of_input_and_what_is_missing_is_listed(home: Path) -> None:
    shown = init("--no-check", stdin=["slack, discord", "agent", APP_TOKEN])
    assert (shown.exit_code, home.exists()) == (1, False)
    assert "Nothing was written. Missing:" in shown.stderr
    assert re.findall(r"THREADLORE_\w+ \(or --[\w-]+\)", shown.stderr) == [
        "THREADLORE_SLACK_BOT_TOKEN (or --slack-bot-token-file)",
        "THREADLORE_DISCORD_BOT_TOKEN (or --discord-bot-token-file)",
    ]
    assert "--slack, --discord, --local" in init(stdin=[]).stderr


@pytest.mark.long
def test_a_script_gives_everything_by_files_and_variables(home: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{APP_TOKEN}\n")
    (tmp_path / "secret").chmod(0o600)
    words = ("--no-input", "--no-check", "--slack", "--slack-app-token-file", str(tmp_path / "secret"))
    shown = init(*words, THREADLORE_SLACK_BOT_TOKEN=BOT_TOKEN)
    assert (shown.exit_code, read_variables(home / ".env")) == (0, SLACK), shown.output
    assert "Enter" not in shown.stdout
    lost = init("--slack", "--slack-app-token-file", str(tmp_path / "absent"))
    assert (lost.exit_code, "cannot be read" in lost.stderr) == (1, True)


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_others_can_read_is_refused_with_the_command_that_mends_it(
    home: Path, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "secret").write_text(APP_TOKEN)
    (tmp_path / "secret").chmod(mode)
    shown = init("--no-input", "--no-check", "--slack", "--slack-app-token-file", str(tmp_path / "secret"))
    assert (shown.exit_code, home.exists()) == (1, False)
    assert f"Others can read {tmp_path / 'secret'}." in shown.stderr
    assert f"chmod 600 {tmp_path / 'secret'}" in shown.stderr


def test_secrets_on_the_command_line_are_said_to_be_seen_by_others(home: Path) -> None:
    helped = " ".join(init("--help").stdout.replace("│", " ").split())
    assert helped.count("Others on this computer can see it") == helped.count("from a file that only you can read") > 2


def test_swapped_tokens_of_a_script_are_refused_in_one_sentence(home: Path) -> None:
    shown = init("--slack", "--slack-app-token", BOT_TOKEN, "--slack-bot-token", APP_TOKEN)
    assert (shown.exit_code, home.exists()) == (1, False)
    assert (
        "THREADLORE_SLACK_APP_TOKEN: This is the bot token (xoxb-) of Slack, not the app-level token." in shown.stderr
    )
    assert BOT_TOKEN not in shown.output


@pytest.mark.long
def test_enter_keeps_what_is_there_and_other_lines_stay(home: Path) -> None:
    home.mkdir(mode=0o700)
    lines = ["# Mine.", "OTHER=1", *(f"{name}={value}" for name, value in SLACK.items()), ""]
    (home / ".env").write_text("\n".join(lines))
    shown = init("--no-check", stdin=["", "", "", "ollama_chat/qwen3"])
    assert shown.exit_code == 0, shown.output
    assert "Enter keeps xapp-…cdef." in shown.stdout
    assert "Which app?" not in shown.stdout
    assert (home / ".env").read_text() == "\n".join(lines) + "THREADLORE_LLM_MODEL=ollama_chat/qwen3\n"
    (home / ".env").chmod(0o644)
    again = init("--no-check", stdin=["", "", "", ""])
    assert f"Nothing changed in {home / '.env'}." in again.stdout
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    init("--no-check", "--slack", "--llm-model", "none", "--no-input")
    assert "THREADLORE_LLM_MODEL" not in read_variables(home / ".env")


OPENAI_KEY, ANTHROPIC_KEY = "sk-proj-0123456789abcdef", "sk-ant-api03-0123456789abcdef"


def begin_with(home: Path, **variables: str) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / ".env").write_text("".join(f"THREADLORE_{name}={value}\n" for name, value in variables.items()))


@pytest.mark.parametrize("words", [(), ("--no-input", "--llm-model", "anthropic/claude-haiku-4-5")])
def test_a_key_of_another_provider_goes_with_its_model(home: Path, words: Sequence[str]) -> None:
    begin_with(home, LLM_MODEL="openai/gpt-4o-mini", LLM_API_KEY=OPENAI_KEY)
    stdin = () if words else ("anthropic/claude-haiku-4-5", "")
    shown = init("--local", "--no-check", *words, stdin=stdin)
    assert shown.exit_code == 0, shown.output
    assert "The present key is of openai, not of anthropic: it is removed." in shown.stdout
    assert ("Enter: it is in the environment." in shown.stdout) == (not words)
    assert "Enter keeps sk-" not in shown.stdout
    assert read_variables(home / ".env") == {"THREADLORE_LLM_MODEL": "anthropic/claude-haiku-4-5"}


def test_a_key_that_fits_is_kept_and_the_environment_is_not_mentioned(home: Path) -> None:
    begin_with(home, LLM_MODEL="openai/gpt-4o-mini", LLM_API_KEY=OPENAI_KEY)
    shown = init("--local", "--no-check", stdin=("openai/gpt-4o", ""))
    assert "Enter keeps sk-…cdef." in shown.stdout
    assert "environment" not in shown.stdout
    assert read_variables(home / ".env")["THREADLORE_LLM_API_KEY"] == OPENAI_KEY


@pytest.mark.parametrize(
    ("key", "name", "former", "fits"),
    [
        (OPENAI_KEY, "openai/gpt-4o", "openai/gpt-4o-mini", True),
        (OPENAI_KEY, "anthropic/claude-haiku-4-5", "openai/gpt-4o-mini", False),
        (OPENAI_KEY, "mistral/mistral-small-latest", "openai/gpt-4o-mini", False),
        ("0123456789abcdef", "mistral/mistral-small-latest", "openai/gpt-4o-mini", False),
        ("0123456789abcdef", "mistral/mistral-small-latest", "mistral/mistral-large-latest", True),
        ("0123456789abcdef", "mistral/mistral-small-latest", "", True),
        (ANTHROPIC_KEY, "openai/gpt-4o", "", False),
        (ANTHROPIC_KEY, "anthropic/claude-haiku-4-5", "openai/gpt-4o-mini", True),
    ],
)
def test_a_present_key_fits_the_provider_that_it_was_for(key: str, name: str, former: str, *, fits: bool) -> None:
    assert fits_model(key, name, former) == fits


def test_this_computer_alone_needs_no_file(home: Path) -> None:
    shown = init("--local", "--no-input")
    assert (shown.exit_code, home.exists()) == (0, False)
    assert "threadlore serve --web" in shown.stdout
    assert "threadlore ingest notes/" in shown.stdout


def test_a_named_file_is_written_and_is_in_the_command_that_starts(home: Path, tmp_path: Path) -> None:
    file, model = tmp_path / "own.env", "ollama_chat/qwen3"
    words = ["--env-file", str(file), "init", "--local", "--llm-model", model, "--no-check", "--no-input"]
    shown = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (shown.exit_code, home.exists()) == (0, False)
    assert read_variables(file) == {"THREADLORE_LLM_MODEL": model}
    assert f"threadlore --env-file {file} serve --web" in shown.stdout


@pytest.mark.long
def test_a_variable_of_the_environment_that_goes_before_the_file_is_named(home: Path) -> None:
    words = ("--slack", "--slack-bot-token", BOT_TOKEN, "--no-check", "--no-input")
    shown = init(*words, THREADLORE_SLACK_APP_TOKEN=APP_TOKEN, THREADLORE_SLACK_BOT_TOKEN=WRONG_TOKEN)
    assert (shown.exit_code, read_variables(home / ".env")) == (0, SLACK)
    assert "! THREADLORE_SLACK_BOT_TOKEN in the environment goes before the file" in shown.stdout


def test_missing_weights_are_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "is_installed", lambda _: False)
    assert home.name
    assert "threadlore setup" in init("--local", "--no-input").stdout


def test_weights_that_cannot_be_installed_end_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise EngineError("The weights could not be installed.", hint="Install them manually.")

    monkeypatch.setattr(weights, "is_installed", lambda _: False)
    monkeypatch.setattr(weights, "install_weights", fail)
    shown = init("--local", "--no-input", "--yes")
    assert (shown.exit_code, home.name) == (0, "home")
    assert "✗ The weights could not be installed." in shown.stdout
    assert "Install them manually. Or try again before the first start: threadlore setup" in shown.stdout
    assert "threadlore serve --web" in shown.stdout


class Typist:
    """Answers as a person in a terminal does, then ends the input."""

    asks = is_terminal = True

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)

    def read(self, *, hidden: bool) -> str:
        """The next answer. Raises EOFError after the last one."""
        if not self.answers:
            raise EOFError
        return self.answers.pop(0)


def converse(tmp_path: Path, *answers: str) -> tuple[Conversation, StringIO]:
    shown = StringIO()
    out = Console(file=shown, width=400)
    return Conversation(tmp_path / ".env", Settings(), {}, given=Given(), reader=Typist(*answers), out=out), shown


def test_the_end_of_input_is_no_agreement(tmp_path: Path) -> None:
    assert [converse(tmp_path, *each)[0].agree("Well?") for each in ((), ("",), ("y",), ("n",))] == [
        False,
        True,
        True,
        False,
    ]


def test_a_question_is_not_repeated_below_itself_and_a_secret_never_shown(tmp_path: Path) -> None:
    talk, shown = converse(tmp_path, WRONG_TOKEN, "gpt 4o", "own/model", WRONG_TOKEN, APP_TOKEN, "local")
    assert talk.ask_plain("llm_model", "Well?", find_model_problem) == "own/model"
    assert platforms.choose_platforms(talk, load_setups()) == []
    text = shown.getvalue()
    assert (text.count("Well?"), text.count("What shall be connected?")) == (1, 1)
    assert "revoked" not in text
    assert APP_TOKEN[:20] not in text


@pytest.mark.parametrize("opens", [True, False])
def test_a_long_address_is_shown_only_if_no_browser_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, opens: bool
) -> None:
    monkeypatch.setattr(platforms, "_open_page", lambda _: opens)
    talk, shown = converse(tmp_path)
    link = f"https://pages.example/{'a' * 400}"
    platforms.show_steps(talk, [SetupStep("Open it.", link), SetupStep("Go on.", f"{link}b")], opens=True)
    assert (f"{link}\n" in shown.getvalue()) != opens
    assert f"{link}b" in shown.getvalue()
    assert ("BROWSER=none threadlore init" in shown.getvalue()) == opens


def test_what_was_refused_is_not_told_again_to_whom_read_it(tmp_path: Path) -> None:
    for answers in (("",), ()):
        talk, shown = converse(tmp_path, *answers)
        talk.mistakes.append("The key is missing.")
        with pytest.raises(BadSetting, match=r"^Nothing was written\.$"):
            ending.refuse_mistakes(talk)
        assert "The key is missing." not in shown.getvalue()
    talk, _ = converse(tmp_path, "y")
    talk.mistakes.append("The key is missing.")
    ending.refuse_mistakes(talk)


def test_what_was_refused_is_told_once_to_a_script(tmp_path: Path) -> None:
    talk, _ = converse(tmp_path)
    talk.reader = NoReader()
    talk.mistakes += ["The key is missing."] * 3
    with pytest.raises(BadSetting, match=r"^The key is missing\.\nNothing was written\.$") as error:
        ending.refuse_mistakes(talk)
    assert error.value.hint == "Correct them, or give --no-check to write them unchecked."


def test_the_lines_of_a_log_are_not_in_the_conversation(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / ".env").write_text("THREADLORE_SPACE=a:b\nnothing here\n")
    shown = init("--local", "--no-input", "--no-check", "--llm-model", "ollama_chat/qwen3")
    assert shown.stderr.count("not read") == 1
    assert "dotenv" not in shown.output
    structlog.get_logger("any").info("anything")
    assert structlog.get_config()["wrapper_class"] is structlog.make_filtering_bound_logger(logging.CRITICAL)


@pytest.mark.long
async def test_the_platforms_are_asked_and_what_they_refuse_is_not_written(home: Path) -> None:
    async with FakeSlack() as slack, FakeDiscord(privileged=["members"]) as discord:
        bases = {"THREADLORE_SLACK_API_BASE": slack.base_url, "THREADLORE_DISCORD_API_BASE": discord.api}
        words = ["--slack", "--no-input", "--slack-app-token", APP_TOKEN, "--slack-bot-token"]
        refused = await asyncio.to_thread(init, *words, WRONG_TOKEN, **bases)
        assert (refused.exit_code, written(home)) == (1, False)
        assert "Slack does not accept THREADLORE_SLACK_BOT_TOKEN: it is no valid token" in refused.stderr
        words += [BOT_TOKEN, "--discord", "--discord-bot-token", discord.token]
        half = await asyncio.to_thread(init, *words, **bases)
        assert (half.exit_code, written(home)) == (1, False)
        assert "✓ Slack knows the bot as @" in half.stdout
        assert "Message Content Intent" in half.stderr
    async with FakeDiscord() as discord:
        bases = {"THREADLORE_SLACK_API_BASE": "http://127.0.0.1:9/", "THREADLORE_DISCORD_API_BASE": discord.api}
        shown = await asyncio.to_thread(init, *words, **bases, THREADLORE_DISCORD_BOT_TOKEN=discord.token)
    assert shown.exit_code == 0, shown.output
    assert "? Slack could not be reached" in shown.stdout
    assert "✓ Discord knows the bot as" in shown.stdout
    assert len(read_variables(home / ".env")) == 3


@pytest.mark.long
async def test_a_model_is_priced_and_checked(home: Path) -> None:
    async with OpenAIServer() as server:
        words = (
            "--local",
            "--no-input",
            "--llm-model",
            "openai/gpt-4o-mini",
            "--llm-api-key",
            "sk-proj-0123456789abcdef",
        )
        shown = await asyncio.to_thread(init, *words, "--llm-api-base", server.api_base)
    assert shown.exit_code == 0, shown.output
    assert re.search(r"About \$\d+\.\d\d a month for 500 messages", shown.stdout)
    assert "✓  answers" in shown.stdout
    assert read_variables(home / ".env")["THREADLORE_LLM_MODEL"] == "openai/gpt-4o-mini"


def talk(home: Path, answers: Sequence[str]) -> tuple[int, str]:
    """Type answers in a terminal of forty columns, each once it is asked for; returns the exit code and the screen."""
    child, terminal = pty.fork()
    if not child:
        settings = {"THREADLORE_DATA_DIR": str(home), "COLUMNS": "40", "BROWSER": "true", "PYTHONPATH": str(ROOT)}
        os.execve(sys.executable, [sys.executable, "-m", "bot", "init", "--no-check"], {**os.environ, **settings})
    shown, waiting = "", list(answers)
    while select.select([terminal], [], [], PATIENCE)[0]:
        try:
            piece = os.read(terminal, 4096).decode(errors="replace")
        except OSError:
            break
        shown += piece
        if shown.endswith("> ") and waiting:
            os.write(terminal, waiting.pop(0).encode())
            shown += "\n"
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


@pytest.mark.long
def test_a_person_is_asked_again_and_a_token_in_the_wrong_place_is_kept_in_its_own(tmp_path: Path) -> None:
    tokens = [f"{BOT_TOKEN}\n", "xoxp-1000-2000-person\n", f'"{APP_TOKEN}"\n']
    answers = ["nine\n", "1\n", "2\n", *tokens, "none\n", "\n", "n\n"]
    code, shown = talk(tmp_path / "home", answers)
    assert code == 0, shown
    text = " ".join(shown.split())
    assert "“nine” is none of 1 to 3" in text
    assert "agent_view" in text
    assert "This is the bot token: kept as that. Now the app-level token:" in text
    assert "This is the user token (xoxp-)" in text
    assert BOT_TOKEN not in shown
    written = dict(read_variables(tmp_path / "home" / ".env"))
    assert written.pop("THREADLORE_LANGUAGES")  # what is proposed depends on the language of the machine
    assert written == SLACK
    lines = [line for line in shown.splitlines() if "://" not in line and "/.env" not in line]
    assert max(map(len, lines)) <= 40


@pytest.mark.long
def test_the_end_of_input_in_a_terminal_writes_nothing(tmp_path: Path) -> None:
    code, shown = talk(tmp_path / "home", ["slack\n", "\n", "\x04"])
    assert (code, (tmp_path / "home").exists()) == (1, False)
    assert "Missing:" in shown


@pytest.mark.long
async def test_from_nothing_to_an_answer_in_a_workspace(tmp_path: Path) -> None:
    async with FakeSlack() as slack:
        settings = {**os.environ, "THREADLORE_DATA_DIR": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "bot", "init", "--start"]
        answers = ["slack", "free", slack.space.app.app_token, slack.space.app.bot_token, "none", ""]
        process = await asyncio.create_subprocess_exec(
            *command,
            env={**settings, "THREADLORE_SLACK_API_BASE": slack.base_url},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert process.stdin is not None
        process.stdin.write("".join(f"{answer}\n" for answer in answers).encode())
        process.stdin.close()
        await slack.wait_until_connected(timeout=6 * PATIENCE)
        ada = slack.user("Ada")
        room = slack.channel("roof", members=[ada])
        asked = await ada.mentions(room, "When does the ferry leave?")
        await slack.wait_for(lambda: slack.replies(ada, room, asked.ts), timeout=6 * PATIENCE)
        process.terminate()
        assert await process.wait() == 0
