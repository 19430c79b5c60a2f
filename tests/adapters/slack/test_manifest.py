from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from importlib import resources

from adapters.slack.events.listener import SIDE_HANDLERS, SUGGESTED_PROMPTS
from adapters.slack.events.translate import EVENT_TRANSLATORS
from bot.dispatch.dispatcher import HELP_WORDS
from engine.text.overview_request import parse_overview_request
from tests.adapters.slack.conftest import MANIFEST
from tests.support.slack_server.app import NEEDS

SUBSCRIBED = frozenset(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
SCOPES = frozenset(MANIFEST["oauth_config"]["scopes"]["bot"])


def test_whatever_is_subscribed_to_is_understood() -> None:
    understood = (
        EVENT_TRANSLATORS.keys()
        | SIDE_HANDLERS.keys()
        | {f"message.{kind}" for kind in ("channels", "groups", "im", "mpim")}
    )
    assert understood >= SUBSCRIBED


def test_whatever_is_subscribed_to_is_granted() -> None:
    assert all(SCOPES.intersection(NEEDS[event]) for event in SUBSCRIBED & NEEDS.keys())


def test_the_app_is_an_agent_with_a_command_and_a_socket() -> None:
    assert MANIFEST["settings"]["socket_mode_enabled"]
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
    assert MANIFEST["features"]["slash_commands"][0]["command"] == "/threadlore"
    assert MANIFEST["features"]["app_home"]["home_tab_enabled"]
    assert not MANIFEST["features"]["app_home"]["messages_tab_read_only_enabled"]
    assert len(MANIFEST["features"]["agent_view"]["agent_description"]) <= 300


def test_no_more_than_four_beginnings_are_offered_the_same_before_and_after_the_first_look() -> None:
    assert len(SUGGESTED_PROMPTS) <= 4
    assert MANIFEST["features"]["agent_view"]["suggested_prompts"] == list(SUGGESTED_PROMPTS)


def test_the_manifest_for_free_plans_lacks_the_agent_features_alone() -> None:
    free = json.loads((resources.files("adapters.slack") / "manifest-free.json").read_text())
    paid = copy.deepcopy(MANIFEST)
    del paid["features"]["agent_view"]
    paid["oauth_config"]["scopes"]["bot"].remove("assistant:write")
    assert free == paid
    assert "assistant" not in json.dumps(free)


def test_every_beginning_that_is_offered_is_understood_without_a_model() -> None:
    said = [prompt["message"] for prompt in SUGGESTED_PROMPTS]
    assert all(text in HELP_WORDS or parse_overview_request(text, datetime.now(UTC)) for text in said)
    assert len([text for text in said if text not in HELP_WORDS]) == 3
