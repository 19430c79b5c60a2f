"""Secrets of the settings that are in the place of others are named before a platform is sent them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import load_settings
from bot.setup.misplaced import list_misplaced

APP, BOT = "xapp-1-A0-1-threadlore", "xoxb-1-2-threadlore"
APP_NAME, BOT_NAME = "THREADLORE_SLACK_APP_TOKEN", "THREADLORE_SLACK_BOT_TOKEN"
PERSON = "It acts for a person; the bot has a token of its own."
HERE = "The bot token (xoxb-…) is here: Install App: install it, then copy the Bot User OAuth Token."


@pytest.mark.parametrize(
    ("app", "bot", "sentences"),
    [
        (APP, BOT, []),
        ("what no platform knows", "xoxb-short", []),
        ("", BOT, []),
        (
            BOT,
            APP,
            [f"{APP_NAME} and {BOT_NAME} are in each other's place: exchange their values."],
        ),
        (
            APP,
            "xoxp-1-2-person",
            [f"{BOT_NAME}: This is the user token (xoxp-) of Slack, not the bot token. {PERSON} {HERE}"],
        ),
        (
            APP,
            "sk-proj-0123456789abcdefghij",
            [f"{BOT_NAME}: This is an API key of a model (openai). {HERE}"],
        ),
    ],
)
def test_each_secret_in_a_wrong_place_has_the_sentence_that_mends_it(
    tmp_path: Path, app: str, bot: str, sentences: list[str]
) -> None:
    adapters = {"slack_app_token": app, "slack_bot_token": bot}
    assert list_misplaced("slack", load_settings(data_dir=tmp_path, adapter_settings=adapters)) == sentences


def test_the_token_of_another_platform_is_named_by_both(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, adapter_settings={"discord_bot_token": BOT})
    [sentence] = list_misplaced("discord", settings)
    assert "This is the bot token (xoxb-) of Slack, not the bot token of Discord." in sentence


def test_a_platform_without_a_setup_has_nothing_to_compare(tmp_path: Path) -> None:
    assert list_misplaced("console", load_settings(data_dir=tmp_path)) == []
