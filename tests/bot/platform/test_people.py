"""What a bot may know of people follows from one setting, and from what platforms ask for without it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.platform.people import PeopleValue, build_people_rules, load_people_defaults
from bot.settings import Settings

DEFAULTS: dict[str, PeopleValue] = {"chat": "names"}


@pytest.mark.parametrize(
    ("setting", "chat", "others"),
    [
        ("", "names", "on"),
        ("on", "on", "on"),
        ("off", "off", "off"),
        ("chat=off", "off", "on"),
        ("names, Chat = on", "on", "names"),
        ("mail=off", "names", "on"),
    ],
)
def test_a_value_for_all_replaces_the_defaults_of_platforms(setting: str, chat: str, others: str) -> None:
    rules = build_people_rules(setting, DEFAULTS)
    assert (rules.of("chat"), rules.of("other")) == (chat, others)


def test_prefixes_say_in_which_spaces_people_are_no_entities() -> None:
    assert build_people_rules("", DEFAULTS).list_prefixes("off", "names") == {"chat:"}
    assert build_people_rules("names,chat=on", DEFAULTS).list_prefixes("off", "names") == {"", "!chat:"}
    assert build_people_rules("off", DEFAULTS).list_prefixes("off") == {""}


@pytest.mark.parametrize("setting", ["none", "chat=", "names;chat=on", "=on,"])
def test_other_values_are_refused(setting: str) -> None:
    with pytest.raises(ValidationError):
        Settings(people=setting)


def test_a_platform_declares_its_default_beside_its_adapter() -> None:
    assert load_people_defaults() == {"discord": "names"}
