from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adapters.discord import traits as discord_traits
from adapters.slack import traits as slack_traits
from bot.commands.message_links import candidate_message_ids, is_message_link, strip_link_markup

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("https://x.example/a", True),
        ("<https://x.example/a|a>", True),
        ("<https://x.example/a>", True),
        ("minutes.pdf", False),
        ("see https://x.example/a", False),
    ],
)
def test_an_address_is_told_from_a_title(words: str, *, address: bool) -> None:
    assert is_message_link(words) is address


def test_brackets_and_label_are_no_part_of_it() -> None:
    assert strip_link_markup("<https://x.example/a|the roof>") == "https://x.example/a"


@pytest.mark.parametrize(
    ("parse_part", "address", "message"),
    [
        (
            slack_traits.parse_link_part,
            "https://acme.slack.com/archives/C1/p1732099999123456?thread_ts=1732090000.000100&cid=C1",
            "1732099999.123456",
        ),
        (discord_traits.TRAITS.parse_link_part, "https://discord.com/channels/11/22/33", "33"),
    ],
)
def test_a_message_is_found_in_the_addresses_that_platforms_copy(
    parse_part: Callable[[str], str], address: str, message: str
) -> None:
    assert candidate_message_ids(address, parse_part)[0] == message
