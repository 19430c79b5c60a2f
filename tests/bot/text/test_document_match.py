"""Links to messages, as people paste them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adapters.discord import settings as discord_settings
from adapters.slack import settings as slack_settings
from bot.text.document_match import candidate_message_ids, is_message_link, strip_link_markup

SLACK_LINK = "https://acme.slack.com/archives/C1/p1732099999123456?thread_ts=1732090000.000100&cid=C1"
DISCORD_LINK = "https://discord.com/channels/11/22/33"


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("https://x.example/a", True),
        ("<https://x.example/a|a>", True),
        ("<https://x.example/a>", True),
        ("minutes.pdf", False),
        ("see https://x.example/a", False),
    ],
)
def test_a_link_is_told_from_a_title(words: str, *, link: bool) -> None:
    assert is_message_link(words) is link


def test_brackets_and_label_are_no_part_of_a_link() -> None:
    assert strip_link_markup("<https://x.example/a|the roof>") == "https://x.example/a"


@pytest.mark.parametrize(
    ("parse_part", "link", "message"),
    [
        (slack_settings.parse_link_part, SLACK_LINK, "1732099999.123456"),
        (discord_settings.TRAITS.parse_link_part, DISCORD_LINK, "33"),
    ],
    ids=["slack", "discord"],
)
def test_a_message_is_found_by_the_links_that_platforms_copy(
    parse_part: Callable[[str], str], link: str, message: str
) -> None:
    assert candidate_message_ids(link, parse_part)[0] == message


@pytest.mark.parametrize("link", ["https://[x/archives/C1/p1", "<https://x]/1>", "https://ａ℀/1"])
def test_a_broken_link_leads_to_no_message(link: str) -> None:
    assert candidate_message_ids(link, slack_settings.parse_link_part) == ()
