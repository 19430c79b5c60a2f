"""People are told that answers are written automatically, where the privacy policy is, and whom to ask."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bot.settings import Settings
from bot.texts.disclosure import Disclosure
from tests.support.bot_fixture import BotFixture, with_settings

POLICY = "https://mill.example/privacy"


def test_what_is_set_is_one_line() -> None:
    assert Disclosure().describe() == "My answers are written automatically by a program (AI): check their sources."
    assert (
        Disclosure(POLICY, "dpo@mill.example").describe().endswith(f" · Privacy: {POLICY} · Contact: dpo@mill.example")
    )


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("dpo@mill.example", "mailto:dpo@mill.example"),
        ("https://mill.example/ask", "https://mill.example/ask"),
        ("Ada, room 4", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_a_contact_is_a_link_if_it_is_an_address(contact: str, link: str) -> None:
    assert Disclosure(contact=contact).contact_link == link


@pytest.mark.parametrize(
    "wrong", [{"privacy_url": "javascript:alert(1)"}, {"privacy_url": "mill"}, {"contact": "a\nb"}]
)
def test_other_addresses_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(wrong)


@with_settings(privacy_url=POLICY, contact="@channel Ada")
async def test_the_first_post_in_a_channel_says_it(bot: BotFixture) -> None:
    place = await bot.join("ROOF", "ada", "bob")
    [welcome] = [card.text for where, card in bot.platform.posts if where == place]
    assert "written automatically" in welcome
    assert POLICY in welcome
    assert "@channel" not in welcome
