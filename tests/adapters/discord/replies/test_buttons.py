from __future__ import annotations

from adapters.discord.replies.buttons import (
    MAX_ID_LENGTH,
    ActionButton,
    build_view,
    decode_value,
    encode_custom_id,
)
from bot.platform.models import Button

KEY = "discord:1234567890123456789:2234567890123456789:file:3234567890123456789:4234567890123456789"


def test_a_short_value_stands_in_the_id_as_it_is() -> None:
    assert encode_custom_id("up", "a1b2") == "tl:up:a1b2"


def test_a_long_value_is_packed_and_comes_back() -> None:
    identity = encode_custom_id("forget", KEY)
    assert len(identity) <= MAX_ID_LENGTH
    assert decode_value(identity.removeprefix("tl:forget:")) == KEY


async def test_buttons_outlive_a_restart() -> None:
    shown = build_view([Button("👍", "up", "a"), Button("Delete", "delete", "a")])
    assert shown is not None
    assert shown.is_persistent()
    assert [each.custom_id for each in shown.children if isinstance(each, ActionButton)] == ["tl:up:a", "tl:delete:a"]


async def test_a_button_that_cannot_be_made_is_left_out() -> None:
    assert build_view([Button("x", "forget", "x" * 200)]) is None
    assert build_view([]) is None
