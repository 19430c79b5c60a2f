"""What the papers on compliance say of manifests, marks, defaults and commands is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adapters.discord.gateway import build_intents
from adapters.slack.replies.recovery import answer_metadata
from bot.commands.table import COMMANDS
from bot.platform.people import build_people_rules, load_people_defaults
from bot.settings import Settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
COMPLIANCE, PRIVACY = ((DOCS / name).read_text(encoding="utf-8") for name in ("compliance.md", "privacy.md"))
TEMPLATES = sorted((DOCS / "templates").glob("*.md"))


def manifest(name: str) -> str:
    return (ROOT / "adapters" / "slack" / name).read_text(encoding="utf-8")


def test_the_manifest_for_guests_has_no_agent_features() -> None:
    features = json.loads(manifest("manifest-free.json"))
    assert "agent_view" not in features["features"]
    assert "assistant:write" not in features["oauth_config"]["scopes"]["bot"]
    assert "manifest-free.json" in COMPLIANCE.partition("## Guests in Slack")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", ["manifest.json", "manifest-http.json", "manifest-distributed.json"])
def test_the_others_have_the_two_features_that_guests_cannot_use(name: str) -> None:
    assert name in COMPLIANCE
    assert '"agent_view"' in manifest(name)
    assert '"assistant:write"' in manifest(name)


def test_the_answers_to_the_review_name_the_intents_that_are_asked_for() -> None:
    intents = build_intents()
    assert (intents.message_content, intents.members, intents.presences) == (True, True, False)
    assert "*Message Content* and *Server Members*, and not for *Presence*" in COMPLIANCE


def test_the_marks_that_are_described_are_those_of_a_message() -> None:
    metadata = answer_metadata("a", 0, done=True)
    assert f"`{metadata['event_type']}`" in COMPLIANCE
    for name in ("generated_by", "ai_generated"):
        assert f"{name}: {json.dumps(metadata['event_payload'][name])}" in COMPLIANCE


def test_people_are_no_entities_on_discord_without_a_setting() -> None:
    rules = build_people_rules(Settings.model_fields["people"].default, load_people_defaults())
    assert (rules.of("discord"), rules.of("slack"), rules.of("console")) == ("names", "on", "on")


def test_the_models_that_get_data_are_all_named() -> None:
    models = {field for field in Settings.model_fields if field.endswith("_model")}
    named = set(re.findall(r"^\| `THREADLORE_([A-Z_]+_MODEL)`", PRIVACY, re.MULTILINE))
    assert {each.lower() for each in named} == models


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_says_what_to_replace_and_names_commands_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("[") > 3
    assert "emplate" in text[:200]
    assert set(re.findall(r"`/([a-z-]+)", text)) <= set(COMMANDS)


def test_all_three_templates_are_there() -> None:
    assert [template.stem for template in TEMPLATES] == ["ai-notice", "incident-note", "privacy-policy"]
