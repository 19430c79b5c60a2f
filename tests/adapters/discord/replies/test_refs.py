from __future__ import annotations

import pytest

from adapters.discord.replies.buttons import MAX_ID_LENGTH, ActionButton, build_view, decode_value, encode_custom_id
from adapters.discord.replies.refs import InteractionHandle, ReplyRef, build_nonce
from bot.platform.models import SUGGESTION_ACTION, Button

KEY = "discord:1234567890123456789:2234567890123456789:file:3234567890123456789:4234567890123456789"


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        (ReplyRef("12", ("34", "56")), "12:34,56"),
        (ReplyRef("12", ("34",), "p:1800:1:2:to:k:en"), "12:34:p:1800:1:2:to:k:en"),
        (ReplyRef("", ()), ""),
    ],
)
def test_a_reply_ref_survives_its_text(ref: ReplyRef, text: str) -> None:
    assert (str(ref), ReplyRef.parse(text)) == (text, ref)
    assert str(ReplyRef("12", ())) == ""


def test_a_handle_survives_its_text_whatever_its_token_is() -> None:
    handle = InteractionHandle("1", "2", "to:k:en", 1800.0, is_private=True, is_button=False)
    assert InteractionHandle.parse(str(handle)) == handle
    assert InteractionHandle.parse("") is None


def test_a_nonce_is_the_same_for_the_same_part_and_short_enough() -> None:
    assert build_nonce("a", 0) == build_nonce("a", 0)
    assert len({build_nonce("a", 0), build_nonce("a", 1), build_nonce("b", 0)}) == 3
    assert len(build_nonce("a" * 100, 12)) <= 25


def test_a_long_value_is_packed_into_the_id_of_a_button() -> None:
    assert encode_custom_id("up", "a1b2") == "tl:up:a1b2"
    packed = encode_custom_id("forget", KEY)
    assert len(packed) <= MAX_ID_LENGTH
    assert decode_value(packed.removeprefix("tl:forget:")) == KEY


async def test_buttons_outlive_a_restart_and_those_without_an_id_are_left_out() -> None:
    shown = build_view([Button("👍", "up", "a"), Button("x", "forget", "x" * 200), Button("Delete", "delete", "a")])
    assert shown is not None
    assert shown.is_persistent()
    assert [child.custom_id for child in shown.children if isinstance(child, ActionButton)] == [
        "tl:up:a",
        "tl:delete:a",
    ]
    assert build_view([Button("x", "forget", "x" * 200)]) is None


def test_suggested_questions_are_in_a_row_below_the_other_buttons() -> None:
    others = [Button(name, name, "a") for name in ("up", "down", "sources", "verify", "correct-answer", "again")]
    suggested = [Button(f"What about {number}?", SUGGESTION_ACTION, f"{'a' * 20}:0:{number}") for number in range(2)]
    shown = build_view([*others[:3], *suggested, *others[3:]])
    assert shown is not None
    rows = [[item["label"] for item in row["components"]] for row in shown.to_components()]
    assert rows == [
        ["up", "down", "sources", "verify", "correct-answer"],
        ["again"],
        ["What about 0?", "What about 1?"],
    ]
    assert all(len(encode_custom_id(button.action, button.value)) <= MAX_ID_LENGTH for button in suggested)
