"""What somebody pastes in the place of a token is recognized at once, and the sentence says where the right one is."""

from __future__ import annotations

import pytest

from bot.plugins import Credential, load_setup
from bot.setup.models import find_address_problem, find_key_problem, find_model_problem
from bot.setup.pasted import clean_paste, find_mistake, find_setting, mask, mask_word

SLACK, DISCORD = load_setup("slack"), load_setup("discord")
APP, BOT, SECRET = SLACK.credentials
[DISCORD_TOKEN] = DISCORD.credentials
BOT_TOKEN = "xoxb-1029384756-5647382910-kKpzDwQmVtYbGhJnRsLxCfAe"
APP_TOKEN = "xapp-1-A0123456789-1234567890123-0123456789abcdef0123456789abcdef"
DISCORD_BOT_TOKEN = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.fGhIjKlMnOpQrStUvWxYz0123456789abcdefg"
HEX, ID = "0123456789abcdef" * 2, "123456789012345678"
OPENAI, ANTHROPIC = "sk-proj-0123456789abcdefghij", "sk-ant-api03-0123456789abcdefghij"


@pytest.mark.parametrize(
    ("pasted", "value"),
    [
        (f" {BOT_TOKEN}\t", BOT_TOKEN),
        (f'"{BOT_TOKEN}"', BOT_TOKEN),
        (f"“{BOT_TOKEN}”", BOT_TOKEN),
        (f"`{BOT_TOKEN}`,", BOT_TOKEN),
        (f"\ufeff{BOT_TOKEN}\u200b", BOT_TOKEN),
        (f"THREADLORE_SLACK_BOT_TOKEN={BOT_TOKEN}", BOT_TOKEN),
        (f"export SLACK_BOT_TOKEN = '{BOT_TOKEN}'", BOT_TOKEN),
        (f"Bot {DISCORD_BOT_TOKEN}", DISCORD_BOT_TOKEN),
        (f"Authorization: Bearer {OPENAI}", OPENAI),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("ollama_chat/qwen3:8b", "ollama_chat/qwen3:8b"),
        (f"set token={OPENAI}", OPENAI),
        (f"api_key: {OPENAI}", OPENAI),
        ("https://models.example/v1?api_version=2026-01", "https://models.example/v1?api_version=2026-01"),
        (
            "https://models.example/v1?region=north&api_version=2",
            "https://models.example/v1?region=north&api_version=2",
        ),
        ("sk-0123abcd_efgh=ijkl", "sk-0123abcd_efgh=ijkl"),
        ("dGhlIG1pbGwgaXMgb3Blbg==", "dGhlIG1pbGwgaXMgb3Blbg=="),
        ("aBcd1234=efgh5678", "aBcd1234=efgh5678"),
        ("a note to my bot here", "a note to my bot here"),
    ],
)
def test_what_surrounds_a_value_is_removed(pasted: str, value: str) -> None:
    assert clean_paste(pasted) == value


@pytest.mark.parametrize(
    ("wanted", "value"), [(APP, APP_TOKEN), (BOT, BOT_TOKEN), (SECRET, HEX), (DISCORD_TOKEN, DISCORD_BOT_TOKEN)]
)
def test_the_right_secret_is_no_mistake(wanted: Credential, value: str) -> None:
    assert find_mistake(value, wanted, (SLACK, DISCORD)) == ""
    assert find_setting(value, (SLACK, DISCORD)) == wanted.setting


@pytest.mark.parametrize(
    ("wanted", "value", "words"),
    [
        (APP, BOT_TOKEN, "This is the bot token (xoxb-) of Slack, not the app-level token."),
        (BOT, APP_TOKEN, "This is the app-level token (xapp-) of Slack, not the bot token."),
        (BOT, "xoxp-1029384756-5647382910-kKpzDwQm", "This is the user token (xoxp-)"),
        (BOT, "xoxe.xoxb-1-Mi0xLTEwMjkzODQ3NTY", "Create the app without rotation."),
        (BOT, "xoxe-1-Mi0xLTEwMjkzODQ3NTY", "token that renews or configures apps"),
        (BOT, "xoxd-abcdefghijklmnop", "token of a signed-in browser"),
        (BOT, HEX, "This is the signing secret or client secret of Slack"),
        (BOT, "1029384756.5647382910", "This is the client ID of Slack"),
        (BOT, "https://hooks.slack.com/services/T0/B0/x", "address of a webhook"),
        (BOT, "xoxb-••••••••••••••••", "hidden or cut off by dots: use the button that copies it"),
        (BOT, "xoxb-1029384...", "hidden or cut off by dots"),
        (BOT, "xoxb-1029", "This is too short: copy it again."),
        (BOT, "xoxb-1029384756-56473 82910", "There is a blank in it"),
        (BOT, "xoxb-1029384756–5647382910", "characters in it that no token has"),
        (BOT, DISCORD_BOT_TOKEN, "This is the bot token of Discord, not the bot token of Slack."),
        (BOT, OPENAI, "This is an API key of a model (openai)."),
        (BOT, "correct-horse-battery-staple", "This is no bot token."),
        (DISCORD_TOKEN, ID, "This is the application ID of Discord, not the bot token. It is no secret"),
        (DISCORD_TOKEN, HEX * 2, "This is the public key of Discord"),
        (DISCORD_TOKEN, "aB3_" * 8, "This is the client secret of Discord"),
        (DISCORD_TOKEN, "mfa.abcdefghijklmnopqrstuvwxyz", "token of a person"),
        (DISCORD_TOKEN, BOT_TOKEN, "This is the bot token (xoxb-) of Slack"),
        (DISCORD_TOKEN, f"https://discord.com/oauth2/authorize?client_id={ID}", "address of a page"),
    ],
)
def test_another_secret_is_named_with_the_place_of_the_right_one(wanted: Credential, value: str, words: str) -> None:
    setups = (SLACK, DISCORD) if wanted in SLACK.credentials else (DISCORD, SLACK)
    mistake = find_mistake(value, wanted, setups)
    assert words in mistake
    assert wanted.place in mistake
    assert value not in mistake


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (ANTHROPIC, "This is an API key (anthropic); the model's name goes here."),
        (BOT_TOKEN, "This is the bot token (xoxb-) of Slack; the model's name goes here."),
        ("sk-0123456789abcdefghij", "This is an API key (of a provider)"),
        (
            "http://localhost:8000/v1",
            "give it as that of the model's server (THREADLORE_LLM_API_BASE or --llm-api-base)",
        ),
        ("gpt 4o", "has no blanks"),
        ("openai/gpt-4o-mini", ""),
        ("ollama_chat/qwen3", ""),
    ],
)
def test_a_model_is_a_name(name: str, words: str) -> None:
    assert words in find_model_problem(name)
    assert bool(words) == bool(find_model_problem(name))


@pytest.mark.parametrize(
    ("key", "model", "words"),
    [
        (ANTHROPIC, "openai/gpt-4o-mini", "This is a key of anthropic, but openai/gpt-4o-mini is of openai"),
        (OPENAI, "claude-haiku-4-5", "This is a key of openai"),
        ("AIza0123456789abcdefghij", "groq/llama-3.3-70b", "This is a key of gemini"),
        ("sk-proj-0123 456789abcdefghij", "openai/gpt-4o-mini", "copy it again"),
        ("sk-...abcd", "openai/gpt-4o-mini", "hidden or cut off"),
        (OPENAI, "openai/gpt-4o-mini", ""),
        (OPENAI, "acme/own-model", ""),
        ("sk-0123456789abcdef", "deepseek/deepseek-chat", ""),
    ],
)
def test_a_key_is_of_the_provider_of_the_model(key: str, model: str, words: str) -> None:
    assert words in find_key_problem(key, model)
    assert bool(words) == bool(find_key_problem(key, model))


def test_an_address_has_a_scheme() -> None:
    assert find_address_problem("localhost:8000")
    assert not find_address_problem("https://models.example/v1")


def test_a_secret_is_shown_by_its_kind_and_its_end_alone() -> None:
    assert mask(BOT_TOKEN) == "xoxb-…CfAe"
    assert mask(DISCORD_BOT_TOKEN) == "…defg"
    assert mask("short-one") == "…"
    assert mask("") == ""
    assert mask_word(BOT_TOKEN) == "xoxb-…CfAe"
    assert mask_word("teams") == "teams"
