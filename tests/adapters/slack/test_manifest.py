from __future__ import annotations

import copy
import json
from importlib import resources
from typing import Any

from adapters.slack.events.listener import SIDE_HANDLERS, SUGGESTED_PROMPTS
from adapters.slack.events.translate import EVENT_TRANSLATORS
from adapters.slack.http_receiver import PATH
from adapters.slack.install.installed import EVENTS
from adapters.slack.install.pages import REDIRECT_PATH, list_scopes
from bot.commands.table import MENU_COMMANDS
from bot.dispatch.dispatcher import HELP_WORDS
from engine.clock import SYSTEM_CLOCK
from engine.text.overviews import parse_overview_request
from scripts.manifests import build_usage_hint
from tests.support.slack_server.app import NEEDS


def load(name: str) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((resources.files("adapters.slack") / name).read_text())
    return manifest


MANIFEST = load("manifest.json")
FEATURES, SETTINGS = MANIFEST["features"], MANIFEST["settings"]
SUBSCRIBED = frozenset(SETTINGS["event_subscriptions"]["bot_events"])


def test_every_subscribed_event_is_handled_and_has_a_scope() -> None:
    messages = {f"message.{kind}" for kind in ("channels", "groups", "im", "mpim")}
    assert EVENT_TRANSLATORS.keys() | SIDE_HANDLERS.keys() | messages >= SUBSCRIBED
    scopes = MANIFEST["oauth_config"]["scopes"]["bot"]
    assert all(not set(NEEDS[event]).isdisjoint(scopes) for event in SUBSCRIBED & NEEDS.keys())


def test_the_app_is_an_agent_with_a_command_and_a_socket() -> None:
    assert SETTINGS["socket_mode_enabled"]
    assert SETTINGS["interactivity"]["is_enabled"]
    assert FEATURES["slash_commands"][0]["command"] == "/threadlore"
    assert FEATURES["app_home"]["home_tab_enabled"]
    assert not FEATURES["app_home"]["messages_tab_read_only_enabled"]
    assert len(FEATURES["agent_view"]["agent_description"]) <= 300


def test_the_menu_of_a_message_offers_what_the_bot_can_do() -> None:
    shortcuts = FEATURES["shortcuts"]
    assert {shortcut["callback_id"].removeprefix("threadlore.") for shortcut in shortcuts} == MENU_COMMANDS.keys()
    assert all(len(shortcut["name"]) <= 24 and len(shortcut["description"]) <= 150 for shortcut in shortcuts)
    assert {shortcut["type"] for shortcut in shortcuts} == {"message"}


def test_the_manifests_list_the_commands_of_the_chat() -> None:
    hint = FEATURES["slash_commands"][0]["usage_hint"]
    assert hint == build_usage_hint(), "run: python -m scripts.manifests"
    assert len(hint) <= 1000


def test_the_four_suggested_prompts_are_in_the_manifest_too_and_need_no_model() -> None:
    assert FEATURES["agent_view"]["suggested_prompts"] == list(SUGGESTED_PROMPTS)
    messages = [prompt["message"] for prompt in SUGGESTED_PROMPTS]
    assert len(messages) == 4
    understood = [bool(text in HELP_WORDS or parse_overview_request(text, SYSTEM_CLOCK.now())) for text in messages]
    assert understood == [True] * 4
    assert len([text for text in messages if text not in HELP_WORDS]) == 3


def test_the_manifest_for_free_plans_lacks_the_agent_features_alone() -> None:
    free, paid = load("manifest-free.json"), copy.deepcopy(MANIFEST)
    del paid["features"]["agent_view"]
    paid["oauth_config"]["scopes"]["bot"].remove("assistant:write")
    assert free == paid
    assert "assistant" not in json.dumps(free)


def test_the_manifest_for_http_differs_in_its_urls_alone() -> None:
    over_http, expected = load("manifest-http.json"), copy.deepcopy(MANIFEST)
    url = f"https://threadlore.example.com{PATH}"
    expected["features"]["slash_commands"][0]["url"] = url
    expected["settings"]["event_subscriptions"]["request_url"] = url
    expected["settings"]["interactivity"]["request_url"] = url
    expected["settings"]["socket_mode_enabled"] = False
    assert over_http == expected


def test_the_manifest_for_many_workspaces_adds_what_installations_need() -> None:
    distributed, expected = load("manifest-distributed.json"), load("manifest-http.json")
    expected["oauth_config"]["redirect_urls"] = [f"https://threadlore.example.com{REDIRECT_PATH}"]
    expected["settings"] |= {"org_deploy_enabled": True, "token_rotation_enabled": True}
    expected["settings"]["event_subscriptions"]["bot_events"] = sorted(SUBSCRIBED | EVENTS)
    assert distributed == expected
    assert list_scopes() == MANIFEST["oauth_config"]["scopes"]["bot"]
